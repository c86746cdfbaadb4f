"""Slots: values and derivatives by parameters and by every number of the model."""

import math
import pickle

import numpy as np
import pytest
from helpers import assert_close, complex_step

from kinegrad.errors import ModelError
from kinegrad.expressions import parse
from kinegrad.model.parameters import Parameters
from kinegrad.model.slots import SlotBuilder


@pytest.fixture
def parameters():
    return Parameters({"L": parse("sqrt(5)"), "m": 2.0, "J": parse("m*L**2/12"), "u": [0.5, -1.0, 2.0], "c": 0.3})


@pytest.fixture
def builder(parameters):
    """Slots of every kind."""
    b = SlotBuilder(parameters)
    b.number("bodies.bar.mass", parse("m"))
    b.vector("bodies.bar.com", [parse("L/2"), 0.0, parse("sqrt(2)")])
    b.number("forces.spring.stiffness", 100)
    b.unit("joints.hinge.axis", [parse("L"), 1.0, parse("sin(m)*c")])
    b.unit("joints.fixed.axis", [0, 3, 4])
    along, across = b.field("bodies.rod.along", parse("J")), b.field("bodies.rod.across", parse("J + c**2"))
    u = [b.field(f"bodies.rod.axis.{i}", number) for i, number in enumerate((2.0, parse("-c"), parse("u[1]")))]
    length2 = u[0] * u[0] + u[1] * u[1] + u[2] * u[2]
    pairs = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)]
    tensor = [(along - across) * u[i] * u[j] / length2 + (across if i == j else 0) for i, j in pairs]
    b.scalars("bodies.rod.inertia", tensor)
    ordinates = [b.field(f"splines.u[{i}]", parse(f"u[{i}]")) for i in range(3)] + [b.field("splines.end", 4.0)]
    b.linear("splines.coefficients", ordinates, np.arange(20.0).reshape(5, 4) - 7.0)
    b.constant("zero", 0.0)
    b.add("bodies.bar.weight", 9.81 * b.field("bodies.bar.mass", parse("m")))
    return b


def test_values(builder, parameters):
    slots = builder.build()
    s = dict(zip(slots.names, slots.values(parameters.values({"c": 0.5})), strict=True))
    L, m, c = math.sqrt(5), 2.0, 0.5
    assert s["bodies.bar.mass"] == m and s["bodies.bar.com.x"] == L / 2 and s["bodies.bar.com.z"] == math.sqrt(2)
    assert s["forces.spring.stiffness"] == 100.0 and s["zero"] == 0.0
    assert s["joints.fixed.axis.y"] == 0.6 and s["joints.fixed.axis.z"] == 0.8
    axis = np.array([L, 1.0, math.sin(m) * c])
    assert_close([s[f"joints.hinge.axis.{k}"] for k in "xyz"], axis / np.linalg.norm(axis), 1e-15)
    J, u = m * L**2 / 12, np.array([2.0, -c, -1.0])
    u /= np.linalg.norm(u)
    tensor = J * np.outer(u, u) + (J + c**2) * (np.eye(3) - np.outer(u, u))
    found = [s[f"bodies.rod.inertia[{k}]"] for k in range(6)]
    assert_close(found, tensor[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]], 1e-15)
    coefficients = (np.arange(20.0).reshape(5, 4) - 7.0) @ [0.5, -1.0, 2.0, 4.0]
    assert_close([s[f"splines.coefficients[{k}]"] for k in range(5)], coefficients, 1e-15)
    assert s["bodies.bar.weight"] == pytest.approx(9.81 * m, rel=1e-15)


def test_fields(builder, parameters):
    slots = builder.build()
    fields = dict(zip(slots.field_paths, slots.field_values(parameters.values()), strict=True))
    assert fields["bodies.rod.along"] == pytest.approx(2.0 * 5.0 / 12.0, rel=1e-15)
    assert fields["joints.fixed.axis.z"] == 4.0 and fields["splines.u[2]"] == 2.0
    assert len(fields) == len(slots.field_paths) == 20


def test_jacobian_by_parameters(builder, parameters, rng):
    slots = builder.build()
    for _ in range(5):
        rho = parameters.values() + rng.uniform(-0.2, 0.2, len(parameters.independent))
        jacobian = slots.jacobian(rho)
        assert jacobian.shape == (len(slots), len(rho))
        dense, expected = jacobian.dense(), complex_step(slots.values, rho)
        for k in range(len(slots)):
            assert_close(dense[k], expected[k], 1e-12)
        gradient = rng.normal(size=len(slots))
        assert_close(jacobian.pull(gradient), gradient @ expected, 1e-12)


