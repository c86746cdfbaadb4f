"""drive: a mechanism whose drivers leave no freedom, moved through time without dynamics (DRV-1 to DRV-3)."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from kinegrad.coordinates.system import System, Workspace
from kinegrad.errors import AssemblyError
from kinegrad.kernels.products import BIAS, FREEDOMS, OBSERVE, POSITION, TIME
from kinegrad.kinematics.start import close_position, evaluate, least_squares, place, refined
from kinegrad.kinematics.states import refuse_states, refuse_velocity_rows
from kinegrad.memory import require
from kinegrad.motion import Motion
from kinegrad.quiet import without_warnings
from kinegrad.simulate import given_time, time_grid
from kinegrad.statics.given import given_motion

LARGEST_CORRECTION = 0.2  # of the predicted position [m, rad]; beyond it the step is halved, not to change the branch
HALVINGS = 10
COMPATIBLE = 1e-8
KEPT, PASSED = 40, 4  # numbers beside the row of a state that is kept, and beside the objectives of each step


@without_warnings
def drive(
    system: System,
    *,
    t_end: float | None = None,
    step: float | None = None,
    output_step: float | None = None,
    progress: Callable[[float], None] | None = None,
    s: np.ndarray | None = None,
) -> Motion:
    """The motion that the drivers of `system` prescribe, from 0 to `t_end`.

    Position, velocity and acceleration problems are solved at each step, on the branch that the poses of the bodies choose
    at the start. `lam` are the multipliers of the equations of motion: what the motion asks for in forces. Times that are
    not given are those of the model's simulation section.
    """
    refuse_states(system, "a motion by drivers")
    refuse_velocity_rows(system, "A motion by drivers", "simulate the model")
    t_end, step = given_time(system, "t_end", t_end), given_time(system, "step", step)
    if output_step is not None or system.model.simulation.output_step is not None:
        output_step = given_time(system, "output_step", output_step)
    steps, stride = time_grid(t_end, step, output_step)
    _require_memory(system, len(steps), stride)
    hs = steps[: len(steps)]
    ts = np.append(np.arange(len(hs)) * step, t_end)
    work = system.workspace(s=s)
    work["par"][:] = 0.0
    place(system, work)
    clock = time.thread_time()
    driven = Driven(system, work)
    driven.begin()
    kept = sorted({*range(0, len(ts), stride), len(ts) - 1})
    number = work["q"].dtype
    rows = np.zeros((len(kept), 3 * system.n + system.m), number)
    iterations = np.zeros(len(kept) - 1, np.int64)
    values = np.zeros((len(ts), len(system.objectives)), number)
    row_of = {k: i for i, k in enumerate(kept)}
    for k, t in enumerate(ts):
        if k:
            count = driven.advance(ts[k - 1], t)
            iterations[min((k - 1) // stride, len(iterations) - 1)] += count
        work.call(OBSERVE)
        values[k] = work["g"]
        if k in row_of:
            rows[row_of[k]] = np.concatenate([work["q"], work["vp"], work["ap"], driven.multipliers()])
        if progress is not None:
            progress(k / len(hs))
    final = np.array([kind == "final" for kind in system.objectives.values()], bool)
    psi = np.where(final, values[-1], 0.5 * hs @ (values[1:] + values[:-1]))
    n = system.n
    motion = given_motion(
        system, ts[kept], (rows[:, : 3 * n], rows[:, 3 * n :]), s=work["s"].copy(), iterations=iterations,
        objectives=dict(zip(system.objectives, psi.tolist(), strict=True)), cpu_s=time.thread_time() - clock,
    )  # fmt: skip
    motion.extra["steps"], motion.extra["first_iterations"] = len(hs), driven.first
    return motion


def _require_memory(system: System, steps: int, stride: int) -> None:
    """Raises when the memory does not hold what is kept of so many steps."""
    kept = steps / stride + 2.0
    size = 8.0 * (kept * (2 * (3 * system.n + system.m) + KEPT) + steps * (PASSED + len(system.objectives)))
    require(size, f"Moving through {steps} steps", "take larger steps, or keep fewer states by a larger output_step")


class Driven:
    """A fully driven system on its way; q, vp, ap of the workspace are its state."""

    def __init__(self, system: System, work: Workspace):
        self.system, self.work = system, work
        self.first = 0

    def begin(self) -> None:
        """The state at t = 0; raises when something is left free."""
        self.first = close_position(self.system, self.work, "at t = 0 s")
        self.motion(0.0, check=True)

    def advance(self, t0: float, t: float, halvings: int = HALVINGS) -> int:
        """The state at t from that at t0; the number of iterations."""
        work, h = self.work, t - t0
        old = [work[name].copy() for name in ("q", "vp", "ap")]
        predicted = old[0] + h * old[1] + 0.5 * h * h * old[2]
        work["q"][:], work["par"][TIME] = predicted, t
        try:
            count = close_position(self.system, work, f"at t = {t:.6g} s")
            correction = np.abs(work["q"] - predicted).max(initial=0.0)
            if correction > LARGEST_CORRECTION:
                k = int(np.abs(work["q"] - predicted).argmax())
                raise AssemblyError(
                    f"The mechanism cannot be followed at t = {t:.6g} s: {self.system.coordinates[k]!r} jumps by "
                    f"{correction:.2g}. It comes to a position where two ways meet, or its drivers ask for too much."
                )
        except AssemblyError:
            if halvings == 0:
                raise
            for name, value in zip(("q", "vp", "ap"), old, strict=True):
                work[name][:] = value
            middle = 0.5 * (t0 + t)
            return self.advance(t0, middle, halvings - 1) + self.advance(middle, t, halvings - 1)
        self.motion(t)
        return count

    def motion(self, t: float, check: bool = False) -> None:
        """vp and ap at q in the workspace (DRV-2)."""
        system, work, m = self.system, self.work, self.system.m
        work["flag"][FREEDOMS] = 0
        work.call(POSITION)
        J = work["J"][:m].copy()
        rank = least_squares(J, work["Phi_t"][:m])[1] if m else 0
        if rank < system.n:
            raise AssemblyError(self._loose(t, J, system.n - rank, check))
        v = refined(J, -work["Phi_t"][:m])
        self._compatible(J @ v + work["Phi_t"][:m], v, t, "velocities")
        work["v"][:], work["vp"][:], work["ap"][:] = v, v, 0.0
        evaluate(system, work, f"at t = {t:.6g} s")
        work.call(BIAS)
        a = refined(J, -work["c"][:m])
        self._compatible(J @ a + work["c"][:m], a, t, "accelerations")
        work["a"][:], work["ap"][:] = a, a

    def _compatible(self, residual: np.ndarray, x: np.ndarray, t: float, what: str) -> None:
        worst = int(np.abs(residual).argmax())
        if abs(residual[worst]) > COMPATIBLE * max(1.0, np.abs(x).max()):
            raise AssemblyError(
                f"No {what} satisfy all constraints at t = {t:.6g} s: {self.system.row_names[worst]!r} is off by "
                f"{abs(residual[worst]):.3g}. A driver contradicts the other constraints."
            )

    def _loose(self, t: float, J: np.ndarray, count: int, check: bool) -> str:
        motion = np.abs(np.linalg.svd(J)[2][-1]) if len(J) else np.ones(self.system.n)
        name = self.system.coordinates[int(motion.argmax())]
        if check:
            return (
                f"The drivers leave {count} degrees of freedom of the mechanism ({name!r} is not determined); add drivers "
                "until none is left, or simulate it."
            )
        return (
            f"The drivers do not determine the motion at t = {t:.6g} s: {name!r} is free there, in a singular position. "
            "Drive another coordinate, or end before."
        )

    def multipliers(self) -> np.ndarray:
        """(m,) lam with M a + f + Phi_qᵀ lam = 0, of least norm (DRV-3)."""
        work, m = self.work, self.system.m
        return refined(work["J"][:m].T, -(work["M"] @ work["a"] + work["f"]))
