"""Rows that measure degrees of freedom and states of elements, with their values and rates at the start."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kinegrad.coordinates.elements import Elements
from kinegrad.coordinates.system import Freedom
from kinegrad.expressions import graph as algebra
from kinegrad.kernels.records import MEASURE
from kinegrad.model import names
from kinegrad.model.constraints import FloatingStart, SphericalStart
from kinegrad.model.signals import unit_of_name
from kinegrad.model.units import METRE, RADIAN

NONE = (0.0, 0.0, 0.0)  # the rotation of a start without one


class StartRows:
    """Writes these rows after all constraint rows of the elements.

    Parameters
    ----------
    euler, slides : callables
        ``euler(joint)`` gives the first Euler parameter of a joint and +1 or -1 (conjugate); ``slides(joint)`` the
        three coordinates of its position; KeyError where these are no coordinates and markers tell them.
    """

    def __init__(self, elements: Elements, euler: Callable, slides: Callable):
        self.e, self.euler, self.slides = elements, euler, slides
        self.dependent: list[tuple] = []

    def write(self) -> None:
        """Rows that measure the degrees of freedom and the states of elements, after all constraint rows."""
        for name, start in self.e.model.degrees_of_freedom.items():
            path = f"degrees_of_freedom.{name}"
            if isinstance(start, SphericalStart):
                self._joint_start(name, path, start)
                continue
            position = self.e.slots.number(f"{path}.position", start.position)
            velocity = self._rate(start, "velocity", lambda: self.e.slots.number(f"{path}.velocity", start.velocity))  # noqa: B023
            reference = names.resolve(self.e.model, name)
            row = len(self.e.row_names)
            if reference.kind == "coordinate":
                part = reference.element, reference.part
                k = self.e.angles.get(part, self.e.coordinate(*part))
                if k is None:
                    formula = self.e.formula()
                    value = self.e.measured(formula, *part).value
                    self.e.expression_row(name, formula, value, unit_of_name(self.e.model, name))
                else:
                    self.e.row(name, MEASURE, n=self.e.coordinate_scalar(k))
            elif reference.kind == "marker":
                marker = self.e.marker(f"{reference.element}.{reference.part}")
                self.e.row(name, MEASURE, n=self.e.scalar(marker, reference.component))
            else:
                formula = self.e.formula()
                unit = unit_of_name(self.e.model, name)
                self.e.expression_row(name, formula, self.e.measure(formula, name), unit)
            self.e.freedoms.append(Freedom(name, row, position, velocity))
        for k, start in self.e.states:
            row = len(self.e.row_names)
            self.e.row(self.e.coordinates[k], MEASURE, n=self.e.coordinate_scalar(k))
            self.e.freedoms.append(Freedom(self.e.coordinates[k], row, 0, start, state=True))
        for entry in self.dependent:  # last, so that the independent ones are contiguous
            self._euler_freedom(*entry, independent=False)

    def _rate(self, start, key: str, slot: Callable[[], int]) -> int:
        """The slot of a rate at the start; -1 where none is given and rows of velocities let the start find it."""
        return -1 if self.e.of_velocities and key not in start.model_fields_set else slot()

    def _joint_start(self, name: str, path: str, start: SphericalStart) -> None:
        s = self.e.slots
        start = self.e.model.joints[name].start(**{key: getattr(start, key) for key in start.model_fields_set})
        if start.euler_parameters is None:
            v = [s.field(f"{path}.rotation.{c}", x) for c, x in zip("xyz", start.rotation or NONE, strict=True)]
            size = algebra.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + 1e-60)  # away from 0/0 at no rotation
            ratio = algebra.sin(0.5 * size) / size
            p = [algebra.cos(0.5 * size), *(ratio * x for x in v)]
        else:
            e = [s.field(f"{path}.euler_parameters[{i}]", x) for i, x in enumerate(start.euler_parameters)]
            size = algebra.sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3])
            p = [x / size for x in e]
        o = [s.field(f"{path}.angular_velocity.{c}", x) for c, x in zip("xyz", start.angular_velocity, strict=True)]
        # pd = ½ E(p)ᵀ ω
        pd = [
            -0.5 * (p[1] * o[0] + p[2] * o[1] + p[3] * o[2]),
            0.5 * (p[0] * o[0] + p[3] * o[1] - p[2] * o[2]),
            0.5 * (-(p[3] * o[0]) + p[0] * o[1] + p[1] * o[2]),
            0.5 * (p[2] * o[0] - p[1] * o[1] + p[0] * o[2]),
        ]
        try:
            k, sign = self.euler(name)
        except KeyError:
            self._measured_start(name, path, start, p, o)
            return
        largest = int(np.argmax(np.abs(s.current(p))))
        for i in range(4):
            g = sign if i else 1.0
            position = s.add(f"{path} e{i}", g * p[i])
            velocity = self._rate(start, "angular_velocity", lambda: s.add(f"{path} e{i} rate", g * pd[i]))  # noqa: B023
            entry = (f"{name}.e{i}", self.e.coordinate_scalar(k + i), position, velocity)
            if i == largest:
                self.dependent.append(entry)
            else:
                self._euler_freedom(*entry)
        if isinstance(start, FloatingStart):
            for i, (c, j) in enumerate(zip("xyz", self.slides(name), strict=True)):
                row = len(self.e.row_names)
                self.e.row(f"{name}.{c}", MEASURE, n=self.e.coordinate_scalar(j))
                position = s.number(f"{path}.position.{c}", start.position[i])
                velocity = self._rate(start, "velocity", lambda: s.number(f"{path}.velocity.{c}", start.velocity[i]))  # noqa: B023
                self.e.freedoms.append(Freedom(f"{name}.{c}", row, position, velocity))

    def _measured_start(self, name: str, path: str, start: SphericalStart, p: list, o: list) -> None:
        """Rows of a joint whose rotation is no coordinate: axial(R0ᵀ A_aᵀ A_b), and its position along axes (RFP-11)."""
        s, joint = self.e.slots, self.e.model.joints[name]
        bodies = [marker.partition(".")[0] for marker in joint.between]
        R0 = rotation(p)
        u = [self.e.vector(bodies[0], s.scalars(f"{path} axis {c}", R0[c])) for c in range(3)]
        w = self.e.axes(bodies[1])
        self.e.starting += [(name, u[i], u[i - 2], w[i - 1]) for i in range(3)]
        for c in range(3):
            i, j = (c + 1) % 3, (c + 2) % 3
            formula, row = self.e.formula(), len(self.e.row_names)
            ui, uj, wi, wj = (
                [formula.scalar(self.e.scalar(marker, k)) for k in range(3)] for marker in (u[i], u[j], w[i], w[j])
            )
            twice = sum((uj[k] * wi[k] - ui[k] * wj[k] for k in range(1, 3)), uj[0] * wi[0] - ui[0] * wj[0])
            self.e.expression_row(f"{name}.rotation.{'xyz'[c]}", formula, 0.5 * twice, RADIAN)
            turn = R0[c][0] * o[0] + R0[c][1] * o[1] + R0[c][2] * o[2]
            velocity = self._rate(start, "angular_velocity", lambda: s.add(f"{path} turn {c}", turn))  # noqa: B023
            self.e.freedoms.append(Freedom(f"{name}.rotation.{'xyz'[c]}", row, 0, velocity))
        if isinstance(start, FloatingStart):
            for i, c in enumerate("xyz"):
                formula, row = self.e.formula(), len(self.e.row_names)
                self.e.expression_row(f"{name}.{c}", formula, self.e.measured(formula, name, c).value, METRE)
                position = s.number(f"{path}.position.{c}", start.position[i])
                velocity = self._rate(start, "velocity", lambda: s.number(f"{path}.velocity.{c}", start.velocity[i]))  # noqa: B023
                self.e.freedoms.append(Freedom(f"{name}.{c}", row, position, velocity))

    def _euler_freedom(self, name: str, scalar: int, position: int, velocity: int, independent: bool = True) -> None:
        row = len(self.e.row_names)
        self.e.row(name, MEASURE, n=scalar)
        self.e.freedoms.append(Freedom(name, row, position, velocity, independent=independent))


def rotation(p: list) -> list[list]:
    """The three columns of the rotation matrix of unit Euler parameters, Scalars all."""
    e0, e1, e2, e3 = p
    return [
        [e0 * e0 + e1 * e1 - e2 * e2 - e3 * e3, 2.0 * (e1 * e2 + e0 * e3), 2.0 * (e1 * e3 - e0 * e2)],
        [2.0 * (e1 * e2 - e0 * e3), e0 * e0 - e1 * e1 + e2 * e2 - e3 * e3, 2.0 * (e2 * e3 + e0 * e1)],
        [2.0 * (e1 * e3 + e0 * e2), 2.0 * (e2 * e3 - e0 * e1), e0 * e0 - e1 * e1 - e2 * e2 + e3 * e3],
    ]
