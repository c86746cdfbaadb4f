"""Parameters: which are free, what they are worth, and what is wrong with them."""

import math

import numpy as np
import pytest

from kinegrad.errors import ExpressionError, ModelError
from kinegrad.expressions import Graph, evaluate, parse, scalarise
from kinegrad.model.parameters import Parameters


@pytest.fixture
def parameters():
    return Parameters(
        {
            "J": parse("m*L**2/12"),
            "L": parse("sqrt(5)"),
            "m": 2,
            "u": [1.0, parse("pi/2"), parse("2*u[0] + m")],
            "K": parse("J + u[2]"),
        }
    )


def sentences(definitions):
    return [str(problem) for problem in Parameters(definitions).problems()]


def refusal(parameters, overrides):
    with pytest.raises(ModelError) as error:
        parameters.values(overrides)
    return str(error.value)


def test_independent_and_derived_in_the_order_of_the_file(parameters):
    assert parameters.independent == ("L", "m", "u[0]", "u[1]")
    assert parameters.derived == ("J", "u[2]", "K")
    assert parameters.problems() == []
    assert parameters.expand("u") == ("u[0]", "u[1]", "u[2]")
    assert parameters.expand("L") == ("L",) and parameters.expand("u[1]") == ("u[1]",)
    with pytest.raises(ModelError, match="no parameter 'LL'; did you mean 'L'"):
        parameters.expand("LL")


def test_values(parameters):
    rho = parameters.values()
    assert rho.dtype == np.float64
    assert rho.tolist() == [math.sqrt(5), 2.0, 1.0, math.pi / 2]
    assert parameters.values({"m": 3, "u[1]": np.float64(7.0)}).tolist() == [math.sqrt(5), 3.0, 1.0, 7.0]
    assert parameters.values({"L": parse("sqrt(2)/2")})[0] == math.sqrt(2) / 2
    assert parameters.values().tolist() == rho.tolist()


def test_whole_lists():
    parameters = Parameters({"a": 1.0, "u": (1.0, 2.0, 3.0)})
    assert parameters.values({"u": [4, 5, 6]}).tolist() == [1.0, 4.0, 5.0, 6.0]
    assert parameters.values({"u": np.arange(3.0), "u[2]": 9.0}).tolist() == [1.0, 0.0, 1.0, 9.0]


@pytest.mark.parametrize(
    ("overrides", "says"),
    [
        ({"J": 1.0}, "'J' is derived (m*L**2/12) and follows L, m; set these instead"),
        ({"u": [1, 2, 3]}, "'u[2]' is derived (2*u[0] + m) and follows m, u[0]"),
        ({"u": [1, 2]}, "'u' is a list of 3 numbers, found 2"),
        ({"u": 5.0}, "'u' is a list of 3 numbers, found the single value 5.0"),
        ({"u[3]": 5.0}, "no parameter 'u[3]'; 'u' is a list of 3 numbers counted from 0"),
        ({"mm": 5.0}, "no parameter 'mm'; did you mean 'm'?"),
        ({"zeta": 5.0}, "no parameter 'zeta'; the parameters are: J, L, m, u, K."),
        ({"m": math.nan}, "'m' cannot be set to nan; give a number"),
        ({"m": math.inf}, "'m' cannot be set to inf"),
        ({"m": "two"}, "'m' cannot be set to two"),
        ({"m": [1.0]}, "'m' cannot be set to [1.0]"),
        ({"m": None}, "'m' cannot be set to None"),
        ({"m": parse("2*L")}, "'m' cannot be set to 2*L"),
        ({"m": parse("1/0")}, "'m' cannot be set to 1/0"),
        ({"m": parse("vec(1, 2, 3)")}, "'m' cannot be set to vec(1, 2, 3)"),
    ],
)
def test_overrides_that_cannot_be(parameters, overrides, says):
    assert says in refusal(parameters, overrides)


def test_all_wrong_overrides_are_told_at_once(parameters):
    with pytest.raises(ModelError) as error:
        parameters.values({"J": 1.0, "m": math.nan, "L": 2.0, "x": 3.0})
    assert [p.where for p in error.value.problems] == ["parameters.J", "parameters.m", "parameters"]


def test_evaluate(parameters):
    expected = 2.0 * math.sqrt(5) ** 2 / 12 + 2.0 + 2.0
    assert parameters.evaluate(parse("K")) == pytest.approx(expected + 0.0, rel=1e-15)
    assert parameters.evaluate(parse("2*u[2]"), parameters.values({"m": 10.0})) == 24.0
    assert parameters.evaluate(3) == 3.0


