"""Numba's compiler as it is set up for kernels."""

import gc

import numba
import numpy as np
import pytest

from kinegrad.kernels.compiler import Compiler, Dispatcher
from kinegrad.kernels.jit import JIT, entry

pytestmark = pytest.mark.skipif(not JIT, reason="the compiler is switched off")


def uncached(function):
    """As kernels are compiled, but each time anew."""
    return Dispatcher(py_func=function, targetoptions={"nopython": True}, pipeline_class=Compiler)


@entry(makes_arrays=False)
def makes_one(n):
    return np.zeros(n)


def test_a_function_is_compiled_once_for_all_constants_and_for_size():
    @uncached
    def shifted(x, k):
        return x[k] + 1.0

    @uncached
    def three(x):
        return 2.0 * shifted(x, 0) + shifted(x, 1) + shifted(x, 2)

    assert three(np.array([1.0, 2.0, 4.0])) == 2.0 * 2.0 + 3.0 + 5.0
    assert list(shifted.overloads) == [(numba.float64[::1], numba.int64)]
    assert "optsize" in next(iter(three.inspect_llvm().values()))


def test_operators_keep_their_types_apart():
    @uncached
    def run(x, y):
        return x * y

    assert isinstance(run(2, 3), int)
    assert isinstance(run(2.0, 3), float)
    assert run(2.0, np.arange(3.0)).tolist() == [0.0, 2.0, 4.0]
    assert run(2, 3) == 6


def test_an_entry_that_says_it_makes_no_arrays_cannot():
    with pytest.raises(numba.errors.NumbaError):
        makes_one(3)


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_as_before_after_a_compilation_that_fails(enabled):
    @uncached
    def fails(x):
        return x.no_such_thing

    before = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        with pytest.raises(numba.errors.TypingError, match="no_such_thing"):
            fails(1.0)
        assert gc.isenabled() == enabled
    finally:
        (gc.enable if before else gc.disable)()
