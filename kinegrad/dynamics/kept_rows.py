"""Rows that a run with error control keeps: all of them, or those at multiples of an interval and the last one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kinegrad.dynamics.run import Run
from kinegrad.memory import require

BLOCK = 256  # steps that are done at once, and for which there is room at first; doubled when it is used up
NEAR = 1e-9  # of the interval: a step that ends so near to a multiple ends there


class AllRows:
    """The row after every step."""

    def __init__(self, begin: np.ndarray):
        self.traj = np.zeros((BLOCK + 1, len(begin)), begin.dtype)
        self.traj[0] = begin

    def room(self, done: int, last: int) -> np.ndarray:
        """The row after `done` steps, and room for those up to `last`."""
        return self.traj[done : last + 1]

    def take(self, ts: np.ndarray, hs: np.ndarray, done: int) -> None:
        """There are rows after `done` steps and at the ends ts[1:] of the steps hs behind them."""

    def grow(self, done: int) -> None:
        """Make room for twice as many steps."""
        require(3 * self.traj.nbytes, f"Keeping more than {done} states", "raise the tolerance, or give an output_step")
        self.traj = doubled(self.traj)

    def run(self, status: int, ts, hs, evaluations, flags, cpu_s: float) -> Run:
        """What the run leaves."""
        return Run(status, ts, hs, evaluations, flags, ts, self.traj[: len(ts)].copy(), cpu_s)


class SomeRows:
    """The rows at multiples of an interval, and the last one; `work` is told all of them, and tells the work done up to each.

    Attributes
    ----------
    works : list
        The work done up to the rows that were kept.
    """

    def __init__(self, begin: np.ndarray, interval: float, t_end: float, work: Callable | None):
        self.interval, self.work = interval, work
        most = int(t_end / interval) + 3
        require(2.0 * 8.0 * most * len(begin), f"Keeping {most} states", "take a larger output_step (--output-step)")
        self.traj = np.zeros((most, len(begin)), begin.dtype)
        self.traj[0] = begin
        self.numbers, self.works = [0], [0.0]
        self.scratch = np.zeros((BLOCK + 1, len(begin)), begin.dtype)
        self.scratch[0] = begin
        self.last = 0, 0.0  # number of the row in scratch[0], and the work up to there

    def room(self, done, last):
        return self.scratch[: last - done + 1]

    def take(self, ts, hs, done):
        rows = self.scratch[: len(ts)]
        works = np.zeros(len(ts)) if self.work is None else self.work(ts, hs, rows)
        for k in np.flatnonzero(np.diff(np.floor(ts / self.interval + NEAR)) > 0.0) + 1:
            self._keep(done + int(k), rows[k], float(works[k]))
        self.scratch[0] = rows[-1]
        self.last = done + len(hs), float(works[-1])

    def _keep(self, number: int, row: np.ndarray, work: float) -> None:
        self.traj[len(self.numbers)] = row
        self.numbers.append(number)
        self.works.append(work)

    def grow(self, done):
        """There is room for as many steps as may come."""

    def run(self, status, ts, hs, evaluations, flags, cpu_s):
        number, work = self.last
        if number > self.numbers[-1]:
            self._keep(number, self.scratch[0], work)
        kept = np.array(self.numbers)
        if len(hs):
            evaluations, flags = (
                of.reduceat(x, kept[:-1]) for of, x in ((np.add, evaluations), (np.bitwise_or, flags))
            )
        return Run(status, ts, hs, evaluations, flags, ts[kept], self.traj[: len(kept)].copy(), cpu_s)


def doubled(x: np.ndarray) -> np.ndarray:
    """x with as many rows of zeros after it."""
    return np.concatenate([x, np.zeros_like(x)])
