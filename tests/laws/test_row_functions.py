"""Functions in rows: the digits of expressions, what can be followed, and the sentences where nothing can."""

import math

import numba
import numpy as np
import pytest
from row_functions import bead, called_bead, called_sleigh, edge, given_derivatives, opaque, sleigh, wire

import kinegrad as kg
from kinegrad.expressions.graph import Graph, evaluate
from kinegrad.expressions.trace import Untraceable, trace
from kinegrad.kernels.jit import JIT

STEPS = 60 if JIT else 6
SCHEMES = [("ali3p", "newmark"), ("index1", "rk4"), ("recursive", "rk4")]
TO_ROUNDING = {"ali3p": kg.ALI3P(tolerance=1e-14)}  # else a step may end an iteration earlier in one of two runs


def run(model, scheme, steps):
    formulation, integrator = scheme
    formulation = TO_ROUNDING.get(formulation, formulation)
    return kg.simulate(kg.lower(model), formulation, integrator, t_end=steps * 5e-3, step=5e-3)


@pytest.mark.parametrize("scheme", SCHEMES, ids="-".join)
@pytest.mark.parametrize(("make", "function"), [(bead, wire), (sleigh, edge)], ids=["position", "velocity"])
def test_same_digits_as_an_expression(make, function, scheme):
    expected, found = (run(make(f), scheme, STEPS) for f in (None, function))
    np.testing.assert_allclose(found.q, expected.q, rtol=0, atol=1e-14)
    np.testing.assert_allclose(found.lam, expected.lam, rtol=1e-12, atol=1e-12)
    for method in ("direct", "adjoint"):
        a, b = (kg.gradient(motion, method=method).matrix for motion in (expected, found))
        np.testing.assert_allclose(b, a, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("scheme", SCHEMES, ids="-".join)
@pytest.mark.parametrize(("make", "made"), [(bead, called_bead), (sleigh, called_sleigh)], ids=["position", "velocity"])
def test_given_derivatives(make, made, scheme):
    expected, found = (run(f(), scheme, 8) for f in (make, made))
    np.testing.assert_allclose(found.q, expected.q, rtol=0, atol=1e-14)
    np.testing.assert_allclose(found.lam, expected.lam, rtol=1e-12, atol=1e-12)
    for method in ("direct", "adjoint"):
        a, b = (kg.gradient(motion, method=method).matrix for motion in (expected, found))
        np.testing.assert_allclose(b, a, rtol=1e-11, atol=1e-13)


def test_wrong_derivatives_are_named():
    first, second, third = given_derivatives(wire, 7, 3)
    model = bead(opaque(wire), derivative=[first, lambda *x: [1.0], third])
    with pytest.raises(
        TypeError, match=r"constraint 'wire': derivative 2 of <lambda>\(\) returned 1 numbers, where 49 are"
    ):
        kg.simulate(kg.lower(model), t_end=0.01)
    with pytest.raises(
        kg.ModelError, match="given with its second derivatives, and a row of positions needs the third"
    ):
        kg.lower(bead(opaque(wire), derivative=[first, second]))
    with pytest.raises(kg.KinegradError, match="give a function, or a list of one to 3"):
        bead(opaque(wire), derivative=[first, second, third, third])

    def bent(angle, x, y, xd, yd, t, a, w):
        return yd - 0.1 * x + 0.5 * xd * yd

    model = sleigh(opaque(bent), derivative=given_derivatives(bent, 8, 2))
    with pytest.raises(TypeError, match=r"constraint 'edge': the function <lambda>\(\) is not linear in velocities"):
        kg.simulate(kg.lower(model), t_end=0.01)


def test_a_function_that_raises_on_the_way():
    def worn(*x):
        if x[4] > 0.011:
            raise ZeroDivisionError("worn out")
        return opaque(wire)(*x)

    with pytest.raises(ZeroDivisionError, match="worn out") as caught:
        kg.simulate(kg.lower(bead(worn, derivative=given_derivatives(wire, 7, 3))), t_end=0.05, step=0.005)
    assert "constraint 'wire'" in caught.value.__notes__[0] and 0.0 < caught.value.motion.ts[-1] <= 0.011


# --- what can be followed ---

FOLLOWED = {
    "arithmetic": lambda x, y: 2 - x / y + (-x) ** 3 - y**-2 + 2**x + y**x,
    "functions": lambda x, y: np.sqrt(y) + np.sin(x) * np.cos(y) + np.tan(x) + np.exp(-x) + np.log(y) + np.tanh(x),
    "angles": lambda x, y: np.arcsin(x) + y * np.arccos(x) + np.arctan(x) - 2 * np.arctan(y),
    "arrays": lambda x, y: (
        np.array([1.0, 2.0]) @ np.array([x, y]) + np.sum(np.array([x, y]) ** 2) + np.cross([x, y], [1, 2])
    ),
    "loops": lambda x, y: sum(np.float64(c) * x**k for k, c in enumerate([1, -2, 3.5])) + np.polyval([1, 2, 3], y),
}


@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors")
@pytest.mark.parametrize("name", FOLLOWED)
def test_followed(name):
    graph = Graph()
    x, y = graph.input("x"), graph.input("y")
    out = trace(FOLLOWED[name], [x, y], graph)
    at = {"x": 0.3, "y": 0.7}
    np.testing.assert_allclose(evaluate(out, at), [FOLLOWED[name](0.3, 0.7)], rtol=1e-14)
    by_complex_step = np.imag([FOLLOWED[name](0.3 + 1e-30j, 0.7), FOLLOWED[name](0.3, 0.7 + 1e-30j)]) / 1e-30
    np.testing.assert_allclose(evaluate(graph.gradient(out[0], [x, y]), at), by_complex_step, rtol=1e-13)


def test_followed_where_complex_steps_fail():
    def function(x, y):
        return np.linalg.norm([x, y]) + np.arctan2(x, y) + np.hypot(x, 2.0)

    graph = Graph()
    x, y = graph.input("x"), graph.input("y")
    (out,) = trace(function, [x, y], graph)
    found = evaluate([out, *graph.gradient(out, [x, y])], {"x": 3.0, "y": 4.0})
    h = math.hypot(3.0, 2.0)
    expected = [5.0 + math.atan2(3, 4) + h, 3 / 5 + 4 / 25 + 3 / h, 4 / 5 - 3 / 25]
    np.testing.assert_allclose(found, expected, rtol=1e-14)


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (lambda x: x if x > 0 else -x, "compares"),
        (lambda x: 1.0 if x == 0.0 else x, "compares"),
        (lambda x: np.where(x < 0, 0.0, x), "compares"),
        (np.sign, "compares"),
        (lambda x: np.maximum(x, 0.0), "compares"),
        (lambda x: x or 1.0, "compares"),
        (math.sin, "plain numbers"),
        (lambda x: np.interp(x, [0, 1], [2, 3]), "plain numbers"),
        (lambda x: [1.0, 2.0][x], "plain numbers"),
        (abs, "abs"),
        (lambda x: x % 1.0, "abs"),
        (lambda x: "text", "not a number"),
        (lambda x: None, "not a number"),
    ],
)
def test_not_followed(function, why):
    graph = Graph()
    with pytest.raises(Untraceable, match=why):
        trace(function, [graph.input("x")], graph)


