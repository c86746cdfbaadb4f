"""The numbers of a model as kernels read them, and their derivatives by every number the user wrote.

Three levels: the independent parameters rho, the *fields* f (each number that stands in the model, with its path) and
the *slots* s (each number that a kernel reads). Most slots are a field as it is; others are computed from fields, such
as the components of an axis that is normalised. So ``s_rho = s_f f_rho``, and ``s_f`` alone leads from a gradient by
slots to the gradient by every number of the model, named or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kinegrad.errors import ExpressionError, ModelError, Problem
from kinegrad.expressions.graph import Graph, Scalar, scalarise_number, sqrt
from kinegrad.expressions.maps import Assembly, Behind, GraphMap, Jacobian, LinearMap, Matrix, Product
from kinegrad.expressions.syntax import Expression
from kinegrad.model.parameters import Number, Parameters


@dataclass(frozen=True)
class Block:
    """Slots ``first, first + 1, ...`` that are ``map(fields[columns])``, a linear function."""

    first: int
    columns: np.ndarray
    map: LinearMap

    @property
    def slots(self) -> slice:
        return slice(self.first, self.first + self.map.shape[0])


class SlotBuilder:
    """Collects fields and slots while a model is lowered.

    Attributes
    ----------
    graph : Graph
        The graph of the scalars that `field` returns; slots are made of fields by arithmetic on these.
    """

    def __init__(self, parameters: Parameters):
        self.graph = Graph()
        self._rho_graph = Graph()
        self._resolve = parameters.resolve(self._rho_graph)
        self._rho = dict(zip(parameters.independent, parameters.values().tolist(), strict=True))
        self._field_position: dict[str, int] = {}
        self._numbers: list[Number] = []  # of each field, as written
        self._sources: list[Scalar] = []  # of each field, in the parameters
        self._slot_position: dict[str, int] = {}
        self._scalars: list[Scalar] = []  # of each slot, in the fields
        self._blocks: list[Block] = []
        self._units: dict[str, tuple[tuple, list[Scalar]]] = {}  # directions by path: numbers, scalars
        self.frames: dict[tuple, list[Scalar]] = {}  # by their axes: of joints, which are asked for again and again
        self._known: dict[int, float] = {}  # values of scalars made of fields
        self._known_sources: dict[int, float] = {}

    def field(self, path: str, number: Number) -> Scalar:
        """The scalar that stands for the number at `path`; the same when it is asked for again."""
        number = number if isinstance(number, Expression) else float(number)
        if path not in self._field_position:
            self._sources.append(self._source(path, number))
            self._numbers.append(number)
            self._field_position[path] = len(self._field_position)
        there = self._numbers[self._field_position[path]]
        if there != number:
            raise ValueError(f"field {path} is {there} already and cannot be {number} too")
        return self.graph.input(path)

    def _source(self, path: str, number: Number) -> Scalar:
        if not isinstance(number, Expression):
            return self._rho_graph.constant(number)
        try:
            return scalarise_number(number, self._rho_graph, self._resolve)
        except ExpressionError as error:
            raise ModelError(Problem(f"{path}: its value {str(number)!r} cannot be used. {error}", path)) from None

    def add(self, name: str, scalar: Scalar) -> int:
        """The slot of a scalar made of fields."""
        return self._append([name], [scalar])

    def scalars(self, name: str, scalars: Sequence[Scalar]) -> int:
        """The first of the consecutive slots `name[0]`, `name[1]`..."""
        return self._append([f"{name}[{i}]" for i in range(len(scalars))], scalars)

    def number(self, path: str, number: Number) -> int:
        """The slot of a number that is read as it is."""
        return self.add(path, self.field(path, number))

    def constant(self, name: str, value: float) -> int:
        """A slot that nothing moves."""
        return self.add(name, self.graph.constant(value))

    def vector(self, path: str, numbers: Sequence[Number]) -> int:
        """The first of the three slots of a vector that is read as it is."""
        return self._append(*self._components(path, numbers))

    def unit(self, path: str, numbers: Sequence[Number]) -> int:
        """The first of the three slots of a vector that is brought to length 1."""
        return self._append(self._components(path, numbers)[0], self.unit_scalars(path, numbers))

    def unit_scalars(self, path: str, numbers: Sequence[Number]) -> list[Scalar]:
        """The three scalars of a vector that is brought to length 1."""
        there = self._units.get(path)
        if there is not None and there[0] == tuple(numbers):
            return list(there[1])
        _, (x, y, z) = self._components(path, numbers)
        if not any(self.current([x, y, z])):
            raise ModelError(Problem(f"{path} is [0, 0, 0] and has no direction; give it a length above zero.", path))
        length = sqrt(x * x + y * y + z * z)
        scalars = [x / length, y / length, z / length]
        self._units[path] = tuple(numbers), scalars
        return list(scalars)

    def at(self, first: int, count: int = 3) -> list[Scalar]:
        """The scalars of consecutive slots, such as those of a vector."""
        return self._scalars[first : first + count]

    def paths(self, scalars: Sequence[Scalar]) -> list[str]:
        """Paths of the fields that scalars are made of."""
        return [self.graph.payload[x.index] for x in self.graph.inputs_of(*scalars)]

    def parameters(self, scalars: Sequence[Scalar]) -> list[str]:
        """Names of the independent parameters that scalars made of fields depend on."""
        sources = [self._sources[self._field_position[path]] for path in self.paths(scalars)]
        return [self._rho_graph.payload[x.index] for x in self._rho_graph.inputs_of(*sources)]

    def current(self, scalars: Sequence[Scalar]) -> list[float]:
        """Values of scalars made of fields, for the values the parameters have in the model."""
        self.graph.complete(self._known, scalars, self._field_value)
        return [self._known[x.index] for x in scalars]

    def _field_value(self, path: str) -> float:
        source = self._sources[self._field_position[path]]
        self._rho_graph.complete(self._known_sources, [source], self._rho.__getitem__)
        return self._known_sources[source.index]

    def linear(self, name: str, fields: Sequence[Scalar], matrix: LinearMap | np.ndarray) -> int:
        """The first of the consecutive slots ``matrix @ fields``, named as in `scalars`; the same when asked again."""
        matrix = matrix if isinstance(matrix, LinearMap) else Matrix(matrix)
        if matrix.shape[1] != len(fields):
            raise ValueError(f"{name}: a matrix of shape {matrix.shape} does not fit {len(fields)} fields")
        columns = [self._field_position[self.graph.payload[x.index]] for x in fields]
        there = self._slot_position.get(f"{name}[0]")
        if there is not None:
            probe = np.sin(np.arange(1.0, len(fields) + 1.0))
            for block in self._blocks:
                same = block.first == there and block.map.shape == matrix.shape and block.columns.tolist() == columns
                if same and np.array_equal(block.map(probe), matrix(probe)):
                    return there
            raise ValueError(f"slots {name} exist already with another matrix, or made of other fields")
        first = self.scalars(name, [self.graph.constant(0.0)] * matrix.shape[0])
        self._blocks.append(Block(first, np.array(columns, np.int64), matrix))
        return first

    def build(self) -> Slots:
        """The slots collected so far."""
        paths = tuple(self._field_position)
        return Slots(
            names=tuple(self._slot_position),
            field_paths=paths,
            numbers=tuple(self._numbers),
            from_rho=GraphMap(self._sources, [self._rho_graph.input(label) for label in self._rho]),
            from_fields=GraphMap(self._scalars, [self.graph.input(path) for path in paths]),
            blocks=tuple(self._blocks),
        )

    def _components(self, path: str, numbers: Sequence[Number]) -> tuple[list[str], list[Scalar]]:
        names = [f"{path}.x", f"{path}.y", f"{path}.z"]
        return names, [self.field(name, number) for name, number in zip(names, numbers, strict=True)]

    def _append(self, names: Sequence[str], scalars: Sequence[Scalar]) -> int:
        """The first of consecutive slots; new ones unless just these are there already."""
        first = self._slot_position.get(names[0], len(self._scalars))
        if first < len(self._scalars):
            there = [self._slot_position.get(name) for name in names] == list(range(first, first + len(names)))
            if there and self._scalars[first : first + len(names)] == list(scalars):
                return first
        for name in names:
            if name in self._slot_position:
                raise ValueError(f"slot {name} exists already with another value or in another place")
            self._slot_position[name] = len(self._slot_position)
        self._scalars.extend(scalars)
        return first


@dataclass(frozen=True, eq=False, repr=False)
class Slots:
    """The slot vector of a model as a function of its independent parameters rho.

    All functions take float or complex rho and give arrays of that kind.

    Attributes
    ----------
    names : tuple of str
        One for each slot.
    field_paths : tuple of str
        One for each number that stands in the model.
    numbers : tuple of float or Expression
        What stands there.
    """

    names: tuple[str, ...]
    field_paths: tuple[str, ...]
    numbers: tuple[Number, ...]
    from_rho: GraphMap
    from_fields: GraphMap
    blocks: tuple[Block, ...]

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"<Slots: {len(self)} of {len(self.field_paths)} fields and {self.from_rho.n_inputs} parameters>"

    def field_values(self, rho: np.ndarray) -> np.ndarray:
        """The value of each field; a ModelError when one is not finite."""
        fields = self.from_rho(_numbers(rho, self.from_rho.n_inputs))
        if np.isfinite(fields).all():
            return fields
        problems = [
            Problem(
                f"{self.field_paths[k]}: its value {str(self.numbers[k])!r} is {fields[k]} with the parameters given; "
                "change these or the expression.",
                self.field_paths[k],
            )
            for k in np.flatnonzero(~np.isfinite(fields))
        ]
        raise ModelError(*problems)

    def values(self, rho: np.ndarray) -> np.ndarray:
        """The value s of each slot; a ModelError when one is not finite."""
        fields = self.field_values(rho)
        s = self.from_fields(fields)
        for block in self.blocks:
            s[block.slots] = block.map(fields[block.columns])
        if np.isfinite(s).all():
            return s
        raise ModelError(*(self._not_finite(int(k), s[k], fields) for k in np.flatnonzero(~np.isfinite(s))))

    def _not_finite(self, k: int, value, fields: np.ndarray) -> Problem:
        origins = self.from_fields.origins(k)
        origins += [c for block in self.blocks if block.slots.start <= k < block.slots.stop for c in block.columns]
        given = ", ".join(f"{self.field_paths[i]} = {fields[i]}" for i in origins)
        given = f" from {given}" if given else ""
        return Problem(
            f"{self.names[k]} cannot be computed (it is {value}){given}; look for numbers that are too large or too small.",
            self.names[k],
        )

    @cached_property
    def is_linear(self) -> bool:
        """Whether the derivatives s_rho are the same for all values of the parameters."""
        partials, by_rho, _ = self._chain
        return not (len(partials.graph_part.needed) or len(by_rho.needed))

    def jacobian(self, rho: np.ndarray) -> Jacobian:
        """The derivatives s_rho, of shape (slots, independent parameters)."""
        partials, by_rho, products = self._chain
        s_f = partials(self.field_values(rho))
        f_rho = by_rho.values(_numbers(rho, self.from_rho.n_inputs))
        entries, *inner = (
            product(left.values, f_rho)
            for product, left in zip(products, (s_f.entries, *(part.inner for part in s_f.behind)), strict=True)
        )
        behind = (Behind(part.rows, part.map, x) for part, x in zip(s_f.behind, inner, strict=True))
        return Jacobian(entries, tuple(behind))

    def field_jacobian(self, rho: np.ndarray) -> Jacobian:
        """The derivatives s_f, of shape (slots, fields)."""
        return self._field_partials(self.field_values(rho))

    @cached_property
    def _field_partials(self) -> FieldPartials:
        return FieldPartials(self, np.ones(len(self.field_paths), bool))

    @cached_property
    def _chain(self):
        """What a `jacobian` needs: only fields that move with rho are differentiated by."""
        by_rho = self.from_rho.partials()
        moving = np.zeros(len(self.field_paths), bool)
        moving[by_rho.rows] = True
        partials = FieldPartials(self, moving)
        right = by_rho.rows, by_rho.columns, self.from_rho.n_inputs
        return partials, by_rho, [Product(left, *right) for left in (partials.assembly, *partials.inner)]


class FieldPartials:
    """The derivatives of the slots by the chosen fields."""

    def __init__(self, slots: Slots, chosen: np.ndarray):
        self.blocks = slots.blocks
        self.graph_part = slots.from_fields.partials(chosen)
        self.assembly = Assembly(self.graph_part.rows, self.graph_part.columns, (len(slots), len(chosen)))
        self.inner = []  # of each block: which of the fields it takes are chosen
        for block in slots.blocks:
            taken = np.flatnonzero(chosen[block.columns])
            self.inner.append(Assembly(taken, block.columns[taken], (len(block.columns), len(chosen))))

    def __call__(self, fields: np.ndarray) -> Jacobian:
        """The derivatives at the values `fields`."""
        behind = (
            Behind(block.slots, block.map, inner(np.ones(len(inner.order), fields.dtype)))
            for block, inner in zip(self.blocks, self.inner, strict=True)
        )
        return Jacobian(self.assembly(self.graph_part.values(fields)), tuple(behind))


class PartOfSlots:
    """The slots that depend on the independent parameters at some positions, for those who change these again and again."""

    def __init__(self, slots: Slots, chosen: Iterable[int]):
        self.fields, self._from_rho = slots.from_rho.part(chosen)
        self.slots, self._from_fields = slots.from_fields.part(self.fields.tolist())
        self._blocks = [block for block in slots.blocks if np.isin(block.columns, self.fields).any()]

    def update(self, rho: np.ndarray, fields: np.ndarray, s: np.ndarray) -> bool:
        """Whether all is finite after fields and slots have been brought up to date with rho."""
        fields[self.fields] = self._from_rho(rho)
        s[self.slots] = self._from_fields(fields)
        for block in self._blocks:
            s[block.slots] = block.matrix @ fields[block.columns]
        return bool(np.isfinite(fields).all() and np.isfinite(s).all())


def _numbers(rho: np.ndarray, n: int) -> np.ndarray:
    """rho as an array of n float64 or complex128 numbers."""
    rho = np.asarray(rho)
    if rho.shape != (n,):
        raise ValueError(f"rho has the shape {rho.shape}; there are {n} independent parameters")
    return rho.astype(np.complex128 if np.iscomplexobj(rho) else np.float64)
