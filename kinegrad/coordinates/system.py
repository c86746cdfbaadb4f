"""System: a model lowered to tables of one coordinate set, and the workspaces that kernels run on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kinegrad.coordinates.coordinate_set import EULER, METRE, ONE, Coordinate, CoordinateSet
from kinegrad.coordinates.patterns import Structure, dense_arrays, structure_of
from kinegrad.coordinates.sparse import Fronts, Rows
from kinegrad.errors import KinegradError
from kinegrad.expressions.maps import Jacobian
from kinegrad.kernels.products import PATTERN_OF, STATUS
from kinegrad.laws import Calls
from kinegrad.memory import require
from kinegrad.model.parameters import Parameters
from kinegrad.model.slots import Slots
from kinegrad.one_thread import take_one_thread
from kinegrad.recipes import sealed

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from kinegrad.equations.element import Element
    from kinegrad.equations.system import Equations
    from kinegrad.kernels.table import Room, Slab

DENSE, FRONTS = "dense", "fronts"
FIXED_OF_FRONTS = (
    "front", "front_columns", "front_places", "front_of_entry", "front_of_lower", "front_of_row", "front_in_row", "wide",
    "front_w", "front_x", "front_job",
)  # fmt: skip
MOST_APART = 10**6  # rows × coordinates among which independent rows are chosen, where matrices are not dense
REMEDY = {
    DENSE: "take the solver 'fronts' and reference-point or natural coordinates, of which few meet, or fewer parameters",
    FRONTS: "make the model smaller, or differentiate by fewer parameters",
}
MEETING = 100  # bytes for each pair of coordinates that meet, while a pattern is made
MOST_KNOWN = 16  # patterns of directions whose tables are remembered
MOST_ROOMS = 8  # of each pattern that are kept for the next caller
LARGE_ROOM = 10**7  # bytes: such rooms are not kept


@dataclass(frozen=True)
class Freedom:
    """A degree of freedom: the row that measures it, the slots of its value and rate at the start, and its name.

    `independent` is False for a row that the start uses and an independent-coordinate formulation does not.  A velocity of
    -1 is found by the start.  `state` marks the state of an element, which is no freedom of the mechanism.
    """

    name: str
    row: int
    position: int
    velocity: int
    independent: bool = True
    state: bool = False


@dataclass(frozen=True)
class Own:
    """A coordinate that an element owns, behind those of the set (OWN-1).

    `k` is its number, `row` the constraint row that binds it to markers, or -1, and `inertia` the slot of its inertia, or -1:
    then it is the state of an element.
    """

    k: int
    row: int = -1
    inertia: int = -1


@dataclass(frozen=True)
class Row:
    """A constraint row: its name for people, and its number, or -1 where it says nothing by structure and is left out.

    `closure` marks the rows that close a cut joint: no element of the model by themselves.
    """

    name: str
    number: int
    closure: bool = False


@dataclass(frozen=True)
class System:
    """A model in one coordinate set: tables of topology and indices, frozen once built.

    Attributes
    ----------
    set : CoordinateSet
        The coordinates, and what only they have.
    n, m : int
        Coordinates, and constraint rows that are computed; `rows` also has those that say nothing by structure.
    coordinates : tuple of Coordinate
    freedoms : tuple of Freedom
    objectives : dict of name to kind, a key of `kinegrad.model.constraints.KINDS`
    markers : dict "body.marker" -> number of the marker
    own : tuple of Own
        Coordinates that elements own; they are the last ones.
    held : tuple of str
        Paths of the numbers of the model by which these coordinates give no derivatives: no parameter is among them.
    rho : (r,) array
        Values of the independent parameters.
    solver : str
        How matrices are kept and factored: "dense", or by "fronts".
    """

    model: object
    set: CoordinateSet
    tables: dict[str, tuple]
    sizes: dict[str, int]
    parameters: Parameters
    slots: Slots
    rho: np.ndarray
    coordinates: tuple[Coordinate, ...]
    rows: tuple[Row, ...]
    freedoms: tuple[Freedom, ...]
    objectives: dict[str, str]
    markers: dict[str, int]
    own: tuple[Own, ...] = ()
    held: tuple[str, ...] = ()
    solver: str = DENSE

    def __post_init__(self):
        rho = np.array(self.rho)  # its own, and never changed: what follows from it is kept
        rho.setflags(write=False)
        object.__setattr__(self, "rho", rho)

    @property
    def kind(self) -> str:
        """The name of the coordinate set."""
        return self.set.kind

    @property
    def n(self) -> int:
        return self.sizes["n"]

    @property
    def m(self) -> int:
        return self.sizes["m"]

    @property
    def row_names(self) -> list[str]:
        """Names of the constraint rows that are computed."""
        return [row.name for row in self.rows if row.number >= 0]

    @cached_property
    def number_of(self) -> dict[str, int]:
        """Numbers of the coordinates by name."""
        return {name: k for k, name in enumerate(self.coordinates)}

    @property
    def solves_again(self) -> bool:
        """Whether objectives use forces of constraints, for which states are solved again."""
        return bool(self.objectives) and any(self.tables.get("again", ()))

    @cached_property
    def beside(self) -> System:
        """The system in which states are solved again: itself, or the one with opened joints (OBJ-6)."""
        opened = self.tables.get("opened")
        return self if opened is None else opened.with_parameters(self.rho).with_solver(self.solver)

    def refuse_objectives(self) -> None:
        """Raise where these coordinates cannot give an objective."""
        for sentence in self.tables.get("not_here", {}).values():
            raise KinegradError(sentence)

    @property
    def multipliers(self) -> list[int]:
        """Numbers of the rows whose multipliers objectives use."""
        packed, every = self.tables["packed"], self.tables["scalars"]
        used = {k for law in self.tables["elements"]["objective"] for k in packed.ins[law["in0"] : law["in1"]]}
        return [-1 - every[k][1] for k in sorted(used) if every[k][0] < 0 and every[k][1] < 0]

    @property
    def lengths(self) -> np.ndarray:
        """(n,) which coordinates are lengths; the others are angles and Euler parameters."""
        return np.array([coordinate.unit == METRE for coordinate in self.coordinates], bool)

    @cached_property
    def alike(self) -> np.ndarray:
        """(k, 4) numbers of the coordinates that are Euler parameters, by owner: they share an inertia, more or less each."""
        by_owner: dict[str, list[int]] = {}
        for k, coordinate in enumerate(self.coordinates):
            if coordinate.unit == ONE and coordinate.part in EULER:
                by_owner.setdefault(coordinate.owner, []).append(k)
        return np.array(list(by_owner.values()), np.int64).reshape(-1, 4)

    @property
    def states(self) -> tuple[str, ...]:
        """Names of the elements that have a state of their own."""
        return tuple(self.coordinates[own.k].owner for own in self.own if own.inertia >= 0)

    @cached_property
    def levels(self) -> np.ndarray:
        """(rows,) the level of each row, constraints and freedoms: 0 of positions, 1 of velocities."""
        levels = np.zeros(self.m + len(self.freedoms), np.int64)
        for row in self.tables["elements"]["row_law"]:
            levels[row["row"]] = row["level"]
        return levels

    @property
    def structure(self) -> Structure:
        """Which coordinates meet in the equations; parameters do not change it."""
        if "structure" not in self.tables:
            none = np.zeros((0, len(self._s)))
            plain = self.with_solver(DENSE)  # arrays of a set may have the size of a pattern, which is not known yet
            tables = self.set.arrays(plain, none, np.zeros(len(self._s), bool), "f8", False)
            rows, coupled = self.m + len(self.freedoms), [list(group) for group in self.set.coupled(self)]
            require(
                MEETING * sum(float(len(group)) ** 2 for group in coupled),
                f"Finding which of {self.n} coordinates meet",
                "take the solver 'dense', the formulation 'recursive', or reference-point coordinates",
            )
            self.tables["structure"] = structure_of(self.n, rows, tables, coupled)
        return self.tables["structure"]

    @cached_property
    def patterns(self) -> dict[str, np.ndarray]:
        """Which entries the matrices of coordinates by coordinates, and of rows by coordinates, have; tables of fronts."""
        return self.structure.arrays if self.solver == FRONTS else dense_arrays(self.n, self.m + len(self.freedoms))

    def with_solver(self, solver: str) -> System:
        """The same system with matrices that are "dense", or have the entries that exist, and are factored by "fronts"."""
        from dataclasses import replace

        return self if solver == self.solver else replace(self, solver=solver)

    def coordinate_of(self, freedom: Freedom) -> int | None:
        """The coordinate that a degree of freedom is, if it is one."""
        return self.number_of.get(freedom.name)

    @property
    def s(self) -> np.ndarray:
        """Values of the slots, in an array of the caller's own."""
        return self._s.copy()

    @cached_property
    def _s(self) -> np.ndarray:
        return self.slots.values(self.rho)

    @cached_property
    def _suits(self) -> None:
        """Raises where the values of the parameters spoil the coordinates."""
        self._check(self._s)

    def _check(self, s: np.ndarray) -> None:
        """Raises where values of the slots spoil what was chosen when the system was made."""
        if np.iscomplexobj(s):
            return
        for slot, sentence in self.tables["divisors"].items():
            if s[slot] == 0.0:
                raise KinegradError(sentence)
        self.set.check(self, s)

    @cached_property
    def s_rho(self) -> Jacobian:
        """Derivatives of the slots by the independent parameters."""
        return self.slots.jacobian(self.rho)

    def with_parameters(self, values) -> System:
        """The same tables with other values of the parameters: a mapping by name, or all of rho."""
        from dataclasses import replace

        if isinstance(values, dict):
            given = self.parameters.values(values)
            changed = self.parameters.positions(label for name in values for label in self.parameters.expand(name))
            rho = self.rho.copy()
            rho[changed] = given[changed]
            values = rho
        return replace(self, rho=values)

    def at(self, q, qd=None, t: float = 0.0, *, qdd=None, lam=None) -> Equations:
        """The equations at a state: M, Q, K, C, Phi and its derivatives, R and S, with named rows and columns.

        Parameters
        ----------
        q, qd : (n,) arrays
            Coordinates and their rates; at rest by default.
        qdd, lam : (n,), (m,) arrays, optional
            Accelerations and multipliers that `Ma_q` and `PhiqTlam_q` hold fixed.
        """
        from kinegrad.equations.system import Equations

        return Equations(self, q, qd, t, qdd=qdd, lam=lam)

    def element(self, name: str) -> Element:
        """The constraint rows of a joint, constraint, driver or body by its name; its `at` gives them and their derivatives."""
        from kinegrad.equations.element import Element

        return Element(self, name)

    def __reduce__(self):
        """A recipe: the model, the set with its options, and the values of parameters."""
        return sealed("system", lowered_again, self.model, type(self.set), self.set.options, self.rho, self.solver)

    def directions(self, wrt: Sequence[str]) -> np.ndarray:
        """ds: a row of ds/drho for each of the independent parameters `wrt`."""
        return np.ascontiguousarray(self.derivatives(wrt).dense().T)

    def derivatives(self, wrt: Sequence[str]) -> Jacobian:
        """ds/drho: a column for each of the independent parameters `wrt`; nothing of the size slots × parameters is made."""
        wrt = tuple(wrt)
        if wrt == self.parameters.independent:
            return self.s_rho
        if wrt not in self._some_of_s_rho:
            self._some_of_s_rho.clear()
            self._some_of_s_rho[wrt] = self.s_rho.take(self.parameters.positions(wrt))
        return self._some_of_s_rho[wrt]

    @cached_property
    def _some_of_s_rho(self) -> dict[tuple[str, ...], Jacobian]:
        """The columns that were asked for last."""
        return {}

    def workspace(
        self,
        ds: np.ndarray | None = None,
        s: np.ndarray | None = None,
        every_marker: bool = False,
        wanted: np.ndarray | None = None,
    ) -> Workspace:
        """Arrays for one caller.

        Parameters
        ----------
        ds : (p, slots) array, optional
            Directions that LINEARISE has columns for.
        s : (slots,) array, optional
            Values of the slots in place of those of the parameters.
        every_marker : bool
            Also move the markers that no element uses.
        wanted : (slots,) array of bool, optional
            Slots that PULLBACK has to serve; all by default.
        """
        if s is None:
            _ = self._suits
        else:
            self._check(s)
        return Workspace(self, self._s if s is None else s, ds, every_marker, wanted)


