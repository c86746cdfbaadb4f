"""Arguments of compiled code as tables of words, which entries take from Python.

An array is its address and its shape, a number itself, and a named tuple its parts one after the other.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable

import numpy as np

_addressof, _from_buffer = ctypes.addressof, ctypes.c_char.from_buffer
_NUMBERS = {
    "b": ((bool, np.bool_), int),
    "i": ((int, np.integer), int),
    "f": ((float, np.floating), float),
}
_USUAL = {"b": bool, "i": int, "f": float}


def put(argument, values: list):
    """The kind of an argument; its words are put behind `values`.

    Kinds: ``"i"``, ``"f"`` and ``"b"`` for numbers, (type, dimensions) for arrays, (class, kinds) for named tuples.
    """
    if isinstance(argument, np.ndarray):
        values.append(_address(argument))
        values.extend(argument.shape)
        return argument.dtype, argument.ndim
    if isinstance(argument, tuple):
        return type(argument), tuple([put(part, values) for part in argument])
    for kind, (types, plain) in _NUMBERS.items():
        if isinstance(argument, types):
            values.append(plain(argument))
            return kind
    raise TypeError(f"compiled code does not take {type(argument).__name__}")


def _address(array) -> int:
    """Where the numbers of an array are; by its buffer, which takes a third of the time of the array's own answer."""
    try:
        return _addressof(_from_buffer(array))
    except (TypeError, ValueError, BufferError):  # it is empty, or may not be written, or is not contiguous
        if not array.flags.c_contiguous:
            raise ValueError("an array handed to compiled code must be contiguous by rows") from None
        return array.ctypes.data if array.size else 0


def writer(kinds: tuple, words: struct.Struct) -> Callable[[tuple, bytearray], bool]:
    """A function that writes arguments of these kinds into a table, in a third of the time of `put`; it says whether it could:
    if not, they are of other kinds, or arrays of an unusual sort."""
    lines, values, known = [], [], {"pack_into": words.pack_into, "addressof": _addressof, "from_buffer": _from_buffer}
    _write(kinds, "arguments", lines, values, known)
    source = "\n    ".join(["def write(arguments, table):", *lines, f"pack_into(table, 0, {', '.join(values)})"])
    exec(source, known)  # of names and numbers that are made here alone
    write = known["write"]

    def tried(arguments: tuple, table: bytearray) -> bool:
        try:
            return write(arguments, table) is None
        except (AttributeError, BufferError, TypeError, ValueError):
            return False

    return tried


def _write(kinds: tuple, name: str, lines: list[str], values: list[str], known: dict) -> None:
    """Statements that check the parts of a tuple, and what its words are."""
    names = [f"{name}_{k}" for k in range(len(kinds))]
    if names:
        lines.append(f"{', '.join(names)}, = {name}")
    for part, kind in zip(names, kinds, strict=True):
        if kind in _USUAL:
            known[kind] = _USUAL[kind]
            lines.append(f"if type({part}) is not {kind}: return False")
            values.append(part)
        elif isinstance(kind[0], np.dtype):
            known[f"type_{part}"] = kind[0]
            lines.append(f"if {part}.dtype is not type_{part} or {part}.ndim != {kind[1]}: return False")
            values.append(f"addressof(from_buffer({part})) if {part}.size else 0, *{part}.shape")
        else:
            known[f"type_{part}"] = kind[0]
            lines.append(f"if type({part}) is not type_{part}: return False")
            _write(kind[1], part, lines, values, known)
