"""compare: one model by every coordinate set, formulation and integrator, and whether they give one motion."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from kinegrad.coordinates.sets import lower
from kinegrad.coordinates.system import System
from kinegrad.errors import KinegradError
from kinegrad.model.model import Model
from kinegrad.quiet import without_warnings
from kinegrad.statics.assembly import assemble
from kinegrad.statics.equilibrium import equilibrium
from kinegrad.studies.compare.comparison import PLAIN, Comparison, ComparisonRow
from kinegrad.studies.compare.judgement import Judgement
from kinegrad.studies.compare.quantities import Derivatives, Points
from kinegrad.studies.compare.reasons import Reasons
from kinegrad.studies.compare.trials import Runs, Trial
from kinegrad.studies.compare.ways import Choices, Way
from kinegrad.times import given_time

QUICK = 250  # steps of a quick comparison
TRIED = 0.8  # of the work: what is done when all were tried, and reasons are looked for


@without_warnings
def compare(
    model: Model,
    *,
    coordinates: Sequence[str] | None = None,
    body_points: Sequence[str] | None = None,
    formulations: Sequence | None = None,
    integrators: Sequence | None = None,
    gradient: bool = False,
    wrt: Sequence[str] | None = None,
    objectives: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    quick: bool = False,
    cut: Collection[str] = (),
    step: float | None = None,
    t_end: float | None = None,
    start=None,
    solver: str | None = None,
    progress: Callable[[float], None] | None = None,
) -> Comparison:
    """`model` by every combination, at two steps each, and whether they give one motion, or one gradient.

    Each is run at `step` and at half of it (with error control: at the tolerance and at the tolerance divided by 2 to the
    power of the order).  The change of the points at the end, divided by ``2**order - 1``, is the error of the second run,
    and what a change of the penalty shows is added.  Two motions agree if their points are no farther apart than three
    times the sum of their errors and 1e-9 m.  Each is compared with the one whose error is smallest, of those with which more
    than half agree.  Where one fails or disagrees, further runs, each with one thing changed, look for the reason.

    Parameters
    ----------
    coordinates, body_points : lists of names, optional
        Coordinate sets (joint, reference-point, natural) and points at which the motion of bodies is taken (origin, com); all
        by default.  A set that has no such points is tried once.
    formulations, integrators : lists of names, or of objects such as ``kg.ALI3P(penalty=1e7)``, optional
        All by default.  A name stands for the options of the model where it has that one, else for the defaults.  Pairs
        that do not exist are left out unless both lists are given: then they are rows with the reason.  What a set does not
        take, and matrix-r beyond 300 coordinates, is left out unless formulations are given.
    gradient : bool
        Compare the gradients of the objectives in place of motions, relative to their size, 1e-8 counting as rounding.
    wrt, objectives, methods : lists of names, optional
        With `gradient`: parameters (the model's design by default), objectives (all) and methods of differentiation (all that
        differentiate the discrete scheme; two of them on one run have to give the same to 1e-8).
    quick : bool
        One implicit and one explicit integrator with each formulation, the body point of the model alone, and at most 250 steps
        unless `t_end` is given.
    cut : names of joints to cut in joint coordinates, before the rule chooses
    step, t_end : float, optional
        Times [s]; the model's simulation section says what they are when they are not given.
    start : as `kinegrad.simulate` takes it, optional
        Where all of them start.  An assembly or an equilibrium is found once, in joint coordinates, and converted, so that all
        are on one branch.
    solver : str, optional
        "dense", "fronts" or "auto", for all.
    progress : callable, optional
        Called with the fraction done.

    Raises
    ------
    KinegradError
        When every combination refuses the model.
    """
    _refuse_without_gradient(gradient, wrt=wrt, objectives=objectives, methods=methods)
    choices = Choices(coordinates, body_points, formulations, integrators, methods, cut, quick, gradient)
    ways, left_out = choices.ways(model)
    systems = [way.system for way in ways if isinstance(way.system, System)]
    times = {"step": given_time(systems[0], "step", step), "t_end": given_time(systems[0], "t_end", t_end)}
    if quick and t_end is None and times["t_end"] > QUICK * times["step"]:
        left_out.append(f"What comes after t = {QUICK * times['step']:g} s, of {times['t_end']:g} s, is left out.")
        times["t_end"] = QUICK * times["step"]
    quantity = Derivatives(systems[0], wrt, objectives) if gradient else Points(systems[0])
    runs = Runs(quantity, **times, start=_begin(model, systems, start), solver=solver)
    tell = progress or (lambda fraction: None)
    trials = []
    for way in ways:
        trials.append(runs.trial(way))
        tell(TRIED * len(trials) / len(ways))
    if all(trial.refused for trial in trials):
        first = [trial for trial in trials if trial.way.coordinates == ways[0].coordinates]
        raise KinegradError(*dict.fromkeys(trial.problem for trial in first))  # other sets say the same
    judgement = Judgement.of(trials, quantity)
    rows = _rows(ways, trials, judgement, runs, tell)
    best = None if judgement.reference is None else rows[judgement.reference]
    bound = max(quantity.fine * judgement.size, quantity.floor)
    tell(1.0)
    return Comparison(
        model.title, quantity.name, **times, rows=tuple(rows), best=best, bound=bound, unit=quantity.unit,
        left_out=tuple(left_out),
    )  # fmt: skip


def _refuse_without_gradient(gradient: bool, **given) -> None:
    for name, value in given.items():
        if value is not None and not gradient:
            raise KinegradError(f"{name} is for gradients; give gradient=True (--gradient) with it, or leave it out.")


def _begin(model: Model, systems: Sequence[System], start):
    """Where all combinations start: what is found by a name is found once, in joint coordinates if the model has these."""
    name = model.simulation.start if start is None else start
    if name not in ("assembly", "equilibrium"):
        return start
    found = [system for system in systems if system.kind == PLAIN]
    try:
        system = found[0] if found else lower(model, PLAIN)
        return assemble(system) if name == "assembly" else equilibrium(system)
    except KinegradError:
        return start  # each combination tells by itself


def _rows(ways: Sequence[Way], trials: Sequence[Trial], found: Judgement, runs: Runs, tell) -> list[ComparisonRow]:
    """Rows with verdicts, reasons and what they cost beside joint coordinates."""
    rows = []
    for k, (way, trial) in enumerate(zip(ways, trials, strict=True)):
        judged = {"error": found.errors[k], "difference": found.differences[k], "agrees": found.verdicts[k]}
        remarks = trial.look.remarks if trial.look is not None else ()
        rows.append(ComparisonRow(**way.about, **judged, **trial.cost, problem=trial.problem, remarks=remarks))
    plain: dict[tuple, float] = {}
    for row in rows:
        if row.coordinates == PLAIN and row.cpu_s is not None:
            plain.setdefault((row.formulation, row.integrator, row.method), row.cpu_s)
    reasons, wrong = Reasons(runs, trials, found), [k for k, row in enumerate(rows) if row.agrees is False]
    for i, k in enumerate(wrong):
        why = reasons.of(k)
        rows[k] = replace(rows[k], cause=why.cause, reason=why.sentence)
        tell(TRIED + (1.0 - TRIED) * (i + 1) / (len(wrong) + 1))
    for k, row in enumerate(rows):
        joint = plain.get((row.formulation, row.integrator, row.method))
        if joint and row.cpu_s is not None:
            rows[k] = replace(row, ratio=row.cpu_s / joint)
    return rows