# --- refusals ---


def stateful():
    calls = []

    def function(*x):
        calls.append(x)
        return wire(*x) + len(calls)

    return function


def by_kind(*x):
    return wire(*x) + (0.0 if isinstance(x[0], float) else 1.0)


def fails(*x):
    raise ZeroDivisionError("worn out")


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (lambda: bead(lambda y, *_: y if y > 0 else -y), r"is the function <lambda>\(\), which compares its arguments"),
        (
            lambda: bead(lambda y, *_: math.sin(y)),
            "is the function .* turns its arguments into plain numbers, as math.sin does.*np.sin, not",
        ),
        (
            lambda: bead(lambda y, *_: np.cosh(y)),
            r"is the function .* raised TypeError \(.*cosh.*when it was followed.*as an expression.*derivative=",
        ),
        (lambda: bead(fails), r"is the function fails\(\), which raised ZeroDivisionError \(worn out\)"),
        (
            lambda: bead(lambda y, x, *_: (x, y)),
            "is the function .* returned 2 numbers, and a row is one; return one number",
        ),
        (
            lambda: bead(by_kind),
            r"is the function by_kind\(\), which gives .* where the formula .* gives .*the same at every call",
        ),
        (lambda: bead(stateful()), r"is the function function\(\), which gives .* the same at every call"),
        (lambda: bead(12345), "is the compiled function at address 0x3039.*give a Python function, or an expression"),
        (lambda: sleigh(lambda angle, x, y, xd, yd, *_: xd * yd), "is not linear in velocities; write it as a sum"),
    ],
)
def test_refused_by_name(model, sentence):
    with pytest.raises(kg.ModelError, match=rf"^constraints\.(wire|edge)\.value {sentence}"):
        kg.lower(model())


def test_compiled_functions_are_refused():
    @numba.cfunc("void(CPointer(float64), int64, CPointer(float64))")
    def compiled(x, exact, y):
        y[0] = x[0]

    with pytest.raises(
        kg.ModelError, match=r"constraints.wire.value is the compiled function .*derivatives up to the third"
    ):
        kg.lower(bead(compiled))


def test_arguments_are_checked_by_level():
    model = bead()
    model.constraints["wire"] = kg.PositionRow(value=kg.law(lambda v: v, ["P.x.velocity"]))
    with pytest.raises(kg.ModelError, match=r"constraints.wire.value.arguments\[0\] .*velocit"):
        model.check()
    with pytest.raises(
        kg.ModelError, match=r"constraint 'wire' is the function wire\(\), which a model file cannot hold"
    ):
        bead(wire).to_yaml()
