"""Bodies that move as one, and bodies that turn as one: fixed joints weld, prismatic joints tie orientations (NAT-4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinegrad.coordinates.joints import KINDS
from kinegrad.coordinates.joints.rows import bodies_of
from kinegrad.errors import AssemblyError
from kinegrad.model.names import GROUND

OPEN = 1e-9  # what the frames of a joint that closes a loop of slides may be off by


@dataclass
class Place:
    """Where a body is, seen from those it moves and turns with.

    Attributes
    ----------
    leader : str
        The body whose axes it has, but for the constant rotation R: A = A_leader R.
    head : str
        The body it is welded to, itself if none: r = r_head + A_leader t.
    R, t : lists of nine and of three Scalars, or None
        None for the unit matrix and for zero.
    """

    leader: str
    head: str
    R: list | None = None
    t: list | None = None

    @property
    def follows(self) -> bool:
        """Whether it has the axes of another, and a place of its own."""
        return self.leader != self.head

    def direction(self, v: list) -> list:
        """Components in the leader's axes of a vector of the body."""
        return v if self.R is None else times(self.R, v)

    def point(self, p: list) -> list:
        """A point of the body, from the origin of its head, in the leader's axes."""
        return plus(self.direction(p), self.t)


def groups(elements, sharing: bool = True) -> dict[str, Place]:
    """The place of the ground and of each body; notes in `elements.shared` what fixed and prismatic joints hold so."""
    model = elements.model
    names = [GROUND, *model.bodies]
    places = {body: Place(body, body) for body in names}
    if not sharing:
        return places
    whole = {"point", "orientation"}
    welds = [name for name, joint in model.joints.items() if whole <= set(KINDS[joint.type].shares)]
    slides = [name for name, joint in model.joints.items() if KINDS[joint.type].shares == ("orientation",)]
    for name in welds:
        _weld(elements, name, places, names)
    for name in slides:
        _tie(elements, name, places, names)
    return places


def _weld(elements, name: str, places: dict[str, Place], names: list[str]) -> None:
    """The frames stay parallel and the markers together: the head of one side takes over the bodies of the other."""
    joint = elements.model.joints[name]
    a, b = (places[body] for body in bodies_of(joint))
    elements.shared[name] = {"orientation"}
    if a.head == b.head:
        return  # the rows of its point say whether the loop closes
    elements.shared[name].add("point")
    p, q = (elements.slots.at(elements.position_slot(marker)[1]) for marker in joint.between)
    gap = plus(minus(plus(p, a.t), q), None if b.t is None else [-x for x in b.t])  # from the head of a to that of b
    keep, give = a.head, b.head
    if names.index(give) < names.index(keep):
        keep, give, gap = give, keep, [-x for x in gap]
    for place in places.values():
        if place.head == give:
            place.leader = place.head = keep
            place.t = plus(gap, place.t)


def _tie(elements, name: str, places: dict[str, Place], names: list[str]) -> None:
    """The frames of a prismatic joint stay parallel: one leader for the bodies of both sides."""
    joint = elements.model.joints[name]
    a, b = (places[body] for body in bodies_of(joint))
    C1, C2 = KINDS[joint.type].frames(elements.slots, f"joints.{name}", joint)
    one, other = product(a.R, C1), product(b.R, C2)
    if a.leader == b.leader:
        _closes(elements, name, one, other)
        return
    elements.shared[name] = {"orientation"}
    S = product(one, transposed(other))  # A of the leader of b = A of the leader of a · S
    keep, give = a.leader, b.leader
    if names.index(give) < names.index(keep):
        keep, give, S = give, keep, transposed(S)
    for place in places.values():
        if place.leader == give:
            place.leader, place.R = keep, product(S, place.R)
            place.t = place.t if S is None or place.t is None else times(S, place.t)


def _closes(elements, name: str, one: list | None, other: list | None) -> None:
    """A slide between bodies that have one orientation already: its frames agree, or it writes its rows."""
    S = product(transposed(other), one)
    if S is not None:
        if elements.slots.parameters(S):
            return
        off = np.abs(np.reshape(elements.slots.current(S), (3, 3)) - np.eye(3)).max()
        if off > OPEN:
            raise AssemblyError(
                f"The mechanism cannot be assembled: joint {name!r} closes a loop of slides whose directions are off by "
                f"{off:.3g}. Check the axes of its loop: nothing in it can turn."
            )
    elements.shared[name] = {"orientation"}


# --- algebra of Scalars, in which None is a unit matrix or a zero vector ---


def times(R: list, v: list) -> list:
    """R v."""
    return [R[3 * i] * v[0] + R[3 * i + 1] * v[1] + R[3 * i + 2] * v[2] for i in range(3)]


def product(A: list | None, B: list | None) -> list | None:
    """A B."""
    if A is None or B is None:
        return B if A is None else A
    return [
        sum((A[3 * i + k] * B[3 * k + j] for k in range(1, 3)), A[3 * i] * B[j]) for i in range(3) for j in range(3)
    ]


def transposed(A: list | None) -> list | None:
    """Aᵀ."""
    return None if A is None else [A[3 * j + i] for i in range(3) for j in range(3)]


def plus(u: list, v: list | None) -> list:
    """u + v."""
    return u if v is None else [a + b for a, b in zip(u, v, strict=True)]


def minus(u: list, v: list) -> list:
    """u - v."""
    return [a - b for a, b in zip(u, v, strict=True)]
