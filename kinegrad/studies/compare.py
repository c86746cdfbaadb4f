"""compare: one model by every coordinate set, formulation and integrator, and whether they give one motion."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import product

import numpy as np

from kinegrad.coordinates.sets import SETS, lower
from kinegrad.coordinates.system import System
from kinegrad.dataframe import import_pandas
from kinegrad.dynamics.schemes import SCHEMES, formulation_of, integrator_of, numbers, scheme_for, takes_only
from kinegrad.errors import KinegradError, SimulationError
from kinegrad.expressions.syntax import Expression
from kinegrad.markup import frame, grid
from kinegrad.model import names
from kinegrad.model.bodies import VectorMarker
from kinegrad.model.model import Model
from kinegrad.quiet import without_warnings
from kinegrad.simulate import given_time, simulate
from kinegrad.statics.assembly import assemble
from kinegrad.statics.equilibrium import equilibrium

FACTOR, FLOOR = 3.0, 1e-9  # two agree if they differ by no more than FACTOR times their errors and FLOOR [m]
UNITS = {"error": "m", "difference": "m", "energy_drift": "J", "us_per_step": "µs"}
VERDICTS = {True: "yes", False: "NO", None: "refused"}


@dataclass(frozen=True)
class ComparisonRow:
    """One combination: how well its motion is known, whether it is that of the others, and what it cost.

    Attributes
    ----------
    coordinates, body_point, formulation, integrator : str
        What was tried; a set without the option `body_point` has "" there.
    error : float or None
        Error of the points at the end [m], by what half the step and twice the penalty change.
    difference : float or None
        Largest distance of these points from those of the combination with the smallest error [m].
    agrees : bool or None
        Whether errors explain the difference; False for a run that failed, None for a combination that was refused.
    energy_drift, max_constraint : float or None
        Largest error of the balance of energy [J], and largest violation of a constraint row.
    iterations, us_per_step : float or None
        Newton iterations (or evaluations) and microseconds of processor time, by step.
    problem : str or None
        Why there is no motion, in a sentence.
    """

    coordinates: str
    body_point: str
    formulation: str
    integrator: str
    error: float | None = None
    difference: float | None = None
    agrees: bool | None = None
    energy_drift: float | None = None
    max_constraint: float | None = None
    iterations: float | None = None
    us_per_step: float | None = None
    problem: str | None = None

    @property
    def name(self) -> str:
        """Such as "matrix-r with rk4"."""
        return f"{self.formulation} with {self.integrator}"


COLUMNS = tuple(field.name for field in fields(ComparisonRow))


@dataclass(frozen=True, repr=False)
class Comparison:
    """What every combination made of one model.

    Attributes
    ----------
    title : str
        That of the model.
    step, t_end : float
        Of all runs [s].
    rows : tuple of ComparisonRow
        One for each combination, in the order in which they were tried.
    """

    title: str
    step: float
    t_end: float
    rows: tuple[ComparisonRow, ...]

    @property
    def agrees(self) -> bool:
        """Whether no combination disagrees or fails; those that refuse the model do not count."""
        return all(row.agrees is not False for row in self.rows)

    @property
    def best(self) -> ComparisonRow | None:
        """The row with the smallest error, with which all others were compared; None if every run failed."""
        return min((row for row in self.rows if row.error is not None), key=lambda row: row.error, default=None)

    def to_dataframe(self):
        """A pandas DataFrame: a row for each combination, a column for each entry; ``attrs["units"]`` has their units."""
        table = import_pandas().DataFrame([asdict(row) for row in self.rows], columns=COLUMNS)
        table.attrs["units"] = dict(UNITS)
        return table

    def __repr__(self) -> str:
        done = [row for row in self.rows if row.agrees is not None]
        refused = len(self.rows) - len(done)
        return (
            f"<Comparison of {self.title or 'a model'!r}: {sum(row.agrees for row in done)} of {len(done)} combinations "
            f"agree{f', {refused} refused' if refused else ''}>"
        )

    def __str__(self) -> str:
        """A table, and the sentences of combinations without a motion."""
        head, cells = self._cells()
        widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
        lines = ["  ".join(f"{x:{w}}" for x, w in zip(row, widths, strict=True)).rstrip() for row in (head, *cells)]
        said = [f"{row.name}: {row.problem}" for row in self.rows if row.problem]
        return "\n".join([self.title or "Comparison", *lines, *said])

    def _repr_html_(self) -> str:
        """A table for notebooks."""
        return frame(self.title or "Comparison", grid(*self._cells()))

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        """Texts of a table: its head, and its rows."""
        several = [key for key in ("coordinates", "body_point") if len({getattr(row, key) for row in self.rows}) > 1]
        labels = [*several, "formulation", "integrator"]
        head = [*labels, "error [m]", "difference [m]", "agrees", "drift [J]", "rows", "iterations", "µs a step"]
        cells = []
        for row in self.rows:
            error, difference, drift, violation = (
                "" if x is None else f"{x:.1e}"
                for x in (row.error, row.difference, row.energy_drift, row.max_constraint)
            )
            cost = ["" if x is None else f"{x:.3g}" for x in (row.iterations, row.us_per_step)]
            verdict = VERDICTS[row.agrees]
            cells.append([*(getattr(row, k) for k in labels), error, difference, verdict, drift, violation, *cost])
        return head, cells


@without_warnings
def compare(
    model: Model,
    *,
    coordinates: Sequence[str] | None = None,
    body_points: Sequence[str] | None = None,
    formulations: Sequence | None = None,
    integrators: Sequence | None = None,
    cut: Collection[str] = (),
    step: float | None = None,
    t_end: float | None = None,
    start=None,
    progress: Callable[[float], None] | None = None,
) -> Comparison:
    """`model` by every combination, at two steps each, and whether they give one motion.

    Each is run at `step` and at half of it (with error control: at the tolerance and at the tolerance divided by 2 to the
    power of the order).  The change of the points at the end, divided by ``2**order - 1``, is the error of the second run,
    and what a change of the penalty shows is added.  Two motions agree if their points are no farther apart than three
    times the sum of their errors and 1e-9 m.  Each is compared with the one whose error is smallest.

    Parameters
    ----------
    coordinates, body_points : lists of names, optional
        Coordinate sets (joint, reference-point) and points at which the motion of bodies is taken (origin, com); by default
        those of the model's simulation section.  A set that has no such points is tried once.
    formulations, integrators : lists of names, or of objects such as ``kg.ALI3P(penalty=1e7)``, optional
        All by default.  A name stands for the options of the model where it has that one, else for the defaults.  Pairs
        that do not exist are left out unless both lists are given: then they are rows with the reason.  What a set does not
        take is left out unless formulations are given.
    cut : names of joints to cut in joint coordinates, before the rule chooses
    step, t_end : float, optional
        Times [s]; the model's simulation section says what they are when they are not given.
    start : as `kinegrad.simulate` takes it, optional
        Where all of them start.  An assembly or an equilibrium is found once, in joint coordinates, and converted, so that all
        are on one branch.
    progress : callable, optional
        Called with the fraction done.

    Raises
    ------
    KinegradError
        When every combination refuses the model.
    """
    kinds = [model.simulation.coordinates.type] if coordinates is None else _once("coordinate set", coordinates)
    points = [None] if body_points is None else _once("body point", body_points)
    pairs = _pairs(model, formulations, integrators)
    systems = _systems(model, cut, kinds, points)
    first = next(system for system in systems.values() if isinstance(system, System))
    times = {"step": given_time(first, "step", step), "t_end": given_time(first, "t_end", t_end)}
    ways = [
        (about, system, pair)
        for (about, system), pair in product(systems.items(), pairs)
        if formulations is not None or takes_only(pair[0]) in (None, about[0])
    ]
    trials, begin = [], _begin(model, systems, start)
    for trial in _trials(ways, _points(first), times, begin):
        trials.append(trial)
        if progress is not None:
            progress(len(trials) / len(ways))
    if all(trial.refused for trial in trials):
        first = [trial for trial in trials if trial.about["coordinates"] == trials[0].about["coordinates"]]
        raise KinegradError(*dict.fromkeys(trial.problem for trial in first))  # other sets say the same
    return Comparison(model.title, **times, rows=judged(trials))


def _once(what: str, given: Sequence) -> list:
    """The entries of a list of choices, which must be there, once each."""
    given = [given] if isinstance(given, str) else list(given)
    labels = [getattr(entry, "type", entry) for entry in given]
    twice = [label for k, label in enumerate(labels) if label in labels[:k]]
    if twice or not labels:
        found = f"The {what} {twice[0]!r} is named twice" if twice else f"No {what} is named"
        raise KinegradError(f"{found}; name each that shall be compared once, or leave the list out.")
    return given


def _pairs(model: Model, formulations: Sequence | None, integrators: Sequence | None) -> list[tuple]:
    """Formulations with integrators: those that exist, or all of two lists that were given."""
    tables = []
    for k, (kind, given, own, choose) in enumerate(
        (
            ("formulation", formulations, model.simulation.formulation, formulation_of),
            ("integrator", integrators, model.simulation.integrator, integrator_of),
        )
    ):
        offered = list(dict.fromkeys(key[k] for key in SCHEMES))
        entries = offered if given is None else _once(kind, given)
        chosen = [own if entry == own.type else choose(entry) for entry in entries]
        unknown = [entry.type for entry in chosen if entry.type not in offered]
        if unknown:
            raise KinegradError(f"The {kind} {unknown[0]!r} is not available; choose from {', '.join(offered)}.")
        tables.append({entry.type: entry for entry in chosen})
    keys = list(product(*tables))
    if formulations is None or integrators is None:
        keys = [key for key in SCHEMES if key in keys]
    return [(tables[0][f], tables[1][i]) for f, i in keys]


def _systems(model: Model, cut: Collection[str], kinds: Sequence[str], points: Sequence[str | None]) -> dict:
    """A system for each set and body point (None: that of the model), or why there is none; raises that when there is none
    at all.  Among several sets, one that cuts nothing is not asked to."""
    found: dict[tuple[str, str], System | KinegradError] = {}
    for kind in kinds:
        for point in points if kind not in SETS or "body_point" in SETS[kind].option_names else [None]:
            try:
                cuts = len(kinds) == 1 or kind not in SETS or "cut" in SETS[kind].option_names
                system = _lowered(model, kind, cut if cuts else (), point)
                found[kind, system.set.options.get("body_point", "")] = system
            except KinegradError as error:
                found[kind, point or ""] = error
    if not any(isinstance(system, System) for system in found.values()):
        raise next(iter(found.values()))
    return found


def _lowered(model: Model, kind: str, cut: Collection[str], body_point: str | None) -> System:
    options = {"cut": tuple(cut) or None, "body_point": body_point}
    return lower(model, kind, **{name: value for name, value in options.items() if value is not None})


def _points(system: System) -> list[str]:
    """Names of the points that move."""
    found = [
        name
        for name in system.markers
        if not name.startswith(f"{names.GROUND}.")
        and not isinstance(names.find_marker(system.model, name)[1], VectorMarker)
    ]
    if not found:
        raise KinegradError("No body has a point marker, so there is nothing to compare; give the bodies markers.")
    return found


@dataclass(frozen=True)
class Trial:
    """A row before it is compared: where the points are at the end, and how well that is known.

    `problem` tells why there are none: `refused` when the combination does not apply to the model, else it failed.
    """

    about: dict
    points: np.ndarray | None = None
    error: float | None = None
    cost: dict | None = None
    problem: str | None = None
    refused: bool = False


def _begin(model: Model, systems: dict, start):
    """Where all combinations start: what is found by a name is found once, in joint coordinates if the model has these."""
    name = model.simulation.start if start is None else start
    if name not in ("assembly", "equilibrium"):
        return start
    found = [system for system in systems.values() if isinstance(system, System) and system.kind == "joint"]
    try:
        system = found[0] if found else lower(model, "joint")
        return assemble(system) if name == "assembly" else equilibrium(system)
    except KinegradError:
        return start  # each combination tells by itself


def _trials(ways: Sequence[tuple], points: Sequence[str], times: dict, start) -> Iterator[Trial]:
    """A trial for each combination of a system and a pair."""
    for (kind, point), system, (formulation, integrator) in ways:
        chosen = {"formulation": formulation.type, "integrator": integrator.type}
        about = {"coordinates": kind, "body_point": point, **chosen}
        try:
            if not isinstance(system, System):
                raise system
            yield Trial(about, **_run(system, formulation, integrator, points, start, **times))
        except KinegradError as error:
            refused = not isinstance(error, SimulationError)
            yield Trial(about, problem=error.problems[0].sentence, refused=refused)


def _run(system: System, formulation, integrator, names: Sequence[str], start, step: float, t_end: float) -> dict:
    """The points by half the step, and the error that the whole step shows they have left.

    With error control, half the step is the tolerance divided by 2 to the power of the order.  What a penalty leaves is
    in proportion to its inverse, so twice the penalty shows it.
    """
    formulation, integrator = _valued(formulation, system), _valued(integrator, system)
    adaptive = scheme_for(system, formulation, integrator).adaptive
    finer, half = integrator, step / 2.0
    if adaptive:
        finer, half = integrator.with_(tolerance=integrator.tolerance / 2.0**integrator.order), step

    def points(motion):
        end = motion.at_end()
        return np.array([end[name].position for name in names])

    def run(formulation, integrator, h):
        # all states of fixed steps, for their energies; with error control an interval would shorten the steps
        kept = t_end if adaptive else h
        return simulate(system, formulation, integrator, step=h, t_end=t_end, output_step=kept, start=start)

    coarse = points(run(formulation, integrator, step))
    motion = run(formulation, finer, half)
    x = points(motion)
    error = _distance(x, coarse) / (2.0**integrator.order - 1.0)
    if "penalty" in type(formulation).model_fields:
        twice = formulation.with_(penalty=2.0 * formulation.penalty)
        stiffer = points(run(twice, finer, half))
        error += 2.0 * _distance(x, stiffer)
    cost = {
        "energy_drift": motion.energies.drift,
        "max_constraint": float(motion.constraint_violation[:, 0].max()),
        "iterations": float(motion.iterations.sum()) / len(motion.hs),
        "us_per_step": motion.us_per_step,
    }
    return {"points": x, "error": error, "cost": cost}


def _valued(element, system: System):
    """A formulation or integrator with numbers in the place of expressions in parameters."""
    given = {name: x for name, x in numbers(element, system).items() if isinstance(getattr(element, name), Expression)}
    return element.with_(**given) if given else element


def _distance(x: np.ndarray, y: np.ndarray) -> float:
    """The largest distance of two points that should be one."""
    return float(np.linalg.norm(x - y, axis=1).max())


def judged(trials: Sequence[Trial]) -> tuple[ComparisonRow, ...]:
    """Each trial beside the one with the smallest error."""
    best = min((trial for trial in trials if trial.points is not None), key=lambda trial: trial.error, default=None)
    rows = []
    for trial in trials:
        difference, agrees = None, None if trial.refused else False
        if trial.points is not None:
            difference = _distance(trial.points, best.points)
            agrees = difference <= FACTOR * (trial.error + best.error) + FLOOR
        judgement = {"error": trial.error, "difference": difference, "agrees": agrees}
        rows.append(ComparisonRow(**trial.about, **judgement, **trial.cost or {}, problem=trial.problem))
    return tuple(rows)
