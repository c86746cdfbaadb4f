"""The boundary at which separately compiled parts meet: a table of functions and a table of arrays.

A `Layout` is an ordered list of array names with their types.  A `Context` holds the arrays of one user of it.
Compiled code receives two things: the addresses of C functions, which it runs by `call`, and the context as one number,
from which the viewers of the layout take the arrays.  So a caller never knows the record types behind a function, and
each side is compiled once.

Layouts are made in `kinegrad.kernels`, where the fingerprint of the cache sees their order and types::

    PRODUCTS = Layout([("q", "f8", 1), ("M", "f8", 2)])
    q, M = PRODUCTS.viewers("q", "M")

    @cfunction(what="the mass matrix")
    def evaluate(ctx):
        mass_matrix(q(ctx), M(ctx))

    context = PRODUCTS.context({"q": np.zeros(4), "M": np.zeros((4, 4))})
    run(addresses([evaluate]), context.pointer)        # an entry that does call(functions[0], ctx)

With the compiler switched off, `pointer` is the context itself and an address is the number of a Python function.
"""

from __future__ import annotations

import ctypes
import functools
import math
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from kinegrad.kernels import checks
from kinegrad.kernels.jit import JIT, intrinsic

WORDS_EACH = _WORDS = 4  # an array in the table: its address and up to three extents
_ALIGNED = 64  # bytes: lanes that lie in two lines of the cache are slow


def addresses(functions) -> np.ndarray:
    """What an entry takes as its table of functions; a missing function is None, and must not be called."""
    return np.array([0 if f is None else address(f) for f in functions], dtype=np.int64)


def call_from_python(function, context):
    """Run one function of a table on a context, outside compiled code."""
    if JIT:
        function.from_python(context.pointer)
    else:
        function(context)


def bound(function, context):
    """A function of a table on a context, as a Python function of nothing."""
    if not JIT:
        return functools.partial(function, context)
    return functools.partial(function.from_python, ctypes.c_void_p(context.pointer))


if JIT:
    call = intrinsic("call")

    def address(function) -> int:
        """The number by which `call` finds a function, which is compiled now if need be."""
        return function.address

    def viewer(index, dtype, ndim):
        """A function of a context, for kernels: array number `index`, as a view that owns nothing."""
        return intrinsic("view", index, dtype, ndim, _WORDS)

    def full_viewer(index, pattern):
        """A function of a context, for kernels: array number `index`, flat and dense, as a matrix with two indices."""
        return intrinsic("view_full", index, pattern, _WORDS)

else:
    _numbers: dict = {None: 0}  # 0 is no function
    _functions: list = [None]

    def address(function) -> int:
        """The number by which `call` finds a function."""
        if function not in _numbers:
            _numbers[function] = len(_functions)
            _functions.append(function)
        return _numbers[function]

    def call(number, ctx):
        """Run a function on a context."""
        _functions[number](ctx)

    def viewer(index, dtype, ndim):
        """A function of a context: array number `index`."""
        return lambda ctx: ctx.arrays[index]

    def full_viewer(index, pattern):
        """A function of a context: array number `index`, flat and dense, as a matrix with two indices."""
        return lambda ctx: ctx.arrays[index].reshape(ctx.arrays[pattern][1:3])


class Parts:
    """Functions that others of the same owner run by number, through an array of addresses in the context.

    So each is compiled once, and only when it is used.  Every owner, such as a coordinate set, has numbers and an array of its
    own::

        PARTS = Parts()

        @PARTS.part(COLUMNS)
        @cfunction
        def columns(ctx): ...

        @kernel
        def run_part(ctx, k):
            call(links(ctx)[k], ctx)
    """

    def __init__(self):
        self._functions: dict = {}

    def __len__(self) -> int:
        return len(self._functions)

    def part(self, number: int):
        """A decorator: the C function has that number."""

        def decorate(function):
            if number in self._functions:
                raise ValueError(f"part {number} exists already")
            self._functions[number] = function
            return function

        return decorate

    def link(self, links: np.ndarray, numbers) -> None:
        """Put the addresses of these parts into the array."""
        for number in numbers:
            if not links[number]:
                links[number] = address(self._functions[number])


class Layout:
    """An ordered list of arrays that cross the boundary.

    Parameters
    ----------
    fields : iterable of (name, dtype, ndim)
        Add new ones at the end, by `extend`: the numbers of the old ones then stay.
    """

    def __init__(self, fields):
        self.fields = tuple((name, np.dtype(dtype), int(ndim)) for name, dtype, ndim in fields)
        self.index = {name: k for k, (name, _, _) in enumerate(self.fields)}
        if len(self.index) < len(self.fields):
            raise ValueError("a layout has two arrays of one name")
        if any(not 1 <= ndim < _WORDS for _, _, ndim in self.fields):
            raise ValueError(f"an array of a layout has 1 to {_WORDS - 1} dimensions")

    def extend(self, fields) -> Layout:
        """A layout with more arrays at the end: contexts of it serve the viewers of this one too."""
        return Layout([*self.fields, *fields])

    def viewers(self, *names):
        """Viewers for kernels: a tuple for the names given, or all of them as attributes of one object."""
        if not names:
            return SimpleNamespace(**{name: self._viewer(name) for name in self.index})
        return tuple(self._viewer(name) for name in names)

    def _viewer(self, name):
        k = self.index[name]
        return viewer(k, *self.fields[k][1:])

    def context(self, arrays) -> Context:
        """A context of these arrays, each of which must be given, fit its type and be contiguous by rows."""
        self.check({name: (a.shape, a.dtype) for name, a in arrays.items()})
        for name, a in arrays.items():
            if not (a.flags.c_contiguous and a.flags.writeable):
                raise ValueError(f"array {name!r} is not contiguous by rows, or not writeable")
        ordered = [arrays[name] for name in self.index]
        return Context(ordered, _words((a.ctypes.data, a.shape) for a in ordered))

    def check(self, kinds) -> None:
        """Refuse arrays, by name (shape, type), that are not those of the layout."""
        unknown, missing = set(kinds) - set(self.index), set(self.index) - set(kinds)
        if unknown or missing:
            raise ValueError(f"arrays missing: {sorted(missing)}; arrays not in the layout: {sorted(unknown)}")
        for name, expected, ndim in self.fields:
            shape, dtype = kinds[name]
            if not (_same_type(dtype, expected) and len(shape) == ndim):
                raise ValueError(
                    f"array {name!r} is {dtype} with {len(shape)} dimensions; the layout asks for {expected} with {ndim}"
                )


