"""Vectors of scalars as functions of vectors of inputs, with their derivatives as sparse matrices."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kinegrad.expressions.graph import Scalar, evaluate
from kinegrad.expressions.statements import as_function
from kinegrad.expressions.tape import Tape


@dataclass(frozen=True, eq=False)
class SparseColumns:
    """A matrix stored by columns: column j has `values[k]` in row `rows[k]`, for k from indptr[j] to indptr[j + 1]."""

    shape: tuple[int, int]
    indptr: np.ndarray
    rows: np.ndarray
    values: np.ndarray

    @property
    def columns(self) -> np.ndarray:
        """The column of each value."""
        return np.repeat(np.arange(self.shape[1]), np.diff(self.indptr))

    def dense(self) -> np.ndarray:
        """The matrix as a full array."""
        out = np.zeros(self.shape, self.values.dtype)
        out[self.rows, self.columns] = self.values
        return out

    def pull(self, gradient: np.ndarray) -> np.ndarray:
        """``gradient @ matrix``: a gradient by the rows, of shape (..., rows), becomes one by the columns."""
        gradient = np.asarray(gradient)
        out = np.zeros((*gradient.shape[:-1], self.shape[1]), np.result_type(gradient, self.values))
        filled = self._filled
        if filled.size:
            weighted = np.take(gradient, self.rows, axis=-1) * self.values
            alone = len(filled) == len(self.rows)  # an entry in each of these columns
            out[..., filled] = weighted if alone else np.add.reduceat(weighted, self.indptr[filled], axis=-1)
        return out

    @cached_property
    def _filled(self) -> np.ndarray:
        """The columns that have entries."""
        return np.flatnonzero(np.diff(self.indptr))

    def take(self, columns: np.ndarray) -> SparseColumns:
        """The matrix of these columns alone."""
        count = np.diff(self.indptr)[columns]
        indptr = np.concatenate([[0], np.cumsum(count)])
        entries = np.repeat(self.indptr[columns] - indptr[:-1], count) + np.arange(indptr[-1])
        return SparseColumns((self.shape[0], len(columns)), indptr, self.rows[entries], self.values[entries])


class LinearMap(ABC):
    """A matrix of shape `shape` by what it does: it need not be written out.

    Arguments are float or complex, and so are results.
    """

    shape: tuple[int, int]

    @abstractmethod
    def __call__(self, x: np.ndarray) -> np.ndarray:
        """``matrix @ x`` for x of shape (columns,) or (columns, k)."""

    @abstractmethod
    def pull(self, gradient: np.ndarray) -> np.ndarray:
        """``gradient @ matrix`` for a gradient of shape (rows,) or (k, rows)."""


class Matrix(LinearMap):
    """A matrix that is written out."""

    def __init__(self, values: np.ndarray):
        self.values = np.array(values, np.float64)
        if self.values.ndim != 2:
            raise ValueError(f"an array of shape {self.values.shape} is no matrix")
        self.shape = self.values.shape

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return self.values @ x

    def pull(self, gradient: np.ndarray) -> np.ndarray:
        return gradient @ self.values


@dataclass(frozen=True, eq=False)
class Behind:
    """Rows of a matrix that are the product of a linear map and a sparse matrix."""

    rows: slice
    map: LinearMap
    inner: SparseColumns


@dataclass(frozen=True, eq=False)
class Jacobian:
    """A matrix of derivatives: sparse entries and, in other rows, linear maps of sparse entries, which are not multiplied.

    So what is stored grows with the number of columns alone, and `pull` does what a gradient needs.
    """

    PIECE = 64  # columns that are written out at once

    entries: SparseColumns
    behind: tuple[Behind, ...] = ()

    @property
    def shape(self) -> tuple[int, int]:
        return self.entries.shape

    def pull(self, gradient: np.ndarray) -> np.ndarray:
        """``gradient @ matrix``: a gradient by the rows, of shape (..., rows), becomes one by the columns."""
        gradient = np.asarray(gradient)
        out = self.entries.pull(gradient)
        for part in self.behind:
            out = out + part.inner.pull(part.map.pull(gradient[..., part.rows]))
        return out

    def take(self, columns: np.ndarray) -> Jacobian:
        """The matrix of these columns alone."""
        behind = (Behind(part.rows, part.map, part.inner.take(columns)) for part in self.behind)
        return Jacobian(self.entries.take(columns), tuple(behind))

    def dense(self) -> np.ndarray:
        """The matrix as a full array: for a few columns."""
        out = self.entries.dense()
        for part in self.behind:
            out[part.rows] = part.map(part.inner.dense())
        return out

    def moved(self) -> np.ndarray:
        """(rows,) which of them may have an entry that is not zero; not to be changed."""
        return self._moved

    @cached_property
    def _moved(self) -> np.ndarray:
        out = np.zeros(self.shape[0], bool)
        out[self.entries.rows[self.entries.values != 0.0]] = True
        for part in self.behind:
            out[part.rows] |= bool(part.inner.values.any())
        return out

    def moving(self) -> np.ndarray:
        """(columns,) which of them may have an entry that is not zero."""
        out = np.zeros(self.shape[1], bool)
        for part in (self.entries, *(part.inner for part in self.behind)):
            out[part.columns[part.values != 0.0]] = True
        return out

    def pull_sizes(self, gradient: np.ndarray) -> np.ndarray:
        """``gradient @ |matrix|``."""
        pieces = [np.asarray(gradient) @ np.abs(piece) for piece in self._pieces()]
        return np.concatenate(pieces, axis=-1) if pieces else np.zeros((*np.shape(gradient)[:-1], 0))

    def largest(self) -> np.ndarray:
        """(columns,) the size of the largest entry of each."""
        pieces = [np.abs(piece).max(axis=0, initial=0.0) for piece in self._pieces()]
        return np.concatenate(pieces) if pieces else np.zeros(0)

    def _pieces(self) -> Iterator[np.ndarray]:
        """The matrix by a few columns at a time, each as a full array."""
        for first in range(0, self.shape[1], self.PIECE):
            yield self.take(np.arange(first, min(first + self.PIECE, self.shape[1]))).dense()


class Assembly:
    """Sorts entries given in any order into columns, and adds those of one place."""

    def __init__(self, rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]):
        place = columns * shape[0] + rows
        self.shape = shape
        self.order = np.argsort(place, kind="stable")
        place = place[self.order]
        self.starts = np.flatnonzero(np.diff(place, prepend=-1))
        self.rows = rows[self.order][self.starts]
        count = np.bincount(columns[self.order][self.starts], minlength=shape[1])
        self.indptr = np.concatenate([[0], np.cumsum(count)]).astype(np.int64)

    def __call__(self, values: np.ndarray) -> SparseColumns:
        """The matrix of `values`, which are in the order in which the entries were given."""
        values = values[self.order]
        if len(self.starts) < len(values):
            values = np.add.reduceat(values, self.starts)
        return SparseColumns(self.shape, self.indptr, self.rows, values)


class Product:
    """The product of two sparse matrices of fixed structure."""

    def __init__(self, left: Assembly, rows: np.ndarray, columns: np.ndarray, n_columns: int):
        count = np.diff(left.indptr)[rows]
        self.right_entry = np.repeat(np.arange(len(rows)), count)
        within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        self.left_entry = left.indptr[rows][self.right_entry] + within
        self.assembly = Assembly(left.rows[self.left_entry], columns[self.right_entry], (left.shape[0], n_columns))

    def __call__(self, left: np.ndarray, right: np.ndarray) -> SparseColumns:
        """The product, from the values of the left matrix (by columns) and of the right one (in the order given)."""
        return self.assembly(left[self.left_entry] * right[self.right_entry])


class Function:
    """Several scalars as a function of several inputs: in Python, or compiled for floats when there are many nodes."""

    COMPILED_FROM = 2000  # nodes; below, loading compiled code takes longer than evaluating a few times in Python
    WRITTEN_FROM = 3  # calls in Python; before, writing statements takes longer

    def __init__(self, outputs: Sequence[Scalar], inputs: Sequence[Scalar]):
        self.outputs = tuple(outputs)
        self.inputs = tuple(inputs)
        self.calls = 0

    @cached_property
    def tape(self) -> Tape:
        """What is run for floats."""
        return Tape.build(self.outputs, self.inputs)

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """The outputs, float64 or complex128 as `values` are."""
        if np.iscomplexobj(values) or (self.outputs and len(self.outputs[0].graph) < self.COMPILED_FROM):
            return np.array(self._in_python(values.tolist()), values.dtype)
        return self.tape.run(values)

    def _in_python(self, values: list) -> list:
        if self.calls < self.WRITTEN_FROM:
            self.calls += 1
            return evaluate(self.outputs, dict(zip(self.inputs, values, strict=True)))
        return self.statements(*values)

    @cached_property
    def statements(self) -> Callable[..., list]:
        """What is run in Python: a function of the numbers of the inputs."""
        return as_function(self.outputs, self.inputs)


class GraphMap:
    """A vector of scalars of one graph as a function of the vector of its inputs.

    Outputs that are constants or inputs as they are cost no evaluation.
    """

    def __init__(self, outputs: Sequence[Scalar], inputs: Sequence[Scalar]):
        self.outputs = tuple(outputs)
        self.n_inputs = len(inputs)
        self._position = {x: i for i, x in enumerate(inputs)}
        constants = [x.graph.constant_value(x) for x in self.outputs]
        self._base = np.array([0.0 if value is None else value for value in constants], np.float64)
        copied = [i for i, x in enumerate(self.outputs) if x in self._position]
        self._copied = np.array(copied, np.int64)
        self._copied_from = np.array([self._position[self.outputs[i]] for i in copied], np.int64)
        self._computed = np.array(
            [i for i, x in enumerate(self.outputs) if constants[i] is None and x not in self._position], np.int64
        )
        self._function, self._needed = self._restrict([self.outputs[i] for i in self._computed])

    def _restrict(self, outputs: Sequence[Scalar]) -> tuple[Function, np.ndarray]:
        """The outputs as a function of the inputs they need, and the positions of these."""
        inputs = outputs[0].graph.inputs_of(*outputs) if outputs else []
        return Function(outputs, inputs), np.array([self._position[x] for x in inputs], np.int64)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """The outputs, float64 or complex128 as x is."""
        y = self._base.astype(x.dtype)
        y[self._copied] = x[self._copied_from]
        if len(self._computed):
            y[self._computed] = self._function(x[self._needed])
        return y

    def part(self, chosen: Iterable[int]) -> tuple[np.ndarray, GraphMap]:
        """Which outputs depend on the inputs at these positions, and the map from all inputs to them."""
        inputs = list(self._position)
        picked = {inputs[i] for i in chosen}
        at = [i for i, x in enumerate(self.outputs) if not picked.isdisjoint(x.graph.inputs_of(x))]
        return np.array(at, np.int64), GraphMap([self.outputs[i] for i in at], inputs)

    def origins(self, k: int) -> list[int]:
        """The positions of the inputs that output k depends on."""
        return [self._position[x] for x in self.outputs[k].graph.inputs_of(self.outputs[k])]

    def partials(self, chosen: np.ndarray | None = None) -> Partials:
        """The derivatives of the outputs by the inputs where `chosen` is true (by all when it is None)."""
        chosen = np.ones(self.n_inputs, bool) if chosen is None else chosen
        copied = chosen[self._copied_from]
        rows, columns = [self._copied[copied]], [self._copied_from[copied]]
        scalars = []
        for i in self._computed:
            y = self.outputs[i]
            inputs = [x for x in y.graph.inputs_of(y) if chosen[self._position[x]]]
            rows.append(np.full(len(inputs), i))
            columns.append(np.array([self._position[x] for x in inputs], np.int64))
            scalars.extend(y.graph.gradient(y, inputs))
        function, needed = self._restrict(scalars)
        return Partials(np.concatenate(rows), np.concatenate(columns), int(copied.sum()), function, needed)


@dataclass(frozen=True, eq=False)
class Partials:
    """Entries of a sparse matrix of derivatives: `n_ones` that are 1, then those of a function of the inputs."""

    rows: np.ndarray
    columns: np.ndarray
    n_ones: int
    function: Function
    needed: np.ndarray

    def values(self, x: np.ndarray) -> np.ndarray:
        """The entries at x."""
        ones = np.ones(self.n_ones, x.dtype)
        return np.concatenate([ones, self.function(x[self.needed])]) if self.function.outputs else ones
