"""Frames, markers and rows that several kinds of joints are closed and measured with.

Frames of a joint: in each body the z axis along the joint axis and the x axis along a direction that coincides at angle
zero. A joint with one axis for both bodies needs none while it is in the tree: its motion is about the axis itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegrad.expressions import graph as algebra
from kinegrad.model.joints import is_pair

if TYPE_CHECKING:
    from kinegrad.coordinates.elements import Elements
    from kinegrad.coordinates.laws import Formula
    from kinegrad.model.slots import SlotBuilder


def cross(a, b):
    """a × b of Scalars."""
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def dot(a, b):
    """a·b of Scalars."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


# --- frames ---


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
    key = tuple(axis), None if towards is None else tuple(towards)
    if key not in slots.frames:
        x = perpendicular(slots, axis, towards)
        columns = (x, cross(axis, x), axis)
        slots.frames[key] = [columns[j][i] for i in range(3) for j in range(3)]
    return slots.frames[key]


def frames_about(slots: SlotBuilder, labels: tuple, axes, towards) -> tuple[list, list]:
    """Frames in both bodies, z along `axes` and x near `towards`, whose paths are `labels`."""
    frames = []
    for i in range(2):
        axis = slots.unit_scalars(labels[0][i], axes[i])
        x = None if towards[i] is None else slots.unit_scalars(labels[1][i], towards[i])
        frames.append(frame_of(slots, axis, x))
    return tuple(frames)


def axis_frames(slots: SlotBuilder, path: str, joint) -> tuple[list | None, list | None]:
    """Frames of a joint about or along one axis: none where both bodies share it."""
    if not is_pair(joint.axis):
        return None, None
    labels = labels_of(path, "axis", joint.axis), [f"{path}.zero[0]", f"{path}.zero[1]"]
    return frames_about(slots, labels, joint.axis, joint.zero or (None, None))


def labels_of(path: str, key: str, axis) -> list[str]:
    """Paths of an axis in both bodies."""
    return [f"{path}.{key}[{i}]" for i in range(2)] if is_pair(axis) else [f"{path}.{key}"] * 2


def frame_axis(slots: SlotBuilder, k: int) -> int:
    """Slots of axis k of a frame."""
    return slots.scalars(f"axis {k}", [slots.graph.constant(float(i == k)) for i in range(3)])


def axis_slot(slots: SlotBuilder, path: str, joint) -> int:
    """Slots of the axis of a joint: z of its frames, or the given direction when it is the same in both bodies."""
    return frame_axis(slots, 2) if is_pair(joint.axis) else slots.unit(f"{path}.axis", joint.axis)


# --- markers ---


def bodies_of(joint) -> list[str]:
    """The first and the second body."""
    return [marker.partition(".")[0] for marker in joint.between]


def frame_slots(slots: SlotBuilder, name: str, joint, frames, columns: str = "xyz") -> list[list[int]]:
    """First slots of columns of a joint's `frames`, in the first and in the second body; of one frame for both without any."""
    path = f"joints.{name}"
    if frames[0] is None:
        frame = frame_of(slots, slots.unit_scalars(f"{path}.axis", joint.axis))
        frames = (frame, frame)
    which = [f" in body {i}" if frames[0] is not frames[1] else "" for i in range(2)]
    return [
        [slots.scalars(f"{path} {c}{which[i]}", [frame[3 * r + "xyz".index(c)] for r in range(3)]) for c in columns]
        for i, frame in enumerate(frames)
    ]


def columns(elements: Elements, name: str, joint, frames) -> list[list[int]]:
    """x, y, z of a joint's `frames` as markers, in the first and in the second body; of one frame for both without any."""
    slots = frame_slots(elements.slots, name, joint, frames)
    return [[elements.vector(body, slot) for slot in own] for body, own in zip(bodies_of(joint), slots, strict=True)]


def axis_columns(elements: Elements, name: str, joint) -> list[list[int]]:
    """x, y, z of the frames of a joint about or along one axis, as markers."""
    return columns(elements, name, joint, axis_frames(elements.slots, f"joints.{name}", joint))


# --- rows ---


def hold_point(elements: Elements, name: str, joint) -> None:
    """Three rows: the two markers coincide."""
    if "point" not in elements.shared.get(name, ()):
        elements.coincide(name, *map(elements.marker, joint.between))


def hold_axis(elements: Elements, name: str, first: list[int], second: list[int]) -> None:
    """Two rows: the z axes of two frames coincide."""
    if {"axis", "orientation"} & elements.shared.get(name, set()):
        return
    across(elements, f"{name} axis", first, second[2])
    elements.facing.append((name, first[0], first[1], second[2]))


def across(elements: Elements, name: str, frame: list[int], i: int, j: int = -1) -> None:
    """Rows: a vector, or the difference of two points, has no components along x and y of the frame."""
    for c in range(2):
        elements.perpendicular(f"{name}.{'xy'[c]}", frame[c], i, j)
    elements.imply(f"{name}.z")


# --- measures ---


def components(elements: Elements, formula: Formula, marker: int) -> list:
    """The three Scalars of a marker."""
    return [formula.scalar(elements.scalar(marker, c)) for c in range(3)]


def angle_between(elements: Elements, formula: Formula, first: list[int], second: list[int]):
    """The angle from the first frame to the second about their common z axis."""
    x2, y, x = (components(elements, formula, marker) for marker in (second[0], first[1], first[0]))
    return algebra.atan2(dot(y, x2), dot(x, x2))


def distance_along(elements: Elements, formula: Formula, joint, axis: int):
    """The component along a vector of the way from the first to the second marker."""
    i, j = (components(elements, formula, elements.marker(name)) for name in joint.between)
    d = [b - a for a, b in zip(i, j, strict=True)]
    return dot(components(elements, formula, axis), d)
