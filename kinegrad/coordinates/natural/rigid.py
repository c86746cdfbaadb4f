"""Rows that keep the entities of a body as they are to each other: lengths, angles, norms (NAT-5)."""

from __future__ import annotations

from kinegrad.coordinates.joints.rows import dot
from kinegrad.coordinates.natural.basis import Column
from kinegrad.coordinates.natural.groups import minus
from kinegrad.coordinates.natural.sharing import Sharing
from kinegrad.expressions import graph as algebra
from kinegrad.model.names import GROUND


def write_rigid_rows(elements, sharing: Sharing) -> None:
    """Six rows for a basis of a point and three columns; those between fixed entities are left out."""
    written: set[tuple] = set()
    for head, basis in sharing.bases.items():
        if head == GROUND or basis.only_point:
            continue
        rigid, columns = Rigid(elements, head, basis.origin, written), basis.columns
        for i, first in enumerate(columns):
            for second in columns[i:]:
                rigid.pair(first, second)


class Rigid:
    """The rows of one body; `written` has those of all bodies, so that a row that two have alike is written once."""

    def __init__(self, elements, head: str, origin: Column, written: set[tuple]):
        self.elements, self.slots, self.head = elements, elements.slots, head
        self.origin, self.written = origin, written

    def pair(self, first: Column, second: Column) -> None:
        """The row of two columns, if there is one."""
        if first.entity.fixed and second.entity.fixed and self.origin.entity.fixed:
            return
        fixed = first.entity.fixed and second.entity.fixed
        if first.entity.point and second.entity.point:
            if first is not second and not fixed:
                self._length(first, second)
        elif first.entity.point or second.entity.point:
            point, vector = (first, second) if first.entity.point else (second, first)
            if point is not self.origin:
                self._angle(vector, point)
        elif first is second:
            if not fixed:
                self._norm(first)
        elif not fixed:
            value = dot(first.local, second.local)
            if self._new("dot", first, second, value):
                name = f"{self.head}: {first.entity.name}, {second.entity.name}"
                markers = self._marker(first), self._marker(second)
                self.elements.perpendicular(name, *markers, val=self.slots.add(f"{name} cosine", value))

    def _length(self, first: Column, second: Column) -> None:
        d = minus(first.local, second.local)
        value = algebra.sqrt(dot(d, d))
        if self._new("length", first, second, value):
            name = f"{self.head}: {first.entity.name} to {second.entity.name}"
            markers = self._marker(first), self._marker(second)
            self.elements.distance(name, *markers, self.slots.add(f"{name} length", value))

    def _angle(self, vector: Column, point: Column) -> None:
        """vector·(point - origin) = constant."""
        value = dot(vector.local, minus(point.local, self.origin.local))
        if self._new("angle", vector, point, value, id(self.origin.entity)):
            name = f"{self.head}: {vector.entity.name}, {self.origin.entity.name} to {point.entity.name}"
            markers = self._marker(vector), self._marker(point), self._marker(self.origin)
            self.elements.perpendicular(name, *markers, val=self.slots.add(f"{name} component", value))

    def _norm(self, vector: Column) -> None:
        if self._new("norm", vector, vector):
            marker = self._marker(vector)
            name = f"{vector.entity.name} norm"
            self.elements.perpendicular(name, marker, marker, val=self.slots.constant("one", 1.0))

    def _marker(self, column: Column) -> int:
        """The entity of a column as a marker."""
        elements = self.elements
        return (elements.point if column.entity.point else elements.vector)(self.head, column.slot)

    def _new(self, kind: str, first: Column, second: Column, *value) -> bool:
        """Whether a row of these entities and this value is not there yet."""
        key = kind, *sorted((id(first.entity), id(second.entity))), *value
        known = key in self.written
        self.written.add(key)
        return not known
