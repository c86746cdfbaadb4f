"""Graphs: sharing, simplification, values, derivatives, vectors."""

import math
import pickle

import numpy as np
import pytest
from helpers import STEP
from hypothesis import given
from hypothesis import strategies as st
from random_expressions import ONE, resolver, smooth_text

from kinegrad.errors import ExpressionError
from kinegrad.expressions import Graph, evaluate, parse, scalarise, scalarise_number
from kinegrad.expressions import graph as functions


def scalar_of(text, graph):
    return scalarise(parse(text), graph, resolver(graph))


def value(text, **values):
    return evaluate([scalar_of(text, Graph())], values)[0]


def complex_gradient(y, values):
    """The derivative of y by each of `values`, by complex steps of the pure Python evaluator."""
    return {name: evaluate([y], values | {name: complex(x, STEP)})[0].imag / STEP for name, x in values.items()}


# --- building ---


def test_equal_sub_expressions_are_one_node():
    graph = Graph()
    x, y = graph.input("x"), graph.input("y")
    one = functions.sin(x * y) + functions.sin(y * x)
    assert functions.sin(x * y) == functions.sin(y * x)
    assert len(graph) == 5  # x, y, product, sine, sum
    assert one == functions.sin(y * x) + functions.sin(x * y)
    assert graph.input("x") == x and hash(graph.input("x")) == hash(x)
    assert x - y != y - x and x / y != y / x and x**y != y**x


def test_light_simplification():
    graph = Graph()
    x = graph.input("x")
    zero, one = graph.constant(0.0), graph.constant(1.0)
    for simplified in (x + 0, 0 + x, x - 0, 1 * x, x * 1, x / 1, x**1, 0 - (-x), -1 * (-x), (-x) / -1, +x):
        assert simplified == x
    for simplified in (0 * x, x * 0.0, 0 / x):
        assert simplified == zero
    assert x**0 == one and 1**x == one
    assert 0 - x == -x and x**2 == x * x and x**-1 == 1 / x and x**0.5 == functions.sqrt(x)
    assert graph.constant_value(graph.constant(2.0) * 3 + 4) == 10.0
    assert graph.constant_value(x) is None
    assert graph.constant(0.0) != graph.constant(-0.0)


def test_what_is_not_finite_is_not_folded():
    graph = Graph()
    inf, nan = 1.0 / graph.constant(0.0), functions.sqrt(graph.constant(-1.0))
    assert graph.operation(inf) == "divide" and graph.operation(nan) == "sqrt"
    assert evaluate([inf], {}) == [math.inf] and math.isnan(evaluate([nan], {})[0])


def test_plain_numbers_on_either_side():
    graph = Graph()
    x = graph.input("x")
    for number in (2, 2.0, np.float64(2.0), np.int64(2), np.float32(2.0)):
        assert number + x == x + 2.0 and number * x == x * 2.0
        assert number - x == 2.0 - x and number / x == 2.0 / x and number**x == 2.0**x
        assert x - number == x - 2.0 and x / number == x / 2.0 and x**number == x**2.0
    with pytest.raises(TypeError):
        x + "1"
    with pytest.raises(TypeError):
        (1.0, 2.0) * x
    with pytest.raises(ValueError, match="two graphs"):
        x + Graph().input("x")


def test_graphs_of_thousands_of_levels():
    graph = Graph()
    x = graph.input("x")
    y = x
    for _ in range(5000):
        y = functions.sin(y) + x
    again = pickle.loads(pickle.dumps(y))
    assert evaluate([y], {"x": 0.3}) == evaluate([again], {"x": 0.3})
    gradient = evaluate([graph.derivative(y, x)], {x: 0.3})[0]
    assert gradient == pytest.approx(complex_gradient(y, {"x": 0.3})["x"], rel=1e-12)


# --- values ---


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2 + 3*4 - 6/4", 12.5),
        ("-2**2", -4.0),
        ("2**-1", 0.5),
        ("2**3**2", 512.0),
        ("(-3)**3", -27.0),
        ("(-3)**-2", 1 / 9),
        ("8/4/2", 1.0),
        ("10 - 4 - 3", 3.0),
        ("sqrt(5)", math.sqrt(5)),
        ("pi/4 + atan(1.5)", math.pi / 4 + math.atan(1.5)),
        ("atan2(-1, -1)", -3 * math.pi / 4),
        ("dot(vec(1, 2, 3), vec(4, -5, 6))", 12.0),
        ("norm(vec(3, 0, 4))", 5.0),
        ("norm2(cross(vec(1, 0, 0), 2*vec(0, 1, 0)) - vec(0, 0, 5))", 9.0),
        ("norm2((vec(1, 2, 2)*3 - -vec(3, 0, 0))/2)", 27.0),
        ("1e-3*1e3", 1.0),
        ("log(exp(2)) + tanh(0)", 2.0),
        ("deg(90)", math.pi / 2),
        ("smooth_abs(-3, 4)", 5.0),
        ("smooth_max(5, 2, 4) + smooth_min(5, 2, 4)", 7.0),
        ("smooth_max(5, 2, 4)", 6.0),
        ("smooth_step(0, 0.1) + smooth_step(2, 0.1)", 1.5),
    ],
)
def test_values(text, expected):
    assert value(text) == pytest.approx(expected, rel=1e-15)