def test_jacobian_by_fields(builder, parameters, rng):
    """Against complex steps of a model in which each field is a parameter of its own."""
    slots = builder.build()
    rho = parameters.values()
    fields = slots.field_values(rho)
    expected = complex_step(lambda f: through_fields(slots, f), fields)
    dense = slots.field_jacobian(rho).dense()
    assert dense.shape == (len(slots), len(fields))
    for k in range(len(slots)):
        assert_close(dense[k], expected[k], 1e-12)
    by_rho = complex_step(slots.field_values, rho)
    assert_close(slots.jacobian(rho).dense(), dense @ by_rho, 1e-12)


def through_fields(slots, fields):
    s = slots.from_fields(fields)
    for block in slots.blocks:
        s[block.slots] = block.map(fields[block.columns])
    return s


def test_jacobians_of_complex_parameters(builder, parameters):
    """A complex step of the Jacobian itself gives second derivatives: it is analytic too."""
    slots = builder.build()
    rho = parameters.values()
    second = complex_step(lambda r: slots.jacobian(r).dense(), rho)
    assert_close(second, np.swapaxes(second, 1, 2), 1e-12)
    assert np.abs(second).max() > 0.1
    assert slots.field_jacobian(rho.astype(complex)).dense().dtype == complex


def test_derivative_of_a_normalised_vector(rng):
    """d(v/|v|) = (I - uu')/|v| dv."""
    parameters = Parameters({"v": rng.normal(size=3)})
    b = SlotBuilder(parameters)
    b.unit("axis", [parse(f"v[{i}]") for i in range(3)])
    slots, v = b.build(), parameters.values()
    length = np.linalg.norm(v)
    u = v / length
    expected = (np.eye(3) - np.outer(u, u)) / length
    assert_close(slots.values(v), u, 1e-15)
    assert_close(slots.jacobian(v).dense(), expected, 1e-14)
    assert_close(slots.field_jacobian(v).dense(), expected, 1e-14)


def test_literal_numbers_are_not_differentiated(builder, parameters):
    slots = builder.build()
    rho = parameters.values()
    jacobian = slots.jacobian(rho)
    fixed = [k for k, name in enumerate(slots.names) if name.startswith(("forces", "joints.fixed", "zero"))]
    assert not jacobian.moved()[fixed].any() and jacobian.moving().all()
    partials = slots._chain[0]
    used = (np.diff(assembly.indptr) for assembly in (partials.assembly, *partials.inner))
    paths = {slots.field_paths[j] for count in used for j in np.flatnonzero(count)}
    assert not any(path.startswith(("forces", "joints.fixed", "splines.end")) for path in paths)


def test_the_same_field_and_the_same_slot_twice(parameters):
    b = SlotBuilder(parameters)
    assert b.field("a", parse("2*m")) == b.field("a", parse("2 * m"))
    assert b.number("x", 1) == b.number("x", 1.0) == 0
    assert b.vector("v", [1, 2, 3]) == b.vector("v", [1, 2, 3]) == 1
    assert b.unit("w", [1, 2, 3]) == b.unit("w", [1, 2, 3]) == 4
    assert b.number("y", 0) == 7
    with pytest.raises(ValueError, match=r"field x is 1\.0 already"):
        b.number("x", 2)
    with pytest.raises(ValueError, match=r"slot v\.x exists already"):
        b.unit("v", [1, 2, 3])
    with pytest.raises(ValueError, match=r"slot v\.y exists already"):
        b.add("v.y", b.field("y", 0))
    assert b.build().values(parameters.values()).tolist()[:4] == [1.0, 1.0, 2.0, 3.0]


def test_wrong_blocks(parameters):
    b = SlotBuilder(parameters)
    fields = [b.field("a", 1), b.field("b", 2)]
    with pytest.raises(ValueError, match="does not fit 2 fields"):
        b.linear("block", fields, np.ones((3, 3)))
    b.linear("block", fields, np.ones((3, 2)))
    assert b.linear("block", fields, np.ones((3, 2))) == 0
    for again, matrix in ((fields[::-1], np.ones((3, 2))), (fields, np.eye(3, 2))):
        with pytest.raises(ValueError, match="exist already"):
            b.linear("block", again, matrix)


