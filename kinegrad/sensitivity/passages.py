"""Singular positions that a motion passes, and the numbers by which its derivative means nothing (SEN-1).

A parallelogram passes the position in which its rods lie on one line; with one rod longer by however little it could not.  So
the derivative by that length does not exist, and what a sweep computes grows without limit as steps come nearer to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from kinegrad.expressions.maps import Jacobian
from kinegrad.kernels.products import LINEARISE, OBJECTIVE, PULLBACK, WEIGHT
from kinegrad.kinematics.singular import Measure
from kinegrad.motion import Motion

NEAR = 0.1  # of the largest: below this, and a fifth of what it was at the start, a position is looked at
FEWEST_SAMPLES, MOST_SAMPLES = 4, 400
HELD = 1e-7  # of the row's own derivatives: what a number may change of the lost direction


class Passages:
    """The singular positions of a motion, or of a part of it that has so many samples at most: times, and the combinations of
    rows that vanish there."""

    def __init__(self, motion: Motion, work, measure: Measure, samples: int):
        self.motion, self.work, self.measure, self.samples = motion, work, measure, samples
        self.found: list[tuple[int, int]] = []  # the state at a passage, and one farther from it
        if not measure.known or len(motion.t) < 3:
            return
        self.near = min(NEAR, measure.near)
        candidates = self._candidates()
        near = [i for i, k in enumerate(candidates) if self._lost(int(k))[0] < self.near]
        for group in np.split(near, 1 + np.flatnonzero(np.diff(near) > 1)) if near else ():
            first, last = max(0, group[0] - 1), min(len(candidates) - 1, group[-1] + 1)
            self._pass(int(candidates[first]), int(candidates[last]))

    def _state(self, k: int):
        return self.motion.t[k], self.motion.q[k], self.motion.qd[k]

    def _lost(self, k: int) -> tuple[float, np.ndarray]:
        return self.measure.least(self._state(k))

    def _pass(self, first: int, last: int) -> None:
        """Keep the passage between two states, if there is one: the least singular value comes to zero with a kink."""
        last = min(last + 1, len(self.motion.t) - 1)
        values = np.array([self._lost(k)[0] for k in range(first, last + 1)])
        for i in range(1, len(values) - 1):
            before, here, after = values[i - 1 : i + 2]
            if here <= before and here < after and before + after - 2.0 * here >= here and here < self.near:
                beside = [j for j in (i - 2, i - 1, i + 1, i + 2) if 0 <= j < len(values)]
                self.found.append((first + i, first + max(beside, key=values.__getitem__)))

    def _candidates(self) -> np.ndarray:
        """States that may be near a singular position: told by flags, or sampled by how far coordinates move in their units."""
        motion = self.motion
        told = motion.scheme.singular_states(motion)
        if told is not None:
            return told
        moved = np.abs(np.diff(motion.q, axis=0)) * self.work["per"]
        turned = np.concatenate([[0.0], np.cumsum(moved.max(axis=1, initial=0.0))])
        count = int(min(self.samples, len(motion.t), 2 + turned[-1] / 0.02))
        return np.unique(np.searchsorted(turned, np.linspace(0.0, turned[-1], count)).clip(0, len(motion.t) - 1))

    def changes(self) -> list[Change]:
        """How slots change what vanishes at the passages."""
        out = []
        for here, there in self.found:
            (least, now, rounding), (beside, farther, _) = self._change(here), self._change(there)
            out.append(Change(float(self.motion.t[here]), now, farther, np.sqrt(min(1.0, least / beside)), rounding))
        return out

    def _change(self, k: int) -> tuple[float, np.ndarray, float]:
        """Of a state, the least singular value; how slots change its combination of the rows; and what of that is rounding."""
        work, m = self.work, self.motion.system.m
        least, row = self._lost(k)
        for name in ("vp", "v"):
            work[name][:] = self.motion.qd[k]
        for name in ("a", "ap", "dv", "da", "lam", "sv", "sa", "mu", "eta_v", "eta_a", "yp", "yv", "ya"):
            work[name][:] = 0.0
        work.call(LINEARISE)
        size = np.abs(work["Phi_q"][:m]).max()
        work["psi_s"][:] = 0.0
        work["yp"][:m] = row
        work["flag"][OBJECTIVE], work["par"][WEIGHT] = 0, 0.0
        work.call(PULLBACK)
        return least, work["psi_s"][0].real.copy(), HELD * np.abs(row).max() * size


class Change(NamedTuple):
    """A passage: its time; how slots change the combination of rows that vanishes there, at the state nearest to it and at one
    farther from it; and what of that vanishes there too: with the rows, `part` and less of what it is farther, or rounding.

    The motion with another number has q_ρ by J q_ρ = -Phi_ρ, so that uᵀPhi_ρ = -uᵀJ q_ρ vanishes as uᵀJ does; a number that
    keeps the mechanism from passing changes that combination by as much at the passage as beside it (SEN-1).
    """

    t: float
    here: np.ndarray
    farther: np.ndarray
    part: float
    rounding: float

    def holds(self, pull: Callable[[np.ndarray], np.ndarray], size: float) -> np.ndarray:
        """Whether numbers keep the mechanism from passing; `pull` makes of slots what they are, `size` what rounding."""
        here = np.abs(pull(self.here))
        return (here > self.rounding * size) & (here > self.part * np.abs(pull(self.farther)))


class Watch:
    """Singular positions of a motion that is looked at in parts, each with one state more at both ends."""

    def __init__(self, motion: Motion):
        self.system, self.s = motion.system, motion.s
        self.first, self.work = motion, None
        self.changes: list[Change] = []

    def look(self, motion: Motion, part: float = 1.0) -> None:
        """Look at a part of the whole."""
        told = motion.scheme.singular_states(motion)
        if self.system.m == 0 or (told is not None and not len(told)):
            return
        if self.work is None:
            self.work, first = self.system.workspace(s=self.s), self.first
            self.measure = Measure(self.system, self.work, (first.t[0], first.q[0], first.qd[0]))
        samples = max(FEWEST_SAMPLES, int(np.ceil(part * MOST_SAMPLES)))
        self.changes += Passages(motion, self.work, self.measure, samples).changes()

    def told(self, s_rho: Jacobian) -> tuple[np.ndarray, np.ndarray, list[float]]:
        """Times of the first position that the motion would not pass with other values, NaN where there is none: for the p
        columns of `s_rho` (slots, p), and for each slot (SEN-1); and the times of all singular positions."""
        slots, parameters = np.full(len(self.s), np.nan), np.full(s_rho.shape[1], np.nan)
        if not self.changes:
            return parameters, slots, []
        changes = sorted(self.changes, key=lambda change: change.t)
        largest = s_rho.largest()
        for change in changes:
            slots[np.isnan(slots) & change.holds(np.asarray, 1.0)] = change.t
            parameters[np.isnan(parameters) & change.holds(s_rho.pull, largest)] = change.t
        return parameters, slots, [change.t for change in changes]
