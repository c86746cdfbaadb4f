"""What a formulation with an integrator offers to `simulate` and to the sensitivities.

A scheme knows how a step is done and differentiated; trajectories are arrays of rows whose layout is its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from kinegrad.coordinates.system import System, Workspace
from kinegrad.dynamics.prepared import Prepared

#: values (k,) at the times (k,) and states q, qd, qdd, lam by name
Integrand = Callable[[np.ndarray, dict[str, np.ndarray]], np.ndarray]


def trapezoidal(hs: np.ndarray, g: np.ndarray) -> np.ndarray:
    """(steps,) integrals over steps hs from the values at their ends."""
    return 0.5 * hs * (g[1:] + g[:-1])


class Run(NamedTuple):
    """What a run leaves: times, sizes, iterations and flags of the steps done, and the rows kept with their times."""

    status: int
    ts: np.ndarray
    hs: np.ndarray
    iterations: np.ndarray
    flags: np.ndarray
    t: np.ndarray
    traj: np.ndarray
    cpu_s: float


class Scheme(ABC):
    """One formulation with one integrator on one system."""

    #: functions of the set that a simulation calls
    needs: tuple[int, ...]
    #: it iterates in a step, to the tolerance of the formulation
    iterates = True
    #: options of the formulation that have no effect with this integrator
    unused: tuple[str, ...] = ()
    #: options of the formulation that the user gave
    given: frozenset[str] = frozenset()
    #: it chooses its steps: it has a `run_adaptive`, which stands for `advance`
    adaptive = False
    #: it knows all that derivatives of a motion need beside its rows; not where the motion was read from a file
    complete = True
    #: attributes found by `begin` that derivatives need beside the rows
    found: tuple[str, ...] = ()
    #: ε of the constraint rows in the accelerations of the start; 0: they hold
    compliance = 0.0

    def __init__(self, system: System, options: dict):
        self.system = system
        self.options = options

    @property
    @abstractmethod
    def row_size(self) -> int:
        """Numbers in a row of a trajectory."""

    def begin(self, work: Workspace) -> None:  # noqa: B027 (many schemes have nothing to do)
        """Make ready for the first step, at the start that the workspace holds."""

    def remark(self) -> str:
        """A sentence on what makes a motion less accurate than its step says; empty if nothing does."""
        return ""

    def singular_states(self, motion) -> np.ndarray | None:
        """Numbers of the states that steps found near a singular position; None if steps do not look."""
        return None

    @abstractmethod
    def keep(self, work: Workspace, row: np.ndarray) -> None:
        """Fill `row` with the state that the workspace holds."""

    @abstractmethod
    def call(self, work: Workspace, fn, ts, hs, final, psi, g_last, stride, traj, iterations, flags) -> tuple:
        """The compiled entry that does steps, and its arguments: `traj[0]` is the state before the first of them."""

    def advance(self, work: Workspace, fn, ts, hs, final, psi, g_last, stride, traj, iterations, flags):
        """Status and number of steps done."""
        entry, arguments = self.call(work, fn, ts, hs, final, psi, g_last, stride, traj, iterations, flags)
        return entry(*arguments)

    def repeated(self, work: Workspace, fn, ts, hs, final, psi, g_last, traj, iterations, flags) -> Callable[[], tuple]:
        """`advance` with a stride of 1 as a function of nothing, to be called again and again; `restore` ends its use."""
        return Prepared(*self.call(work, fn, ts, hs, final, psi, g_last, 1, traj, iterations, flags))

    def load(self, work: Workspace, fn) -> None:
        """Compile, or load, what `advance` calls, without a step; the workspace holds the start."""
        no_numbers, no_counts = np.zeros(0), np.zeros(0, np.int64)
        self.advance(
            work, fn, np.zeros(1), no_numbers, np.zeros(0, np.bool_), no_numbers, no_numbers, 1,
            np.zeros((1, self.row_size)), no_counts, no_counts,
        )  # fmt: skip

    @abstractmethod
    def motion(self, traj: np.ndarray) -> dict[str, np.ndarray]:
        """q, qd, qdd, lam of the rows."""

    def integrals(self, ts: np.ndarray, hs: np.ndarray, traj: np.ndarray, integrand: Integrand) -> np.ndarray:
        """(steps,) integrals over the steps hs between the rows, by the rule that objectives are summed with: trapezoidal."""
        return trapezoidal(hs, integrand(ts, self.motion(traj)))

    @abstractmethod
    def direct(self, work: Workspace, fn, ts, hs, after, final, traj, flags, state, grad):
        """Status and step; `state` (list of blocks) is the derivative of the state and is carried on."""

    @abstractmethod
    def adjoint(self, work: Workspace, fn, ts, hs, after, final, traj, flags, state):
        """Status and step; `state` is the adjoint of the state and is carried back."""

    @abstractmethod
    def resume(self, work: Workspace, row: np.ndarray) -> None:
        """Put the state of a row back into the workspace."""

    def memory(self, work: Workspace) -> list[np.ndarray]:
        """Arrays in which a step leaves something to the next one, beside its row."""
        return []

    def restore(self, work: Workspace, row: np.ndarray, memory: list[np.ndarray]) -> None:
        """Go back to a state, so that the steps after it have the same digits: its row, and copies of the `memory` then."""
        self.resume(work, row)
        for array, value in zip(self.memory(work), memory, strict=True):
            array[...] = value

    @abstractmethod
    def allow_changes(self, work: Workspace, fn, final, psi, g_last) -> None:
        """Make ready for `settle`, at the start that the workspace holds and with arrays that stay."""

    @abstractmethod
    def settle(self, work: Workspace, t: float) -> int:
        """Status; the accelerations and multipliers of the state, and the integrands there, after slots or velocities have
        changed.  What is extrapolated from earlier steps is shifted with the accelerations."""

    def put_velocities(self, work: Workspace, v: np.ndarray) -> None:
        """Other velocities for the state that the workspace holds; `settle` has to follow."""
        work["v"][:] = work["vp"][:] = v

    @abstractmethod
    def start_weight(self, hs: np.ndarray) -> float:
        """Weight of the start in an integral over the steps hs, as far as the sweeps do not count it."""

    def start_state(self, work: Workspace, q, v, a) -> list[np.ndarray]:
        """Blocks of the derivative of the state from those of q, v, a (n, p) at the start."""
        return [blocks(q), blocks(v), blocks(a)]

    def start_adjoint(self, work: Workspace, state, columns: int):
        """Q, V, A (n, columns) at the start from the adjoint state, and adjoints of Phidd (rows, columns)."""
        rows = np.zeros((self.system.m + len(self.system.freedoms), columns))
        return *(unblocked(x, columns) for x in state), rows

    def empty_state(self, columns: int) -> list[np.ndarray]:
        """An adjoint state of zeros."""
        return [np.zeros(((columns + 3) // 4, self.system.n, 4)) for _ in range(3)]


def blocks(X: np.ndarray) -> np.ndarray:
    """(n, p) as (blocks of four, n, 4), filled up with zeros."""
    n, p = X.shape
    out = np.zeros(((p + 3) // 4, n, 4), X.dtype)
    for j in range(p):
        out[j // 4, :, j % 4] = X[:, j]
    return out


def unblocked(B: np.ndarray, columns: int) -> np.ndarray:
    """The inverse of `blocks`."""
    return np.ascontiguousarray(B.transpose(1, 0, 2).reshape(B.shape[1], 4 * B.shape[0])[:, :columns])
