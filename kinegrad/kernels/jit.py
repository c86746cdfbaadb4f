"""Decorators that compile kernels, the cache they are kept in, and number functions for floats and complex numbers.

This is the only module that calls Numba's decorators.  Importing kernels compiles nothing: a function is compiled, or
loaded from the cache, when it is first called.  With ``NUMBA_DISABLE_JIT=1`` the same source runs as plain Python,
where complex numbers pass through it (that is how the tests differentiate).
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import math
import os
import platform
import re
import shutil
import sys
import tempfile
from pathlib import Path

import numba
import numpy as np

from kinegrad.kernels.compiler import Compiler, Dispatcher, without_collector

JIT: bool = not numba.config.DISABLE_JIT

_OPTIONS = {"error_model": "numpy", "nogil": True}
# Without the runtime there is no reference counting, and an allocation in a kernel is an error when it compiles.
_INNER = {"_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_FOLDERS_KEPT = 3
_announced: set[str] = set()


# --- the cache ---------------------------------------------------------------------------------------------------


@functools.cache
def fingerprint() -> str:
    """Sixteen hexadecimal digits that change with any source of this package and with the compiler.

    Numba looks at the file of a function only, so an edit in a helper's file, or of a record type, would leave
    compiled callers with the old code.
    """
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__} {platform.python_version()}".encode())
    root = Path(__file__).parent
    for path in sorted(root.rglob("*.py")):
        text = path.read_bytes()
        digest.update(f"\n{path.relative_to(root).as_posix()} {len(text)}\n".encode())
        digest.update(text)
    return digest.hexdigest()[:16]


@functools.cache
def cache_folder() -> Path:
    """The folder of compiled code of this version of the sources; made, and marked as used now."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    base = Path(chosen) if chosen else Path(home).expanduser() / "kinegrad"
    folder = base / f"kinegrad-{fingerprint()}"
    return folder if _writable(folder) else _temporary_folder()


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
        os.utime(folder)
    except OSError:
        return False
    return True


def _temporary_folder() -> Path:
    """A folder in the system's temporary one that only this user can write: compiled code is loaded from it."""
    user = os.getuid() if hasattr(os, "getuid") else "user"
    folder = Path(tempfile.gettempdir()) / f"kinegrad-{user}" / f"kinegrad-{fingerprint()}"
    with contextlib.suppress(OSError):
        folder.parent.mkdir(mode=0o700, exist_ok=True)
        found = folder.parent.lstat()
        private = not hasattr(os, "getuid") or (found.st_uid == user and not found.st_mode & 0o022)
        if private and _writable(folder):
            return folder
    return Path(tempfile.mkdtemp(prefix="kinegrad-"))


@contextlib.contextmanager
def _own_cache():
    """Numba's cache setting is ours inside the block (it is read when a decorator runs) and as before after it."""
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(cache_folder())
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before


@functools.cache
def _remove_old_folders() -> None:
    """Delete the code of older sources, all but the folders used last."""
    folder = cache_folder()
    with contextlib.suppress(OSError):
        siblings = [p for p in folder.parent.iterdir() if re.fullmatch("kinegrad-[0-9a-f]{16}", p.name) and p.is_dir()]
        siblings.sort(key=lambda p: (p == folder, p.stat().st_mtime), reverse=True)
        for old in siblings[_FOLDERS_KEPT:]:
            shutil.rmtree(old, ignore_errors=True)


# --- the decorators ----------------------------------------------------------------------------------------------


def _announce(what: str) -> None:
    """Tell on standard error, once for each `what`, that a compilation begins."""
    _remove_old_folders()
    if what not in _announced and os.environ.get("KINEGRAD_QUIET", "0") in ("", "0"):
        print(f"kinegrad: compiling {what}, once per machine (about 10 s) ...", file=sys.stderr, flush=True)
    _announced.add(what)


def _watch(cache, what: str) -> None:
    """Announce each look into `cache` that finds nothing: Numba compiles right after it."""
    load = cache.load_overload

    def load_overload(signature, target):
        found = load(signature, target)
        if found is None:
            _announce(what)
        return found

    cache.load_overload = load_overload


def _dispatcher(function, **options):
    """`function` compiled when it is called, or loaded from our cache."""
    with _own_cache():
        made = Dispatcher(
            py_func=function, targetoptions={"nopython": True, **_OPTIONS, **options}, pipeline_class=Compiler
        )
        made.enable_caching()
    return made


def kernel(function):
    """`function` compiled for callers that are compiled themselves; it cannot make arrays."""
    return _dispatcher(function, **_INNER) if JIT else function


def inlined(function):
    """A kernel that is copied into its callers: for small functions of many arrays, which take longer to pass than to use."""
    return _dispatcher(function, forceinline=True, **_INNER) if JIT else function


def entry(function=None, *, what: str = "the numerical kernels", makes_arrays: bool = True):
    """`function` compiled to be called from Python.

    Parameters
    ----------
    what : str
        Name of the feature in the notice of a compilation, such as ``"the joint-coordinate equations"``.
    makes_arrays : bool
        Whether it may; one that does not needs no reference counting and compiles faster.
    """
    if function is None:
        return functools.partial(entry, what=what, makes_arrays=makes_arrays)
    if not JIT:
        return function
    compiled = _dispatcher(function, _nrt=makes_arrays, no_cfunc_wrapper=True)
    _watch(compiled._cache, what)
    return compiled


def cfunction(function=None, *, what: str = "the numerical kernels"):
    """A C function ``void(int64)`` with an `address`, compiled when the address is first asked for.

    Without compilation it is `function` itself; `kinegrad.kernels.table` calls either.
    """
    if function is None:
        return functools.partial(cfunction, what=what)
    return CFunction(function, what) if JIT else function


class CFunction:
    """A function of one context pointer that compiled code calls through its address."""

    def __init__(self, function, what: str):
        self.function = function
        self.what = what
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__

    @functools.cached_property
    def _compiled(self):
        from numba.core.ccallback import CFunc

        signature = numba.types.void(numba.types.int64)
        compiled = CFunc(
            self.function,
            (signature.args, signature.return_type),
            {},
            {**_OPTIONS, "_nrt": False},
            pipeline_class=Compiler,
        )
        with _own_cache():
            compiled.enable_caching()
        _watch(compiled._cache, self.what)
        with without_collector():
            compiled.compile()
        return compiled

    @property
    def address(self) -> int:
        """Where the machine code is, in this process."""
        return self._compiled.address


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
    "JIT", "CFunction", "absolute", "acos", "asin", "atan", "atan2", "cache_folder", "cfunction", "cos", "entry",
    "exp", "fingerprint", "inlined", "kernel", "log", "real", "record", "sin", "sqrt", "tan", "tanh",
]  # fmt: skip