def test_vectors_are_three_scalars():
    graph = Graph()
    x = graph.input("a")
    assert scalar_of("vec(a, 2*a, 3) + vec(0, 0, a)", graph) == (x, 2 * x, 3 + x)


def test_inputs_by_name_or_scalar_and_as_numpy_numbers():
    graph = Graph()
    y = scalar_of("a**3*b", graph)
    a, b = graph.input("a"), graph.input("b")
    assert evaluate([y, a], {a: 2.0, "b": np.float64(3.0)}) == [24.0, 2.0]
    assert evaluate([y], {a: np.complex128(2j), b: 1}) == [-8j]
    assert evaluate([], {}) == []
    with pytest.raises(KeyError, match="b"):
        evaluate([y], {"a": 1.0})


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("a/b", {"a": -1.0, "b": 0.0}, -math.inf),
        ("a/b", {"a": 0.0, "b": 0.0}, math.nan),
        ("log(a)", {"a": 0.0}, -math.inf),
        ("log(a)", {"a": -1.0}, math.nan),
        ("exp(a)", {"a": 1e3}, math.inf),
        ("a**b", {"a": -8.0, "b": 1 / 3}, math.nan),
        ("a**b", {"a": 0.0, "b": -1.0}, math.inf),
        ("a**b", {"a": -1e200, "b": 3.0}, -math.inf),
        ("a**-3", {"a": 0.0}, math.inf),
        ("asin(a)", {"a": 2.0}, math.nan),
        ("sin(a)", {"a": math.inf}, math.nan),
    ],
)
def test_values_that_are_no_numbers_come_out_as_the_processor_has_them(text, values, expected):
    np.testing.assert_equal(value(text, **values), expected)
    result = value(text, **{name: complex(x, 0.0) for name, x in values.items()})  # no exception either
    assert isinstance(result, int | float | complex)


@given(st.floats(), st.floats())
def test_no_operation_raises(a, b):
    graph = Graph()
    x, y = graph.input("a"), graph.input("b")
    outputs = [x + y, x - y, x * y, x / y, x**y, -x, x**7, x**-7, functions.atan2(x, y)]
    outputs += [getattr(functions, f)(x) for f in (*ONE, "sech2")]
    evaluate(outputs, {x: a, y: b})
    evaluate(outputs, {x: complex(a, STEP), y: b})


# --- derivatives ---

ONE_ARGUMENT = {
    "sqrt(a)": (0.01, 9.0),
    "sin(a)": (-3.0, 3.0),
    "cos(a)": (-3.0, 3.0),
    "tan(a)": (-1.4, 1.4),
    "asin(a)": (-0.99, 0.99),
    "acos(a)": (-0.99, 0.99),
    "atan(a)": (-5.0, 5.0),
    "exp(a)": (-5.0, 5.0),
    "log(a)": (0.05, 9.0),
    "tanh(a)": (-18.0, 18.0),
    "-a": (-1.0, 1.0),
    "a**2": (-3.0, 3.0),
    "a**3": (-3.0, 3.0),
    "a**-1": (-3.0, -0.1),
    "a**-4": (-3.0, -0.1),
    "a**17": (-1.5, 1.5),
    "a**0.5": (0.1, 4.0),
    "a**1.7": (0.1, 4.0),
    "a**-2.5": (0.1, 4.0),
    "2.5**a": (-3.0, 3.0),
    "3/a": (0.2, 3.0),
    "deg(a)": (-300.0, 300.0),
    "smooth_abs(a, 0.2)": (-1.0, 1.0),
    "smooth_step(a, 0.3)": (-1.0, 1.0),
}
TWO_ARGUMENTS = {
    "a + b": (-3.0, 3.0),
    "a - b": (-3.0, 3.0),
    "a*b": (-3.0, 3.0),
    "a/b": (0.2, 3.0),
    "a**b": (0.2, 3.0),
    "atan2(a, b)": (-3.0, 3.0),
    "smooth_max(a, b, 0.5)": (-3.0, 3.0),
    "smooth_min(a, b, 0.5)": (-3.0, 3.0),
}


