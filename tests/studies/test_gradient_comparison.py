"""kg.compare(gradient=True): gradients by every combination and method, relative to their size."""

import numpy as np
import pytest
from test_comparison import PENDULUM

import kinegrad as kg
from kinegrad.studies.compare import quantities

HERE = {"coordinates": ["joint"], "body_points": ["origin"]}


@pytest.fixture
def model():
    text = PENDULUM.replace(
        "forces:", "design: [m, L]\nobjectives: {low: {integral: rod.tip.y}, end: {final: rod.tip.x}}\nforces:"
    )
    return kg.Model.from_yaml_text(text)


def test_gradients_agree_in_every_set(model):
    found = kg.compare(model, gradient=True, integrators=["newmark", "rk4"], body_points=["origin"])
    assert found.agrees and found.quantity == "gradient" and found.unit == ""
    assert {row.method for row in found.rows} == {"direct", "discrete-adjoint"}
    assert {row.coordinates for row in found.rows} == {"joint", "reference-point", "natural"}
    by = {(row.coordinates, row.formulation, row.integrator, row.method): row for row in found.rows}
    newmark, rk4 = (by["joint", "index1", name, "direct"] for name in ("newmark", "rk4"))
    assert newmark.error == pytest.approx(newmark.difference, rel=0.05) and rk4.error < 1e-4 * newmark.error
    assert found.bound == 1e-3 and found.recommended.error <= 1e-3
    assert by["natural", "ali3p", "newmark", "direct"].ratio > 0.0


def test_parameters_objectives_and_methods_can_be_chosen(model):
    few = {"formulations": ["index1"], "integrators": ["rk4"], "t_end": 0.01}
    one = kg.compare(model, **HERE, **few, gradient=True, wrt=["L"], objectives=["end"], methods=["adjoint"])
    assert [row.method for row in one.rows] == ["discrete-adjoint"] and one.agrees
    for options, said in (
        ({"wrt": ["x"]}, "x"),
        ({"objectives": ["hi"]}, "There is no objective 'hi'"),
        ({"methods": ["guess"]}, "The method 'guess' is not available"),
    ):
        with pytest.raises(kg.KinegradError, match=said):
            kg.compare(model, **HERE, **few, gradient=True, **options)


def test_two_methods_that_differ_on_one_run_are_told(model, monkeypatch):
    """One of them is off by a millionth, which the error of newmark would hide."""
    exact = quantities.gradient

    def off(motion, *, method, **options):
        found = exact(motion, method=method, **options)
        if method == "discrete-adjoint":
            found.matrix[:] *= 1.0 + 1e-6 * np.array([[1.0], [0.0]])
        return found

    monkeypatch.setattr(quantities, "gradient", off)
    choices = HERE | {"formulations": ["index1"], "integrators": ["newmark"], "step": 0.01}
    found = kg.compare(model, gradient=True, **choices)
    assert [row.agrees for row in found.rows] == [True, False]
    assert found.rows[1].cause == "methods" and "differ by 1.0e-06 on the same run" in found.rows[1].reason
