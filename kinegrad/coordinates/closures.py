"""Closure rows of joints that are cut, and their coordinates measured from markers.

Frames of a joint: in each body the z axis along the joint axis and the x axis along a direction that coincides at angle
zero.  A joint with one axis for both bodies needs none while it is in the tree: its motion is about the axis itself.
"""

from __future__ import annotations

from kinegrad.coordinates.elements import Elements
from kinegrad.errors import ModelError, Problem
from kinegrad.expressions import graph as algebra
from kinegrad.model.joints import is_pair
from kinegrad.model.slots import SlotBuilder


def cross(a, b):
    """a × b of Scalars."""
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def dot(a, b):
    """a·b of Scalars."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def perpendicular(slots: SlotBuilder, axis, towards=None):
    """The unit vector across `axis` nearest to `towards`, or to the global axis farthest from it."""
    if towards is None:
        values = [abs(x) for x in slots.current(axis)]
        k = values.index(min(values))
        towards = [slots.graph.constant(float(i == k)) for i in range(3)]
    along = dot(axis, towards)
    v = [t - along * a for a, t in zip(axis, towards, strict=True)]
    size = algebra.sqrt(dot(v, v))
    return [x / size for x in v]


def frame_of(slots: SlotBuilder, axis, towards=None) -> list:
    """Nine Scalars, by rows, of the rotation whose columns are x (near `towards`), y and z = axis."""
    x = perpendicular(slots, axis, towards)
    columns = (x, cross(axis, x), axis)
    return [columns[j][i] for i in range(3) for j in range(3)]


def joint_frames(slots: SlotBuilder, path: str, joint) -> tuple[list | None, list | None]:
    """Frames of a joint in its first and second body, or None where it turns about a shared axis."""
    if joint.type == "planar":
        axes, towards = joint.axis_pair, joint.x_axis_pair
        labels = _labels(path, "axis", joint.axis), _labels(path, "x_axis", joint.x_axis)
    elif hasattr(joint, "axis") and is_pair(joint.axis):
        axes, towards = joint.axis, joint.zero or (None, None)
        labels = _labels(path, "axis", joint.axis), [f"{path}.zero[0]", f"{path}.zero[1]"]
    else:
        return None, None
    frames = []
    for i in range(2):
        axis = slots.unit_scalars(labels[0][i], axes[i])
        x = None if towards[i] is None else slots.unit_scalars(labels[1][i], towards[i])
        frames.append(frame_of(slots, axis, x))
    return tuple(frames)


def _labels(path: str, key: str, axis) -> list[str]:
    return [f"{path}.{key}[{i}]" for i in range(2)] if is_pair(axis) else [f"{path}.{key}"] * 2


class Closures:
    """Rows of cut joints."""

    def __init__(self, model, elements: Elements):
        self.model = model
        self.elements = elements

    def _columns(self, name: str) -> list[list[int]]:
        """x, y, z of the joint's frame as markers, in the first and in the second body."""
        joint = self.model.joints[name]
        slots = self.elements.slots
        path = f"joints.{name}"
        frames = joint_frames(slots, path, joint)
        if frames[0] is None:
            frame = frame_of(slots, slots.unit_scalars(f"{path}.axis", joint.axis))
            frames = (frame, frame)
        result = []
        for i, frame in enumerate(frames):
            body = joint.between[i].partition(".")[0]
            which = f" in body {i}" if frames[0] is not frames[1] else ""
            result.append(
                [
                    self.elements.vector(
                        body, slots.scalars(f"{path} {'xyz'[j]}{which}", [frame[3 * r + j] for r in range(3)])
                    )
                    for j in range(3)
                ]
            )
        return result

    def _cross(self, name: str) -> None:
        """The row of a Cardan joint: its axes keep the angle that they are given with, as in the tree (CAR-1)."""
        joint, path = self.model.joints[name], f"joints.{name}"
        bodies = [marker.partition(".")[0] for marker in joint.between]
        slots = self.elements.slots
        axes = [self.elements.vector(bodies[i], slots.unit(f"{path}.axes[{i}]", joint.axes[i])) for i in range(2)]
        e1, e2 = self._cardan_axes(name)
        self.elements.perpendicular(f"{name} axes", *axes, val=slots.add(f"{path} axes cosine", dot(e1, e2)))

    def _cardan_axes(self, name: str) -> list[list]:
        """The axes of a Cardan joint as Scalars: of the first body, of the second."""
        slots, axes = self.elements.slots, self.model.joints[name].axes
        return [slots.unit_scalars(f"joints.{name}.axes[{i}]", axes[i]) for i in range(2)]

    def close(self, name: str) -> None:
        """Closure rows of a joint that is not in the tree: as many as it holds freedoms, all independent (CLO-1).

        A vector is held by its components across the axis, in the first body; a third component follows and is only counted.
        """
        e = self.elements
        joint = self.model.joints[name]
        kind = joint.type
        if kind == "floating":
            return
        i, j = map(e.marker, joint.between)
        if kind == "link":
            e.distance(name, i, j, e.slots.number(f"joints.{name}.length", joint.length))
            return
        if kind in ("fixed", "revolute", "spherical", "cardan"):
            e.coincide(name, i, j)
        if kind == "fixed":
            first, second = (e.axes(marker.partition(".")[0]) for marker in joint.between)
            for k in range(3):
                e.perpendicular(f"{name} axes.{'xyz'[k]}", first[k], second[(k + 1) % 3])
            e.facing += [(name, second[1], second[2], first[0]), (name, second[2], second[0], first[1])]
        if kind == "cardan":
            self._cross(name)
        if kind in ("revolute", "prismatic", "cylindrical", "screw", "planar"):
            first, second = self._columns(name)
            self._across(f"{name} axis", first, second[2])
            e.facing.append((name, first[0], first[1], second[2]))
            if kind == "prismatic":
                e.perpendicular(f"{name} direction.x", first[0], second[1])
                e.imply(f"{name} direction.y", f"{name} direction.z")
                e.facing.append((name, second[1], second[2], first[0]))
            if kind in ("prismatic", "cylindrical", "screw"):
                self._across(f"{name} alignment", first, j, i)
            if kind == "screw":
                self._thread(name)
            if kind == "planar":
                e.perpendicular(f"{name} plane", first[2], j, i)

    def _across(self, name: str, frame: list[int], i: int, j: int = -1) -> None:
        """Rows: a vector, or the difference of two points, has no components along x and y of the frame."""
        for c in range(2):
            self.elements.perpendicular(f"{name}.{'xy'[c]}", frame[c], i, j)
        self.elements.imply(f"{name}.z")

    def measured(self, formula, name: str, part: str):
        """The Scalar of a coordinate of a cut joint, and whether it is an angle, known up to full turns."""
        e = self.elements
        joint = self.model.joints[name]

        def components(marker: int):
            return [formula.scalar(e.scalar(marker, c)) for c in range(3)]

        i, j = map(e.marker, joint.between)
        if joint.type == "cardan":
            return self._cardan_angle(components, name, part), True
        first, second = self._columns(name)
        if joint.type == "screw":
            return self._advance(formula, name), False
        if part == "angle":
            x2 = components(second[0])
            return algebra.atan2(dot(components(first[1]), x2), dot(components(first[0]), x2)), True
        axis = first[{"distance": 2, "x": 0, "y": 1}[part]]
        d = [b - a for a, b in zip(components(i), components(j), strict=True)]
        return dot(components(axis), d), False

    def _thread(self, name: str) -> None:
        """The row distance = pitch · angle of a cut screw, on the turn that the distance tells (SCW-4)."""
        formula = self.elements.formula()
        pitch = self._pitch(formula, name)
        turned = self._advance(formula, name)
        first, second = self._columns(name)
        x, y, z = (
            [formula.scalar(self.elements.scalar(marker, c)) for c in range(3)]
            for marker in (first[0], first[1], second[0])
        )
        C, S = dot(x, z), dot(y, z)
        c, s = algebra.cos(turned), algebra.sin(turned)
        self.elements.expression_row(f"{name} pitch", formula, pitch * algebra.atan2(C * s - S * c, C * c + S * s))

    def _advance(self, formula, name: str):
        """The angle of a cut screw with all its turns: the distance along the axis over the pitch."""
        e = self.elements
        i, j = map(e.marker, self.model.joints[name].between)
        axis = self._columns(name)[0][2]
        a, x, y = ([formula.scalar(e.scalar(marker, c)) for c in range(3)] for marker in (axis, i, j))
        return dot(a, [v - u for u, v in zip(x, y, strict=True)]) / self._pitch(formula, name)

    def _pitch(self, formula, name: str):
        """The pitch of a cut screw, which is not zero."""
        path = f"joints.{name}.pitch"
        slots = self.elements.slots
        number = self.model.joints[name].pitch
        if slots.current([slots.field(path, number)])[0] == 0.0:
            text = f"joint {name!r} is a screw of pitch 0 and cannot be cut; make it revolute, or cut another joint."
            raise ModelError(Problem(text, path))
        return formula.slot(slots.number(path, number))

    def _cardan_angle(self, components, name: str, part: str):
        """Angle about one axis of a cut Cardan joint, told by the other axis in both bodies (CAR-2)."""
        joint, path = self.model.joints[name], f"joints.{name}"
        slots = self.elements.slots
        bodies = [marker.partition(".")[0] for marker in joint.between]
        axes = self._cardan_axes(name)
        own, other = (0, 1) if part == "angle1" else (1, 0)
        cosine = dot(*axes)
        across = [b - cosine * a for a, b in zip(axes[own], axes[other], strict=True)]
        f = components(self.elements.vector(bodies[own], slots.scalars(f"{path} axes[{other}] across", across)))
        g = components(self.elements.vector(bodies[own], slots.scalars(f"{path} axes normal", cross(*axes))))
        x = components(self.elements.vector(bodies[other], slots.unit(f"{path}.axes[{other}]", joint.axes[other])))
        return algebra.atan2(dot(g, x), dot(f, x))
