"""Tapes: the compiled interpreter against the evaluator, and the same source uncompiled on complex numbers."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from random_expressions import ONE, random_text, random_values, resolver, smooth_text

from kinegrad.expressions import Graph, evaluate, parse, scalarise
from kinegrad.expressions import graph as functions
from kinegrad.expressions.arithmetic import OPERATIONS
from kinegrad.expressions.tape import Tape
from kinegrad.kernels.jit import JIT, entry
from kinegrad.kernels.tape import OPS, run_tape_at, run_tape_entry


def case(text):
    """The graph of a text, its inputs, its value and gradient."""
    graph = Graph()
    y = scalarise(parse(text), graph, resolver(graph))
    inputs = graph.inputs_of(y)
    return graph, inputs, [y, *graph.gradient(y, inputs)]


@pytest.mark.skipif(not JIT, reason="NumPy's functions differ from the C library's in the last bit")
def test_tapes_give_what_the_evaluator_gives_bit_for_bit(rng):
    finite = 0
    for k in range(1000):
        graph, inputs, outputs = case(random_text(rng, 5) if k % 2 else smooth_text(rng, 3))
        values = random_values(rng, graph)
        tape = Tape.build(outputs, inputs)
        actual = tape.run([values[graph.payload[x.index]] for x in inputs])
        expected = np.array(evaluate(outputs, values), float)
        np.testing.assert_array_equal(actual, expected)
        finite += np.isfinite(expected).all()
    assert finite > 600


def test_each_operation_on_special_values():
    """Also inf, nan and signed zeros come out alike."""
    graph = Graph()
    x, y = graph.input("x"), graph.input("y")
    outputs = [x + y, x - y, x * y, x / y, x**y, -x, functions.atan2(x, y)]
    outputs += [x**n for n in (-5, -2, 3, 4, 11)]
    outputs += [getattr(functions, f)(x) for f in (*ONE, "sech2", "wrap", "absolute", "sign")]
    outputs += [f(x, y) for f in (functions.smallest, functions.largest, functions.below)]
    assert {graph.operation(z) for z in outputs} == OPS.keys() - {"find", "slot"} == OPERATIONS.keys()
    tape = Tape.build(outputs, [x, y])
    special = (0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 3.0, 1e-300, 1e300, -1e300, np.inf, -np.inf, np.nan)
    for a in special:
        for b in special:
            with np.errstate(all="ignore"):
                actual = tape.run([a, b])
            np.testing.assert_array_equal(actual, evaluate(outputs, {x: a, y: b}), err_msg=f"{a}, {b}")


def test_layout():
    graph = Graph()
    a, b, unused = graph.input("a"), graph.input("b"), graph.input("unused")
    shared = functions.sin(a * b)
    functions.exp(shared)  # not asked for, so not on the tape
    tape = Tape.build([shared + 2.0, shared**3, a, graph.constant(2.0)], [a, unused, b])
    assert tape.n_inputs == 3 and tape.constants.tolist() == [2.0] and tape.n_registers == 8
    assert tape.code.dtype == np.int64 and tape.code.flags.c_contiguous
    multiply, sin, add, powi = (OPS[name] for name in ("multiply", "sin", "add", "powi"))
    assert tape.code.tolist() == [[multiply, 0, 2, 4], [sin, 4, 4, 5], [add, 5, 3, 6], [powi, 5, 3, 7]]
    assert tape.outputs.tolist() == [6, 7, 0, 3]


def test_nothing_to_compute():
    graph = Graph()
    a = graph.input("a")
    assert Tape.build([a, graph.constant(3.0)], [a]).run([7.0]).tolist() == [7.0, 3.0]
    empty = Tape.build([], [])
    assert empty.n_registers == 0 and empty.run([]).size == 0


def test_inputs_must_be_listed():
    graph = Graph()
    with pytest.raises(ValueError, match="depend on b, which are not among the inputs"):
        Tape.build([graph.input("a") * graph.input("b")], [graph.input("a")])


def test_several_tapes_in_one_table(rng):
    """Rows of other tapes around it and registers at an offset change nothing."""
    _, inputs, outputs = case("a*sin(b) + b**3/a")
    tape = Tape.build(outputs, inputs)
    code = np.concatenate([np.full((3, 4), 99), tape.code, np.full((2, 4), 99)])
    r = np.full(tape.n_registers + 10, np.nan)
    r[5 : 5 + tape.n_registers] = tape.registers([0.3, 0.4])
    run_at(code, 3, len(tape.code), r, 5, np.zeros(0))
    np.testing.assert_array_equal(r[5 + tape.outputs], tape.run([0.3, 0.4]))
    assert np.isnan(r[:5]).all() and np.isnan(r[5 + tape.n_registers :]).all()


def run_at(*arguments):
    """`run_tape_at` from Python, compiled or not."""

    def call(code, first, n, r, base, s):
        run_tape_at(code, first, n, r, base, s)

    return entry(call)(*arguments)


COMPLEX = """
import numpy as np
from random_expressions import random_values, resolver, smooth_text
from kinegrad.expressions import Graph, evaluate, parse, scalarise
from kinegrad.expressions.tape import Tape
from kinegrad.kernels.jit import JIT
from kinegrad.kernels.tape import run_tape_at

assert not JIT
rng = np.random.default_rng(7)
for _ in range(200):
    graph = Graph()
    y = scalarise(parse(smooth_text(rng, 3)), graph, resolver(graph))
    inputs = graph.inputs_of(y)
    gradient = graph.gradient(y, inputs)
    values = random_values(rng, graph)
    tape = Tape.build([y, *gradient], inputs)
    for k, x in enumerate(inputs):
        point = np.array([values[graph.payload[i.index]] for i in inputs], complex)
        point[k] += 1e-40j
        r = tape.registers(point, complex)
        run_tape_at(tape.code, 0, len(tape.code), r, 0, np.zeros(0))
        expected = np.array(evaluate([y, *gradient], dict(zip(inputs, point))))
        actual = r[tape.outputs]
        scale = 1 + np.abs(expected).max()
        assert np.abs(actual.real - expected.real).max() <= 1e-13 * scale
        scale = 1 + np.abs(expected.imag).max() / 1e-40
        assert np.abs(actual.imag - expected.imag).max() / 1e-40 <= 1e-12 * scale
        assert abs(actual[0].imag / 1e-40 - expected[1 + k].real) <= 1e-12 * scale
print("done")
"""


def test_uncompiled_on_complex_registers():
    """The interpreter's own source carries complex steps, and they meet the symbolic gradient."""
    here = str(Path(__file__).parent)
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": here}
    result = subprocess.run(
        [sys.executable, "-c", COMPLEX], env=environment, capture_output=True, text=True, timeout=600
    )
    assert result.stdout == "done\n", result.stderr


def test_the_entry_runs_in_place():
    _, inputs, outputs = case("a + 2*b")
    tape = Tape.build(outputs, inputs)
    r = tape.registers([1.0, 2.0])
    run_tape_entry(tape.code, len(tape.code), r, np.zeros(0))
    assert r[tape.outputs].tolist() == [5.0, 1.0, 2.0]
