"""Numba's compiler as it is set up for kernels."""

import gc
import operator
from typing import NamedTuple

import numpy as np
import pytest

from kinegrad.kernels.jit import JIT, entry, kernel

pytestmark = pytest.mark.skipif(not JIT, reason="the compiler is switched off")


class Pair(NamedTuple):
    x: np.ndarray
    k: int


@kernel
def shifted(x, k):
    return x[k] + 1.0


@entry
def three(x):
    return 2.0 * shifted(x, 0) + shifted(x, 1) + shifted(x, 2)


def test_a_kernel_is_compiled_once_for_all_constants():
    assert three(np.array([1.0, 2.0, 4.0])) == 2.0 * 2.0 + 3.0 + 5.0
    assert [[str(kind) for kind in kinds] for kinds in shifted._numba_type_.dispatcher.overloads] == [
        ["array(float64, 1d, C)", "int64"]
    ]


@entry
def product(x, y):
    return x * y


def test_operators_keep_their_types_apart():
    assert product(2, 3) == 6
    assert isinstance(product(2, 3), int)
    assert isinstance(product(2.0, 3), float)
    assert isinstance(product(2, 3), int)


@entry
def received(first, flag, pair, pairs, last):
    s = first + last + pair.k
    if flag:
        s += 100.0
    for p in pairs:
        s += p.x[p.k]
    for i in range(pair.x.shape[0]):
        s += pair.x[i]
    return s, pair.k, last


def test_arguments_arrive_as_they_were_sent():
    a, b = Pair(np.arange(3.0), 1), Pair(np.array([5.0, 7.0]), 0)
    assert received(0.5, True, a, (a, b), 4) == (0.5 + 4 + 1 + 100 + 1 + 5 + 3, 1, 4)
    assert received(np.float64(0.5), np.bool_(False), a, (b, b), np.int32(4)) == (0.5 + 4 + 1 + 10 + 3, 1, 4)


def test_what_compiled_code_cannot_take_is_refused():
    with pytest.raises(TypeError, match="does not take str"):
        product("a", 2)
    with pytest.raises(ValueError, match="contiguous"):
        three(np.zeros((3, 2))[:, 0])


@entry
def turns(first, last, step, out):
    k = 0
    for i in range(first, last, step):
        out[k] = i
        k += 1
    return k


@entry
def nested(n):
    count = 0
    for i in range(n):
        for j in range(i, n):
            if j == 3:
                continue
            if j > 5:
                break
            count += 1
    return count


@pytest.mark.parametrize(
    "arguments",
    [(0, 5, 1), (0, 5, 2), (5, 0, -1), (5, -1, -2), (2, 2, 1), (3, 2, 1), (2, 3, -1), (-4, 4, 3), (7, 6, -5)],
)
def test_ranges_take_the_turns_of_python(arguments):
    out, expected = np.zeros(20, np.int64), [*range(*arguments)]
    assert turns(*arguments, out) == len(expected)
    assert out[: len(expected)].tolist() == expected


@pytest.mark.parametrize("n", [0, 1, 4, 9])
def test_loops_in_loops(n):
    assert nested(n) == nested.py_func(n)


@entry
def places(A, i, j, k, B):
    B[k, j] = A[i, j, k]
    B[0, 0] += A.shape[1] * 10.0 + A.shape[2]
    row = A[i]
    row[j, k] += 0.5
    return row[j, k]


def test_elements_and_rows_of_arrays():
    A, B = np.arange(24.0).reshape(2, 3, 4), np.zeros((4, 3))
    assert places(A, 1, 2, 3, B) == A[1, 2, 3] == 23.5
    expected = np.zeros((4, 3))
    expected[3, 2], expected[0, 0] = 23.0, 34.0
    assert B.tolist() == expected.tolist()


@entry
def makes_one(n):
    return np.zeros(n)[0]


def test_an_entry_cannot_make_arrays():
    import numba

    with pytest.raises((numba.errors.NumbaError, RuntimeError)):
        makes_one(3)


@entry
def unknown(x):
    return x.no_such_thing


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_as_before_after_a_compilation_that_fails(enabled):
    before = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        with pytest.raises(Exception, match="no_such_thing"):
            unknown(1.0)
        assert gc.isenabled() == enabled
    finally:
        (gc.enable if before else gc.disable)()


def test_numba_itself_is_left_as_it_is():
    import numba
    from numba.core.registry import cpu_target

    assert three(np.ones(3)) == 8.0
    assert type(cpu_target.target_context).__module__.startswith("numba.")
    assert type(cpu_target.typing_context.resolve_value_type(operator.add)).__module__.startswith("numba.")

    @numba.njit
    def last(x):
        return x[-1] + np.arange(3)[-2]

    assert last(np.array([1.0, 2.0])) == 3.0
