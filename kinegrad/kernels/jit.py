"""Decorators that compile kernels, and number functions for floats and complex numbers.

Importing kernels compiles nothing: a function is compiled, or loaded from the folder of compiled code, when it is first
called.  Numba is imported only when something has to be compiled.  With ``NUMBA_DISABLE_JIT=1`` the same source runs as plain
Python, where complex numbers pass through it (that is how the tests differentiate).
"""

from __future__ import annotations

import ctypes
import functools
import math
import os
import struct
import threading

import numpy as np

from kinegrad.errors import KinegradError
from kinegrad.kernels import checks, names, store
from kinegrad.kernels.folders import elsewhere, remove_unused_folders
from kinegrad.kernels.notices import tell
from kinegrad.kernels.words import put, writer

JIT: bool = os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")

_loaded: dict = {}  # (function, kinds of arguments) -> address and what is returned
_lock = threading.RLock()
_C_FUNCTION, _BYTE = ctypes.CFUNCTYPE(None, ctypes.c_void_p), ctypes.c_char


# --- the decorators ----------------------------------------------------------------------------------------------


def kernel(function):
    """`function` compiled for callers that are compiled themselves; it cannot make arrays."""
    return Kernel(function, inline=False) if JIT else function


def inlined(function):
    """A kernel that is copied into its callers: for small functions of many arrays, which take longer to pass than to use."""
    return Kernel(function, inline=True) if JIT else function


def entry(function=None, *, what: str = "the numerical kernels"):
    """`function` compiled to be called from Python with numbers, arrays and named tuples of them; it cannot make arrays.

    Parameters
    ----------
    what : str
        Name of the feature in the notice of a compilation, such as ``"the joint-coordinate equations"``.
    """
    if function is None:
        return functools.partial(entry, what=what)
    return Entry(function, what) if JIT else function


def cfunction(function=None, *, what: str = "the numerical kernels"):
    """A C function ``void(int64)`` with an `address`, compiled when the address is first asked for.

    Without compilation it is `function` itself; `kinegrad.kernels.table` calls either.
    """
    if function is None:
        return functools.partial(cfunction, what=what)
    return CFunction(function, what) if JIT else function


def intrinsic(name: str, *parameters):
    """An operation that kernels use and the compiler knows.

    `name` is a function of `kinegrad.kernels.compiler.intrinsics` or `vectors`, which gives the operation from `parameters`.
    """
    return Intrinsic(name, parameters)


class _Compiled:
    """What compiled code calls: the compiler, in the way it goes, asks for its type."""

    def __init__(self):
        self._made: dict = {}

    @property
    def _numba_type_(self):
        from kinegrad.kernels import compiler

        way = compiler.way()
        if way not in self._made:  # it has to live as long as its type
            self._made[way] = self._make(way)
        return self._made[way]._numba_type_


class Kernel(_Compiled):
    """A function that compiled code calls."""

    def __init__(self, function, inline: bool):
        super().__init__()
        self.py_func, self.inline = function, inline
        self.made_of = "kernel", function, inline
        functools.update_wrapper(self, function)

    def _make(self, way):
        return way.dispatcher(self.py_func, self.inline)


class Intrinsic(_Compiled):
    """An operation of compiled code."""

    def __init__(self, name: str, parameters):
        super().__init__()
        self.name, self.parameters = name, parameters
        self.made_of = "intrinsic", name, *parameters

    def _make(self, way):
        return way.operation(self.name, self.parameters)


class CFunction:
    """A function of one context pointer that compiled code calls through its address."""

    def __init__(self, function, what: str):
        self.py_func = self.made_of = function
        self.what = what
        functools.update_wrapper(self, function)

    @functools.cached_property
    def address(self) -> int:
        """Where the machine code is, in this process."""
        return _machine_code(self.py_func, self.what, None)[0]

    @functools.cached_property
    def from_python(self):
        """The same for Python: a function of the pointer."""
        return _from_python(self.address)


class Entry:
    """A compiled function that takes its arguments from Python as a table of words and leaves its results behind them."""

    def __init__(self, function, what: str):
        self.py_func = self.made_of = function
        self.what = what
        self._known: dict = {}
        self._last: tuple | None = None  # of those
        functools.update_wrapper(self, function)

    def __call__(self, *arguments):
        function, table, returns, behind = self.put_down(arguments)
        function(ctypes.addressof(_BYTE.from_buffer(table)))
        results = struct.unpack_from(returns, table, behind)
        return results if len(returns) > 1 else results[0] if returns else None

    def put_down(self, arguments: tuple) -> tuple:
        """What a call with these arguments takes: the C function, its table of words, and the types of the results with their
        place in it.  The arrays must live as long as the table is used."""
        if self._last is not None:
            function, words, returns, write = self._last
            table = bytearray(words.size + 8 * len(returns))
            if write(arguments, table):
                return function, table, returns, words.size
        values: list = []
        kinds = tuple([put(argument, values) for argument in arguments])
        if kinds not in self._known:
            address, returns = _machine_code(self.py_func, self.what, kinds)
            words = struct.Struct("".join("d" if isinstance(value, float) else "q" for value in values))
            self._known[kinds] = _from_python(address), words, returns, writer(kinds, words)
        self._last = function, words, returns, _ = self._known[kinds]
        table = bytearray(words.size + 8 * len(returns))
        words.pack_into(table, 0, *values)
        return function, table, returns, words.size