def test_a_field_used_twice_in_a_block(parameters):
    b = SlotBuilder(parameters)
    x = b.field("x", parse("m"))
    b.linear("block", [x, x], [[1.0, 2.0], [3.0, 4.0]])
    slots = b.build()
    assert slots.values(parameters.values()).tolist() == [6.0, 14.0]
    assert slots.field_jacobian(parameters.values()).dense().tolist() == [[3.0], [7.0]]


def test_large_linear_blocks_make_no_graph(rng):
    n = 300
    parameters = Parameters({"u": rng.normal(size=n)})
    b = SlotBuilder(parameters)
    fields = [b.field(f"u[{i}]", parse(f"u[{i}]")) for i in range(n)]
    nodes = len(b.graph)
    matrix = rng.normal(size=(4 * n, n))
    b.linear("c", fields, matrix)
    assert len(b.graph) <= nodes + 1
    slots, rho = b.build(), parameters.values()
    assert_close(slots.values(rho), matrix @ rho, 1e-14)
    np.testing.assert_array_equal(slots.jacobian(rho).dense(), matrix)
    np.testing.assert_array_equal(slots.field_jacobian(rho).dense(), matrix)


def test_a_vector_without_a_direction(parameters):
    b = SlotBuilder(parameters)
    with pytest.raises(ModelError, match=r"joints\.J\.axis is \[0, 0, 0\] and has no direction") as error:
        b.unit("joints.J.axis", [0, parse("m - 2"), parse("sin(0)")])
    assert error.value.problems[0].where == "joints.J.axis"


def test_a_direction_that_parameters_take_away(parameters):
    b = SlotBuilder(parameters)
    b.unit("joints.J.axis", [0, parse("m"), 0])
    with pytest.raises(ModelError) as error:
        b.build().values(parameters.values({"m": 0.0}))
    sentence = error.value.problems[0].sentence
    assert "joints.J.axis.x cannot be computed (it is nan)" in sentence and "joints.J.axis.y = 0.0" in sentence


def test_fields_that_are_not_finite(parameters):
    b = SlotBuilder(parameters)
    b.number("bodies.bar.mass", parse("1/(m - 3)"))
    b.number("bodies.rod.mass", parse("sqrt(c)"))
    slots = b.build()
    assert slots.values(parameters.values()).tolist() == [-1.0, math.sqrt(0.3)]
    with pytest.raises(ModelError) as error:
        slots.values(parameters.values({"m": 3.0, "c": -1.0}))
    first, second = error.value.problems
    assert first.where == "bodies.bar.mass"
    assert "bodies.bar.mass: its value '1/(m - 3)' is inf" in first.sentence
    assert "bodies.rod.mass: its value 'sqrt(c)' is nan" in second.sentence


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("mm", "There is no parameter 'mm'; did you mean 'm'?"),
        ("2*t", "The time t is not a parameter"),
        ("bar.P.x", "only parameters may be used here"),
        ("vec(1, 2, 3)", "is a vector where a number is needed"),
        ("u[3]", "beyond the end of 'u'"),
    ],
)
def test_expressions_that_cannot_be_fields(parameters, text, says):
    b = SlotBuilder(parameters)
    with pytest.raises(ModelError) as error:
        b.number("bodies.bar.mass", parse(text))
    assert str(error.value).startswith("bodies.bar.mass: ") and says in str(error.value)
    assert error.value.problems[0].where == "bodies.bar.mass"
    b.number("bodies.bar.mass", 1.0)  # the builder goes on
    assert b.build().values(parameters.values()).tolist() == [1.0]


def test_rho_of_the_wrong_length(builder):
    with pytest.raises(ValueError, match="there are 6 independent parameters"):
        builder.build().values(np.zeros(3))


def test_slots_travel_to_other_processes(builder, parameters):
    slots, rho = builder.build(), parameters.values()
    slots.jacobian(rho)
    again = pickle.loads(pickle.dumps(slots))
    np.testing.assert_array_equal(again.values(rho), slots.values(rho))
    np.testing.assert_array_equal(again.field_jacobian(rho).dense(), slots.field_jacobian(rho).dense())


def test_no_parameters():
    b = SlotBuilder(Parameters({}))
    b.unit("axis", [0, 3, 4])
    slots = b.build()
    assert slots.values(np.zeros(0)).tolist() == [0.0, 0.6, 0.8]
    assert slots.jacobian(np.zeros(0)).dense().shape == (3, 0)
    assert slots.field_jacobian(np.zeros(0)).dense().shape == (3, 3)
