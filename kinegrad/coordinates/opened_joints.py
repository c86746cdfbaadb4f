"""Joints of a tree that are opened: six motions that rows hold at zero, whose multipliers are what the joint transmits (OBJ-6).

A joint of the tree has no rows, so that no multiplier tells its reaction.  Opened, it has three slides and three turns at its
first marker beside its own motions; rows hold them, and what these exert, without what acts on the coordinates of the joint, is
its reaction (REA-1).
"""

from __future__ import annotations

from typing import NamedTuple

from kinegrad.coordinates.coordinate_set import METRE, RADIAN
from kinegrad.coordinates.joints import KINDS
from kinegrad.coordinates.joints.rows import bodies_of, cross, dot
from kinegrad.coordinates.laws import Formula
from kinegrad.kernels.joint.records import EULER, SCREW, SLIDE, TURN

#: Motions of an opened joint along and about the axes of the first body, and their units.
OPENED = {f"opened {c}": METRE for c in "xyz"} | {f"opened about {c}": RADIAN for c in "xyz"}


class Direction(NamedTuple):
    """A free direction of a joint: SLIDE, TURN or SCREW, its axis as three Scalars, and its pitch."""

    type: int
    axis: list
    pitch: object


def reaction(elements, formula: Formula, name: str) -> dict[str, list]:
    """Force and moment of an opened joint on its second body, at the first marker (OBJ-6)."""
    first, sign = elements.opened[name]
    joint = elements.model.joints[name]
    axes = [elements.components(formula, axis) for axis in elements.axes(bodies_of(joint)[0])]
    exerted = [-sign * elements.multiplier(formula, first + k) for k in range(len(OPENED))]
    x1, x2 = (elements.components(formula, elements.marker(marker)) for marker in joint.between)
    way = _minus(x2, x1)
    F = _combined(exerted[:3], axes)
    N = _minus(_combined(exerted[3:], axes), cross(way, F))  # at the second marker
    F, N = _held(_free(elements, formula, name, joint), F, N)
    return {"reaction.force": F, "reaction.moment": [a + b for a, b in zip(N, cross(way, F), strict=True)]}


def _held(free: list[Direction], F: list, N: list) -> tuple[list, list]:
    """The wrench at the second marker without the forces on coordinates (REA-1)."""
    held_F, held_N = F, N
    for d in free:
        same = [other.axis for other in free if other is not d and (other.type == SLIDE) == (d.type == SLIDE)]
        along = _dual(d.axis, same)
        if d.type == SLIDE:
            held_F = _minus(held_F, [dot(d.axis, F) * x for x in along])
        else:
            size = dot(d.axis, N) + (d.pitch * dot(d.axis, F) if d.type == SCREW else 0.0)
            held_N = _minus(held_N, [size * x for x in along])
    return held_F, held_N


def _dual(u: list, others: list[list]) -> list:
    """The vector with 1 along u and 0 along the others, among all of them."""
    if not others:
        return u
    if len(others) == 1:
        v = others[0]
        g = _minus(u, [dot(u, v) / dot(v, v) * x for x in v])
    else:
        g = cross(*others)
    return [x / dot(g, u) for x in g]


def _free(elements, formula: Formula, name: str, joint) -> list[Direction]:
    """The free directions of a joint: its motions.

    Axes up to the first turn are fixed in the first body, those after it in the second.
    """
    kind, path, slots = KINDS[joint.type], f"joints.{name}", elements.slots
    frames, bodies, end, found = kind.frames(slots, path, joint), bodies_of(joint), 0, []
    for i, motion in enumerate(kind.motions(slots, path, joint)):
        if motion.node == EULER:
            unit = [[formula.graph.constant(float(j == k)) for k in range(3)] for j in range(3)]
            found += [Direction(TURN, axis, None) for axis in unit]
            continue
        slot, frame = motion.axis, frames[end]
        if frame is not None:
            local = slots.at(motion.axis)
            slot = slots.scalars(f"{path} motion {i}", [dot(frame[3 * r : 3 * r + 3], local) for r in range(3)])
        pitch = formula.slot(motion.pitch) if motion.node == SCREW else None
        found.append(Direction(motion.node, elements.components(formula, elements.vector(bodies[end], slot)), pitch))
        end = 1 if motion.node in (TURN, SCREW) else end
    return found


def _minus(a: list, b: list) -> list:
    return [x - y for x, y in zip(a, b, strict=True)]


def _combined(weights: list, vectors: list[list]) -> list:
    """The sum of three vectors with weights."""
    return [dot(weights, [vector[c] for vector in vectors]) for c in range(3)]