def _from_python(address: int):
    """The C function at an address, for Python."""
    function = _C_FUNCTION(address)
    return checks.checked(function) if checks.ON else function


def _machine_code(function, what: str, kinds) -> tuple[int, str]:
    """Address of a C function ``void(int64)`` that runs `function`, and the types of what it returns.

    Without `kinds` its argument is that of `function`; with them it is the address of a table of words.
    """
    with _lock:
        if (function, kinds) not in _loaded:
            _loaded[function, kinds] = _load(function, what, kinds)
        return _loaded[function, kinds]


def _load(function, what: str, kinds) -> tuple[int, str]:
    symbol, keep = names.symbol(function, kinds)
    keep = keep and not plain_is_asked()
    found = store.read(symbol) if keep else None
    return _compile(function, what, kinds, symbol, keep) if found is None else _loaded_from(found, symbol)


@functools.cache
def plain_is_asked() -> bool:
    """Whether Numba's own compiler is to be used (see `kinegrad.kernels.compiler`)."""
    asked = os.environ.get("KINEGRAD_COMPILER", "")
    if asked not in ("", "plain"):
        raise KinegradError(
            f"KINEGRAD_COMPILER is {asked!r}; set it to 'plain' for Numba's own compiler, or leave it out."
        )
    return asked == "plain"


def _loaded_from(found: tuple[bytes, str], symbol: str) -> tuple[int, str]:
    code, returns = found
    return store.load(code, symbol), returns


def _compile(function, what: str, kinds, symbol: str, keep: bool) -> tuple[int, str]:
    """Compile, and tell so on standard error, once for each `what`; or wait for another process that does."""
    from kinegrad.kernels import compiler

    notice = compiler.way().NOTICE
    if not (keep and compiler.way().KEEPS):
        tell(notice.format(what))
        return compiler.machine_code(function, kinds, symbol)
    remove_unused_folders()
    with store.turn(symbol, lambda: tell(f"another process compiles {what}; waiting for it ...")):
        found = store.read(symbol)
        if found is not None:
            return _loaded_from(found, symbol)
        tell(notice.format(what))
        if elsewhere():
            tell(elsewhere())
        return compiler.machine_code(function, kinds, symbol, keep=True)


# --- numbers -----------------------------------------------------------------------------------------------------


def record(fields, number: str = "f8") -> np.dtype:
    """An aligned record type.

    Parameters
    ----------
    fields : list of (name, kind) or (name, kind, shape)
        `kind` is ``"num"`` for numbers that a complex run makes complex, or a plain type such as ``"i8"``.
    number : str
        The type that stands for ``"num"``: ``"f8"``, or ``"c16"`` in uncompiled runs.
    """
    return np.dtype([(f[0], number if f[1] == "num" else f[1], *f[2:]) for f in fields], align=True)


@kernel
def real(x):
    """The real part: what comparisons and choices of pivots look at."""
    return x.real


@kernel
def absolute(x):
    """x or -x, by the sign of the real part: complex steps pass through."""
    return -x if x.real < 0.0 else x


if JIT:
    from math import acos, asin, atan, atan2, cos, exp, log, sin, sqrt, tan, tanh
else:
    from numpy import arccos as acos
    from numpy import arcsin as asin
    from numpy import arctan as atan
    from numpy import cos, exp, log, sin, sqrt, tan, tanh

    def atan2(y, x):
        """The angle of (x, y), continued analytically: the real parts choose the quadrant."""
        if not (isinstance(y, complex) or isinstance(x, complex)):
            return math.atan2(y, x)
        if abs(y.real) > abs(x.real):
            return math.copysign(0.5 * math.pi, y.real) - atan(x / y)
        return atan(y / x) + (math.copysign(math.pi, y.real) if x.real < 0.0 else 0.0)


__all__ = [
    "JIT", "CFunction", "Entry", "absolute", "acos", "asin", "atan", "atan2", "cfunction", "cos", "entry",
    "exp", "inlined", "intrinsic", "kernel", "log", "real", "record", "sin", "sqrt", "tan", "tanh",
]  # fmt: skip