def test_resolver(parameters):
    graph = Graph()
    resolve = parameters.resolve(graph)
    scalar = scalarise(parse("K*L + u[2]"), graph, resolve)
    assert graph.inputs_of(scalar) == [graph.input(name) for name in ("L", "m", "u[0]")]
    values = dict(zip(parameters.independent, parameters.values(), strict=True))
    K = 2.0 * 5.0 / 12 + 4.0
    assert evaluate([scalar], values)[0] == pytest.approx(K * math.sqrt(5) + 4.0, rel=1e-15)
    derivative = graph.derivative(scalar, graph.input("m"))
    assert evaluate([derivative], values)[0] == pytest.approx((5.0 / 12 + 1) * math.sqrt(5) + 1.0, rel=1e-15)
    for name, index in (("w", None), ("t", None), ("bar.P.x", None), ("u", None), ("u", 3), ("m", 0)):
        with pytest.raises(ExpressionError):
            resolve(name, index)


@pytest.mark.parametrize(
    ("definitions", "where", "says"),
    [
        ({"a": parse("b"), "b": parse("a + 1")}, "a", "(a -> b -> a)"),
        ({"a": parse("a/2")}, "a", "(a -> a)"),
        ({"z": parse("a"), "a": parse("b"), "b": parse("c"), "c": parse("2*a")}, "a", "(a -> b -> c -> a)"),
        ({"u": [1.0, parse("u[2]"), parse("u[1]")]}, "u[1]", "(u[1] -> u[2] -> u[1])"),
        ({"mass": 1.0, "J": parse("2*mas")}, "J", "'2*mas' cannot be used. There is no parameter 'mas'; did you mean"),
        ({"u": [1.0], "J": parse("u[1]")}, "J", "u[1] is beyond the end of 'u', which has 1 entries"),
        ({"u": [1.0], "J": parse("u")}, "J", "'u' is a list of 1 numbers; name one of them, as in u[0]"),
        ({"u": 1.0, "J": parse("u[0]")}, "J", "'u' is a single number; write u instead of u[0]"),
        ({"J": parse("2*t")}, "J", "The time t is not a parameter"),
        ({"J": parse("bar.P.position.x")}, "J", "'bar.P.position.x' is not a parameter"),
        ({"J": parse("1/0")}, "J", "its value '1/0' is inf"),
        ({"J": parse("sqrt(-1)")}, "J", "its value 'sqrt(-1)' is nan"),
        ({"a": 0.0, "J": parse("1/a")}, "J", "its value '1/a' is inf"),
        ({"J": math.inf}, "J", "its value 'inf' is inf"),
        ({"J": math.nan}, "J", "its value 'nan' is nan"),
        ({"u": []}, "u", "the list is empty"),
        ({"J": parse("vec(1, 2, 3)")}, "J", "is a vector where a number is needed"),
        ({"a": 1.0, "J": parse("norm(a)")}, "J", "needs vectors, but 'a' is a number"),
    ],
)
def test_problems(definitions, where, says):
    parameters = Parameters(definitions)
    (problem,) = parameters.problems()
    assert problem.where == f"parameters.{where}"
    assert says in problem.sentence and repr(where) in problem.sentence
    for use in (parameters.values, parameters.check, lambda: parameters.resolve(Graph())):
        with pytest.raises(ModelError):
            use()


def test_each_problem_once():
    """What depends on a wrong parameter is not wrong itself; two cycles are two problems."""
    found = sentences(
        {
            "a": parse("b"),
            "b": parse("a"),
            "c": parse("d"),
            "d": parse("c"),
            "after_cycle": parse("a + c"),
            "bad": parse("log(-1)"),
            "after_bad": parse("bad + 1"),
            "unknown": parse("nothing"),
            "after_unknown": parse("unknown"),
        }
    )
    assert len(found) == 4
    assert "(a -> b -> a)" in "\n".join(found) and "(c -> d -> c)" in "\n".join(found)


def test_long_chains():
    """Each of thousands of parameters follows the one after it."""
    n = 3000
    definitions = {f"p{i}": parse(f"p{i + 1} + 1") for i in range(n)} | {f"p{n}": 1.0}
    parameters = Parameters(definitions)
    assert parameters.problems() == [] and parameters.independent == (f"p{n}",)
    assert parameters.evaluate(parse("p0")) == n + 1.0


def test_no_parameters():
    parameters = Parameters({})
    assert parameters.independent == () and parameters.values().shape == (0,) and parameters.values({}).shape == (0,)
    assert "the parameters are: none" in refusal(parameters, {"a": 1.0})
