"""Workspaces: the arrays that kernels run on, of one caller each."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kinegrad.coordinates.beside import RUNS, refuse_shared, replaced, set_up
from kinegrad.coordinates.patterns import DENSE, FRONTS
from kinegrad.coordinates.sizes import size_arrays, units_of_inputs
from kinegrad.coordinates.sparse import Fronts, Rows
from kinegrad.kernels.products import PATTERN_OF, STATUS
from kinegrad.laws import Calls
from kinegrad.memory import require
from kinegrad.one_thread import take_one_thread
from kinegrad.remembered import remembered

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from kinegrad.coordinates.system import System
    from kinegrad.kernels.table import Room, Slab

FIXED_OF_FRONTS = (
    "front", "front_columns", "front_places", "front_of_entry", "front_of_lower", "front_of_row", "front_in_row", "wide",
    "front_w", "front_x", "front_job",
)  # fmt: skip
MOST_APART = 10**6  # rows × coordinates among which independent rows are chosen, where matrices are not dense
REMEDY = {
    DENSE: "take the solver 'fronts' and reference-point or natural coordinates, of which few meet, or fewer parameters",
    FRONTS: "make the model smaller, or differentiate by fewer parameters",
}
MOST_ROOMS = 8  # of each pattern that are kept for the next caller
LARGE_ROOM = 10**7  # bytes: such rooms are not kept


@dataclass
class Pattern:
    """What workspaces with the same pattern of directions and wanted slots have in common.

    Attributes
    ----------
    slab : Slab
    linked : frozenset
        Numbers of functions whose addresses, with those of all that they run, are in the slab.
    free : list of Room
        Rooms that were given back.
    """

    slab: Slab
    linked: frozenset[int] = frozenset()
    free: list[Room] = field(default_factory=list)

    def room(self) -> tuple[Room, frozenset[int]]:
        """A room as new, which nobody else has, and the numbers of the functions whose addresses are in it."""
        linked = self.linked  # before the slab is asked, which may have more by then
        try:
            room = self.free.pop()
        except IndexError:
            return self.slab.room(), linked
        self.slab.clean(room)
        return room, linked

    def give_back(self, room: Room) -> None:
        """Take a room that nobody uses any more."""
        if len(self.free) < MOST_ROOMS and self.slab.nbytes < LARGE_ROOM:
            self.free.append(room)


class Workspace:
    """The arrays of one caller, by name, and the context of compiled code that points at them.

    `kept` is what calls of compiled code with these arrays have prepared, `way` how a start was reached from the poses, and
    `placed` the joint coordinates that these tell, with what is asked put in.
    """

    way = None
    placed: np.ndarray | None = None

    def __init__(
        self, system: System, s: np.ndarray, ds: np.ndarray | None, every_marker: bool, wanted, plain: bool = False
    ):
        self.system, self._plain = system, plain or not system.solves_again
        self._like = ds, every_marker, wanted
        self._pattern = self._known(s, ds, wanted, every_marker)
        self._room, self._linked = self._pattern.room()
        _, self.arrays, self.context, self.kept = self._room
        self.arrays["s"][:] = s
        self._put_sizes()
        if ds is not None and len(ds):
            self.arrays["ds"][:] = ds
        self.calls = self._calls()
        self._put_addresses()

    def _calls(self) -> Calls | None:
        """Functions that are laws of the model, put where kernels find them."""
        laws = self.system.tables["packed"].calls
        if not laws:
            return None
        from kinegrad.kernels.status import CALLBACK_FAILED

        flag = self.arrays["flag"]

        def failed():
            flag[STATUS] = CALLBACK_FAILED

        self.context.calls = calls = Calls(laws, units_of_inputs(self.system), self.arrays, failed)
        return calls

    def _put_addresses(self) -> None:
        """Where kernels find functions that are laws, and the solver by fronts its words."""
        from kinegrad.kernels.jit import JIT

        if self.calls is not None and JIT:
            self.arrays["callback"][:] = self.calls.addresses
        if self.system.solver == FRONTS:
            self._words_of_fronts()

    def renew(self, system: System, s: np.ndarray, ds: np.ndarray | None = None) -> None:
        """All arrays as new, with other values of the slots; directions have the pattern that the workspace was made with."""
        self.way = self.placed = None
        self.system, self._linked = system, self._pattern.linked
        self._pattern.slab.clean(self._room)
        self.arrays["s"][:] = s
        self._put_sizes()
        if ds is not None:
            self.arrays["ds"][:] = ds
        self._put_addresses()
        self.link_solver()

    @property
    def stays(self) -> bool:
        """Whether it is worth while to keep it, to be renewed for other values."""
        real = self.arrays["q"].dtype.kind == "f"
        return real and self._pattern.slab.nbytes < LARGE_ROOM and "beside" not in self.__dict__

    def _put_sizes(self) -> None:
        """The sizes of the model, with the values of its parameters."""
        for name, values in size_arrays(self.system).items():
            self.arrays[name][:] = values

    def give_back(self) -> None:
        """Leave the arrays to the next caller: this workspace, and views of its arrays, must not be used any more."""
        if self.calls is None and "beside" not in self.__dict__ and self.system.solver == DENSE:
            self._pattern.give_back(self._room)
        self._room = self.arrays = self.context = self.kept = None

    def _words_of_fronts(self) -> None:
        """The table of words by which the solver is called: what does not change from call to call."""
        from kinegrad.kernels.solvers.fronts import CALL
        from kinegrad.kernels.table import words_of

        fixed = ((self.arrays[name] if name in FIXED_OF_FRONTS else None) for name in CALL.index)
        self.arrays["front_words"][:] = words_of(fixed).ravel()

    def check_calls(self) -> None:
        """Raise what a function of the model raised."""
        if self.calls is not None:
            self.calls.check()
        if "beside" in self.__dict__:
            self.beside.check_calls()
            refuse_shared(self)

    @cached_property
    def beside(self) -> Workspace:
        """The workspace in which states are solved again for objectives with forces of constraints."""
        system, (ds, every_marker, wanted) = self.system, self._like
        for one in (system.beside, system.all_beside):
            inner = Workspace(one, self.arrays["s"], ds, every_marker, wanted, plain=True)
            if set_up(self, inner):
                break
        return inner

    def _function(self, which: int):
        """The compiled function with a number: that of the set, or the one that takes its place."""
        if self._plain:
            return self.system.set.functions[which]
        from kinegrad.kernels.table import address

        if which not in RUNS:
            return self.system.set.functions[which]
        for k in RUNS[which]:
            self.beside._link(k)
            self.arrays["inner_fn"][k] = address(self.system.set.functions[k])
        return replaced(which)

    def _known(self, s: np.ndarray, ds: np.ndarray | None, wanted: np.ndarray | None, every_marker: bool) -> Pattern:
        """Tables and scratch of the set, made once for each pattern of directions and wanted slots."""
        known, number = self.system.tables["known"], "c16" if s.dtype.kind == "c" else "f8"
        directions = None if ds is None else (len(ds), np.packbits(ds != 0).tobytes())
        served = None if wanted is None else wanted.tobytes()
        key = self.system.solver, number, len(s), every_marker, directions, served
        return remembered(known, key, lambda: self._new_pattern(len(s), ds, wanted, number, every_marker))

    def _new_pattern(self, slots: int, ds, wanted, number: str, every_marker: bool) -> Pattern:
        from kinegrad.kernels.jit import record
        from kinegrad.kernels.lapack import LARGE, fetch
        from kinegrad.kernels.records import DUAL
        from kinegrad.kernels.table import Slab

        ds = np.zeros((0, slots)) if ds is None else ds
        wanted = np.ones(slots, bool) if wanted is None else wanted
        if self.system.n > LARGE and self.system.solver == DENSE:
            fetch()
            take_one_thread()
        blank = self._blank(len(ds), len(wanted), number)
        size = 2.0 * sum(np.dtype(kind).itemsize * float(np.prod(shape, dtype=float)) for shape, kind in blank.values())
        what = f"Setting up the equations of {self.system.n} coordinates and {self.system.m} constraint rows"
        require(size, what, REMEDY[self.system.solver])
        tables = self.system.set.arrays(self.system, ds, wanted, number, every_marker) | self.system.patterns
        alike = np.zeros(self.system.n, np.int64)
        alike[self.system.alike[:, 0]] = self.system.alike.shape[1]
        tables |= {"level": self.system.levels, "alike": alike} | size_arrays(self.system)
        blank["dual"] = (len(tables["mk"]),), record(DUAL, number)
        return Pattern(Slab(self.system.set.layout, tables, blank))

    def _blank(self, directions: int, slots: int, number: str) -> dict[str, tuple]:
        """Shapes and types of the products and of scratch."""
        from kinegrad.kernels import pattern
        from kinegrad.kernels.products import (
            BY_FORCES,
            MATRICES,
            MATRICES_OF_SCRATCH,
            N_FLAG,
            N_FUNCTIONS,
            N_INNER,
            N_PAR,
            PIVOTS,
            VECTORS,
            VECTORS_OF_SCRATCH,
        )
        from kinegrad.kernels.solvers.fronts import CALL, FUNCTIONS, N_JOB
        from kinegrad.kernels.solvers.fronts import SIZE as SIZE_OF_FRONT
        from kinegrad.kernels.table import WORDS_EACH

        n, m, o = self.system.n, self.system.m, len(self.system.objectives)
        size = {"n": n, "r": m + len(self.system.freedoms), "p": directions, "o": o, "m": m, "2n": 2 * n, "4": 4}
        shapes = {
            "par": (N_PAR,), "s": (slots,), "ds": (directions, slots), "g": (o,), "psi_s": (max(o, 1), slots), "energy": (3,),
            "psi4": ((max(o, 1) + 3) // 4, slots, 4), "weight4": (4,),
        }  # fmt: skip
        for kinds in (VECTORS, VECTORS_OF_SCRATCH):
            shapes |= {name: (size[k],) for k, names in kinds.items() for name in names}
        for kinds in (MATRICES, MATRICES_OF_SCRATCH):
            shapes |= {name: (size[a], size[b]) for (a, b), names in kinds.items() for name in names}
        patterns = self.system.patterns
        shapes |= {name: (pattern.size(patterns[of]),) for name, of in PATTERN_OF.items()}
        fronts, held = self.system.solver == FRONTS, int((patterns["front"][:, SIZE_OF_FRONT] ** 2).sum())
        if fronts:
            shapes |= {"T_lu": (0, 0), "M_lu": (0, 0)}
        if m * n > MOST_APART and fronts:
            shapes["apart"] = (0, 0)
        shapes |= {"T_fronts": (1, held), "M_fronts": (1, held), "front_w": (n * fronts,), "front_x": (1, n * fronts)}
        sizes = {"front_job": N_JOB, "front_words": WORDS_EACH * len(CALL.index), "solver": len(FUNCTIONS)}
        whole = {name: ((size_ if fronts else 0,), np.int64) for name, size_ in sizes.items()}
        whole |= {"flag": ((N_FLAG,), np.int64)}
        whole |= dict.fromkeys(PIVOTS, ((n,), np.int32))
        again = self.system.solves_again
        n, m = (self.system.all_beside.n, self.system.all_beside.m) if again else (n, m)
        whole |= {"inner": ((N_INNER * again,), np.int64), "again": ((o * again,), np.int64)}
        whole |= {"inner_fn": ((N_FUNCTIONS * again,), np.int64), "inner_opts": ((6 * again,), np.float64)}
        whole |= {"inner_q": ((n * again,), np.int64), "blocks": ((m * again,), np.int64)}
        whole |= {"units": ((m * again,), np.float64), "linear": ((o * again,), np.int64)}
        width = {"by_motion": n, "g_other": 2}
        shapes |= {name: (o * again, width.get(name, m)) for name in BY_FORCES}
        return {name: (shape, number) for name, shape in shapes.items()} | whole

    def __getitem__(self, name: str) -> np.ndarray:
        """An array by its name; a matrix of a pattern as one with two indices: a view where it is dense, otherwise a copy.

        ``X_z`` is a copy of ``X_q`` and ``X_s`` beside each other.
        """
        pattern = PATTERN_OF.get(name)
        if pattern is not None:
            from kinegrad.kernels.pattern import spread

            return spread(self.arrays[pattern], self.arrays[name])
        array = self.arrays.get(name)
        if array is not None:
            return array
        if name.endswith("_z"):
            return np.hstack([self[f"{name[:-1]}q"], self[f"{name[:-1]}s"]])
        return self.arrays[name]

    def matrix(self, name: str) -> np.ndarray | Rows | csr_array:
        """A matrix of a pattern by its name: one with two indices where it is dense, otherwise with the entries that exist."""
        if self.system.solver != FRONTS:
            return self[name]
        if PATTERN_OF[name] == "wide":
            return Rows(self.fronts, self.arrays[name], self.system.m + len(self.system.freedoms))
        from scipy.sparse import csr_array

        return csr_array((self.arrays[name], *self.fronts.square), (self.system.n, self.system.n))

    @cached_property
    def fronts(self) -> Fronts:
        """Factors and ranks by fronts, outside time loops."""
        return Fronts(self.system, self.arrays["q"].dtype)

    @property
    def pointer(self):
        return self.context.pointer

    def functions(self, *wanted: int):
        """The table of functions with those numbers in it, compiled now if need be, and with the parts they run."""
        self.link(*wanted)
        self.link_solver()
        if self._plain:
            table = self.kept.get(wanted)
            if table is None:
                table = self.kept[wanted] = self._addresses(wanted)
            return table.copy()
        return self._addresses(wanted)

    def _addresses(self, wanted: tuple[int, ...]) -> np.ndarray:
        from kinegrad.kernels.table import addresses

        return addresses([self._function(k) if k in wanted else None for k in range(len(self.system.set.functions))])

    def link_solver(self) -> None:
        """Put the addresses of the functions of fronts, where these are used, into the context."""
        if self.system.solver == FRONTS:
            from kinegrad.kernels.solvers.fronts import FUNCTIONS
            from kinegrad.kernels.table import addresses

            self.arrays["solver"][:] = addresses(FUNCTIONS)

    def link(self, *wanted: int) -> None:
        """Put the addresses of what these functions run on this model into the context."""
        for k in wanted:
            if k not in self._linked:
                self._link(k)

    def _link(self, which: int) -> None:
        """Put the addresses of what function `which` runs on this model into the context."""
        if which in self._linked:
            return
        self.system.set.link(which, self.arrays)
        self._linked = self._linked | {which}
        names = self.system.set.linked
        if names and self._linked > self._pattern.linked:
            self._pattern.slab.begin_with({name: self.arrays[name] for name in names})
            self._pattern.linked = self._linked

    def call(self, which: int):
        """Run one function of the set from Python."""
        from kinegrad.kernels.table import call_from_python

        if which not in self._linked:
            self._link(which)
        call_from_python(self._function(which), self.context)
        if self.calls is not None or "beside" in self.__dict__:
            self.check_calls()
        return int(self.arrays["flag"][STATUS])
