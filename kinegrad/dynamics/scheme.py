"""A formulation with an integrator: what `simulate` and the sensitivities use.

A scheme knows how a step is done and differentiated; trajectories are arrays of rows whose layout is its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from kinegrad.coordinates.system import System
from kinegrad.coordinates.workspace import Workspace
from kinegrad.dynamics.formulation import Formulation
from kinegrad.dynamics.integrator import Integrand, Integrator
from kinegrad.dynamics.run import Run
from kinegrad.kernels.formulations.arguments import Objectives, Segment, Steps, Variation

FIXED = np.zeros(0)  # no error control
Over = Callable[[int, int], tuple[int, int]]


class Pair(NamedTuple):
    """A formulation and an integrator that go together, before there is a system."""

    formulation: type[Formulation]
    integrator: type[Integrator]

    @property
    def adaptive(self) -> bool:
        """It chooses its steps: `run_adaptive` stands for `advance`."""
        return self.integrator.adaptive

    @property
    def unused(self) -> tuple[str, ...]:
        """Options of the formulation that have no effect with this integrator."""
        return self.formulation.unused_if_explicit if self.integrator.explicit else ()

    @property
    def iterates(self) -> bool:
        """It iterates in a step, to the tolerance of the formulation."""
        return "tolerance" not in self.unused


class Scheme:
    """One formulation with one integrator on one system.

    Parameters
    ----------
    options, of_integrator : dict
        Numbers by name.
    given : names of the options of the formulation that the user gave
    """

    def __init__(self, system: System, pair: Pair, options: dict, of_integrator: dict, given: frozenset[str]):
        self.system, self.pair = system, pair
        # one of the integrator that the formulation has too is called integrator_NAME
        self.options = options | {f"integrator_{k}" if k in options else k: x for k, x in of_integrator.items()}
        self.integrator = pair.integrator(of_integrator)
        self.formulation = pair.formulation(system, options, self.integrator, given)

    @property
    def adaptive(self) -> bool:
        """It chooses its steps."""
        return self.pair.adaptive

    @property
    def unused(self) -> tuple[str, ...]:
        """Options of the formulation that have no effect with this integrator."""
        return self.pair.unused

    @property
    def iterates(self) -> bool:
        """It iterates in a step, to the tolerance of the formulation."""
        return self.pair.iterates

    @property
    def needs(self) -> tuple[int, ...]:
        """Functions of the set that a simulation calls."""
        return self.formulation.needs

    @property
    def compliance(self) -> float:
        """ε of the constraint rows in the accelerations of the start; 0: they hold."""
        return self.formulation.compliance

    @property
    def row_size(self) -> int:
        """Numbers in a row of a trajectory."""
        kept = self.formulation.integrated if self.integrator.extended else 0
        return self.integrator.tableau.stages * self.formulation.size + self.formulation.own_size + kept

    def remark(self, work: Workspace) -> str:
        """A sentence, at the end of a run, on what makes a motion less accurate than its step says; empty if nothing does."""
        return self.formulation.remark(work)

    def singular_states(self, motion) -> np.ndarray | None:
        """Numbers of the states that steps found near a singular position; None if steps do not look."""
        return self.formulation.singular_states(motion)

    # --- runs that are repeated with other values of the parameters ---

    @property
    def stays_in_place(self) -> bool:
        """`begin` may follow `use` again and again; compiled code that was handed its arrays finds them in their place."""
        return self.formulation.stays_in_place

    def use(self, system: System) -> None:
        """Serve a system with other values of the parameters from the next `begin` on."""
        self.system = self.formulation.system = system

    def as_it_is(self) -> Scheme:
        """A scheme of its own for a motion, which keeps what `begin` has found for it."""
        integrator = _copied(self.integrator)
        return _copied(self, integrator=integrator, formulation=_copied(self.formulation, integrator=integrator))

    # --- what derivatives need beside the rows ---

    @property
    def complete(self) -> bool:
        """It is known; not where the motion was read from a file."""
        return self.formulation.complete

    def found(self) -> dict:
        """What `begin` found, for a scheme made in the same way."""
        return {name: getattr(self.formulation, name) for name in self.formulation.found if self.complete}

    def take(self, found: dict) -> None:
        """The reverse of `found`."""
        vars(self.formulation).update(found)

    # --- the state ---

    def begin(self, work: Workspace, like: Scheme | None = None) -> None:
        """Make ready for the first step, at the start that the workspace holds; as another scheme did, whose iterations alone
        are other ones."""
        if like is None or not like.complete:
            self.formulation.begin(work)
        else:
            self.formulation.begin_like(work, like.formulation)
        self.integrator.begin(self.formulation.acceleration(work))

    def keep(self, work: Workspace, row: np.ndarray) -> None:
        """Fill `row` with the state that the workspace holds."""
        self.formulation.keep(work, row)
        self.integrator.keep(row)

    def resume(self, work: Workspace, row: np.ndarray) -> None:
        """Put the state of a row back into the workspace."""
        self.formulation.resume(work, row)
        self.integrator.resume(row, self.formulation.acceleration(work))

    def memory(self, work: Workspace) -> list[np.ndarray]:
        """Arrays in which a step leaves something to the next one, beside its row."""
        return [*self.formulation.memory(work), *self.integrator.memory()]

    def restore(self, work: Workspace, row: np.ndarray, memory: list[np.ndarray]) -> None:
        """Go back to a state, so that the steps after it have the same digits: its row, and copies of the `memory` then."""
        self.formulation.go_back(work, row)
        self.integrator.resume(row, self.formulation.acceleration(work))
        for array, value in zip(self.memory(work), memory, strict=True):
            array[...] = value

    def motion(self, traj: np.ndarray) -> dict[str, np.ndarray]:
        """q, qd, qdd, lam of the rows."""
        return self.formulation.motion(traj)

    def independent(self, row: np.ndarray) -> tuple[str, ...]:
        """Names of what is integrated in the step that follows a row of a trajectory."""
        return self.formulation.independent(row)

    # --- steps ---

    def method(self, psi: np.ndarray, control: np.ndarray = FIXED):
        """The integrator for compiled steps."""
        allowed, coordinates = self.options.get("max_iterations", 0), self.formulation.integrated or self.system.n
        return self.integrator.method(allowed, coordinates, psi, control)

    def steps(self, work: Workspace, fn, steps: Steps, objectives: Objectives, control: np.ndarray = FIXED) -> Over:
        """Status and number of steps done, as a function of the first step and of the one behind the last; the workspace holds
        the state before the first one, and `restore` ends the use of this function."""
        return self.formulation.steps(work, fn, self.method(objectives.psi, control), steps, objectives)

    def load(self, work: Workspace, fn, objectives: Objectives) -> None:
        """Compile, or load, what `steps` calls, without a step; the workspace holds the start."""
        none = np.zeros(0, np.int64)
        row = np.zeros((1, self.row_size), objectives.psi.dtype)
        self.steps(work, fn, Steps(np.zeros(1), np.zeros(0), 1, row, none, none), objectives)(0, 0)

    def run_adaptive(self, work, fn, ends, step, interval, objectives, rows, progress, interrupts) -> Run:
        """The run to the last of `ends`, by all of them, with what `rows` keeps; `step` is the first one tried, and multiples
        of `interval` are met."""

        def advance(steps, control):
            return self.steps(work, fn, steps, objectives, control)(0, len(steps.hs))

        return self.integrator.run(advance, ends, step, interval, rows, progress, interrupts)

    def integrals(self, ts: np.ndarray, hs: np.ndarray, traj: np.ndarray, integrand: Integrand) -> np.ndarray:
        """(steps,) integrals over the steps hs between the rows, by the rule that objectives are summed with."""

        def values(times, rows):
            return integrand(times, self.motion(rows))

        return self.integrator.integrals(ts, hs, traj, self.formulation.size, values)

    def allow_changes(self, work: Workspace, fn, objectives: Objectives) -> None:
        """Make ready for `settle`, at the start that the workspace holds and with arrays that stay."""
        self.formulation.allow_changes(work, fn, objectives)

    def put_velocities(self, work: Workspace, v: np.ndarray) -> None:
        """Other velocities for the state that the workspace holds; `settle` has to follow."""
        self.formulation.put_velocities(work, v)

    def settle(self, work: Workspace, t: float) -> int:
        """Status; the accelerations and multipliers of the state, and the integrands there, after slots or velocities have
        changed.  What is extrapolated from earlier steps is shifted with the accelerations."""
        before = self.formulation.acceleration(work).copy()
        status = self.formulation.settle(work, t)
        self.integrator.shift(self.formulation.acceleration(work) - before)
        return status

    # --- derivatives ---

    def direct(self, work: Workspace, fn, segment: Segment, variation: Variation, grad: np.ndarray) -> tuple:
        """Status and step; the variation is the derivative of the state and is carried on."""
        return self.formulation.direct(work, fn, segment, variation, grad)

    def direct_call(self, work: Workspace, fn, segment: Segment, variation: Variation, grad: np.ndarray) -> tuple:
        """The compiled entry of `direct` and its arguments."""
        return self.formulation.direct_call(work, fn, segment, variation, grad)

    def adjoint(self, work: Workspace, fn, segment: Segment, variation: Variation) -> tuple:
        """Status and step; the variation is the adjoint of the state and is carried back."""
        return self.formulation.adjoint(work, fn, segment, variation)

    def adjoint_call(self, work: Workspace, fn, segment: Segment, variation: Variation) -> tuple:
        """The compiled entry of `adjoint` and its arguments."""
        return self.formulation.adjoint_call(work, fn, segment, variation)

    def start_weight(self, hs: np.ndarray) -> float:
        """Weight of the start in an integral over the steps hs, as far as the sweeps do not count it."""
        return self.integrator.start_weight(hs)

    def start_state(self, work: Workspace, q, v, a) -> Variation:
        """The derivative of the state from those of q, v, a (n, p) at the start."""
        return self._variation(*map(blocks, self.formulation.start_state(work, q, v, a)))

    def start_adjoint(self, work: Workspace, variation: Variation, columns: int):
        """Q, V, A (n, columns) at the start from the adjoint state, and adjoints of Phi, Phid, Phidd (3, rows, columns)."""
        q, v, a, x = variation
        total = a + x if self.integrator.extended else a
        return self.formulation.start_adjoint(work, *(unblocked(part, columns) for part in (q, v, total)))

    def empty_state(self, columns: int) -> Variation:
        """An adjoint state of zeros."""
        size = (columns + 3) // 4, self.formulation.integrated, 4
        return self._variation(*(np.zeros(size) for _ in range(3)))

    def _variation(self, q, v, a) -> Variation:
        return Variation(q, v, a, a.copy() if self.integrator.extended else a)


def _copied(thing, **changes):
    """An object like another, with arrays of its own."""
    found = object.__new__(type(thing))
    own = {name: x.copy() if isinstance(x, np.ndarray) else x for name, x in vars(thing).items()}
    vars(found).update(own, **changes)
    return found


def blocks(X: np.ndarray) -> np.ndarray:
    """(n, p) as (blocks of four, n, 4), filled up with zeros."""
    n, p = X.shape
    whole = np.zeros((n, -(-p // 4) * 4), X.dtype)
    whole[:, :p] = X
    return np.ascontiguousarray(whole.reshape(n, -(-p // 4), 4).transpose(1, 0, 2))


def unblocked(B: np.ndarray, columns: int) -> np.ndarray:
    """The inverse of `blocks`."""
    return np.ascontiguousarray(B.transpose(1, 0, 2).reshape(B.shape[1], 4 * B.shape[0])[:, :columns])
