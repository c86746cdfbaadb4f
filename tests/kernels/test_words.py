"""Arguments as words: what is written in one go is what is put down one by one, and other kinds are noticed."""

import struct
from typing import NamedTuple

import numpy as np
import pytest

from kinegrad.kernels.words import put, writer


class Inner(NamedTuple):
    x: np.ndarray
    k: int
    y: float


class Outer(NamedTuple):
    first: Inner
    flag: bool
    empty: np.ndarray


def arguments(**changes):
    inner = Inner(np.arange(6.0).reshape(2, 3), 5, 0.5)
    usual = {"a": np.arange(3), "n": 7, "all": Outer(inner, True, np.zeros((0, 4))), "z": np.zeros((2, 1, 3))}
    return tuple((usual | changes).values())


def put_down(given):
    values = []
    kinds = tuple(put(argument, values) for argument in given)
    words = struct.Struct("".join("d" if isinstance(value, float) else "q" for value in values))
    return kinds, words, words.pack(*values)


def test_the_same_words():
    given = arguments()
    kinds, words, expected = put_down(given)
    write = writer(kinds, words)
    for other in (given, arguments(n=-3), arguments(a=np.arange(8))):
        table = bytearray(words.size)
        assert write(other, table) and bytes(table) == put_down(other)[2]
    assert write(given, table := bytearray(words.size)) and bytes(table) == expected


@pytest.mark.parametrize(
    "changes",
    [
        {"a": np.arange(3.0)},  # another type
        {"a": np.zeros((1, 3), np.int64)},  # more dimensions
        {"a": 3},
        {"n": 7.0},
        {"n": np.int64(7)},
        {"n": True},
        {"z": np.zeros((2, 3, 2)).transpose(0, 2, 1)},  # not contiguous
        {"all": (1, 2, 3)},
        {"all": Outer(Inner(np.zeros((1, 1)), 5, 1), False, np.zeros((0, 4)))},  # a whole number in place of a float
    ],
)
def test_other_kinds_are_noticed(changes):
    kinds, words, _ = put_down(arguments())
    assert not writer(kinds, words)(arguments(**changes), bytearray(words.size))


def test_arrays_that_may_not_be_written_are_put_down_one_by_one():
    kinds, words, _ = put_down(arguments())
    fixed = np.arange(3)
    fixed.setflags(write=False)
    assert not writer(kinds, words)(arguments(a=fixed), bytearray(words.size))
    assert put_down(arguments(a=fixed))[0] == kinds
    with pytest.raises(ValueError, match="contiguous"):
        put(np.zeros((2, 3)).T, [])
    with pytest.raises(TypeError, match="does not take str"):
        put("text", [])
