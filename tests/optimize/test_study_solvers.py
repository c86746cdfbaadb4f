"""Solvers by name: what they take, what they lack, and how they end."""

import sys
from pathlib import Path

import pytest

import kinegrad as kg
from kinegrad.optimize.solvers import SOLVERS

SLIDE = Path(__file__).parents[2] / "examples" / "slide" / "study.yaml"


@pytest.mark.parametrize(
    "solver", [name for name, kind in SOLVERS.items() if not kind.constrained and not kind.squares]
)
def test_no_constraints(solver):
    with pytest.raises(
        kg.KinegradError, match=rf"{solver!r}, which takes no constraints such as .arrives.; choose from slsqp"
    ):
        kg.Study.from_yaml(SLIDE).optimize(solver)


def test_no_equations():
    with pytest.raises(
        kg.KinegradError, match="'nlopt-mma', which takes no equations such as 'arrives'; choose from slsqp"
    ):
        kg.Study.from_yaml(SLIDE).optimize("nlopt-mma")


@pytest.mark.parametrize(("solver", "module"), [("ipopt", "casadi"), ("nlopt-slsqp", "nlopt")])
def test_a_missing_library_is_named(solver, module, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(kg.KinegradError, match=rf"needs {module}, .* run: pip install 'kinegrad\[opt\]'"):
        kg.Study.from_yaml(SLIDE).optimize(solver)


@pytest.mark.parametrize("solver", [name for name, kind in SOLVERS.items() if kind.constrained and kind.equations])
def test_limits(solver):
    """Every solver stops after as many designs as allowed, and says so."""
    found = kg.Study.from_yaml(SLIDE).optimize(solver, max_evaluations=4)
    assert found.status == "limit" and found.evaluations == 4
    assert "4 evaluations are done" in found.message
    assert "the projected gradient is" in found.message or "constraint 'arrives' is" in found.message


def test_what_cannot_be_kept_is_named():
    """With a force of 0.1 N at most the mass gets 0.05 m far."""
    model = kg.Model.from_yaml(SLIDE.with_name("model.yaml"))
    found = kg.Study(
        model, variables={"u": {"bounds": [-0.1, 0.1]}}, minimise="effort",
        constraints={"arrives": {"value": "x", "at_least": 1}}, solver={"max_evaluations": 30},
    ).optimize()  # fmt: skip
    assert found.status != "optimum"
    assert "constraint 'arrives' is 0.05 and should be at least 1" in found.message


def two_misses(solver, left, right):
    """The largest of two misses, of parameters alone: no simulation is asked for."""
    model = kg.Model.from_yaml(SLIDE.with_name("model.yaml")).to_dict()
    model["parameters"] |= {"a": 0.25, "b": 0.125}
    return kg.Study(
        kg.Model.from_dict(model), variables={name: {"bounds": [-2, 2], "scale": 1} for name in "ab"},
        minimise={"largest_of": ["(a - 1)**2", "(b - 1)**2"]}, constraints={"left": left, "right": right}, solver=solver,
    ).optimize()  # fmt: skip


CONSTRAINED = ["slsqp", "ipopt", "nlopt-mma"]


@pytest.mark.parametrize("solver", CONSTRAINED)
def test_a_largest_of_several_within_a_limit(solver):
    found = two_misses(solver, {"value": "a + b", "at_most": 0.2}, {"value": "a + b*b", "at_least": 0.1})
    assert found.status == "optimum", found.message
    assert found.variables == pytest.approx({"a": 0.1, "b": 0.1}, abs=2e-5)
    assert found.multipliers["left"] == pytest.approx(-0.9, abs=1e-4)


@pytest.mark.parametrize("solver", CONSTRAINED)
def test_constraints_that_exclude_each_other_are_named(solver):
    """With a + b ≤ 0.2 and b ≤ 2, a + 2 b is 2.2 at most."""
    found = two_misses(solver, {"value": "a + b", "at_most": 0.2}, {"value": "a + 2*b", "at_least": 3.9})
    assert found.status == "stalled" and "the least violation of all designs tried" in found.message
    assert "'left' and 'right' exclude each other within the bounds of b: loosen one of them" in found.message


@pytest.mark.parametrize("solver", CONSTRAINED)
def test_a_bound_that_excludes_a_constraint_is_named(solver):
    found = two_misses(solver, {"value": "a", "at_least": 3}, {"value": "b", "at_least": -1})
    assert found.status == "stalled"
    assert "constraint 'left' is 2 and should be at least 3" in found.message
    assert "'left' cannot be kept within the bounds of a: widen them, or loosen it" in found.message


def test_what_can_be_kept_to_first_order_is_told():
    """A search that ends early: the constraint would hold further on."""
    model = kg.Model.from_yaml(SLIDE.with_name("model.yaml"))
    found = kg.Study(
        model, variables={"u": {"bounds": [-20, 20], "scale": 10}}, minimise="effort",
        constraints={"arrives": {"value": "x", "at_least": 1}}, solver={"max_evaluations": 1},
    ).optimize()  # fmt: skip
    assert found.status == "limit" and "to first order from there all constraints can be kept" in found.message


@pytest.mark.parametrize("solver", ["ipopt", "nlopt-slsqp", "slsqp"])
def test_what_is_raised_passes_through(solver):
    def stop(evaluations, value, violation):
        if evaluations == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kg.Study.from_yaml(SLIDE).optimize(solver, progress=stop)