def lowered_again(model, kind: type[CoordinateSet], options: dict, rho: np.ndarray, solver: str = DENSE) -> System:
    """A system from its recipe: the same tables, and the same values of parameters."""
    return kind.lower(model, None, **options).with_parameters(rho).with_solver(solver)


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

    `kept` is what calls of compiled code with these arrays have prepared.
    """

    def __init__(
        self, system: System, s: np.ndarray, ds: np.ndarray | None, every_marker: bool, wanted, plain: bool = False
    ):
        self.system, self._plain = system, plain or not system.solves_again
        self._like = ds, every_marker, wanted
        number = "c16" if np.iscomplexobj(s) else "f8"
        ds = np.zeros((0, len(s))) if ds is None else ds
        wanted = np.ones(len(s), bool) if wanted is None else wanted
        self._pattern = self._known(ds, wanted, number, every_marker)
        self._room, self._linked = self._pattern.room()
        _, self.arrays, self.context, self.kept = self._room
        self.arrays["s"][:] = s
        if len(ds):
            self.arrays["ds"][:] = ds
        self.calls = self._calls()
        if system.solver == FRONTS:
            self._words_of_fronts()

    def _calls(self) -> Calls | None:
        """Functions that are laws of the model, put where kernels find them."""
        from kinegrad.kernels.jit import JIT
        from kinegrad.kernels.status import CALLBACK_FAILED

        laws = self.system.tables["packed"].calls
        if not laws:
            return None
        flag = self.arrays["flag"]

        def failed():
            flag[STATUS] = CALLBACK_FAILED

        calls = Calls(laws, self.arrays, failed)
        if JIT:
            self.arrays["callback"][:] = calls.addresses()
        self.context.calls = calls
        return calls

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

    @cached_property
    def beside(self) -> Workspace:
        """The workspace in which states are solved again for objectives with forces of constraints."""
        from kinegrad.coordinates.beside import set_up

        ds, every_marker, wanted = self._like
        inner = Workspace(self.system.beside, self.arrays["s"], ds, every_marker, wanted, plain=True)
        set_up(self, inner)
        return inner

    def _function(self, which: int):
        """The compiled function with a number: that of the set, or the one that takes its place."""
        from kinegrad.coordinates.beside import RUNS, replaced
        from kinegrad.kernels.table import address

        if self._plain or which not in RUNS:
            return self.system.set.functions[which]
        for k in RUNS[which]:
            self.beside._link(k)
            self.arrays["inner_fn"][k] = address(self.system.set.functions[k])
        return replaced(which)

    def _known(self, ds: np.ndarray, wanted: np.ndarray, number: str, every_marker: bool) -> Pattern:
        """Tables and scratch of the set, made once for each pattern of directions and wanted slots."""
        from kinegrad.kernels.jit import record
        from kinegrad.kernels.lapack import LARGE, fetch
        from kinegrad.kernels.records import DUAL
        from kinegrad.kernels.table import Slab

        known = self.system.tables["known"]
        key = (
            self.system.solver,
            number,
            every_marker,
            ds.shape,
            np.packbits(ds != 0).tobytes(),
            np.packbits(wanted).tobytes(),
        )
        if key not in known:
            if len(known) >= MOST_KNOWN:
                known.clear()
            if self.system.n > LARGE and self.system.solver == DENSE:
                fetch()
                take_one_thread()
            blank = self._blank(len(ds), len(wanted), number)
            size = 2.0 * sum(
                np.dtype(kind).itemsize * float(np.prod(shape, dtype=float)) for shape, kind in blank.values()
            )
            what = f"Setting up the equations of {self.system.n} coordinates and {self.system.m} constraint rows"
            require(size, what, REMEDY[self.system.solver])
            tables = self.system.set.arrays(self.system, ds, wanted, number, every_marker) | self.system.patterns
            alike = np.zeros(self.system.n, np.int64)
            alike[self.system.alike[:, 0]] = self.system.alike.shape[1]
            tables |= {"level": self.system.levels, "alike": alike}
            blank["dual"] = (len(tables["mk"]),), record(DUAL, number)
            known[key] = Pattern(Slab(self.system.set.layout, tables, blank))
        return known[key]

    def _blank(self, directions: int, slots: int, number: str) -> dict[str, tuple]:
        """Shapes and types of the products and of scratch."""
        from kinegrad.kernels import pattern
        from kinegrad.kernels.products import (
            BY_FORCES,
            MATRICES,
            MATRICES_OF_SCRATCH,
            N_FLAG,
            N_FUNCTIONS,
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
        n, m = (self.system.beside.n, self.system.beside.m) if again else (n, m)
        whole |= {"inner": ((2 * again,), np.int64), "again": ((o * again,), np.int64)}
        whole |= {"inner_fn": ((N_FUNCTIONS * again,), np.int64), "inner_opts": ((6 * again,), np.float64)}
        whole |= {"inner_q": ((n * again,), np.int64)}
        shapes |= {name: (o * again, n if name == "by_motion" else m) for name in BY_FORCES}
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
        from kinegrad.kernels.table import addresses

        self.link(*wanted)
        self.link_solver()
        if self._plain:
            table = self.kept.get(wanted)
            if table is None:
                functions = self.system.set.functions
                table = self.kept[wanted] = addresses([f if k in wanted else None for k, f in enumerate(functions)])
            return table.copy()
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
            self._link(k)

    def _link(self, which: int) -> None:
        """Put the addresses of what function `which` runs on this model into the context."""
        if which not in self._linked:
            self.system.set.link(which, self.arrays)
            self._linked = self._linked | {which}
            names = self.system.set.linked
            if names and self._linked > self._pattern.linked:
                self._pattern.slab.begin_with({name: self.arrays[name] for name in names})
                self._pattern.linked = self._linked

    def call(self, which: int):
        """Run one function of the set from Python."""
        from kinegrad.kernels.table import call_from_python

        self._link(which)
        call_from_python(self._function(which), self.context)
        self.check_calls()
        return int(self.arrays["flag"][STATUS])
