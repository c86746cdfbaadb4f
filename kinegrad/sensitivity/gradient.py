"""gradient: the derivative of objectives of a whole simulation, by direct differentiation or discrete adjoint."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from itertools import chain

import numpy as np

from kinegrad.coordinates.system import System
from kinegrad.errors import DerivativeWarning, KinegradError
from kinegrad.expressions.maps import Jacobian
from kinegrad.jumps import arguments, parameters_of
from kinegrad.memory import half_of_free
from kinegrad.motion import Motion
from kinegrad.program import TIGHT, program_behind, program_of
from kinegrad.quiet import without_warnings
from kinegrad.recorders import state_size
from kinegrad.remembered import remembered
from kinegrad.sensitivity.end_time import end_terms
from kinegrad.sensitivity.method import Method, Wanted
from kinegrad.sensitivity.methods import method_of
from kinegrad.sensitivity.pulled_apart import combinations, pulled_apart, refuse_apart, sentence
from kinegrad.sensitivity.result import Gradient
from kinegrad.sensitivity.states import MODEST, AllStates, RunAgain, start_again
from kinegrad.simulate import planned, simulate
from kinegrad.times import times_that_follow

CALLER = 5  # frames between a warning and whoever called `gradient`


@without_warnings
def gradient(
    motion: Motion | System,
    *,
    wrt: Sequence[str] | None = None,
    method: Method | str = "direct",
    progress: Callable[[float], None] | None = None,
    tighten: bool = True,
    every_slot: bool = False,
    history: bool = False,
    memory: float | None = None,
) -> Gradient:
    """Gradient of the objectives of `motion` by the parameters `wrt` (default: the model's design).

    Of a system instead of a motion it does the run itself, once, as the model's simulation section says.

    The method is an object, such as ``kg.Direct()`` or ``kg.DiscreteAdjoint(every_slot=True)``, or its name: "direct",
    "discrete-adjoint" or, for the same, "adjoint".  `every_slot` and `history` are the options of these objects, for names:
    the derivatives by every number of the model (`Gradient.by_number`), and the gradient of integrals up to each time, or by
    the adjoint that by changes from each time to the end (`Gradient.history`).

    A motion by drivers (`kinegrad.drive`) is differentiated at each instant, by "direct" or "adjoint".

    The simulation is run again with Newton iterations to rounding, unless `motion` was made so or `tighten` is False:
    the derivative is that of the discrete scheme, and an unconverged step would show in its seventh digit.

    `memory` [MB] limits what the states of that run may take.  Where they are more, the run is done again in pieces, with the
    same digits (sums of adjoints up to rounding), once more or as often as it takes (`Gradient.runs`).  By default the limit is
    64 MB for a motion with an output_step, and otherwise half of the memory that is free.
    """
    method = method_of(method, every_slot=every_slot, history=history)
    every_slot = method.every_slot
    if not isinstance(motion, Motion | System):
        raise KinegradError(
            f"gradient takes a motion, as kg.simulate gives it, or a system, as kg.joint does, and not {type(motion).__name__}."
        )
    if isinstance(motion, System):
        motion = run_for_gradient(motion) if tighten and method.exact else simulate(motion)
    if motion.formulation is None:
        by_drivers = getattr(motion.scheme, "gradient", None)
        if by_drivers is None:
            raise KinegradError(
                "A motion that was given, loaded or converted cannot be differentiated; simulate the model, or drive it."
            )
        if memory is not None:
            raise KinegradError("memory does not go with a motion by drivers, which has no states to find again.")
        return by_drivers(motion, wrt=wrt, method=method, progress=progress)
    system = motion.system
    labels, times = asked_for(motion, wrt, every_slot)
    clock = time.thread_time()
    states = states_of(motion, tighten and method.exact, memory)
    s_rho = system.derivatives(labels)
    found = method.run(states, Wanted(system, labels, progress)).times(states.correction())
    run = states.result()
    if run is not motion:
        run.follows = motion.follows
    more = end_terms(states.at_end(), times, labels)
    if more is not None:
        found = found._replace(matrix=found.matrix + more)
    check_finite(system, labels, found.matrix, found.by_slot)
    no_meaning, slots = tell_meaningless(states, labels, s_rho)
    lost = pulled_apart(motion, labels) if every_slot else []
    if lost:
        warnings.warn(sentence(motion, *lost), DerivativeWarning, stacklevel=CALLER - 1)
        no_meaning |= dict.fromkeys(lost, 0.0)
    extra = motion.cpu_s if states.motion is motion else 0.0
    return Gradient(
        method=method.name, values=dict(run.objectives), wrt=labels, matrix=found.matrix, motion=run,
        cpu_s=time.thread_time() - clock + extra, simulation_cpu_s=motion.cpu_s, by_slot=found.by_slot,
        history_t=None if found.course is None else np.array([t for t, _ in found.course]),
        history=None if found.course is None else np.array([values for _, values in found.course]),
        no_meaning=no_meaning, slots_without_meaning=slots if every_slot else None,
        apart=combinations(run) if every_slot else None, runs=round(states.runs, 3),
    )  # fmt: skip


def asked_for(motion: Motion, wrt: Sequence[str] | None, every_slot: bool) -> tuple[tuple[str, ...], dict]:
    """Labels of the parameters to differentiate by, and the times of the run that follow from parameters; refuses what a
    gradient cannot give.  Values of parameters change nothing of it, so what was asked once is remembered."""
    system, follows = motion.system, motion.follows
    names = (wrt,) if isinstance(wrt, str) else tuple(system.model.design if wrt is None else wrt)
    key = names, every_slot, follows is None or tuple(follows)

    def make():
        labels = labels_of(system, names, every_slot)
        if not system.objectives:
            raise KinegradError("The model has no objectives to differentiate; add them under objectives.")
        every = times_that_follow(system, t_end=None, step=None, output_step=None)
        times = every if follows is None else follows
        differentiated = system.parameters.independent if every_slot else labels
        check_held(system, differentiated, times, motion.formulation, motion.integrator)
        if not every_slot:
            refuse_apart(motion, labels)
        return labels, times

    return remembered(program_behind(motion).differentiated, key, make)


def states_of(motion: Motion, tighten: bool, memory: float | None) -> AllStates:
    """The states that a gradient of `motion` goes through, run again where iterations did not go to rounding or states lack;
    in pieces where they are more than `memory` MB."""
    program, scheme = program_behind(motion), motion.scheme
    loose = tighten and scheme.iterates and scheme.options["tolerance"] > TIGHT
    size = (len(motion.hs) + 1) * state_size(motion.scheme.row_size)
    limit = None if memory is None else _limit(memory)
    if not (motion.stride != 1 or loose or not motion.scheme.complete):
        return AllStates(motion)
    if loose:
        program = program.to_rounding
    if limit is None:
        limit = MODEST if motion.stride != 1 else half_of_free(size)
    if size > limit:
        return RunAgain(motion, program, limit)
    if motion.stride != 1:  # every state, at the same times
        how = program.formulation, program.integrator, motion.t_end, motion.step, motion.keeping_all
        program = program_of(motion.system, *how)
    again = {"s": motion.s, "guess": motion.q[0], "start": start_again(motion)}
    return AllStates(program.run(motion.system, **again, watch=False, caller=CALLER + 1), runs=1)


def _limit(memory: float) -> float:
    """Bytes from MB, checked."""
    try:
        value = float(memory)
    except (TypeError, ValueError):
        value = np.nan
    if not (np.isfinite(value) and value > 0.0):
        raise KinegradError(f"memory is {memory} MB; give a finite number of megabytes larger than zero.")
    return 1e6 * value


def run_for_gradient(system: System) -> Motion:
    """A run as the model's simulation section says, with Newton iterations to rounding: the one that a gradient needs."""
    program, system, start, guess = planned(system, caller=CALLER)
    program = program if program.times.stride != 1 else program.to_rounding
    return program.run(system, guess=guess, start=start, caller=CALLER)


def check_finite(system, labels: Sequence[str], matrix: np.ndarray, by_slot: np.ndarray | None) -> None:
    """Raises when a derivative is no number, by the name of the objective and of what it is differentiated by."""
    for names, values in ((labels, matrix), (system.slots.names, by_slot)):
        if values is not None and not np.isfinite(values).all():
            i, j = np.argwhere(~np.isfinite(values))[0]
            raise KinegradError(
                f"The derivative of the objective {list(system.objectives)[i]!r} by {names[j]!r} is infinite or not a number: "
                "numbers of the model are too large or too small, or an expression has no derivative on the way; change "
                "these, or differentiate by something else."
            )


def tell_meaningless(states: AllStates, labels: Sequence[str], s_rho: Jacobian) -> tuple[dict[str, float], np.ndarray]:
    """Parameters by which there is no derivative, with the time that tells why, and the same by slot (SEN-1), with warnings."""
    times, slots, passed = states.passages(s_rho)
    if not passed:
        return {}, slots
    _tell_loose(states.motion)
    if states.motion.formulation.type == "matrix-r":
        sentence = (
            f"The motion passes a singular position at t = {passed[0]:.6g} s, near which the independent coordinates of "
            "matrix-r keep half of their digits: its derivatives may be good to three digits only; use ali3p or index1."
        )
        warnings.warn(sentence, DerivativeWarning, stacklevel=CALLER)
    no_meaning = {labels[k]: float(times[k]) for k in np.flatnonzero(~np.isnan(times))}
    if no_meaning:
        names, t = ", ".join(map(repr, no_meaning)), min(no_meaning.values())
        sentence = (
            f"The derivative by {names} means nothing: at t = {t:.6g} s the mechanism passes a singular position that it would "
            "not pass with another value of it."
        )
        warnings.warn(sentence, DerivativeWarning, stacklevel=CALLER)
    return no_meaning, slots


def _tell_loose(motion: Motion) -> None:
    """Warn of a step so near to a singular position that its rows were held loosely (ALI-8)."""
    if motion.formulation.type != "ali3p":
        return
    steps = (motion.flags & motion.scheme.formulation.kernels.LOOSE).nonzero()[0]
    if not len(steps):
        return
    t = motion.ts[1 + int(steps[0])]
    sentence = (
        f"A step ends at t = {t:.6g} s so near to a singular position that its constraints were held loosely: derivatives may "
        "be good to two digits only; take a slightly different step."
    )
    warnings.warn(sentence, DerivativeWarning, stacklevel=CALLER + 1)


def labels_of(system, wrt: Sequence[str] | None, none_is_fine: bool = False) -> tuple[str, ...]:
    """Labels of independent parameters; lists are expanded."""
    names = [wrt] if isinstance(wrt, str) else list(system.model.design if wrt is None else wrt)
    if not names and not none_is_fine:
        raise KinegradError("No parameters to differentiate by: name them (wrt, --wrt), or list them under design.")
    labels = tuple(chain.from_iterable(map(system.parameters.expand, names)))
    if len(set(labels)) < len(labels):
        twice = next(label for label in labels if labels.count(label) > 1)
        raise KinegradError(f"The parameter {twice!r} is named twice (wrt, --wrt); keep one of them.")
    derived = frozenset(system.parameters.derived)
    if not derived.isdisjoint(labels):
        first = next(label for label in labels if label in derived)
        raise KinegradError(f"{first!r} is derived from other parameters; differentiate by those.")
    return labels


#: options whose value does not show in a gradient: it is that of converged iterations and of the steps that were accepted
HARMLESS = ("type", "tolerance", "max_iterations")


def check_held(system, labels: Sequence[str], times: dict, formulation=None, integrator=None) -> None:
    """Refuses parameters on which times of the simulation, given by name, the sharpness of objectives, or options of a
    formulation or an integrator depend: a run is differentiated with these held, but for its end (OBJ-5)."""
    for argument in arguments(system):
        moved = [label for label in labels if label in parameters_of(system, argument)]
        if moved:
            raise KinegradError(
                f"A jump is at the time where {str(argument)!r} is zero and follows the parameter {moved[0]!r}: a run is "
                f"differentiated with its times held, so the derivative by {moved[0]!r} is not available; write it as a "
                "number, or use smooth_step(x, w)."
            )
    held = {f"simulation.{name}": value for name, value in times.items() if name != "t_end"}
    objectives = {name: system.model.objectives.get(name) for name in system.objectives}
    held |= {f"objectives.{name}.sharpness": x.sharpness for name, x in objectives.items() if x is not None}
    for kind, element in (("formulation", formulation), ("integrator", integrator)):
        names = [name for name in getattr(type(element), "model_fields", ()) if name not in HARMLESS]
        held |= {f"simulation.{kind}.{name}": getattr(element, name) for name in names}
    for path, value in held.items():
        behind = system.parameters.behind(value)
        moved = [label for label in labels if label in behind] if behind else []
        if moved:
            name = path.rpartition(".")[2]
            option = f"give --{name.replace('_', '-')} ({name}=... in Python)" if name in times else "write it"
            raise KinegradError(
                f"{path} is {str(value)!r} and follows the parameter {moved[0]!r}: a run is differentiated with its times and "
                f"options held, so the derivative by {moved[0]!r} is not available; {option} as a number."
            )
