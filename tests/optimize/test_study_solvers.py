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


@pytest.mark.parametrize("solver", ["ipopt", "nlopt-slsqp", "slsqp"])
def test_what_is_raised_passes_through(solver):
    def stop(evaluations, value, violation):
        if evaluations == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kg.Study.from_yaml(SLIDE).optimize(solver, progress=stop)
