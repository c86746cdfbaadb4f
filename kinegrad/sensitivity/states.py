"""The states that sweeps go through: all kept in memory, or found again in pieces from states kept on the way (CHK-1)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from kinegrad.dynamics.scheme import Scheme
from kinegrad.errors import KinegradError, SimulationError
from kinegrad.even_times import EvenSteps, EvenTimes
from kinegrad.interrupts import Interrupts
from kinegrad.kernels.formulations.arguments import Segment
from kinegrad.kernels.status import INTERRUPTED, OK
from kinegrad.memory import shown
from kinegrad.motion import Motion
from kinegrad.objectives import kinds_of, values_of, weighed
from kinegrad.program import Program
from kinegrad.reasons import reason
from kinegrad.recorders import state_size
from kinegrad.sensitivity.passages import Watch
from kinegrad.starts import AsFound, Assembled, FromState, Start

MODEST = 64e6  # bytes for the states of a run that was kept at some times only
STREAM = 512  # steps of which a sweep forwards has the states at once


class Piece(NamedTuple):
    """The steps first to last - 1 of a run, with their states."""

    first: int
    last: int
    segment: Segment

    def but_the_last(self) -> tuple[Piece, Piece]:
        """All steps but the last one, and that one."""
        s, k = self.segment, len(self.segment.hs) - 1
        most = s._replace(ts=s.ts[: k + 1], hs=s.hs[:k], after=float(s.hs[k]), traj=s.traj[: k + 1], flags=s.flags[:k])
        before = float(s.hs[k - 1]) if k > 0 else s.before
        one = s._replace(ts=s.ts[k:], hs=s.hs[k:], before=before, traj=s.traj[k:], flags=s.flags[k:])
        return Piece(self.first, self.last - 1, most), Piece(self.last - 1, self.last, one)


class AllStates:
    """The states of a motion that kept every step."""

    def __init__(self, motion: Motion, runs: int = 0):
        self.motion, self.runs = motion, float(runs)  # how often a run was done for the gradient
        self.kinds = weighed(
            kinds_of(motion.system, run_times(motion)[0]), list(motion.objectives.values()), motion.t_end
        )

    @property
    def steps(self) -> int:
        """Steps of the run."""
        return len(self.motion.hs)

    def forwards(self, size: int) -> Iterator[Piece]:
        """The run in pieces of so many steps at most."""
        for first in range(0, self.steps, size):
            yield self.piece(first, min(first + size, self.steps))

    def backwards(self, size: int) -> Iterator[Piece]:
        """The same from the end to the start."""
        for first in reversed(range(0, self.steps, size)):
            yield self.piece(first, min(first + size, self.steps))

    def piece(self, first: int, last: int) -> Piece:
        """Some steps."""
        motion = self.motion
        return Piece(first, last, self._segment(first, last, motion.traj[first : last + 1], motion.flags[first:last]))

    def _segment(self, first: int, last: int, traj: np.ndarray, flags: np.ndarray) -> Segment:
        motion = self.motion
        before = float(motion.hs[first - 1]) if first > 0 else 0.0
        after = float(motion.hs[last]) if last < self.steps else 0.0
        return Segment(motion.ts[first : last + 1], motion.hs[first:last], before, after, self.kinds, traj, flags)

    def correction(self) -> np.ndarray | None:
        """(o,) factors of derivatives, which were found with weights of extremes as they were known before the run;
        None where there are none."""
        if not self.kinds.sharpness.any():
            return None
        values = list(self.result().objectives.values())
        return np.exp(self.kinds.total - weighed(self.kinds, values, self.motion.t_end).total)

    def result(self) -> Motion:
        """The motion whose derivatives were found."""
        return self.motion

    def at_end(self) -> Motion:
        """The last state of the run whose derivatives were found, as a motion."""
        return self.motion

    def passages(self, s_rho) -> tuple:
        """What `kinegrad.sensitivity.passages.Watch` tells of the whole run."""
        watch = Watch(self.motion)
        watch.look(self.motion)
        return watch.told(s_rho)


class Checkpoint(NamedTuple):
    """All that a run knows after some steps; it goes on from here with the same digits."""

    step: int
    row: np.ndarray
    memory: list[np.ndarray]


class RunAgain(AllStates):
    """The states of a run that is done again, of which a part is in memory at any time.

    Forwards it is done once.  Backwards it is done once for checkpoints, then each piece between two of these again; with L
    levels of checkpoints, L times in all, and about L times the L-th root of all states are in memory.

    Parameters
    ----------
    motion : Motion
        What is done again.
    program : Program
        By which.
    limit : float
        Bytes.
    """

    def __init__(self, motion: Motion, program: Program, limit: float):
        motion = replace(motion, formulation=program.formulation)
        super().__init__(motion)
        self.run = run = program.begin(motion.system, s=motion.s, guess=motion.q[0], start=start_again(motion))
        beside = Scheme(motion.system, *program.made[:4])
        beside.take(run.scheme.found())
        self.scheme, row = run.scheme, run.row
        ts, hs = run_times(motion)
        run.ts, run.hs = ts, hs
        self.work, self.first_row, self.ts, self.hs = run.work, row, ts, hs
        # sweeps have a scheme of their own, so that both go on undisturbed
        self.motion = replace(motion, scheme=beside, ts=ts, hs=hs, traj=row[None].copy(), t=np.zeros(1), stride=len(hs))
        self.kept = motion
        self.begin = self._checkpoint(0, row)
        checkpoint = 8 * sum(x.size for x in (row, *self.begin.memory))
        self.levels, self.each = levels(len(hs), state_size(len(row)), checkpoint, limit)
        self.size = max(1, min(int(limit / state_size(len(row))) - 1, len(hs)))
        self.watch = Watch(self.motion)
        self.values = dict(motion.objectives)

    def forwards(self, size):
        self._restore(self.begin)
        size, before = min(size, self.size, STREAM), None
        for first in range(0, self.steps, size):
            last = min(first + size, self.steps)
            piece, counts = self._states(first, last, self.first_row if before is None else before[-1])
            rows = piece.segment.traj
            self._look(piece, counts, before[-2:-1] if before is not None else rows[:0], rows[:0])
            before = rows
            yield piece
        self._done()

    def backwards(self, size):
        tops = self._checkpoints(self.begin, self.steps, self.each ** (self.levels - 1))
        self._done()
        self.behind = self.first_row[None][:0]
        yield from self._back(tops, self.steps, self.levels - 1)

    def _back(self, checkpoints: list[Checkpoint], end: int, level: int) -> Iterator[Piece]:
        """The pieces between checkpoints, the last of them before `end`; at level 1 all states between two fit."""
        while checkpoints:
            here = checkpoints.pop()
            if level > 1:
                yield from self._back(self._checkpoints(here, end, self.each ** (level - 1)), end, level - 1)
            else:
                self._restore(here)
                piece, counts = self._states(here.step, end, here.row)
                rows = piece.segment.traj
                self._look(piece, counts, rows[:0], self.behind)
                self.behind = rows[1:2].copy()
                yield piece
            self.runs += (end - here.step) / self.steps
            end = here.step

    def passages(self, s_rho):
        return self.watch.told(s_rho)

    def result(self):
        """The motion that was given, with the objectives of the run; its scheme tells how its states were found."""
        return replace(self.kept, objectives=self.values)

    def at_end(self):
        return replace(self.motion, traj=self.last_row, t=self.ts[-1:], objectives=self.values)

    # --- the run ---

    def _done(self) -> None:
        """The whole run has been done once."""
        self.runs += 1
        values = values_of(self.run.objectives.kinds, self.run.objectives.psi, self.motion.t_end)
        self.values = dict(zip(self.motion.system.objectives, values, strict=True))

    def _checkpoint(self, step: int, row: np.ndarray) -> Checkpoint:
        return Checkpoint(step, row.copy(), [x.copy() for x in self.scheme.memory(self.work)])

    def _restore(self, here: Checkpoint) -> None:
        self.scheme.restore(self.work, here.row, here.memory)

    def _checkpoints(self, begin: Checkpoint, end: int, span: int) -> list[Checkpoint]:
        """Checkpoints every `span` steps from one to the step `end`, which has none."""
        self._restore(begin)
        found, row = [begin], begin.row
        for first in range(begin.step, end, span):
            last = min(first + span, end)
            for part in range(first, last, STREAM):
                row = self._states(part, min(part + STREAM, last), row)[0].segment.traj[-1]
            if last < end:
                found.append(self._checkpoint(last, row))
        return found

    def _states(self, first: int, last: int, row: np.ndarray) -> tuple[Piece, np.ndarray]:
        """Some steps from the state of the run, which `row` is, and their iterations."""
        steps = self.run.new_steps(first, last)
        steps.traj[0] = row
        over, done = self.run.over(steps), 0
        with Interrupts() as interrupts:
            self.run.cpu_s = 0.0
            while done < last - first:
                to = min(last - first, done + self.run.piece(done))
                status, count = self.run.advance(over, done, to, interrupts)
                done += count
                if status != OK:
                    self._stopped(status, first + done, steps.traj[done])
        if last == self.steps:
            self.last_row = steps.traj[-1:].copy()
        return Piece(first, last, self._segment(first, last, steps.traj, steps.flags)), steps.counts

    def _stopped(self, status: int, step: int, row: np.ndarray) -> None:
        """Raises, with the reason."""
        if status == INTERRUPTED:
            raise KeyboardInterrupt
        self.work.check_calls()
        motion = self.motion
        states = [self.scheme.motion(x[None]) for x in (self.first_row, row)]
        first, last = (
            (self.ts[k], x["q"][0].copy(), x["qd"][0].copy()) for k, x in zip((0, step), states, strict=True)
        )
        h = float(self.hs[min(step, self.steps - 1)])
        raise SimulationError(reason(self.work, status, motion.formulation, self.ts[step], motion.step, first, last, h))

    def _look(self, piece: Piece, counts: np.ndarray, before: np.ndarray, behind: np.ndarray) -> None:
        """Tell the watch of a piece, with the states next to it that were there before."""
        segment, first, last = piece.segment, piece.first - len(before), piece.last + len(behind)
        ts, hs = self.ts[first : last + 1], self.hs[first:last]
        flags, iterations = (
            np.concatenate([np.zeros(len(before), np.int64), x, np.zeros(len(behind), np.int64)])
            for x in (segment.flags, counts)
        )
        traj = np.concatenate([before, segment.traj, behind])
        part = replace(self.motion, t=ts, ts=ts, hs=hs, traj=traj, flags=flags, iterations=iterations, stride=1)
        self.watch.look(part, (piece.last - piece.first) / self.steps)


def start_again(motion: Motion) -> Start:
    """Where a motion starts, for another run of it: what freedoms give was found to rounding, and is taken as it is."""
    if not isinstance(motion.start, Assembled | FromState) or motion.t[0] != 0.0:
        return motion.start
    first = motion.scheme.motion(motion.traj[:1])
    return AsFound(motion.start, tuple(first[name][0] for name in ("q", "qd", "qdd", "lam")), motion.scheme)


def run_times(motion: Motion) -> tuple:
    """Times and sizes of all steps, as they were written down or, where they are alike, as they follow from each other."""
    if motion.stride < 2:
        return motion.ts, motion.hs
    hs = EvenSteps.that_meet(motion.t_end, motion.step)
    return EvenTimes(motion.step, len(hs), motion.t_end), hs


def levels(steps: int, state: int, checkpoint: int, limit: float) -> tuple[int, int]:
    """Levels of checkpoints, at least two, and steps or checkpoints of each, such that `limit` bytes hold them (CHK-1)."""
    least = math.inf
    for count in range(2, 2 + max(1, steps).bit_length()):
        each = root(steps, count)
        size = (each + 1) * state + (count - 1) * each * checkpoint
        if size <= limit:
            return count, each
        least = min(least, size)
    raise KinegradError(
        f"A gradient of {steps} steps in {shown(limit)} of memory (memory=..., --memory) is not possible, however often the "
        f"run is done again; allow {shown(1e3 * math.ceil(1.01e-3 * least))} or more."
    )


def root(steps: int, count: int) -> int:
    """The least whole number with a power `count` of at least `steps`."""
    each = max(1, round(steps ** (1.0 / count)))
    while each**count < steps:
        each += 1
    while each > 1 and (each - 1) ** count >= steps:
        each -= 1
    return each