@pytest.mark.parametrize(("text", "bounds"), [*ONE_ARGUMENT.items(), *TWO_ARGUMENTS.items()])
def test_first_and_second_derivatives_of_each_operation(text, bounds, rng):
    graph = Graph()
    y = scalar_of(text, graph)
    inputs = graph.inputs_of(y)
    names = [graph.payload[x.index] for x in inputs]
    for _ in range(20):
        values = {name: rng.uniform(*bounds) for name in names}
        for function in (y, *graph.gradient(y, inputs)):
            expected = complex_gradient(function, values)
            actual = evaluate(graph.gradient(function, inputs), values)
            np.testing.assert_allclose(actual, [expected[name] for name in names], rtol=1e-12, atol=1e-300)


def test_whole_exponents_take_no_logarithm():
    graph = Graph()
    x = graph.input("x")
    for n in (-3, 2, 3, 8, 0.5, 1.5):
        derivative = graph.derivative(x**n, x)
        assert "log" not in {graph.operations[i] for i in graph.needed([derivative])}
    assert graph.derivative(x**2, x) == x + x
    assert evaluate([graph.derivative(x**3, x)], {x: 0.0}) == [0.0]
    assert evaluate([graph.derivative(x**-3, x)], {x: -2.0}) == [-3.0 / 16.0]


def test_derivative_of_tanh_far_out():
    graph = Graph()
    x = graph.input("x")
    first = graph.derivative(functions.tanh(x), x)
    second = graph.derivative(first, x)
    assert evaluate([first], {x: 15.0})[0] == pytest.approx(4 * math.exp(-30.0), rel=1e-12)
    for far in (1e3, -1e3, complex(1e3, STEP)):
        assert evaluate([first, second], {x: far}) == [0.0, 0.0]


def test_gradients_of_random_expressions(rng):
    for _ in range(300):
        graph = Graph()
        y = scalar_of(smooth_text(rng, 4), graph)
        inputs = graph.inputs_of(y)
        values = {graph.payload[x.index]: rng.uniform(-1.5, 1.5) for x in inputs}
        expected = complex_gradient(y, values)
        actual = evaluate(graph.gradient(y, inputs), values)
        scale = max([1.0, *map(abs, expected.values())])
        np.testing.assert_allclose(actual, list(expected.values()), rtol=0, atol=1e-12 * scale)
        assert [graph.derivative(y, x) for x in inputs] == [graph.gradient(y, [x])[0] for x in inputs]


def test_gradient_by_what_is_not_there_is_zero():
    graph = Graph()
    x, y = graph.input("x"), graph.input("y")
    assert graph.gradient(functions.sin(x), [y, x]) == [graph.constant(0.0), functions.cos(x)]
    assert graph.gradient(graph.constant(3.0), [x]) == [graph.constant(0.0)]
    assert graph.gradient(x, [x]) == [graph.constant(1.0)]


def test_the_gradient_of_a_long_product_is_small():
    graph = Graph()
    inputs = [graph.input(f"x{i}") for i in range(100)]
    y = inputs[0]
    for x in inputs[1:]:
        y = y * x
    assert len(graph.needed(graph.gradient(y, inputs))) < 500


# --- words ---


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1 + v", "'1 + v' adds a number and a vector"),
        ("v - a", "'v - a' adds a number and a vector"),
        ("v*v", "write dot(a, b) or cross(a, b)"),
        ("a/v", "'a/v' divides by a vector"),
        ("v**2", "'v**2' uses a vector where a number is needed"),
        ("2**v", "uses a vector where a number is needed"),
        ("sin(v)", "'sin(v)' uses a vector where a number is needed"),
        ("vec(v, 1, 2)", "uses a vector where a number is needed"),
        ("norm(a)", "'norm(a)' needs vectors, but 'a' is a number"),
        ("dot(v, 2*a)", "needs vectors, but '2*a' is a number"),
    ],
)
def test_mixing_numbers_and_vectors(text, says):
    with pytest.raises(ExpressionError) as error:
        scalar_of(text, Graph())
    assert says in str(error.value)


def test_long_texts_are_cut_in_sentences():
    with pytest.raises(ExpressionError) as error:
        scalar_of("a + " * 500 + "v", Graph())
    assert len(str(error.value)) < 200


def test_a_number_is_asked_for():
    graph = Graph()
    assert scalarise_number(parse("a"), graph, resolver(graph)) == graph.input("a")
    with pytest.raises(ExpressionError, match="'2\\*v' is a vector where a number is needed"):
        scalarise_number(parse("2*v"), graph, resolver(graph))
