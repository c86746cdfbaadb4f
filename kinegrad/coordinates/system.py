"""System: a model lowered to tables of one coordinate set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kinegrad.coordinates.coordinate_set import EULER, METRE, ONE, Coordinate, CoordinateSet
from kinegrad.coordinates.patterns import DENSE, FRONTS, Structure, dense_arrays, structure_of
from kinegrad.coordinates.workspace import Workspace
from kinegrad.errors import KinegradError
from kinegrad.expressions.maps import Jacobian
from kinegrad.memory import require
from kinegrad.model.parameters import Parameters
from kinegrad.model.slots import Slots
from kinegrad.model.varying_bodies import VaryingBodies
from kinegrad.recipes import sealed
from kinegrad.remembered import remembered

if TYPE_CHECKING:
    from kinegrad.coordinates.sizes import Sizes
    from kinegrad.equations.element import Element
    from kinegrad.equations.system import Equations

OF_VALUES = (
    "_s",
    "_suits",
    "s_rho",
    "_some_of_s_rho",
    "beside",
    "model_sizes",
)  # properties that follow from values of parameters
MEETING = 100  # bytes for each pair of coordinates that meet, while a pattern is made


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


class AskedFor(NamedTuple):
    """Columns of ds/drho by the names of their parameters, and the same as directions."""

    columns: dict[tuple[str, ...], Jacobian]
    directions: dict[tuple[str, ...], np.ndarray]


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
        object.__setattr__(self, "rho", _kept(self.rho))

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
        """The system in which states are solved again: itself, or one with opened joints (OBJ-6, OBJ-7)."""
        opened = self.tables.get("opened")
        return self if opened is None else opened.with_parameters(self.rho).with_solver(self.solver)

    @cached_property
    def all_beside(self) -> System:
        """The same where objectives use forces that redundant rows share: all joints that share them are opened (OBJ-7)."""
        opened = self.tables.get("all_opened")
        return self.beside if opened is None else opened.with_parameters(self.rho).with_solver(self.solver)

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

    @property
    def checked_s(self) -> np.ndarray:
        """Values of the slots, which are not to be changed; raises where they spoil the coordinates."""
        _ = self._suits
        return self._s

    def slots_or(self, s: np.ndarray | None) -> np.ndarray:
        """The same, or others in their place, checked alike."""
        if s is None:
            return self.checked_s
        self._check(s)
        return s

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
    def model_sizes(self) -> Sizes:
        """The length, mass and time of the model, powers of two in which things are judged."""
        from kinegrad.coordinates.sizes import sizes_of

        return sizes_of(self)

    @cached_property
    def s_rho(self) -> Jacobian:
        """Derivatives of the slots by the independent parameters."""
        return self.slots.jacobian(self.rho)

    def with_parameters(self, values) -> System:
        """The same tables with other values of the parameters: a mapping by name, or all of rho.

        Values by name with which a body would have a mass or an inertia that no body has are refused.
        """
        if isinstance(values, dict):
            given = self.parameters.values(values)
            labels = [label for name in values for label in self.parameters.expand(name)]
            changed = self.parameters.positions(labels)
            rho = self.rho.copy()
            rho[changed] = given[changed]
            self.refuse_bodies(labels, rho)
            values = rho
        found = object.__new__(System)
        found.__dict__.update(self.__dict__)
        for name in OF_VALUES:
            found.__dict__.pop(name, None)
        object.__setattr__(found, "rho", _kept(values))
        return found

    def refuse_bodies(self, labels: Sequence[str], rho: np.ndarray) -> None:
        """Raises where a body that parameters change would have a mass or an inertia that no body has."""
        known, key = self.tables.setdefault("varying_bodies", {}), tuple(labels)
        remembered(known, key, lambda: VaryingBodies(self.model, self.parameters, labels)).refuse(rho)

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
        require(16.0 * len(wrt) * len(self.slots), f"Direct differentiation by {len(wrt)} parameters",
                "take the discrete adjoint, or name fewer parameters")  # fmt: skip
        wrt = tuple(wrt)
        known = self._some_of_s_rho.directions
        return remembered(known, wrt, lambda: np.ascontiguousarray(self.derivatives(wrt).dense().T), most=1)

    def derivatives(self, wrt: Sequence[str]) -> Jacobian:
        """ds/drho: a column for each of the independent parameters `wrt`; nothing of the size slots × parameters is made."""
        wrt = tuple(wrt)
        known, every = self._some_of_s_rho.columns, wrt == self.parameters.independent
        positions = self.parameters.positions
        return remembered(known, wrt, lambda: self.s_rho if every else self.s_rho.take(positions(wrt)), most=1)

    @cached_property
    def _some_of_s_rho(self) -> AskedFor:
        """What was asked for last of ds/drho, of all values of the parameters where it does not change with them."""
        if not self.slots.is_linear or np.iscomplexobj(self.rho):
            return AskedFor({}, {})
        return self.tables.setdefault("asked_for", AskedFor({}, {}))

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
        return Workspace(self, self.slots_or(s), ds, every_marker, wanted)


def _kept(rho) -> np.ndarray:
    """Values of parameters in an array of their own that is never changed: what follows from it is kept."""
    rho = np.array(rho)
    rho.setflags(write=False)
    return rho


def lowered_again(model, kind: type[CoordinateSet], options: dict, rho: np.ndarray, solver: str = DENSE) -> System:
    """A system from its recipe: the same tables, and the same values of parameters."""
    return kind.lower(model, None, **options).with_parameters(rho).with_solver(solver)
