"""What entries of formulations are called with: named tuples that Python makes and compiled code takes apart.

An entry that does steps is called with (fn, ctx, m, method, steps, objectives, ...), one that differentiates them with
(fn, ctx, m, rule, segment, ..., variation); what stands for dots is the formulation's own.
"""

from typing import NamedTuple

import numpy as np

from kinegrad.kernels.formulations.objectives import Kinds
from kinegrad.kernels.formulations.runge_kutta import Tableau


class Steps(NamedTuple):
    """Steps to be done: their times ts (s + 1) and sizes hs (s), and what they leave.

    Rows of `traj` are filled every `stride` steps, from row 1 on; `counts` (s) has iterations or evaluations, `flags` (s) what
    derivatives have to know of a step.
    """

    ts: np.ndarray
    hs: np.ndarray
    stride: int
    traj: np.ndarray
    counts: np.ndarray
    flags: np.ndarray

    def part(self, first: int, last: int) -> "Steps":
        """The steps first to last - 1."""
        ends, steps = slice(first, last + 1), slice(first, last)
        return self._replace(
            ts=self.ts[ends],
            hs=self.hs[steps],
            traj=self.traj[ends],
            counts=self.counts[steps],
            flags=self.flags[steps],
        )


class Objectives(NamedTuple):
    """What objectives are, their values so far, and the integrands at the state."""

    kinds: Kinds
    psi: np.ndarray
    g_last: np.ndarray


class Implicit(NamedTuple):
    """A member of the Newmark family in a run: its constants, the auxiliary acceleration, and the iterations allowed."""

    family: np.ndarray
    auxiliary: np.ndarray
    allowed: int


class Explicit(NamedTuple):
    """A Runge-Kutta method in a run: its tableau and the numbers of error control, empty without (RKT-4).

    `rates` (2, stages + 1, coordinates) and `g_off` (objectives) are scratch.
    """

    tableau: Tableau
    control: np.ndarray
    rates: np.ndarray
    g_off: np.ndarray


class Rule(NamedTuple):
    """An integrator in derivatives: explicit with a tableau, or one of the Newmark family with its constants."""

    explicit: bool
    tableau: Tableau
    family: np.ndarray


class Segment(NamedTuple):
    """Steps that were done and are differentiated; `before` and `after` are the sizes of the steps next to them, 0 at the ends
    of the run."""

    ts: np.ndarray
    hs: np.ndarray
    before: float
    after: float
    kinds: Kinds
    traj: np.ndarray
    flags: np.ndarray

    def part(self, first: int, last: int) -> "Segment":
        """The steps first to last - 1; objectives are taken at their end as at that of a run."""
        ends, steps = slice(first, last + 1), slice(first, last)
        before = float(self.hs[first - 1]) if first else 0.0
        return Segment(self.ts[ends], self.hs[steps], before, 0.0, self.kinds, self.traj[ends], self.flags[steps])


class Variation(NamedTuple):
    """Derivatives of the state by directions, or its adjoints, a column a direction or an objective: (blocks, n, 4) each.

    They are those of positions, velocities, accelerations and of the auxiliary accelerations of the Newmark family; `x` is `a`
    itself where these are the accelerations.
    """

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    x: np.ndarray
