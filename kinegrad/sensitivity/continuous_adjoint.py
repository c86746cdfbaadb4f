"""Continuous adjoint: the adjoint of the equations of motion themselves, integrated back over the states of a run (CAD-1)."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

import numpy as np

from kinegrad.dynamics.acceleration_level import AccelerationLevel, rank_of_rows
from kinegrad.dynamics.scheme import unblocked
from kinegrad.errors import KinegradError
from kinegrad.jumps import grid_through, jump_times, stops_at
from kinegrad.kernels.formulations.acceleration_level import RANK, SOFT
from kinegrad.kernels.formulations.arguments import Variation
from kinegrad.kernels.formulations.objectives import SUM, Kinds
from kinegrad.kernels.products import BIAS, EVALUATE, FREEDOMS, LINEARISE, PULLBACK4
from kinegrad.kernels.status import OK
from kinegrad.memory import require
from kinegrad.motion import Motion
from kinegrad.reasons import explanation
from kinegrad.sensitivity.method import Derivatives, Method, Wanted
from kinegrad.sensitivity.states import AllStates, Piece
from kinegrad.sensitivity.sweeps import at_start, size_of_pieces, tell_unsettled


@dataclass(frozen=True)
class ContinuousAdjoint(Method):
    """The adjoint of the continuous motion, backwards: it converges to the discrete one with the order of the integrator.

    It is integrated by the classical Runge-Kutta method over motions of explicit integrators, and by the trapezoidal rule over
    those of the Newmark family, between the states of the run by cubics.

    Parameters
    ----------
    step : float, optional
        Its own time step [s]; by default it takes those of the run.
    every_slot : bool
        Also give the derivatives by every number of the model (`Gradient.by_number`).
    """

    name = "continuous-adjoint"
    exact = False
    step: float | None = None
    every_slot: bool = False

    def __post_init__(self):
        if self.step is not None and not (isinstance(self.step, Real) and np.isfinite(self.step) and self.step > 0.0):
            step = f"{self.step:g}" if isinstance(self.step, Real) else repr(self.step)
            raise KinegradError(f"The step of the continuous adjoint is {step}; give a finite number larger than zero.")

    def run(self, states: AllStates, wanted: Wanted) -> Derivatives:
        by_slot = self._adjoint(states, None if self.every_slot else wanted.s_rho.moved(), wanted.progress)
        return Derivatives(wanted.s_rho.pull(by_slot), by_slot if self.every_slot else None)

    def load(self, motion: Motion, wanted: Wanted) -> None:
        sweep = Sweep(motion, None, self.step, AllStates(motion).kinds)
        sweep.carry(*(np.zeros((0, motion.system.n)) for _ in range(3)), np.zeros(0), np.zeros(1))

    def _adjoint(self, states: AllStates, wanted: np.ndarray | None, progress) -> np.ndarray:
        """(o, slots) derivatives by the wanted slots, or by all."""
        sweep, steps = Sweep(states.motion, wanted, self.step, states.kinds), states.steps
        for piece in states.backwards(size_of_pieces(steps, progress)):
            sweep.back(piece)
            if progress:
                progress(1.0 - piece.first / steps)
        sweep.at_start()
        tell_unsettled(sweep.work, len(sweep.grid))
        return sweep.work["psi_s"].copy()


class Sweep:
    """The adjoints of q and v on the way back from the end, and those of the wanted slots, or of all."""

    def __init__(self, motion: Motion, wanted: np.ndarray | None, step: float | None, kinds: Kinds):
        from kinegrad.kernels.formulations.continuous_adjoint import Room

        system = motion.system
        self.motion, self.columns = motion, len(system.objectives)
        self.kinds = kinds
        if SUM in kinds.kind:
            name = list(system.objectives)[int(np.argmax(kinds.kind == SUM))]
            raise KinegradError(
                f"The continuous adjoint does not go with the objective {name!r}, a sum at times; take the discrete adjoint."
            )
        self.work = work = system.workspace(s=motion.s, wanted=wanted)
        self.grid = np.asarray(motion.ts, float) if step is None else own_grid(motion, step)
        self.top = len(self.grid) - 1  # the node at which the sweep is
        self.fn = work.functions(EVALUATE, BIAS, LINEARISE, PULLBACK4)
        size = (self.columns + 3) // 4, system.n, 4
        self.state = Variation(*(np.zeros(size) for _ in range(4)))
        rows = np.zeros((size[0], system.m, 4))
        self.room = Room(*(np.zeros((2, *size)) for _ in range(3)), np.zeros(size), rows)
        self.opts = self._options()
        self.behind: tuple | None = None

    def _options(self) -> np.ndarray:
        """Those of the equations at acceleration level: without stabilisation where the formulation has none."""
        motion, work, formulation = self.motion, self.work, self.motion.scheme.formulation
        if isinstance(formulation, AccelerationLevel):
            opts, scales = formulation.opts.copy(), formulation.scales
        else:
            motion.scheme.resume(work, motion.traj[0])
            work["v"][:], work["flag"][FREEDOMS] = work["vp"], 0
            work.call(EVALUATE)
            opts = np.zeros(6)
            opts[RANK], scales = rank_of_rows(work)
            if opts[RANK] < motion.system.m and not work["apart"].size:
                raise KinegradError(
                    f"The continuous adjoint chooses independent rows at every point, and {motion.system.m} constraint rows, "
                    "some of them redundant, are too many for that; use the discrete adjoint."
                )
        opts[SOFT] = -1.0
        for name, values in scales.items():
            work[name][:] = values
        work["sizes"][:] = 0.0
        return opts

    def back(self, piece: Piece) -> None:
        """Go back over the nodes of the grid for which states are known now."""
        segment = piece.segment
        states = self.motion.scheme.motion(segment.traj)
        course = [segment.ts, *(np.ascontiguousarray(states[name]) for name in ("q", "qd", "qdd"))]
        if self.behind is not None:  # it begins with the last of these states
            course = [np.concatenate([x[:-1], y]) for x, y in zip(course, self.behind, strict=True)]
        first = 0 if piece.first == 0 else int(np.searchsorted(self.grid, segment.ts[0]))
        if first < self.top:
            ts, q, v, a = course
            self.carry(q, v, a, ts, self.grid[first : self.top + 1], first)
            self.top = first
        kept = int(np.searchsorted(course[0], self.grid[self.top], side="left")) + 1
        self.behind = [x[:kept].copy() for x in course]

    def carry(self, q, v, a, ts: np.ndarray, nodes: np.ndarray, first: int = 0) -> None:
        """Carry the adjoints back over some nodes, the last of which is the one at which they are."""
        from kinegrad.kernels.formulations.continuous_adjoint import Course, Points, adjoint

        t = np.empty(2 * len(nodes) - 1)
        t[::2], t[1::2] = nodes, 0.5 * (nodes[1:] + nodes[:-1])
        place = np.clip(np.searchsorted(ts, t, side="right") - 1, 0, max(0, len(ts) - 2))
        below = float(nodes[0] - self.grid[first - 1]) if first > 0 else 0.0
        at_end = self.top == len(self.grid) - 1
        status, step = adjoint(
            self.fn, self.work.pointer, self.motion.system.m, self.motion.scheme.integrator.explicit,
            Course(ts, q, v, a, self.kinds), Points(t, place), at_end, below, self.opts, self.state, self.room,
        )  # fmt: skip
        self.work.check_calls()
        if status != OK:
            motion = self.motion
            raise KinegradError("Gradient: " + explanation(status, t[2 * step], motion.step, motion.formulation))

    def at_start(self) -> None:
        """Hand the adjoints over to what the start depends on."""
        begin, system = at_start(self.motion, self.work), self.motion.system
        Q, V = (unblocked(x, self.columns) for x in self.state[:2])
        rows = np.zeros((3, system.m + len(system.freedoms), self.columns))
        begin.adjoint(Q, V, np.zeros_like(Q), rows, np.zeros(self.columns))


def own_grid(motion: Motion, step: float) -> np.ndarray:
    """Times from 0 to the end in equal steps, of at most this size; where something jumps, just before and after it as the run
    has them, and equal steps in between."""
    end = float(motion.ts[-1])
    count = max(1.0, np.ceil(end / step * (1.0 - 1e-12)))
    if step > end * (1.0 + 1e-12):
        raise KinegradError(
            f"The step of the continuous adjoint is {step:g} s and the run ends at {end:g} s; make it smaller."
        )
    require(8.0 * count, f"A continuous adjoint of {count:.6g} steps", "make its step larger")
    jumps = jump_times(motion.system, end, motion.step)
    if not jumps:
        return np.linspace(0.0, end, 1 + int(count))
    return np.asarray(grid_through(stops_at(jumps, end, motion.step, motion.scheme.integrator), step), float)
