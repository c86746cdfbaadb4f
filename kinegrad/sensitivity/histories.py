"""Derivatives of quantities over time: what `Gradient.states` gives (SEN-2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kinegrad.coordinates.sets import lower
from kinegrad.errors import KinegradError, place_of
from kinegrad.kernels.formulations.objectives import Kinds
from kinegrad.objectives import at_end
from kinegrad.quiet import without_warnings
from kinegrad.sensitivity.direct import Sweep
from kinegrad.sensitivity.gradient import check_held, states_of, tell_meaningless
from kinegrad.sensitivity.states import AllStates
from kinegrad.sensitivity.sweeps import size_of_pieces, tell_unsettled
from kinegrad.simulate import simulate
from kinegrad.times import times_that_follow

if TYPE_CHECKING:
    from kinegrad.sensitivity.result import Gradient


@dataclass(frozen=True, eq=False, repr=False)
class StateSensitivities:
    """Derivatives of quantities at times by parameters.

    Attributes
    ----------
    t : (k,) array
    signals : tuple of str
        The expressions.
    wrt : tuple of str
        Labels of the independent parameters.
    derivatives : (k, signals, parameters) array
    """

    t: np.ndarray
    signals: tuple[str, ...]
    wrt: tuple[str, ...]
    derivatives: np.ndarray

    def __getitem__(self, key: tuple[str, str]) -> np.ndarray:
        """(k,) derivatives of a signal by a parameter."""
        signal, parameter = key
        row, column = place_of(signal, self.signals, "signal"), place_of(parameter, self.wrt, "parameter")
        return self.derivatives[:, row, column]

    def __repr__(self) -> str:
        return f"<StateSensitivities of {', '.join(self.signals)} by {', '.join(self.wrt)} at {len(self.t)} times>"


@without_warnings
def states(gradient: Gradient, signals: Sequence[str]) -> StateSensitivities:
    """Derivatives of `signals` over time: the sweep of direct differentiation, with them as values at the end of each piece."""
    motion = gradient.motion
    if getattr(motion, "formulation", None) is None:
        raise KinegradError(
            "Derivatives over time are those of a simulated motion; of one by drivers take kg.inverse(...)."
        )
    signals = (signals,) if isinstance(signals, str) else tuple(signals)
    if not signals or not gradient.wrt:
        raise KinegradError("states() needs a signal, such as 'arm.tip.x', and a gradient by parameters (wrt).")
    if not np.array_equal(motion.s, motion.system.s):
        raise KinegradError(
            "Derivatives over time need a motion with the slots of its parameters, and this one was given others."
        )
    system = _with_signals(motion.system, signals)
    run = simulate(
        system, motion.formulation, motion.integrator, t_end=motion.t_end, step=motion.step, start=motion.start,
        output_step=motion.output_step if motion.scheme.adaptive else motion.interval or motion.step,
        solver=motion.system.solver, guess=motion.q[0],
    )  # fmt: skip
    course, ds = states_of(run, True, None), system.directions(gradient.wrt)
    kinds = at_end(len(system.objectives))
    sweep = Sweep(course.motion, ds, kinds)
    times, found = [0.0], [sweep.at_start()]
    for piece in course.forwards(size_of_pieces(course.steps, None, found)):
        times.append(float(course.motion.ts[piece.last]))
        found.append(_at_end_of(sweep, piece, kinds))
    return StateSensitivities(np.array(times), signals, gradient.wrt, np.array(found)[:, -len(signals) :])


def derivatives_at(motion, labels: Sequence[str], rows: Sequence[int]) -> np.ndarray:
    """(k, o, p) derivatives of what the objectives of a motion take at the end, or integrate, at some of its states.

    Parameters
    ----------
    motion : Motion
        One that kept every step, converged as far as derivatives need it.
    rows : increasing numbers of states
    """
    system = motion.system
    times = (
        times_that_follow(system, t_end=None, step=None, output_step=None) if motion.follows is None else motion.follows
    )
    check_held(system, labels, times, motion.formulation, motion.integrator)
    course, ds = AllStates(motion), system.directions(labels)
    kinds = at_end(len(system.objectives))
    sweep = Sweep(motion, ds, kinds)
    found = np.array(list(sweep.at_ends(course, [int(row) for row in rows])))
    tell_unsettled(sweep.work, course.steps)
    tell_meaningless(course, labels, system.derivatives(labels))
    sweep.work.give_back()
    return found


def _at_end_of(sweep: Sweep, piece, kinds: Kinds) -> np.ndarray:
    """(o, p) derivatives at the end of a piece, all objectives taken as values there."""
    sweep.grad[:] = 0.0
    sweep.over(piece._replace(segment=piece.segment._replace(after=0.0, kinds=kinds)))
    return sweep.grad.copy()


def _with_signals(system, signals: tuple[str, ...]):
    """The same system with signals behind its objectives, which stay, since steps may end at their times."""
    model = system.model.copy()
    model.objectives = {**model.objectives, **{f"signal_{k}": {"final": text} for k, text in enumerate(signals)}}
    values = dict(zip(system.parameters.independent, system.rho.tolist(), strict=True))
    same = lower(model.check(), system.kind, values=values, **system.set.options)
    if same.coordinates != system.coordinates:
        raise KinegradError(
            f"With the signals {', '.join(signals)} the model has other coordinates than the motion; use them in an objective "
            "or a measure of the model, and simulate it again."
        )
    return same
