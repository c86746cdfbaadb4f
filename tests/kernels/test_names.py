"""Functions that may differ never share compiled code."""

from typing import NamedTuple

import numpy as np
import pytest
from mini_package import notices

from kinegrad.kernels import names
from kinegrad.kernels.jit import JIT, entry, kernel, record

FACTORY = """
from mini.jit import entry, intrinsic, kernel

@kernel
def double(x):
    return 2.0 * x

@kernel
def treble(x):
    return 3.0 * x

def composed(f):
    @kernel
    def twice(x):
        return f(f(x))
    return twice

def make(f, c=0.0):
    @entry
    def run(x):
        return f(x) + c
    return run

a, b = make(double), make(treble)
c, d = make(composed(double)), make(composed(treble), 0.5)
again = make(double)
e, f = entry(lambda x: x + 1.0), entry(lambda x: x + 2.0)

@entry
def same(x):
    return x + 3.0

g = same

@entry
def same(x):
    return x + 4.0
"""
USE = "from mini.helper import *; print(*[run(1.0) for run in (a, b, c, d, again, e, f, g, same)])"


def test_functions_of_one_factory_keep_apart_in_this_process_and_in_the_next(mini):
    mini.write("helper", FACTORY)
    right = "2.0 3.0 4.0 9.5 2.0 2.0 3.0 4.0 5.0"
    assert mini.run(USE, NUMBA_DISABLE_JIT="1")[0] == right
    out, err = mini.run(USE)
    assert out == right
    assert notices(err) == ["the numerical kernels"]
    assert len([*mini.cache.rglob("*.o")]) == 8
    assert mini.run(USE) == (right, "")
    backwards = "from mini.helper import *; print(*[run(1.0) for run in (same, f, d, b)])"
    assert mini.run(backwards) == ("5.0 3.0 9.5 3.0", "")


def test_a_function_made_of_what_the_fingerprint_does_not_see_is_not_kept(mini):
    mini.write("helper", FACTORY)
    foreign = (
        "from mini.helper import make, kernel; value = {}\n"
        "run = make(kernel(lambda x: {} * x)); print(run(1.0), make(value.get) is not None)"
    )
    assert mini.run(foreign.format("{}", 5.0))[0] == "5.0 True"
    assert mini.run(foreign.format("{}", 6.0))[0] == "6.0 True"
    assert not [*mini.cache.rglob("*.o")]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (1, 1.0),
        (1, True),
        ("1", 1),
        ((1, 2), (1, (2,))),
        (np.float64(1.0), 1.0),
        (np.int32(1), np.int64(1)),
        (np.arange(3.0), np.arange(3.0) + 1e-16),
        (np.zeros((2, 3)), np.zeros((3, 2))),
        (np.dtype("f8"), np.dtype("f4")),
        (record([("a", "i8"), ("b", "num")]), record([("b", "num"), ("a", "i8")])),
        (np.sin, np.cos),
        (max, min),
        (np, pytest),
        (int, float),
    ],
)
def test_values_that_code_is_made_of_are_told_apart(one, two):
    assert names.spelled(one) == names.spelled(one)
    equal = isinstance(one, np.ndarray) and np.array_equal(one, two) and one.shape == two.shape
    assert (names.spelled(one) == names.spelled(two)) == equal


class First(NamedTuple):
    x: float
    y: float


OneClass = First


class First(NamedTuple):
    y: float
    x: float


@entry
def x_of(pair, rows):
    return pair.x + rows[0]["b"]


def test_arguments_are_told_apart_by_fields_not_by_names_and_sizes():
    kinds = [
        ((OneClass, ("f", "f")), (record([("a", "num"), ("b", "num")]), 1)),
        ((First, ("f", "f")), (record([("a", "num"), ("b", "num")]), 1)),
        ((First, ("f", "f")), (record([("b", "num"), ("a", "num")]), 1)),
    ]
    assert len({names.spelled(kind) for kind in kinds}) == 3
    for pair in (OneClass(1.0, 2.0), First(2.0, 1.0)):
        for order in ("ab", "ba"):
            rows = np.zeros(1, record([(name, "num") for name in order]))
            rows["a"], rows["b"] = 10.0, 20.0
            assert x_of(pair, rows) == 21.0


def test_a_function_that_calls_itself_has_a_name(mini):
    mini.write(
        "helper",
        "from mini.jit import kernel\n"
        "def make(c):\n"
        "    @kernel\n"
        "    def up(n):\n"
        "        return c if n < 1 else 2.0 * up(n - 1)\n"
        "    return up\n",
    )
    made = "{symbol(make(c).py_func, None) for c in (1, 2, 2)}"
    assert mini.run(f"from mini.names import symbol; from mini.helper import make; print(len({made}))")[0] == "2"


def test_all_that_python_calls_is_kept():
    import importlib
    import pkgutil

    import kinegrad.kernels as package

    found = 0
    for module in pkgutil.walk_packages(package.__path__, "kinegrad.kernels."):
        if ".compiler" not in module.name:
            for value in vars(importlib.import_module(module.name)).values():
                if type(value).__name__ in ("Entry", "CFunction"):
                    found += 1
                    assert names.symbol(value.py_func, None)[1]
    assert found > 40 or not JIT


@kernel
def outside(x):
    return x


def test_a_function_outside_the_package_is_not_kept():
    one, two = (names.symbol(getattr(outside, "py_func", outside), None) for _ in range(2))
    assert not one[1]
    assert one[0] != two[0]
