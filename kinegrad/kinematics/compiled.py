"""Starts of small systems, and their derivatives, by compiled code where all is as usual; otherwise these functions say no."""

from __future__ import annotations

import numpy as np

from kinegrad.coordinates.patterns import DENSE
from kinegrad.coordinates.system import System
from kinegrad.coordinates.workspace import Workspace
from kinegrad.kernels.jit import JIT
from kinegrad.kernels.prepared import Prepared
from kinegrad.kernels.products import BIAS, EVALUATE, LINEARISE, POSITION, PULLBACK
from kinegrad.kinematics.facing import facing

MOST = 60  # coordinates: above, LAPACK is faster
DONE, NO_POSITION, NO_VELOCITIES, NO_ACCELERATIONS = range(4)  # as in `kinegrad.kernels.start`
USUAL = 0


def serves(system: System, compliance: float) -> bool:
    """Whether starts of a system are tried in compiled code: it is small, and knows positions and given rates alone.

    Not those of penalties: what these ask of redundant rows is known to few digits.
    """
    return JIT and compliance == 0.0 and system.solver == DENSE and _is_plain(system)


def _is_plain(system: System) -> bool:
    if "plain_start" not in system.tables:
        rates = all(freedom.velocity >= 0 for freedom in system.freedoms)
        system.tables["plain_start"] = bool(
            0 < system.n <= MOST and rates and not system.levels.any() and not system.solves_again
        )
    return system.tables["plain_start"]


class Room:
    """What compiled starts need beside a workspace; where drivers prescribe the motion, no degree of freedom has a start."""

    def __init__(self, work: Workspace, driven: bool = False):
        from kinegrad.kernels.start import Given, scratch

        system = work.system
        freedoms, either = () if driven else system.freedoms, _markers(system.tables["either"])
        self.slots = np.array([(f.position, f.velocity) for f in freedoms], np.int64).reshape(-1, 2)
        self.placed = np.flatnonzero(self.slots[:, 0] >= 0)  # the others are found, or stay at 0
        self.opts = np.zeros(2)
        numbers = [system.coordinate_of(f) for f in freedoms]
        independent = sum(f.independent and not f.state for f in freedoms)
        self.given = Given(
            np.zeros(len(freedoms)),
            np.zeros(len(freedoms)),
            np.array([-1 if k is None else k for k in numbers], np.int64),
            _markers(facing(system, starts=not driven)),
            either,
            np.array([system.n - len(system.states) - independent]),
        )
        self.scratch = scratch(system.n, system.m, system.m + len(freedoms), len(either))

    def put(self, work: Workspace, given) -> None:
        """What degrees of freedom start with: values and rates, or None for those of the model."""
        if given is not None:
            self.given.position[:], self.given.velocity[:] = given
            return
        s = work.arrays["s"]
        self.given.position[self.placed] = s[self.slots[self.placed, 0]]
        self.given.velocity[:] = s[self.slots[:, 1]]


def _markers(directions) -> np.ndarray:
    return np.array([markers for _, *markers in directions], np.int64).reshape(-1, 3)


def _room(work: Workspace, driven: bool = False) -> Room:
    name = "driven start" if driven else "start"
    if name not in work.kept:
        work.kept[name] = Room(work, driven)
    return work.kept[name]


def _prepared(work: Workspace, name: str, needs: tuple[int, ...], make) -> Prepared:
    """A call of compiled code that is put down once for the arrays of a workspace; `make` gives its entry and arguments."""
    work.link(*needs)
    if name not in work.kept:
        work.kept[name] = Prepared(*make(work.functions(*needs)))
    return work.kept[name]


def found(system: System, work: Workspace, t: float, compliance: float, given) -> tuple[int, int]:
    """How far a start from q in the workspace has come, and the iterations of its position; as `find` of the kernels."""
    room = _room(work)

    def make(fn):
        from kinegrad.kernels.start import find

        return find, (fn, work.pointer, system.m, room.opts, room.given, room.scratch)

    call = _prepared(work, "find", (POSITION, EVALUATE, BIAS), make)
    room.opts[:] = t, compliance
    room.put(work, given)
    found = call()
    work.check_calls()
    return found


