"""Names under which compiled code is kept: functions that may differ never share one.

Module and name do not tell a function: a factory makes many of one name, which differ in what they close over.  So a name
carries a digest of all that the code is made of besides the sources, whose fingerprint is in the name of the folder.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, ModuleType

import numpy as np

from kinegrad.kernels.folders import SOURCES

_unkept = itertools.count()


class _NotTold(Exception):
    """A value is of a kind that cannot be told from others in the next process."""


def symbol(function, kinds) -> tuple[str, bool]:
    """The name of the C function around `function` for these kinds of arguments, and whether its code is to be kept."""
    name = re.sub(r"[^\w.]", "_", f"{function.__module__}.{function.__qualname__}")[-150:]
    try:
        told = f"{spelled(function)} {spelled(kinds)}"
    except _NotTold:
        return f"{name}-{next(_unkept)}", False
    return f"{name}-{hashlib.sha256(told.encode()).hexdigest()[:16]}", True


def spelled(value, inside: tuple = ()) -> str:
    """A text that tells `value` from everything else that code could be made of, the same in every process."""
    value = getattr(value, "made_of", value)
    if isinstance(value, np.ndarray):
        return f"{spelled(value.dtype)} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, np.generic):
        return f"{spelled(value.dtype)} {value.tobytes().hex()}"
    if value is None or isinstance(value, bool | int | float | complex | str | bytes | np.dtype):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, tuple):
        parts = ", ".join(spelled(part, inside) for part in value)
        return f"({parts})" if type(value) is tuple else f"{spelled(type(value))}({parts})"
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__} {getattr(value, '_fields', '')}"
    if isinstance(value, ModuleType | np.ufunc):
        return f"{type(value).__name__} {value.__name__}"
    if isinstance(value, BuiltinFunctionType):
        return f"{value.__module__}.{value.__qualname__}"
    if isinstance(value, FunctionType):
        return _function(value, inside)
    raise _NotTold


def _function(function: FunctionType, inside: tuple) -> str:
    if function in inside:  # it calls itself
        return f"caller {inside.index(function)}"
    code = function.__code__
    if not Path(code.co_filename).is_relative_to(SOURCES):  # no fingerprint tells its edits
        raise _NotTold
    try:
        cells = tuple(cell.cell_contents for cell in function.__closure__ or ())
    except ValueError:  # a cell that is still empty
        raise _NotTold from None
    defaults = (function.__defaults__, tuple(sorted((function.__kwdefaults__ or {}).items())))
    made_of = spelled((code.co_code, code.co_consts, cells, defaults), (*inside, function))
    return f"{function.__module__}.{function.__qualname__} {code.co_firstlineno} {made_of}"
