"""The sizes of a model: its length, mass and time, powers of two in which things are judged.

A product with a power of two is exact.  So what is judged in these sizes comes out alike, digit by digit, for the same
mechanism in metres and in micrometres.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import frexp
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kinegrad.coordinates.coordinate_set import METRE
from kinegrad.expressions.graph import Graph, scalarise_number
from kinegrad.expressions.maps import GraphMap
from kinegrad.expressions.syntax import Expression
from kinegrad.kernels.records import COINCIDENCE, DISTANCE, DOT, MEASURE, UNTOLD
from kinegrad.model.bodies import AxisInertia, FrameMarker, PointMarker
from kinegrad.model.signals import unit_of
from kinegrad.model.units import ONE, SECOND

if TYPE_CHECKING:
    from kinegrad.coordinates.system import System
    from kinegrad.model.model import Model
    from kinegrad.model.parameters import Parameters

STEPS = 4096  # of the model, that are its end where none is given
PART = 0.25  # of the end: a time of the model


class Sizes(NamedTuple):
    """Powers of two.

    Attributes
    ----------
    length : float
        How far points of one body, centres of mass among them, are apart, or its radius of gyration: the largest of these;
        of bodies without either, how far the poses are apart.
    mass : float
        That of the heaviest body.
    time : float
        A quarter of `t_end` of the simulation section, or of 4096 steps where there is none.
    """

    length: float
    mass: float
    time: float


def power_of_two(x: float) -> float:
    """The largest power of two up to x; 1 where x is not above zero, or no number."""
    return 2.0 ** (frexp(x)[1] - 1) if 0.0 < x < np.inf else 1.0


def product(sizes: Iterable[float], powers: np.ndarray) -> np.ndarray:
    """The products of powers of sizes, a row of powers each, exact where these are whole; within the range of numbers."""
    exponents = np.clip(np.asarray(powers, float) @ np.array([frexp(size)[1] - 1.0 for size in sizes]), -1022.0, 1023.0)
    whole = np.floor(exponents)
    return np.ldexp(2.0 ** (exponents - whole), whole.astype(int))


class Numbers:
    """The numbers of a model by which its sizes are found, for any values of the parameters."""

    def __init__(self, model: Model, parameters: Parameters):
        bodies, self._numbers = list(model.bodies.values()), []
        points = [[*_points(body.markers), tuple(body.com)] for body in bodies] + [[*_points(model.ground.markers)]]
        self.points = self._take([[x for point in some for x in point] for some in points if some])
        self.masses = self._take([[body.mass] for body in bodies])
        self.moments = self._take([_moments(body.inertia) for body in bodies])
        self.poses = self._take([getattr(body.pose, "origin", ()) for body in bodies])
        end, step = model.simulation.t_end, model.simulation.step
        self.time, self._part = self._take([[step if end is None else end]]), PART * (STEPS if end is None else 1)
        graph = Graph()
        resolve = parameters.resolve(graph)
        scalars = [
            scalarise_number(x, graph, resolve) if isinstance(x, Expression) else graph.constant(float(x))
            for x in self._numbers
        ]
        self._values = GraphMap(scalars, [graph.input(label) for label in parameters.independent])
        self.move = any(graph.inputs_of(*scalars))

    def _take(self, groups: Iterable[Iterable]) -> np.ndarray:
        """Where groups of numbers begin, and the last one ends."""
        first = [len(self._numbers)]
        for group in groups:
            self._numbers += group
            first.append(len(self._numbers))
        return np.array(first, np.int64)

    def sizes(self, rho: np.ndarray) -> Sizes:
        """The sizes, with these values of the independent parameters."""
        from kinegrad.kernels.sizes import largest

        found = np.zeros(3)
        largest(self._values(rho), self.points, self.masses, self.moments, self.poses, self.time, found)
        length, mass, time = found.tolist()
        return Sizes(power_of_two(length), power_of_two(mass), power_of_two(time * self._part))


def _points(markers: Mapping) -> Iterable[tuple]:
    """The numbers of markers that are points."""
    for marker in markers.values():
        if isinstance(marker, PointMarker):
            yield tuple(marker.position)
        elif isinstance(marker, FrameMarker):
            yield tuple(marker.origin)


def _moments(inertia) -> tuple:
    """Moments of inertia about axes."""
    return (inertia.along, inertia.across) if isinstance(inertia, AxisInertia) else tuple(inertia)[:3]


def sizes_of(system: System) -> Sizes:
    """The sizes of the model of a system, with the values of its parameters; `System.model_sizes` has them."""
    if "numbers_of_sizes" not in system.tables:
        numbers = Numbers(system.model, system.parameters)
        system.tables["numbers_of_sizes"] = numbers, None if numbers.move else numbers.sizes(system.rho.real)
    numbers, fixed = system.tables["numbers_of_sizes"]
    return numbers.sizes(system.rho.real) if fixed is None else fixed


def unit_powers(system: System) -> np.ndarray:
    """(rows,) powers of length in the units of the rows, constraints and freedoms; nan where a formula does not tell."""
    elements, scalars = system.tables["elements"], system.tables["scalars"]
    points = [point for *_, point in system.tables["markers"]]
    powers = np.full(system.m + len(system.freedoms), np.nan)
    for row in elements["row"]:
        kind, i, j = row["type"], row["i"], row["j"]
        if kind == COINCIDENCE:
            power = points[i]
        elif kind == DOT:
            power = points[i] + points[j]
        elif kind == DISTANCE:
            power = 2 * points[j]
        elif kind == MEASURE:
            marker, k = scalars[row["n"]]
            power = points[marker] if marker >= 0 else system.coordinates[k].unit == METRE
        else:
            power = 0
        powers[row["row"]] = power
    for row in elements["row_law"]:
        powers[row["row"]] = np.nan if row["metres"] == UNTOLD else row["metres"]
    return powers


def size_arrays(system: System) -> dict[str, np.ndarray]:
    """What compiled code judges by, not to be changed: the arrays `SIZES` of `kinegrad.kernels.products`."""
    sizes, (before, arrays) = system.model_sizes, system.tables.get("size_arrays", (None, {}))
    if sizes != before:
        arrays = _size_arrays(system, sizes)
        system.tables["size_arrays"] = sizes, arrays
    return arrays


def _size_arrays(system: System, sizes: Sizes) -> dict[str, np.ndarray]:
    if "unit_powers" not in system.tables:
        system.tables["unit_powers"] = system.lengths, unit_powers(system)
    lengths, powers = system.tables["unit_powers"]
    unit = np.where(lengths, sizes.length, 1.0)
    told = np.isfinite(powers)
    powers = np.where(told, powers, 1.0)[:, None]
    per_row = np.where(told, product([sizes.length], -powers), 0.0)
    soft = product([sizes.length], 2.0 * powers - 2.0)[: system.m]
    return {
        "size": np.array(sizes), "unit": unit, "per": 1.0 / unit, "per_row": per_row, "soft": soft,
        "psi_size": objective_sizes(system, sizes),
    }  # fmt: skip


def objective_sizes(system: System, sizes: Sizes) -> np.ndarray:
    """(objectives,) the units of objectives in the sizes of the model; 1 where names do not tell."""
    if "units_of_objectives" not in system.tables:
        found = []
        for objective in system.model.objectives.values():
            unit = unit_of(system.model, objective.expression) or ONE
            found.append(unit * SECOND if objective.kind == "integral" else unit)
        system.tables["units_of_objectives"] = _powers(found)
    return product(sizes, system.tables["units_of_objectives"])


def _powers(units: list) -> np.ndarray:
    """(units, 3) powers of length, mass and time."""
    return np.array([(unit.m, unit.kg, unit.s) for unit in units], float).reshape(-1, 3)


def units_of_inputs(system: System) -> list[np.ndarray]:
    """For each law its arguments' units in sizes of the model, 1 where they are not known: what differences are taken in."""
    sizes, found = system.model_sizes, []
    for law, *_ in system.tables["packed"].calls:
        found.append(product(sizes, _powers([unit_of(system.model, x) or ONE for x in law.inputs])))
    return found
