"""Equilibria of systems that are solved by fronts, beside those of full matrices, and of other coordinates."""

from functools import cache

import numpy as np
import pytest

import kinegrad as kg
from kinegrad.balance.found import InJoints, balance, looked_at
from kinegrad.bench.large_models import FAMILIES
from kinegrad.coordinates.patterns import LARGE

KINDS = ("joint", "reference-point", "natural")
MODELS = {"chain": 32, "tree": 40, "windows": 32}


@cache
def model(family: str):
    """A mechanism whose equilibrium depends on its parameters: a spring pulls at its last body."""
    model = FAMILIES[family](MODELS[family])
    body = list(model.bodies)[-1]
    marker = list(model.bodies[body].markers)[-1]
    model.parameters["k"] = 7.0
    model.parameters["l"] = 0.3
    spring = {"type": "spring", "between": ["ground.O", f"{body}.{marker}"], "stiffness": "k", "natural_length": "l"}
    model.forces["spring"] = spring
    model.objectives = {"x": {"final": f"{body}.{marker}.x"}, "y": {"final": f"{body}.{marker}.y"}}
    if "O" not in model.ground.markers:
        model.ground = {"markers": {**model.ground.markers, "O": [0, 0, 0]}}
    return model


@cache
def found(family: str, kind: str, solver: str):
    return kg.equilibrium(kg.lower(model(family), kind).with_solver(solver))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("family", MODELS)
def test_fronts_find_the_same_equilibrium(family, kind):
    full, few = (found(family, kind, solver) for solver in ("dense", "fronts"))
    assert few.system.solver == "fronts"
    assert few.stable == full.stable and few.free == full.free
    np.testing.assert_allclose(few.q, full.q, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(few.lam, full.lam, rtol=0.0, atol=1e-9 * max(1.0, np.abs(full.lam).max(initial=0.0)))
    np.testing.assert_allclose(few.eigenvalues, full.eigenvalues, rtol=0.0, atol=1e-9 * np.abs(full.eigenvalues).max())
    assert few.residual < 1e-12 and few.force_residual < 1e-10


@pytest.mark.parametrize("family", MODELS)
def test_the_equilibrium_is_the_same_in_every_set(family):
    first, *others = (list(found(family, kind, "fronts").objectives.values()) for kind in KINDS)
    for other in others:
        np.testing.assert_allclose(other, first, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("family", MODELS)
def test_derivatives_of_equilibria(family, kind):
    expected = found(family, kind, "dense").gradient(wrt=["k", "l"]).matrix
    assert np.abs(expected).max() > 1e-4
    for method in ("direct", "adjoint"):
        matrix = found(family, kind, "fronts").gradient(wrt=["k", "l"], method=method).matrix
        np.testing.assert_allclose(matrix, expected, rtol=0.0, atol=1e-9 * np.abs(expected).max())


def test_directions_that_nothing_holds_are_told():
    model_ = FAMILIES["chain"](30)
    model_.bodies["wheel"] = {"mass": 1, "inertia": [1, 1, 1], "markers": {"c": [0, 0, 0]}}
    model_.joints["axle"] = {"type": "revolute", "between": ["b29.q", "wheel.c"], "axis": [0, 0, 1]}
    for kind in KINDS[1:]:
        system = kg.lower(model_, kind)
        assert system.n > LARGE
        rest = kg.equilibrium(system)
        assert rest.system.solver == "fronts" and not rest.stable
        assert len(rest.free) == 1 and ("wheel" in rest.free[0] or "axle" in rest.free[0])
        work = rest.system.workspace()
        work["q"][:] = rest.q
        look, free = looked_at(rest.system, work, 0.0)
        assert free == rest.free and np.abs(look.g).max() < 1e-9


def test_a_motion_starts_at_an_equilibrium_by_fronts():
    system = kg.lower(model("chain"), "reference-point").with_solver("fronts")
    motion = kg.simulate(system, t_end=0.002, step=1e-3, start="equilibrium", solver="fronts")
    assert np.abs(motion.q[-1] - found("chain", "reference-point", "fronts").q).max() < 1e-9
    full = kg.simulate(system, t_end=0.002, step=1e-3, start="equilibrium", solver="dense")
    few, all_ = (kg.gradient(x, wrt=["k", "l"]).matrix for x in (motion, full))
    np.testing.assert_allclose(few, all_, rtol=0.0, atol=1e-9 * np.abs(all_).max())


def test_no_matrix_of_all_coordinates(monkeypatch):
    """Neither full matrices of the system nor singular values of its rows: these would be of its size."""
    system = kg.equilibrium(kg.reference_point(FAMILIES["chain"](30))).system
    sizes, svd = [], np.linalg.svd
    monkeypatch.setattr(
        np.linalg, "svd", lambda A, *more, **options: (sizes.append(max(A.shape)), svd(A, *more, **options))[1]
    )
    work = system.workspace()
    balance(system, work)
    assert max(sizes, default=0) < system.n / 2
    assert max(len(x) for x in work.arrays.values() if x.ndim == 2 and x.shape[0] == x.shape[1]) < system.n


def test_what_does_not_fit_into_memory_is_refused(monkeypatch):
    from kinegrad import memory

    model_ = FAMILIES["chain"](30)
    model_.bodies["wheel"] = {"mass": 1, "inertia": [1, 1, 1], "markers": {"c": [0, 0, 0]}}
    model_.joints["axle"] = {"type": "revolute", "between": ["b29.q", "wheel.c"], "axis": [0, 0, 1]}
    system = kg.reference_point(model_)
    rest = kg.equilibrium(system)
    work = rest.system.workspace()
    monkeypatch.setattr(memory, "LARGE", 0.0)
    monkeypatch.setattr(memory, "available", lambda: 1e7)
    with pytest.raises(kg.KinegradError, match=r"Derivatives by .* coordinates .* hold it by a spring or a driver"):
        rest.gradient(wrt=["g"])
    monkeypatch.setattr(memory, "available", lambda: 1e5)
    joint = rest.system.set.in_joints(rest.system)
    with pytest.raises(kg.KinegradError, match="The search for an equilibrium with 31 joint coordinates"):
        InJoints(rest.system, joint, work, 0.0)
