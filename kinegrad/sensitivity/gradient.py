"""gradient: the derivative of objectives of a whole simulation, by direct differentiation or discrete adjoint."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from kinegrad.errors import DerivativeWarning, KinegradError
from kinegrad.kernels.products import LINEARISE, PULLBACK, TIME
from kinegrad.kernels.status import OK
from kinegrad.kinematics.start import StartDerivatives
from kinegrad.memory import require
from kinegrad.motion import Motion
from kinegrad.quiet import without_warnings
from kinegrad.sensitivity.passages import times_without_meaning
from kinegrad.simulate import explanation, simulate, state_size, times_that_follow

METHODS = ("direct", "discrete-adjoint")
#: Newton tolerance [of positions] under a gradient: accelerations, and multipliers with them, are known to this divided by
#: βh² only.  At 1e-13 the gradient of the slider-crank is off by up to 3e-7, at 1e-16 by 1e-10; steps that meet rounding
#: before the tolerance end there.
TIGHT = 1e-16
ROUNDS = 100  # iterations allowed, at least
SEGMENTS = 50
CALLER = 5  # frames between a warning and whoever called `gradient`
MOMENTS = 200  # times at which a history is kept


@dataclass(frozen=True)
class Gradient:
    """Derivatives of objectives by parameters.

    Attributes
    ----------
    values : dict objective -> value
    wrt : tuple of str
        Labels of the independent parameters.
    matrix : (objectives, parameters) array
    by_slot : (objectives, slots) array or None
        Discrete adjoint: the derivative by every slot of the model.
    cpu_s : float
        Processor time of everything, the simulation included.
    simulation_cpu_s : float
        Processor time of the plain simulation the motion came from.
    history_t : (k,) array or None
        With `history`: times.
    no_meaning : dict parameter -> time
        Parameters with other values of which the mechanism would not pass a singular position that it passes at this time:
        there is no derivative by them.
    history : (k, objectives, parameters) array or None
        With `history`: the gradient of the integrals up to these times; NaN for objectives taken at the end.
    """

    method: str
    values: dict
    wrt: tuple[str, ...]
    matrix: np.ndarray
    motion: Motion
    cpu_s: float
    simulation_cpu_s: float
    by_slot: np.ndarray | None = None
    history_t: np.ndarray | None = None
    history: np.ndarray | None = None
    no_meaning: dict = field(default_factory=dict)
    slots_without_meaning: np.ndarray | None = None

    def __getitem__(self, key: tuple[str, str]) -> float:
        objective, parameter = key
        return float(self.matrix[list(self.values).index(objective), self.wrt.index(parameter)])

    def by_number(self) -> dict[str, dict[str, float]]:
        """Derivatives by every number of the model, by its path (discrete adjoint); NaN where there is none (`no_meaning`)."""
        if self.by_slot is None:
            raise KinegradError("Derivatives by every number come with method='discrete-adjoint', every_slot=True.")
        system = self.motion.system
        J = system.slots.field_jacobian(system.rho)
        nothing = ~np.isnan(self.slots_without_meaning) if self.slots_without_meaning is not None else None
        lost = J.pull(nothing.astype(float)) != 0.0 if nothing is not None and nothing.any() else None
        return {
            name: dict(
                zip(
                    system.slots.field_paths,
                    np.where(False if lost is None else lost, np.nan, J.pull(row)).tolist(),
                    strict=True,
                )
            )
            for name, row in zip(self.values, self.by_slot, strict=True)
        }

    def as_dict(self) -> dict[str, dict]:
        """{objective: {parameter: value}}; a list of values for a parameter that is a list and is there as a whole."""
        parameters = self.motion.system.parameters
        bases = dict.fromkeys(label.partition("[")[0] for label in self.wrt if "[" in label)
        whole = {base for base in bases if set(parameters.expand(base)) <= set(self.wrt)}
        out = {}
        for i, name in enumerate(self.values):
            row: dict = {}
            for label, value in zip(self.wrt, self.matrix[i].tolist(), strict=True):
                base = label.partition("[")[0]
                if "[" in label and base in whole:
                    row.setdefault(base, []).append(value)
                else:
                    row[label] = value
            out[name] = row
        return out

    def plot(self, path: str | Path | None = None):
        """A matplotlib figure: relative sensitivities as bars and, with `history`, the gradient by time.

        It is also written to `path` when one is given (png, pdf or svg).
        """
        from kinegrad.plots import plot_gradient

        return plot_gradient(self, path)

    def _repr_html_(self) -> str:
        """A table for notebooks."""
        from kinegrad.display import gradient_html

        return gradient_html(self)


@without_warnings
def gradient(
    motion: Motion,
    *,
    wrt: Sequence[str] | None = None,
    method: str = "direct",
    progress: Callable[[float], None] | None = None,
    tighten: bool = True,
    every_slot: bool = False,
    history: bool = False,
) -> Gradient:
    """Gradient of the objectives of `motion` by the parameters `wrt` (default: the model's design).

    With `every_slot` a discrete adjoint also gives the derivatives by every number of the model (`Gradient.by_number`).
    With `history` direct differentiation also keeps how the gradient of integrals grows in time (`Gradient.history`).

    The simulation is run again with Newton iterations to rounding, unless `motion` was made so or `tighten` is False:
    the derivative is that of the discrete scheme, and an unconverged step would show in its seventh digit.
    """
    if method not in METHODS:
        raise KinegradError(f"{method!r} is no method; choose from {', '.join(METHODS)}.")
    if motion.formulation is None:
        raise KinegradError("A motion that was given or driven cannot be differentiated; simulate the model.")
    if history and method != "direct":
        raise KinegradError(f"history=True does not go with {method!r}, which runs backwards; use method='direct'.")
    system = motion.system
    labels = labels_of(system, wrt, every_slot)
    if not system.objectives:
        raise KinegradError("The model has no objectives to differentiate; add them under objectives.")
    every = times_that_follow(system, t_end=None, step=None, output_step=None)
    times = every if motion.follows is None else motion.follows
    names = system.parameters.independent if every_slot else labels
    check_held(system, names, times, motion.formulation, motion.integrator)
    clock = time.thread_time()
    run = motion
    wanted = min(TIGHT, motion.scheme.options["tolerance"])
    loose = motion.scheme.iterates and motion.scheme.options["tolerance"] > wanted
    if motion.stride > 1 or (tighten and loose) or not motion.scheme.complete:
        require_memory(len(motion.hs), motion.scheme)
        tight = {"tolerance": wanted, "max_iterations": max(ROUNDS, motion.formulation.max_iterations)}
        tight = {name: value for name, value in tight.items() if name not in motion.scheme.unused}
        formulation = motion.formulation.model_copy(update=tight)
        run = simulate(
            system,
            formulation,
            motion.integrator,
            t_end=motion.t_end,
            step=motion.step,
            output_step=motion.step,
            s=motion.s,
            guess=motion.q[0],
        )
    extra = 0.0 if run is not motion else motion.cpu_s
    ds = system.directions(labels)
    course: list[tuple[float, np.ndarray]] | None = [] if history else None
    if method == "direct":
        matrix, by_slot = _direct(run, ds, progress, course), None
    else:
        wanted = None if every_slot else ds.any(axis=0)
        by_slot = _adjoint(run, wanted, progress)
        matrix = by_slot @ ds.T
    check_finite(system, labels, matrix, by_slot if every_slot else None)
    no_meaning, slots = _without_meaning(run, labels, ds)
    return Gradient(
        method=method, values=dict(run.objectives), wrt=labels, matrix=matrix, motion=run,
        cpu_s=time.thread_time() - clock + extra, simulation_cpu_s=motion.cpu_s, by_slot=by_slot if every_slot else None,
        history_t=np.array([t for t, _ in course]) if history else None,
        history=np.array([values for _, values in course]) if history else None,
        no_meaning=no_meaning, slots_without_meaning=slots if every_slot else None,
    )  # fmt: skip


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


def require_memory(steps: int, scheme) -> None:
    """Raises when the memory does not hold all states of a run, which a gradient needs."""
    what = f"A gradient needs every state of the run, and keeping {steps + 1} of them"
    require((steps + 1) * state_size(scheme.row_size), what, "simulate a shorter time, or in larger steps")


def _without_meaning(run: Motion, labels: Sequence[str], ds: np.ndarray) -> tuple[dict[str, float], np.ndarray]:
    """Parameters by which there is no derivative, with the time that tells why, and the same by slot (SEN-1), with warnings."""
    times, slots, passed = times_without_meaning(run, ds)
    if passed and run.formulation.type == "matrix-r":
        sentence = (
            f"The motion passes a singular position at t = {passed[0]:.6g} s, near which the independent coordinates of "
            "matrix-r keep half of their digits: its derivatives may be good to three digits only; use ali3p or index1."
        )
        warnings.warn(sentence, DerivativeWarning, stacklevel=CALLER)
    no_meaning = {label: float(t) for label, t in zip(labels, times, strict=True) if not np.isnan(t)}
    if no_meaning:
        names, t = ", ".join(map(repr, no_meaning)), min(no_meaning.values())
        sentence = (
            f"The derivative by {names} means nothing: at t = {t:.6g} s the mechanism passes a singular position that it would "
            "not pass with another value of it."
        )
        warnings.warn(sentence, DerivativeWarning, stacklevel=CALLER)
    return no_meaning, slots


def _share(progress, first: float, last: float):
    """A progress callable for one part of the work."""
    return None if progress is None else lambda fraction: progress(first + (last - first) * fraction)


def labels_of(system, wrt: Sequence[str] | None, none_is_fine: bool = False) -> tuple[str, ...]:
    """Labels of independent parameters; lists are expanded."""
    names = list(system.model.design) if wrt is None else list(wrt)
    if not names and not none_is_fine:
        raise KinegradError("No parameters to differentiate by: name them (wrt, --wrt), or list them under design.")
    labels = [label for name in names for label in system.parameters.expand(name)]
    derived = [label for label in labels if label not in system.parameters.independent]
    if derived:
        raise KinegradError(f"{derived[0]!r} is derived from other parameters; differentiate by those.")
    return tuple(labels)


#: options whose value does not show in a gradient: it is that of converged iterations and of the steps that were accepted
HARMLESS = ("type", "tolerance", "max_iterations")


def check_held(system, labels: Sequence[str], times: dict, formulation, integrator) -> None:
    """Refuses parameters on which times of the simulation, given by name, or options of a formulation or an integrator
    depend: a run is differentiated with these held."""
    held = {f"simulation.{name}": value for name, value in times.items()}
    for kind, element in (("formulation", formulation), ("integrator", integrator)):
        names = [name for name in type(element).model_fields if name not in HARMLESS]
        held |= {f"simulation.{kind}.{name}": getattr(element, name) for name in names}
    for path, value in held.items():
        behind = system.parameters.behind(value)
        moved = [label for label in labels if label in behind]
        if moved:
            name = path.rpartition(".")[2]
            option = f"give --{name.replace('_', '-')} ({name}=... in Python)" if name in times else "write it"
            raise KinegradError(
                f"{path} is {str(value)!r} and follows the parameter {moved[0]!r}: a run is differentiated with its times and "
                f"options held, so the derivative by {moved[0]!r} is not available; {option} as a number."
            )


def _final(system) -> np.ndarray:
    return np.array([kind == "final" for kind in system.objectives.values()], np.bool_)


def _start_weights(motion: Motion, final: np.ndarray) -> np.ndarray:
    return np.where(final, 0.0, motion.scheme.start_weight(motion.hs))


def _at_start(motion: Motion, work) -> StartDerivatives:
    motion.scheme.resume(work, motion.traj[0])
    work["v"][:], work["a"][:] = work["vp"], work["ap"]
    work["par"][TIME] = motion.ts[0]
    return StartDerivatives(motion.system, work, motion.scheme.compliance)


def _failed(motion: Motion, status: int, step: int) -> KinegradError:
    return KinegradError("Gradient: " + explanation(status, motion.ts[step], motion.step, motion.formulation))


def _direct(motion: Motion, ds: np.ndarray, progress, course: list | None = None) -> np.ndarray:
    """(o, p) derivatives by the directions ds (ALI-3, MR-3); what they are on the way is added to `course`."""
    system, scheme = motion.system, motion.scheme
    final = _final(system)
    work = system.workspace(ds=ds, s=motion.s)
    begin = _at_start(motion, work)
    q, v, a = begin.direct()
    n = system.n
    grad = np.zeros((len(final), len(ds)))
    for o, weight in enumerate(_start_weights(motion, final)):
        g_q, g_s = work["g_z"][o, :n], work["g_z"][o, n:]
        grad[o] = weight * (g_q @ q + work["g_v"][o] @ v + work["g_a"][o] @ a + g_s)
    state = scheme.start_state(work, q, v, a)
    fn = work.functions(LINEARISE)
    if course is not None:
        course.append((motion.ts[0], np.where(final[:, None], np.nan, 0.0 * grad)))
    for first, last in pieces(len(motion.hs), progress, course):
        after = float(motion.hs[last]) if last < len(motion.hs) else 0.0
        status, step = scheme.direct(
            work, fn, motion.ts[first : last + 1], motion.hs[first:last], after, final,
            motion.traj[first : last + 1], motion.flags[first:last], state, grad,
        )  # fmt: skip
        work.check_calls()
        if status != OK:
            raise _failed(motion, status, first + step)
        if course is not None:
            done = last == len(motion.hs)
            course.append((motion.ts[last], grad.copy() if done else np.where(final[:, None], np.nan, grad)))
        if progress:
            progress(last / len(motion.hs))
    return grad


def _adjoint(motion: Motion, wanted: np.ndarray | None, progress) -> np.ndarray:
    """(o, slots) derivatives by the wanted slots, or by all (ALI-4, MR-4)."""
    system, scheme = motion.system, motion.scheme
    final = _final(system)
    work = system.workspace(s=motion.s, wanted=wanted)
    state = scheme.empty_state(len(final))
    fn = work.functions(LINEARISE, PULLBACK)
    for first, last in reversed(pieces(len(motion.hs), progress)):
        after = float(motion.hs[last]) if last < len(motion.hs) else 0.0
        status, step = scheme.adjoint(
            work, fn, motion.ts[first : last + 1], motion.hs[first:last], after, final,
            motion.traj[first : last + 1], motion.flags[first:last], state,
        )  # fmt: skip
        work.check_calls()
        if status != OK:
            raise _failed(motion, status, first + step)
        if progress:
            progress(1.0 - first / len(motion.hs))
    begin = _at_start(motion, work)
    begin.adjoint(*scheme.start_adjoint(work, state, len(final)), _start_weights(motion, final))
    return work["psi_s"].copy()


def pieces(steps: int, progress, course=None) -> list[tuple[int, int]]:
    """Ranges of steps in which a sweep is done: one, or many when its progress or its course is asked for."""
    size = steps if progress is None or steps <= 2000 else -(-steps // SEGMENTS)
    if course is not None:
        size = -(-steps // MOMENTS)
    return [(first, min(first + size, steps)) for first in range(0, steps, size)]
