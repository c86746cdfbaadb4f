"""Runs on their way, and what is kept of them: every state, some of them, or those of steps that are chosen on the way."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kinegrad.coordinates.workspace import Workspace
from kinegrad.dynamics.run import Run
from kinegrad.interrupts import Interrupts
from kinegrad.kernels.formulations.arguments import Objectives, Steps
from kinegrad.kernels.status import CALLBACK_FAILED, INTERRUPTED, OK
from kinegrad.memory import require
from kinegrad.motion import Power, has_power
from kinegrad.times import SHORT

CHUNKS = 50  # pieces in which a long run reports its progress
SCRATCH = 512  # steps of a run whose states are not all kept that are in memory at once
OTHERS = 12  # numbers kept of each state beside its row
FEW = 64  # steps after which a run looks whether a function in an objective has failed
PIECE = 0.1  # seconds after which it looks whether it shall stop


def state_size(numbers: int) -> int:
    """Bytes for each state that is kept: the numbers of its row, time, step, iterations, flags, energies, violations."""
    return 8 * (numbers + OTHERS)


@dataclass(eq=False)
class Progress:
    """A run on its way.

    Attributes
    ----------
    scheme : Scheme
        Or what does steps as one does, such as drivers.
    work : Workspace
        Which holds the state.
    fn : array
        Functions that steps call.
    objectives : Objectives
        So far.
    row : (k,) array
        The state from which it begins.
    ts, hs : sequences
        Times and sizes of all steps; with error control, the times that are met.
    step : float
    cpu_s : float
        Processor time of the steps so far.
    """

    scheme: object
    work: Workspace
    fn: np.ndarray
    objectives: Objectives
    row: np.ndarray
    ts: Sequence[float]
    hs: Sequence[float]
    step: float
    cpu_s: float = 0.0

    def over(self, steps: Steps) -> Callable[[int, int], tuple]:
        """Status and number of steps done, as a function of the first one and of the one behind the last."""
        return self.scheme.steps(self.work, self.fn, steps, self.objectives)

    def advance(self, over: Callable, first: int, last: int, interrupts: Interrupts) -> tuple[int, int]:
        """Status and number of the steps first to last - 1 that were done; a function that failed, or Ctrl-C, ends a run."""
        clock = time.thread_time()
        status, count = over(first, last)
        self.cpu_s += time.thread_time() - clock
        if status == OK and self.work.calls is not None and self.work.calls.failure is not None:
            status = CALLBACK_FAILED
        if status == OK and interrupts.came:
            status = INTERRUPTED
        return status, count

    def piece(self, done: int) -> int:
        """Steps to do before the next look at the keyboard, after so many."""
        if self.work.calls is not None or not done:
            return FEW
        return max(FEW, int(PIECE * done / max(self.cpu_s, 1e-9)))

    def new_steps(self, first: int, last: int) -> Steps:
        """Arrays for the steps first to last - 1 and their states, the first of which is that of the start."""
        count = last - first
        traj = np.zeros((count + 1, len(self.row)), self.row.dtype)
        traj[0] = self.row
        ts, hs = (np.array(x, float) for x in (self.ts[first : last + 1], self.hs[first:last]))
        return Steps(ts, hs, 1, traj, np.zeros(count, np.int64), np.zeros(count, np.int64))

    def require_memory(self, states: int) -> None:
        """Raises when so many states are more than the memory holds; a larger output_step is the remedy."""
        size = states * state_size(len(self.row))

        def remedy(free: float) -> str:
            every = math.ceil(len(self.hs) / states) * 4.0 * size / max(free, 1.0)
            longer = self.step * 10.0 ** math.ceil(math.log10(every))
            return f"keep fewer, by an output_step (--output-step) such as {longer:g} s"

        require(size, f"Keeping {states} states", remedy)


def every_step(run: Progress, progress, interrupts: Interrupts, steps: Steps | None = None, over=None) -> Run:
    """The run with all states kept; in arrays of others, if `steps` and the function `over` them are given."""
    n_steps, own = len(run.hs), steps is None
    if own:
        run.require_memory(n_steps + 1)
        steps = run.new_steps(0, n_steps)
        over = run.over(steps)
    chunk = n_steps if n_steps <= SHORT or progress is None else -(-n_steps // CHUNKS)
    done, status = 0, OK
    while done < n_steps and status == OK:
        status, count = run.advance(over, done, min(done + chunk, done + run.piece(done), n_steps), interrupts)
        done += count
        if progress is not None and status == OK and (n_steps > SHORT or done == n_steps):
            progress(done / n_steps)
    ts, hs, _, traj, counts, flags = steps.part(0, done)
    if not own or len(ts) < len(steps.ts):
        ts, hs, traj, counts, flags = (x.copy() for x in (ts, hs, traj, counts, flags))
    return Run(status, ts, hs, counts, flags, ts, traj, run.cpu_s)


def some_steps(run: Progress, stride: int, progress, interrupts: Interrupts) -> tuple[Run, np.ndarray | None]:
    """The run with a state every `stride` steps and the last one, and the work done up to each.

    Iterations are summed, and flags joined, over the steps between two states.
    """
    n_steps, row = len(run.hs), run.row
    n_states = 1 + -(-n_steps // stride)
    run.require_memory(n_states)
    traj = np.zeros((n_states, len(row)), row.dtype)
    traj[0] = row
    iterations, flags = np.zeros(n_states - 1, np.int64), np.zeros(n_states - 1, np.int64)
    steps = run.new_steps(0, min(SCRATCH, n_steps))
    over, rows = run.over(steps), steps.traj
    done_work = Done(run) if has_power(run.work) else None
    works = np.zeros(n_states)
    done, kept, status = 0, 1, OK
    while done < n_steps and status == OK:
        last = min(done + len(rows) - 1, n_steps)
        size = last - done
        steps.ts[: size + 1], steps.hs[:size] = run.ts[done : last + 1], run.hs[done:last]
        status, count = run.advance(over, 0, size, interrupts)
        times, sizes = steps.ts[: count + 1], steps.hs[:count]
        so_far = done_work.up_to(times, sizes, rows[: count + 1]) if done_work else None
        numbers = np.arange(done + 1, done + count + 1)
        np.add.at(iterations, (numbers - 1) // stride, steps.counts[:count])
        np.bitwise_or.at(flags, (numbers - 1) // stride, steps.flags[:count])
        for k in numbers[(numbers % stride == 0) | (numbers == n_steps)]:
            traj[kept] = rows[k - done]
            works[kept] = so_far[k - done] if done_work else 0.0
            kept += 1
        rows[0] = rows[count]
        done += count
        if progress is not None and status == OK:
            progress(done / n_steps)
    times = np.append(run.ts[:-1:stride], run.ts[-1:])[:kept]
    ts, hs = run.ts.until(done), run.hs.until(done)
    found = Run(status, ts, hs, iterations[: kept - 1], flags[: kept - 1], times, traj[:kept], run.cpu_s)
    return found, works[:kept] if done_work else None


class Done:
    """The work of what has no potential, summed over all steps as they are done."""

    def __init__(self, run: Progress):
        self.run = run
        self.power = Power(run.work.system, run.work["s"])
        self.total = 0.0

    def up_to(self, ts: np.ndarray, hs: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """The work done up to each of these states at the times ts, the first of which is that before the first step hs."""
        steps = self.run.scheme.integrals(ts, hs, rows, self.power).real
        out = self.total + np.concatenate([[0.0], np.cumsum(steps)])
        self.total = out[-1]
        return out
