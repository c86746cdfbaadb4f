"""What a formulation offers to a scheme: its state in rows, steps and derivatives with any integrator of its families."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from kinegrad.coordinates.system import System
from kinegrad.coordinates.workspace import Workspace
from kinegrad.dynamics.integrator import Integrator
from kinegrad.kernels.formulations.arguments import Objectives, Segment, Steps, Variation
from kinegrad.kernels.prepared import Windows
from kinegrad.kernels.products import FREEDOMS, POSITION
from kinegrad.kinematics.start import row_sizes

DRIFTED = 1e-3  # of a row, in what it changes by when angles change by 1 and lengths by the size of the mechanism
EXACT = 1e-10  # in units of the model: rows of any length hold


class Formulation(ABC):
    """One formulation on one system, with an integrator.

    A row of a trajectory is the state, the other stages of the step that led to it, what the formulation keeps of its own, and
    what the integrator keeps.
    """

    #: integrators it goes with
    families: ClassVar[tuple[type[Integrator], ...]]
    #: why it does not go with the others
    why_not: ClassVar[str] = ""
    #: the one coordinate set that it takes; None: every one
    only: ClassVar[str | None] = None
    #: it names no entry of a matrix, so these need not be dense
    takes_fronts: ClassVar[bool] = False
    #: functions of the set that a simulation calls
    needs: tuple[int, ...]
    #: options that have no effect with explicit integrators
    unused_if_explicit: ClassVar[tuple[str, ...]] = ()
    #: it knows all that derivatives of a motion need beside its rows; not where the motion was read from a file
    complete = True
    #: attributes found by `begin` that derivatives need beside the rows
    found: tuple[str, ...] = ()
    #: `begin` finds all of these anew and leaves them in the arrays that compiled code was handed before; its steps and sweeps
    #: leave nothing in others
    stays_in_place: ClassVar[bool] = False
    #: ε of the constraint rows in the accelerations of the start; 0: they hold
    compliance = 0.0
    #: the module with its `direct` and `adjoint`
    derivatives: object

    def __init__(self, system: System, options: dict, integrator: Integrator, given: frozenset[str]):
        self.system, self.options, self.integrator, self.given = system, options, integrator, given

    # --- the state ---

    @property
    def integrated(self) -> int:
        """Number of coordinates that are integrated."""
        return self.system.n

    @property
    def size(self) -> int:
        """Numbers of one state or stage: q, v, a, lam if it is not said otherwise."""
        return 3 * self.system.n + self.system.m

    @property
    def own_size(self) -> int:
        """Numbers in a row behind the stages."""
        return 0

    def begin(self, work: Workspace) -> None:  # noqa: B027 (some have nothing to do)
        """Make ready for the first step, at the start that the workspace holds."""

    def begin_like(self, work: Workspace, other: Formulation) -> None:
        """`begin` where another one of its kind began, whose options differ in iterations alone."""
        self.begin(work)

    def acceleration(self, work: Workspace) -> np.ndarray:
        """The accelerations that a step starts from, in the coordinates that are integrated."""
        return work["ap"]

    def keep(self, work: Workspace, row: np.ndarray) -> None:
        """Fill `row` with the state that the workspace holds."""
        n, m, arrays = self.system.n, self.system.m, work.arrays
        for i, k in enumerate(("q", "vp", "ap")):
            row[i * n : (i + 1) * n] = arrays[k]
        row[3 * n : 3 * n + m] = arrays["lam"][:m]

    def resume(self, work: Workspace, row: np.ndarray) -> None:
        """Put the state of a row back into the workspace."""
        n, m = self.system.n, self.system.m
        work["q"][:], work["vp"][:], work["ap"][:] = row[:n], row[n : 2 * n], row[2 * n : 3 * n]
        work["lam"][:m] = row[3 * n : 3 * n + m]

    def go_back(self, work: Workspace, row: np.ndarray) -> None:
        """`resume` in a run that goes on: arrays of `memory` fit the row."""
        self.resume(work, row)

    @property
    def places(self) -> tuple[int, int, int, int, int]:
        """Where q, qd, qdd and lam begin in a row, and what is added to lam, or -1."""
        n = self.system.n
        return 0, n, 2 * n, 3 * n, -1

    def motion(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """q, qd, qdd, lam of rows, or of stages that begin with them."""
        n, m, (*first, at, more) = self.system.n, self.system.m, self.places
        parts = {name: rows[:, k : k + n] for name, k in zip(("q", "qd", "qdd"), first, strict=True)}
        lam = rows[:, at : at + m]
        return parts | {"lam": lam if more < 0 else lam + rows[:, more : more + m]}

    def memory(self, work: Workspace) -> list[np.ndarray]:
        """Arrays in which a step leaves something to the next one, beside its row."""
        return []

    def remark(self, work: Workspace) -> str:
        """A sentence, at the end of a run, on what makes a motion less accurate than its step says; empty if nothing does."""
        return ""

    @property
    def against_drift(self) -> str:
        """What helps where rows have drifted off zero."""
        return f"take {self.integrator.finer}, or another formulation"

    def rows_off(self, work: Workspace) -> str:
        """A sentence on the row that is farthest from zero at the end of a run, in its own length; empty where all hold."""
        m = self.system.m
        work["flag"][FREEDOMS] = 0
        work.call(POSITION)
        off = np.abs(work["Phi"][:m].real)
        part = off / row_sizes(self.system, work, m)
        if not part.max(initial=0.0) > DRIFTED:
            return ""
        worst = int(part.argmax())
        return (
            f"The constraints have drifted: {self.system.row_names[worst]!r} is off by {off[worst]:.2g} at the end, "
            f"{100.0 * part[worst]:.2g} % of what it changes by when the mechanism moves by its size; {self.against_drift}."
        )

    def singular_states(self, motion) -> np.ndarray | None:
        """Numbers of the states that steps found near a singular position; None if steps do not look."""
        return None

    # --- steps ---

    @abstractmethod
    def call(self, work: Workspace, fn, method, steps: Steps, objectives: Objectives) -> tuple:
        """The compiled entry that does steps by a method, `Implicit` or `Explicit`, and its arguments."""

    def steps(self, work: Workspace, fn, method, steps: Steps, objectives: Objectives) -> Callable[[int, int], tuple]:
        """Status and number of steps done, as a function of the first step and of the one behind the last."""
        return Windows(*self.call(work, fn, method, steps, objectives)).over

    @abstractmethod
    def allow_changes(self, work: Workspace, fn, objectives: Objectives) -> None:
        """Make ready for `settle`, at the start that the workspace holds and with arrays that stay."""

    @abstractmethod
    def settle(self, work: Workspace, t: float) -> int:
        """Status; the accelerations and multipliers of the state, and the integrands there, after slots or velocities have
        changed.  What is extrapolated from earlier steps is shifted with the accelerations."""

    def put_velocities(self, work: Workspace, v: np.ndarray) -> None:
        """Other velocities for the state that the workspace holds; `settle` has to follow."""
        work["v"][:] = work["vp"][:] = v

    # --- derivatives ---

    @abstractmethod
    def sweep(self, work: Workspace, fn, segment: Segment, variation: Variation) -> tuple:
        """Arguments of `direct`, which has one more, and of `adjoint`."""

    def direct(self, work: Workspace, fn, segment: Segment, variation: Variation, grad: np.ndarray) -> tuple:
        """Status and step; the variation is the derivative of the state and is carried on."""
        entry, arguments = self.direct_call(work, fn, segment, variation, grad)
        return entry(*arguments)

    def direct_call(self, work: Workspace, fn, segment: Segment, variation: Variation, grad: np.ndarray) -> tuple:
        """The compiled entry of `direct` and its arguments."""
        return self.derivatives.direct, (*self.sweep(work, fn, segment, variation), grad)

    def adjoint(self, work: Workspace, fn, segment: Segment, variation: Variation) -> tuple:
        """Status and step; the variation is the adjoint of the state and is carried back."""
        entry, arguments = self.adjoint_call(work, fn, segment, variation)
        return entry(*arguments)

    def adjoint_call(self, work: Workspace, fn, segment: Segment, variation: Variation) -> tuple:
        """The compiled entry of `adjoint` and its arguments."""
        return self.derivatives.adjoint, self.sweep(work, fn, segment, variation)

    def start_state(self, work: Workspace, q, v, a) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Derivatives of the integrated coordinates, their rates and accelerations from those of q, v, a (n, p)."""
        return q, v, a

    def start_adjoint(self, work: Workspace, q, v, a) -> tuple[np.ndarray, ...]:
        """Q, V, A (n, columns) at the start from the adjoints of what is integrated, and adjoints of Phi, Phid, Phidd
        (3, rows, columns)."""
        return q, v, a, np.zeros((3, self.system.m + len(self.system.freedoms), q.shape[1]))