def _words(arrays) -> np.ndarray:
    """The table of arrays, each given by its address and its shape."""
    unused = (0,) * _WORDS
    rows = [(address, *shape, *unused[1 + len(shape) :]) for address, shape in arrays]
    return np.array(rows, dtype=np.int64).reshape(-1, _WORDS)


def words_of(arrays) -> np.ndarray:
    """A table of these arrays for functions of a layout; None where one is put there later."""
    return _words((0, ()) if a is None else (a.ctypes.data, a.shape) for a in arrays)


class Slab:
    """All arrays of a layout in one piece of memory, so that each caller gets its own in little time.

    Parameters
    ----------
    layout : Layout
    contents : dict name -> array
        What these arrays begin with.
    blank : dict name -> (shape, dtype)
        Arrays that begin with zeros.
    """

    def __init__(self, layout: Layout, contents, blank):
        kinds = {name: (a.shape, a.dtype) for name, a in contents.items()}
        kinds |= {name: (shape, np.dtype(dtype)) for name, (shape, dtype) in blank.items()}
        layout.check(kinds)
        self._index = layout.index
        self._places, self._size = {}, 0
        for name, (shape, dtype) in kinds.items():
            self._places[name] = shape, dtype, self._size
            self._size += -(-math.prod(shape) * dtype.itemsize // _ALIGNED) * _ALIGNED
        self._offsets = _words((self._places[name][2], kinds[name][0]) for name in layout.index)
        memory = self._memory()
        for name, array in self._views(memory).items():
            if name in contents:
                array[...] = contents[name]
        filled = max((self._places[name][2] + a.nbytes for name, a in contents.items()), default=0)
        self._start = memory[:filled].copy()

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays of one caller."""
        return self._size

    def room(self) -> Room:
        """New arrays, and a context of them."""
        memory = self._memory()
        memory[: len(self._start)] = self._start
        arrays, words = self._views(memory), self._offsets.copy()
        words[:, 0] += memory.ctypes.data
        return Room(memory, arrays, Context([arrays[name] for name in self._index], words), {})

    def clean(self, room: Room) -> None:
        """Fill arrays that were used before as new ones are."""
        filled = len(self._start)
        room.memory[:filled] = self._start
        room.memory[filled:] = 0

    def begin_with(self, contents) -> None:
        """Let these arrays, which are among those that began with contents, begin with others in all rooms from now on."""
        start = self._start.copy()
        for name, values in contents.items():
            shape, dtype, at = self._places[name]
            np.ndarray(shape, dtype, start, at)[...] = values
        self._start = start

    def _memory(self) -> np.ndarray:
        memory = np.zeros(self._size + _ALIGNED, np.uint8)
        return memory[-memory.ctypes.data % _ALIGNED :][: self._size]

    def _views(self, memory) -> dict[str, np.ndarray]:
        return {name: np.ndarray(shape, dtype, memory, at) for name, (shape, dtype, at) in self._places.items()}


class Room(NamedTuple):
    """The arrays of one caller in one piece of memory, and their context; `kept` is what else goes with them."""

    memory: np.ndarray
    arrays: dict[str, np.ndarray]
    context: Context
    kept: dict


def _same_type(found: np.dtype, expected: np.dtype) -> bool:
    """Whether an array's type is the one expected, or, uncompiled, its complex twin."""
    if JIT or found == expected:
        return found == expected
    if expected.names:
        same = (_same_type(found[k].base, expected[k].base) for k in expected.names)
        return found.names == expected.names and all(same)
    return expected == np.float64 and found == np.complex128


class Context:
    """The arrays of one caller, in the order of a layout, and the number by which compiled code finds them.

    Attributes
    ----------
    pointer : int or Context
        What entries take; valid as long as this object lives.  Uncompiled it is the object itself.
    arrays : tuple of arrays
    calls : object or None
        Uncompiled, the functions of users that laws call (`kinegrad.laws`).
    """

    def __init__(self, arrays, words: np.ndarray):
        self.arrays = tuple(arrays if JIT or not checks.ON else (a.view(checks.Guarded) for a in arrays))
        self.calls = None
        self._words = words
        self.pointer = words.ctypes.data if JIT else self
