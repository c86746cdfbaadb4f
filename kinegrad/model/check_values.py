"""What is wrong with the values of a model: masses, inertias, directions, lengths, options.

Numbers are looked at with the parameter values of the file, then of each variant. A number that has no value because
something it mentions is missing is passed over; that is reported where the name stands.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kinegrad.expressions.syntax import Expression
from kinegrad.laws import Law
from kinegrad.model.bodies import AxisInertia, Body, FrameMarker, PointMarker, Pose, VectorMarker
from kinegrad.model.constraints import Angle, Distance, Dot, SphericalStart
from kinegrad.model.element import Element, dotted
from kinegrad.model.evaluation import Evaluation
from kinegrad.model.joints import is_pair
from kinegrad.model.poses import turned_over
from kinegrad.model.shapes import Box, Cylinder, shapes_of
from kinegrad.model.simulation import HHT, GeneralizedAlpha, Newmark, Simulation
from kinegrad.model.values import show

if TYPE_CHECKING:
    from kinegrad.model.model import Finding, Model

ROUNDING = 1e-12  # of the trace, for inertias
ROUNDING_OF_ALL = 1e-15  # of the inertia of the whole mechanism, for bodies that have next to none
PERPENDICULAR = 1e-9  # cosine allowed between directions that should be perpendicular
SHORTEST = 1e-150  # of a direction: the squares of its components still have all digits


def find_in_values_of(model: Model, evaluation: Evaluation) -> list[Finding]:
    """Problems with the values of the file and of each variant; a place is reported once."""
    return _in_all_variants(model, evaluation, _Values.findings)


def find_doubtful_values(model: Model) -> list[Finding]:
    """Values of the file and of each variant that can be used, and look wrong; a place is reported once."""
    return _in_all_variants(model, Evaluation(model), _Values.doubtful)


def find_in_bodies(model: Model, evaluation: Evaluation, names: Iterable[str]) -> list[Finding]:
    """Problems with masses and inertias of these bodies, with the values that the evaluation uses."""
    values = _Values(model, evaluation)
    return [
        (path, f"{dotted(path)} {fragment}")
        for name in names
        for path, fragment in values.body(("bodies", name), model.bodies[name])
    ]


def _in_all_variants(model: Model, evaluation: Evaluation, look: Callable) -> list[Finding]:
    found: dict[tuple, str] = {}
    for variant in (None, *model.variants):
        evaluation.use(model.variants[variant] if variant is not None else {})
        prefix = "" if variant is None else f"in variant {variant!r}: "
        for path, fragment in look(_Values(model, evaluation)):
            found.setdefault(path, f"{prefix}{dotted(path)} {fragment}")
    evaluation.use({})
    return list(found.items())


class _Values:
    """One pass over the values of one model."""

    def __init__(self, model: Model, evaluation: Evaluation):
        self.model = model
        self.evaluation = evaluation
        self.value = evaluation.value
        self.vector = evaluation.vector
        self.knows = evaluation.knows

    def findings(self) -> Iterator[tuple[tuple, str]]:
        yield from self.markers(("ground",), self.model.ground.markers)
        yield from self.shapes(("ground",), self.model.ground)
        for name, body in self.model.bodies.items():
            yield from self.body(("bodies", name), body)
        for name, table in self.model.tables.items():
            for key, fragment in table.wrong_values(self):
                yield ("tables", name, *key), fragment
        for name, joint in self.model.joints.items():
            yield from joint.findings(self, ("joints", name))
        for name, force in self.model.forces.items():
            yield from self.force(("forces", name), force)
        for name, constraint in self.model.constraints.items():
            yield from self.constraint(("constraints", name), constraint)
        for name, objective in self.model.objectives.items():
            yield from self.objective(("objectives", name), objective)
        for name, start in self.model.degrees_of_freedom.items():
            if isinstance(start, SphericalStart) and start.euler_parameters is not None:
                yield from self.direction(("degrees_of_freedom", name, "euler_parameters"), start.euler_parameters)
        yield from self.simulation(("simulation",), self.model.simulation)
        yield from self.not_finite()
        if self.model._origin:
            yield from self.model._origin.findings(self.model, self.evaluation)

    def not_finite(self) -> Iterator[tuple[tuple, str]]:
        """Numbers such as 1/0 and sqrt(-1)."""
        from kinegrad.model.checks import NUMBERS, all_expressions

        for path, expression, allowed in all_expressions(self.model):
            if allowed is NUMBERS and self.knows(expression) and math.isnan(self.value(expression)):
                yield path, f"is {show(expression)}, which has no finite value; change it or the parameters in it."

    # --- bodies ---

    def body(self, path: tuple, body: Body) -> Iterator[tuple[tuple, str]]:
        for name, point in body.point_masses.items():
            yield from self.positive((*path, "point_masses", name, "mass"), point.mass)
        if self.value(body.mass) < 0.0:
            yield (*path, "mass"), f"is {self.found(body.mass)}; give zero or more."
        yield from self.inertia((*path, "inertia"), body.inertia)
        yield from self.markers(path, body.markers)
        yield from self.shapes(path, body)
        if isinstance(body.pose, Pose):
            x_axis, z_axis = body.pose.x_axis or (1.0, 0.0, 0.0), body.pose.z_axis or (0.0, 0.0, 1.0)
            yield from self.frame((*path, "pose"), x_axis, z_axis)

    def inertia(self, path: tuple, inertia: Any) -> Iterator[tuple[tuple, str]]:
        if isinstance(inertia, AxisInertia):
            yield from self.direction((*path, "axis"), inertia.axis)
        moments = self.principal_moments(inertia)
        if moments is not None and moments[0] < 0.0 and moments[0] < -self.rounding(moments):
            yield path, f"has the principal moments {_listed(moments)}; none may be negative."

    def doubtful(self) -> Iterator[tuple[tuple, str]]:
        """Values that can be used, and that no body has, or that do not fit together."""
        yield from turned_over(self.model, self.value)
        for name, body in self.model.bodies.items():
            moments = self.principal_moments(body.inertia)
            if moments is not None and moments[2] > moments[0] + moments[1]:
                a, b, c = moments
                if c - b > a + self.rounding(moments):
                    yield (
                        ("bodies", name, "inertia"),
                        f"has the principal moments {_listed(moments)}; of no body does the largest exceed the sum of the "
                        "others, so look for a wrong entry (the motion is computed all the same).",
                    )

    def principal_moments(self, inertia: Any) -> list[float] | None:
        """The three moments, smallest first; None when one has no value."""
        if isinstance(inertia, AxisInertia):
            along, across = self.value(inertia.along), self.value(inertia.across)
            moments = [along, across, across]
        else:
            numbers = self.vector(inertia)
            if not all(map(math.isfinite, numbers)):
                return None
            if any(numbers[3:]):
                xx, yy, zz, xy, xz, yz = numbers
                scale = max(map(abs, numbers))  # so that no product of the eigenvalue solver overflows
                tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) / scale
                moments = (np.linalg.eigvalsh(tensor) * scale).tolist()
            else:
                moments = numbers[:3]
        return sorted(moments) if all(map(math.isfinite, moments)) else None

    def rounding(self, moments: list[float]) -> float:
        """What may be rounding in moments of inertia: of their own size, or of what the mechanism is made of."""
        return ROUNDING * sum(map(abs, moments)) + ROUNDING_OF_ALL * self.scale

    @cached_property
    def scale(self) -> float:
        """The mass of all bodies by the square of the largest of their coordinates, and the largest moment of inertia."""
        mass, length, inertia = 0.0, 0.0, 0.0
        for body in self.model.bodies.values():
            points = [body.com, *(p.at for p in body.point_masses.values())]
            points += [m.position for m in body.markers.values() if isinstance(m, PointMarker)]
            mass += sum(abs(self.value(m)) for m in (body.mass, *(p.mass for p in body.point_masses.values())))
            length = max([length, *(abs(x) for point in points for x in self.vector(point))])
            inertia = max([inertia, *map(abs, self.principal_moments(body.inertia) or ())])
        scale = mass * length * length + inertia
        return scale if math.isfinite(scale) else 0.0

    def markers(self, path: tuple, markers: dict) -> Iterator[tuple[tuple, str]]:
        for name, marker in markers.items():
            place = (*path, "markers", name)
            if isinstance(marker, VectorMarker):
                yield from self.direction((*place, "vector"), marker.vector)
            elif isinstance(marker, FrameMarker):
                yield from self.frame(place, marker.x_axis, marker.z_axis)

    def frame(self, path: tuple, x_axis: tuple, z_axis: tuple) -> Iterator[tuple[tuple, str]]:
        wrong = [*self.direction((*path, "x_axis"), x_axis), *self.direction((*path, "z_axis"), z_axis)]
        yield from wrong
        if not wrong and abs(self.cosine(x_axis, z_axis)) > 1.0 - PERPENDICULAR:
            yield (
                (*path, "x_axis"),
                f"is {self.shown(x_axis)}, along the z axis {self.shown(z_axis)}; give another z_axis.",
            )

    def shapes(self, path: tuple, body: Element) -> Iterator[tuple[tuple, str]]:
        for i, shape in enumerate(shapes_of(body)):
            place = (*path, "shape", i) if isinstance(body.shape, tuple) else (*path, "shape")
            for key in ("radius", "length", "scale"):
                if getattr(shape, key, None) is not None:
                    yield from self.positive((*place, key), getattr(shape, key))
            if isinstance(shape, Box):
                for k, edge in enumerate(shape.size):
                    yield from self.positive((*place, "size", k), edge)
                yield from self.frame(place, shape.x_axis, shape.z_axis)
            elif isinstance(shape, Cylinder):
                yield from self.direction((*place, "axis"), shape.axis)

    # --- forces, constraints ---

    def force(self, path: tuple, force: Element) -> Iterator[tuple[tuple, str]]:
        for place, sentence in force.wrong_values(self):
            yield (*path, *place), sentence

    def constraint(self, path: tuple, constraint: Element) -> Iterator[tuple[tuple, str]]:
        if isinstance(constraint, Distance):
            yield from self.positive((*path, "distance"), constraint.distance)
        elif isinstance(constraint, Dot):
            yield from self.between((*path, "value"), constraint.value, -1.0, 1.0)
        elif isinstance(constraint, Angle):
            yield from self.between((*path, "value"), constraint.value, 0.0, math.pi)

    def objective(self, path: tuple, objective: Element) -> Iterator[tuple[tuple, str]]:
        for place, sentence in objective.wrong_values(self):
            yield (*path, *place), sentence
        laws = {
            name: force.value
            for name, force in self.model.forces.items()
            if isinstance(getattr(force, "value", None), Law)
        }
        used = {name.partition(".")[0]: None for name, _ in getattr(objective.expression, "references", ())}
        first, *others = [name for name in used if name in laws] or [None]
        second = next((name for name in others if laws[name] is not laws[first]), None)
        if second is not None:
            yield (
                (*path, objective.kind),
                f"uses the functions of two forces, {first!r} and {second!r}, and an expression takes one; make two "
                "objectives, and add these where they are used.",
            )

    # --- simulation ---

    def simulation(self, path: tuple, simulation: Simulation) -> Iterator[tuple[tuple, str]]:
        for key in ("t_end", "step", "output_step"):
            if getattr(simulation, key) is not None:
                yield from self.positive((*path, key), getattr(simulation, key))
        formulation, integrator = simulation.formulation, simulation.integrator
        for option, number in formulation:
            place = (*path, "formulation", option)
            if option in ("frequency", "damping"):
                if self.value(number) < 0.0:
                    yield place, f"is {self.found(number)}; give zero or more."
            elif option == "reselect_below":
                yield from self.between(place, number, 0.0, 1.0)
            elif option != "type" and not isinstance(number, str):
                yield from self.positive(place, number)
        place = (*path, "integrator")
        if isinstance(integrator, Newmark):
            yield from self.positive((*place, "beta"), integrator.beta)
            yield from self.between((*place, "gamma"), integrator.gamma, 0.5, 1.0)
        elif isinstance(integrator, HHT):
            yield from self.between((*place, "alpha"), integrator.alpha, -1.0 / 3.0, 0.0)
        elif isinstance(integrator, GeneralizedAlpha):
            yield from self.between((*place, "rho_inf"), integrator.rho_inf, 0.0, 1.0)
        elif hasattr(integrator, "tolerance"):
            yield from self.positive((*place, "tolerance"), integrator.tolerance)

    # --- small ones ---

    def found(self, number: float | Expression) -> str:
        """A number with its value when it is an expression."""
        value = self.value(number)
        return f"{show(number)} (= {value:g})" if isinstance(number, Expression) else f"{value:g}"

    def shown(self, numbers: tuple) -> str:
        return "[" + ", ".join(f"{value:g}" for value in self.vector(numbers)) + "]"

    def positive(self, path: tuple, number: float | Expression) -> Iterator[tuple[tuple, str]]:
        if self.value(number) <= 0.0:
            yield path, f"is {self.found(number)}; {POSITIVE}"

    def between(self, path: tuple, number: float | Expression, low: float, high: float) -> Iterator[tuple[tuple, str]]:
        value = self.value(number)
        if value < low - ROUNDING or value > high + ROUNDING:
            yield path, f"is {self.found(number)}; give a number from {low:g} to {high:g}."

    def direction(self, path: tuple, vector: tuple) -> Iterator[tuple[tuple, str]]:
        size = max(map(abs, self.vector(vector)))
        if size == 0.0:
            yield path, f"is {self.shown(vector)}, which has no direction; give a vector that is not zero."
        elif not SHORTEST <= size <= 1.0 / SHORTEST and not math.isnan(size):
            yield (
                path,
                f"is {self.shown(vector)}, whose length cannot be computed; scale it, its length does not count.",
            )

    def directions(self, path: tuple, axis: tuple) -> Iterator[tuple[tuple, str]]:
        """Problems of one vector or of both of a pair."""
        if not is_pair(axis):
            yield from self.direction(path, axis)
            return
        for i, vector in enumerate(axis):
            yield from self.direction((*path, i), vector)

    def cosine(self, a: tuple, b: tuple) -> float:
        """Cosine of the angle of two vectors that are not zero; nan when one has no value."""
        u, v = np.array(self.vector(a)), np.array(self.vector(b))
        u, v = u / np.abs(u).max(), v / np.abs(v).max()
        return float(u @ v / (np.linalg.norm(u) * np.linalg.norm(v)))

    def across(self, path: tuple, vector: tuple, axis: tuple) -> Iterator[tuple[tuple, str]]:
        if abs(self.cosine(axis, vector)) > 1.0 - PERPENDICULAR:
            yield path, f"is {self.shown(vector)}, along the axis; give a direction across it."

    def beside_cross(self, path: tuple, axes: tuple, zero: tuple) -> Iterator[tuple[tuple, str]]:
        cosines = [self.cosine(axis, vector) for axis, vector in zip(axes, zero, strict=True)]
        if not sum(x * x for x in cosines) <= 1.0 - PERPENDICULAR and not any(map(math.isnan, cosines)):
            shown = " and ".join(map(self.shown, zero))
            yield (
                path,
                f"are {shown}, which do not coincide beside the plane of perpendicular axes; give a direction across both "
                "axes, seen from each body.",
            )

    def perpendicular(self, path: tuple, a: tuple, b: tuple, remedy: str) -> Iterator[tuple[tuple, str]]:
        cosine = self.cosine(a, b)
        if abs(cosine) > PERPENDICULAR:
            degrees = math.degrees(math.acos(max(-1.0, min(1.0, cosine))))
            yield path, f"are {self.shown(a)} and {self.shown(b)}, at {degrees:.6g} degrees; {remedy}."


POSITIVE = "give a number larger than zero."


def _listed(moments: list[float]) -> str:
    return ", ".join(f"{moment:g}" for moment in moments)
