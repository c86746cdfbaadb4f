"""The equilibrium of a system: searched in joint coordinates whatever its own are, and then found to all digits (STA-8)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinegrad.balance.by_fronts import LookByFronts
from kinegrad.balance.search import MAX_ITERATIONS, Look, Search, names_of, stability
from kinegrad.coordinates.convert import Conversion
from kinegrad.coordinates.patterns import DENSE
from kinegrad.coordinates.system import System
from kinegrad.coordinates.workspace import Workspace
from kinegrad.errors import AssemblyError, KinegradError
from kinegrad.kernels.products import TIME
from kinegrad.kinematics.branch import explained
from kinegrad.kinematics.distances import tell_branch
from kinegrad.kinematics.start import close_position, place, solve_position
from kinegrad.kinematics.states import refuse_states, refuse_velocity_rows
from kinegrad.memory import require

FULL = 40  # matrices of the search


class Balance(NamedTuple):
    """What a search found: forces and stiffness there, iterations, and what `stability` tells."""

    look: Look | LookByFronts
    iterations: int
    eigenvalues: np.ndarray
    free: tuple[str, ...]
    stable: bool


def balance(
    system: System,
    work: Workspace,
    t: float = 0.0,
    max_iterations: int = MAX_ITERATIONS,
    guess: np.ndarray | None = None,
) -> Balance:
    """The equilibrium that an overdamped motion from the assembled position, or from `guess`, leads to, with drivers at t."""
    refuse_states(system, "an equilibrium")
    refuse_velocity_rows(system, "An equilibrium", "simulate the model")
    work["par"][:] = 0.0
    work["par"][TIME] = t
    if guess is None:
        place(system, work)
        try:
            solve_position(system, work)
        except AssemblyError:
            with explained(work.way):
                close_position(system, work, "at the start")
        tell_branch(system, work, stacklevel=5)
    else:
        work["q"][:] = guess
        close_position(system, work, "near the equilibrium")
    try:
        return _searched(system, work, t, max_iterations)
    except np.linalg.LinAlgError:
        raise KinegradError(
            "The stiffness and the mass of the model are so far apart that its equilibrium cannot be computed; look for "
            "masses, lengths or stiffnesses that are too large or too small."
        ) from None


def _searched(system: System, work: Workspace, t: float, max_iterations: int) -> Balance:
    """The equilibrium from the position in the workspace, which is closed."""
    joint, iterations = system.set.in_joints(system), 0
    if system.solver != DENSE:
        there = InJoints(system, joint, work, t)
        look, iterations = there.search.run(max_iterations)
        values, motions, stable = stability(look)
        free = there.back(look, motions)
        found, more = LookByFronts.nearest(system, work, t, bool(free.shape[1]))
        return Balance(found, iterations + more, values, names_of(system, free), stable)
    if joint is not None and joint.kind != system.kind:
        start = work["q"].copy()
        try:
            there = InJoints(system, joint, work, t)
            look, iterations = there.search.run(max_iterations)
            there.back(look)
        except KinegradError:  # joint coordinates may fail where others do not
            work["q"][:], iterations = start, 0
    look, more = Search(system, work, t).run(max_iterations)
    values, motions, stable = stability(look)
    return Balance(look, iterations + more, values, names_of(system, motions), stable)


def looked_at(system: System, work: Workspace, t: float) -> tuple[Look | LookByFronts, tuple[str, ...]]:
    """Forces and stiffness at the equilibrium in the workspace, and directions there without stiffness, by name."""
    if system.solver == DENSE:
        look = Search(system, work, t).look()
        return look, names_of(system, stability(look)[1])
    there, q = InJoints(system, system.set.in_joints(system), work, t), work["q"].copy()
    look = there.search.look()
    free = there.back(look, stability(look)[1])
    work["q"][:] = q
    return LookByFronts.at(system, work, t), names_of(system, free)


class InJoints:
    """A position of a system in joint coordinates, and the way back.

    Attributes
    ----------
    search : Search
        From that position on.
    """

    def __init__(self, system: System, joint: System, work: Workspace, t: float):
        require(
            FULL * 8.0 * float(joint.n) ** 2,
            f"The search for an equilibrium with {joint.n} joint coordinates",
            "make the model smaller, or simulate it with dampers until it is at rest",
        )
        self.system, self.work, self.t = system, work, t
        self.same = joint.kind == system.kind
        s = work["s"].copy() if self.same else None
        own, q, rest = joint.workspace(s=s), work["q"].copy(), np.zeros(system.n)
        own["par"][:] = 0.0
        own["par"][TIME] = t
        own["q"][:] = q if self.same else Conversion(system, joint, s=work["s"])(t, q, rest, rest)[0]
        close_position(joint, own, "near the equilibrium")
        self.joint, self.search = joint, Search(joint, own, t)

    def back(self, look: Look, motions: np.ndarray | None = None) -> np.ndarray:
        """Leaves the position in the workspace of the system, closed; motions (joint, f) as those of the system (n, f), both in
        units."""
        motions = np.zeros((self.joint.n, 0)) if motions is None else motions
        if self.same:
            self.work["q"][:] = look.q
            return motions
        rest, out = np.zeros(self.joint.n), np.zeros((self.system.n, motions.shape[1]))
        to = Conversion(self.joint, self.system, target_s=self.work["s"])
        self.work["q"][:] = to(self.t, look.q, rest, rest)[0]
        for k in range(motions.shape[1]):
            out[:, k] = to(self.t, look.q, look.unit * motions[:, k], rest)[1] / self.work["unit"].real
        self.work["par"][:] = 0.0
        self.work["par"][TIME] = self.t
        close_position(self.system, self.work, "near the equilibrium")
        return out
