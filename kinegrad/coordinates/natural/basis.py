"""Points and unit vectors that are coordinates, and the bases of bodies that are made of them (NAT-1, NAT-2)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

SINE = 0.15  # the least sine between a new column and the span of the others
SHORT = 0.1  # the least distance of two points of a basis, of the size of the body
FULL = 3  # directions that span a body


@dataclass(eq=False)
class Entity:
    """A point or a unit vector with three coordinates, or fixed in the ground.

    Attributes
    ----------
    name : str
        For people: what stands before ``.x`` in the names of its coordinates.
    point : bool
    value : list of three Scalars, or None
        Where it is if it is fixed.
    components : list of three
        The number of the coordinate, or the slot of the value that a component has: ("q", k) or ("s", slot).
    """

    name: str
    point: bool
    value: list | None = None
    components: list[tuple[str, int]] = field(default_factory=list)

    @property
    def fixed(self) -> bool:
        return self.value is not None


@dataclass(eq=False)
class Column:
    """An entity in the basis of a body, with its local coordinates: Scalars, their values, and the slots they are kept in."""

    entity: Entity
    local: list
    at: np.ndarray
    slot: int = 0


class Basis:
    """The entities that carry a body, or a group of bodies that turn as one.

    Parameters
    ----------
    size : float
        Of the body, against which distances are judged.
    only_point : bool
        Whether it carries the place alone: the axes are those of another.
    """

    def __init__(self, size: float, only_point: bool = False):
        self.size, self.only_point = size, only_point
        self.columns: list[Column] = []

    @property
    def origin(self) -> Column | None:
        """The first point."""
        return next((column for column in self.columns if column.entity.point), None)

    @property
    def fixed_vector(self) -> Column | None:
        """A vector that is fixed in the ground."""
        return next((c for c in self.columns if not c.entity.point and c.entity.fixed), None)

    @property
    def others(self) -> list[Column]:
        """All columns but the origin."""
        return [column for column in self.columns if column is not self.origin]

    @property
    def directions(self) -> list[np.ndarray]:
        """Local directions of the columns: vectors, and ways from the origin to other points."""
        start = self.origin
        return [c.at - start.at if c.entity.point else c.at for c in self.others]

    @property
    def rank(self) -> int:
        """How many directions it spans; n × d of a fixed vector n and another direction d is one more (NAT-2)."""
        known = len(self.others)
        return FULL if known == FULL - 1 and self.fixed_vector is not None else known

    @property
    def complete(self) -> bool:
        return self.origin is not None and (self.only_point or self.rank == FULL)

    def accepts(self, point: bool, at: np.ndarray) -> bool:
        """Whether a point or a vector with these local coordinates would be a good column."""
        if point and self.origin is None:
            return True
        if self.only_point or self.rank == FULL:
            return False
        way = at - self.origin.at if point else at
        length = np.linalg.norm(way)
        if point and length < SHORT * self.size:
            return False
        return self.apart(way / length) > SINE

    def apart(self, direction: np.ndarray) -> float:
        """The sine between a unit vector and the span of the columns."""
        known = self.directions
        if not known:
            return 1.0
        Q = np.linalg.qr(np.array([d / np.linalg.norm(d) for d in known]).T)[0]
        return float(np.linalg.norm(direction - Q @ (Q.T @ direction)))