def gap(work: Workspace) -> float:
    """The most that constraints, and freedoms beside what they start with, lack at q in the workspace, by the sizes of rows."""
    room = _room(work)

    def make(fn):
        from kinegrad.kernels.start import gap

        return gap, (fn, work.pointer, work.system.m, room.given, room.scratch)

    call = _prepared(work, "gap", (POSITION,), make)
    room.put(work, None)
    found = call()
    work.check_calls()
    return found[0] if isinstance(found, tuple) else found


def closed(system: System, work: Workspace) -> int:
    """Iterations, with the position at t = 0 that rows determine, near q in the workspace; 0, with q as it was, without one.

    That is a start as others without degrees of freedom that have one: constraints and drivers leave nothing free.
    """
    room = _room(work, driven=True)

    def make(fn):
        from kinegrad.kernels.start import find

        return find, (fn, work.pointer, system.m, room.opts, room.given, room.scratch)

    far, iterations = _prepared(work, "close", (POSITION, EVALUATE, BIAS), make)()
    work["par"][:] = 0.0
    work.check_calls()
    return 0 if far == NO_POSITION else iterations


def firmness(work: Workspace) -> float:
    """A lower bound of σ², σ the least singular value of the constraint rows at the state of a workspace, in coordinates
    weighted by inertia; -1 where it is not looked for, or not clear."""
    if not serves(work.system, 0.0):
        return -1.0
    m, rank = work.system.m, int(_room(work).given.rank[0])
    if rank > m:
        return -1.0

    def make(_):
        from kinegrad.kernels.held_rows import firmness

        return firmness, (work.pointer, m, rank, np.zeros((m, m)), np.zeros((rank, rank)))

    return _prepared(work, "firmness", (), make)()[0]


def linearised(work: Workspace, compliance: float) -> bool:
    """Whether the workspace, which is at a start, has the derivatives of the equations and factors for those of the start."""
    room = _room(work)

    def make(fn):
        from kinegrad.kernels.start_derivatives import linearise

        return linearise, (fn, work.pointer, work.system.m, room.opts, room.scratch)

    call = _prepared(work, "linearise", (EVALUATE, LINEARISE), make)
    room.opts[:] = 0.0, compliance
    usual = _is_usual(call())
    work.check_calls()
    return usual


def direct(work: Workspace, held: bool) -> tuple[np.ndarray, ...] | None:
    """q', v', a' (n, p) by the directions of the workspace, after `linearised` (KIN-4); None where something is in doubt."""
    room, p = _room(work), len(work["ds"])
    found = _arrays(work, "by directions", (3, p, work.system.n))

    def make(_):
        from kinegrad.kernels.start_derivatives import direct

        slots = room.slots[:0] if held else room.slots
        return direct, (work.pointer, work.system.m, room.opts, slots, room.scratch, *found)

    if not _is_usual(_prepared(work, f"direct {held}", (), make)()):
        return None
    return tuple(x.T.copy() for x in found)


def adjoint(work: Workspace, held: bool, Q, V, A, rows, weights) -> bool:
    """Whether psi_s has what adjoints at the start give, after `linearised` (KIN-5)."""
    room, system, o = _room(work), work.system, len(weights)
    states, of_rows = _arrays(work, "adjoints", (3, system.n, o)), _arrays(work, "of rows", (3, len(work["Phi"]), o))
    sizes = _arrays(work, "weights", (o,))

    def make(fn):
        from kinegrad.kernels.start_derivatives import adjoint, columns

        slots = room.slots[:0] if held else room.slots
        X = columns(o, system.n, len(work["Phi"]))
        return adjoint, (fn, work.pointer, system.m, room.opts, slots, room.scratch, X, *states, of_rows, sizes)

    call = _prepared(work, f"adjoint {held}", (PULLBACK,), make)
    for array, values in zip((*states, of_rows, sizes), (Q, V, A, rows, weights), strict=True):
        array[...] = values
    usual = _is_usual(call())
    work.check_calls()
    return usual


def _is_usual(found) -> bool:
    """Whether compiled code, which returns a tuple, or the same code uncompiled, found all as usual."""
    return (found[0] if isinstance(found, tuple) else found) == USUAL


def _arrays(work: Workspace, name: str, shape: tuple[int, ...]) -> np.ndarray:
    """An array that stays with those of a workspace: it always has the same shape."""
    if name not in work.kept:
        work.kept[name] = np.zeros(shape)
    return work.kept[name]
