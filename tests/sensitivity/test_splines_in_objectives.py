"""Objectives of several splines: as those of tables through the same points, in values and derivatives, by every method."""

import numpy as np
import pytest
from helpers import assert_close

import kinegrad as kg

HEAD = """
kinegrad: 1
parameters: {u: [0.3, 1, -1, 0.5], v: [0, 1.5, 1, 0.2, -1], w: [0.1, 0.4, -0.3, 0.2], m: 1.3}
design: [u, v, w, m]
ground: {markers: {O: [0, 0, 0]}}
bodies: {block: {mass: m, com: [0.1, 0, 0], inertia: [1, 1, 1], markers: {O: [0, 0, 0]}}}
joints: {table: {type: planar, between: [ground.O, block.O], axis: [0, 0, 1], x_axis: [1, 0, 0]}}
degrees_of_freedom: {table.x: {position: 0}, table.y: {position: 0}, table.angle: {position: 0.2}}
objectives:
  effort: {integral: a.force**2 + b.force**2}
  product: {integral: a.force*b.force*c.force*(1 + block.O.x)}
  end: {final: a.force*sin(b.force) - c.force*b.force}
  most: {maximum: a.force + 2*b.force, sharpness: 3}
  work: {integral: a.power*b.power + c.power**2}
  sampled: {sum: b.force*c.force*a.force, times: [0.11, 0.43]}
simulation: {t_end: 0.5, step: 0.01, coordinates: SET}
"""
TIMES = {
    "a": "[0, 0.2, 0.4, 0.5]",
    "b": "[0, 0.1, 0.25, 0.33, 0.4]",
    "c": "[0.1, 0.2, 0.3, 0.45]",
}  # some end before the run
LISTS, ALONG = {"a": "u", "b": "v", "c": "w"}, {"a": "table.x", "b": "table.y", "c": "table.angle"}
SPLINES = "forces:\n" + "".join(
    f"  {n}: {{type: spline, acts_on: {ALONG[n]}, times: {TIMES[n]}, values: {LISTS[n]}}}\n" for n in "abc"
)
TABLES = (
    "tables:\n"
    + "".join(f"  t{n}: {{x: {TIMES[n]}, y: {LISTS[n]}, outside: extrapolate}}\n" for n in "abc")
    + "forces:\n"
    + "".join(f"  {n}: {{type: force, acts_on: {ALONG[n]}, value: 'table(t, t{n})'}}\n" for n in "abc")
)


@pytest.mark.parametrize("method", ["direct", "discrete-adjoint", "continuous-adjoint"])
@pytest.mark.parametrize("kind", ["joint", "reference-point", "natural"])
def test_as_tables_through_the_same_points(kind, method):
    def of(forces):
        model = _model(kind, forces)
        if method == "continuous-adjoint":
            del model.objectives["sampled"]  # with which it does not go
        return kg.gradient(kg.simulate(kg.lower(model.check())), method=method)

    found, same = of(SPLINES), of(TABLES)
    assert_close(np.array(list(found.values.values())), np.array(list(same.values.values())), 1e-12)
    assert_close(found.matrix, same.matrix, 1e-11)
    assert np.abs(found.matrix).max(axis=1).min() > 0.0


def _model(kind, forces):
    return kg.Model.from_yaml_text(HEAD.replace("SET", kind) + forces)


def test_signals_and_values_along_a_motion():
    motion = kg.simulate(kg.lower(_model("joint", SPLINES)))
    a, b, c = (motion[f"{name}.force"] for name in "abc")
    assert_close(motion["product"], a * b * c * (1.0 + motion["block.O.x"]), 1e-13)
    assert_close(motion.objectives["end"], (a * np.sin(b) - c * b)[-1], 1e-13)


def test_by_differences():
    motion = kg.simulate(kg.lower(_model("joint", SPLINES)))
    assert kg.gradient(motion).check().good


def test_a_study_of_two_motors():
    """The least effort that brings a block to (1, 2): both components alike but for a factor."""
    text = """
kinegrad: 1
parameters: {u: [0, 1, 1, 0], v: [0, 1, 1, 0]}
ground: {markers: {O: [0, 0, 0]}}
bodies: {block: {mass: 1, inertia: [1, 1, 1], markers: {O: [0, 0, 0]}}}
joints: {table: {type: planar, between: [ground.O, block.O], axis: [0, 0, 1], x_axis: [1, 0, 0]}}
forces:
  a: {type: spline, acts_on: table.x, times: [0, 0.3, 0.6, 1], values: u}
  b: {type: spline, acts_on: table.y, times: [0, 0.3, 0.6, 1], values: v}
degrees_of_freedom: {table.x: {position: 0}, table.y: {position: 0}, table.angle: {position: 0}}
objectives: {effort: {integral: a.force**2 + b.force**2}, x: {final: block.O.x}, y: {final: block.O.y},
             vx: {final: block.O.velocity.x}, vy: {final: block.O.velocity.y}}
simulation: {t_end: 1, step: 0.01}
"""
    variables = {name: {"scale": 10} for name in "uv"}
    limits = {"x": {"value": "x", "equals": 1}, "y": {"value": "y", "equals": 2}} | {
        n: {"value": n, "equals": 0} for n in ("vx", "vy")
    }
    study = kg.Study(
        kg.Model.from_yaml_text(text), variables=variables, minimise="effort", constraints=limits, solver="slsqp"
    )
    found = study.optimize()
    assert found.status == "optimum" and found.values["effort"] == pytest.approx(12.0 * (1.0 + 4.0), rel=1e-3)
    assert_close(np.array(found.variables["v"]), 2.0 * np.array(found.variables["u"]), 1e-6)


def test_two_functions_are_refused_by_check_with_what_helps():
    model = _model("joint", SPLINES)
    for name in "ab":
        model.forces[name] = kg.Force(acts_on=ALONG[name], value=kg.law(lambda x: -x, arguments=[ALONG[name]]))
    model.objectives = {
        "effort": kg.Objective(integral="a.force**2 + b.force**2"),
        "one": kg.Objective(final="a.force"),
    }
    told = r"objectives.effort.integral uses the functions of two forces, 'a' and 'b'.*; make two objectives"
    with pytest.raises(kg.ModelError, match=told):
        model.check()
    with pytest.raises(kg.ModelError, match=told):
        kg.Study(model, variables={"m": {}}, minimise="effort")
