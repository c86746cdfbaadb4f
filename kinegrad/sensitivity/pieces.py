"""Direct differentiation through many short pieces of one run: the arguments of its compiled code are put down once.

A call from Python takes a microsecond or two for each of some thirty numbers and arrays, more than the steps between two
measured instants; from piece to piece the segment moves along the arrays of the run, and nothing else changes.
"""

from __future__ import annotations

import struct

import numpy as np

from kinegrad.kernels.formulations.arguments import Segment
from kinegrad.kernels.jit import JIT
from kinegrad.kernels.prepared import Prepared

SEGMENT = 4  # its place among the arguments of every sweep
TIMES, STATES = struct.Struct("qqqqdd"), struct.Struct("qqqqq")  # words of a segment, before its kinds and after them
WORD = 8  # bytes


class Pieces(Prepared):
    """The compiled `direct` of a formulation, as a function of the ends of a piece of the run that its arguments have."""

    def __init__(self, entry, arguments: tuple):
        super().__init__(entry, arguments)
        self.whole = whole = arguments[SEGMENT]
        self._first = WORD * _words(arguments[:SEGMENT])
        self._last = self._first + TIMES.size + WORD * _words(whole.kinds)
        self._places = [x.ctypes.data for x in (whole.ts, whole.hs, whole.traj, whole.flags)]

    def over(self, first: int, last: int) -> tuple:
        """Status and step, of the steps first to last - 1; objectives are taken at their end as at that of a run."""
        whole, count = self.whole, last - first
        before = float(whole.hs[first - 1]) if first else 0.0
        if JIT:
            ts, hs, traj, flags = self._places
            at, width = WORD * first, whole.traj.shape[1]
            TIMES.pack_into(self._table, self._first, ts + at, count + 1, hs + at, count, before, 0.0)
            STATES.pack_into(self._table, self._last, traj + at * width, count + 1, width, flags + at, count)
            return self()
        states, steps = slice(first, last + 1), slice(first, last)
        part = Segment(
            whole.ts[states], whole.hs[steps], before, 0.0, whole.kinds, whole.traj[states], whole.flags[steps]
        )
        return self.entry(*self.arguments[:SEGMENT], part, *self.arguments[SEGMENT + 1 :])


def _words(argument) -> int:
    """How many words an argument of compiled code takes."""
    if isinstance(argument, np.ndarray):
        return 1 + argument.ndim
    return sum(map(_words, argument)) if isinstance(argument, tuple) else 1
