"""Starts, ranks and multipliers by fronts are those by full matrices: on all examples and random mechanisms, in every set."""

from pathlib import Path

import numpy as np
import pytest
from soak.mechanisms import generate

import kinegrad as kg
from kinegrad.bench.windows import windows
from kinegrad.coordinates.sets import SETS
from kinegrad.errors import KinegradError
from kinegrad.kinematics import mobility as ranks
from kinegrad.kinematics.multipliers import least_norm
from kinegrad.kinematics.start import start

# Without the anchor chain: accelerations of 64 bodies on Cardan joints are known to 1e-9 by either way.
EXAMPLES = [
    path
    for path in sorted((Path(__file__).parents[2] / "examples").glob("*/model.yaml"))
    if path.parent.name != "anchor_chain"
]


def both(system, result):
    """What `result` gives by full matrices and by fronts; sentences of errors in their place."""
    found = []
    for solver in ("dense", "fronts"):
        try:
            found.append(result(system.with_solver(solver)))
        except KinegradError as error:
            found.append(str(error))
    return found


def started(system):
    work = system.workspace()
    start(system, work)
    return {name: work[name].copy() for name in ("q", "v", "a", "ease")}


def assert_same_start(system, tolerance):
    full, few = both(system, started)
    assert isinstance(full, str) == isinstance(few, str), (full, few)
    if isinstance(full, str):
        assert few == full
        return
    for name, expected in full.items():
        size = max(1.0, np.abs(expected).max(initial=0.0))
        assert np.abs(few[name] - expected).max(initial=0.0) <= tolerance * size, name


def assert_same_ranks(system, monkeypatch):
    monkeypatch.setattr(ranks, "lean", lambda x: x)
    full, few = both(system, kg.mobility)
    assert few == full


@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)
def test_examples(path, kind, monkeypatch):
    system = kg.lower(kg.Model.from_yaml(path), kind)
    assert_same_start(system, 1e-12)
    assert_same_ranks(system, monkeypatch)


@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("seed", range(6))
def test_random_mechanisms(seed, kind, monkeypatch):
    system = kg.lower(kg.Model.from_dict(generate(seed).document), kind)
    assert_same_start(system, 1e-9)
    assert_same_ranks(system, monkeypatch)


@pytest.mark.parametrize("given", [{}, {"A0.angle": {"position": 1.2}, "A1.angle": {"position": 1.2}}])
def test_freedoms_that_do_not_suit_are_told_alike(given):
    """Too few, with what may be added; and too many."""
    document = windows(3).to_dict() | {"degrees_of_freedom": given}
    for kind in SETS:
        system = kg.lower(kg.Model.from_dict(document), kind)
        full, few = both(system, started)
        assert isinstance(full, str) and few == full


def test_multipliers_of_redundant_rows_have_least_norm():
    system = kg.reference_point(windows(3))
    work = system.workspace()
    start(system, work)
    J = work["J"][: system.m]
    assert np.linalg.matrix_rank(J) < system.m
    lam = work["lam"][: system.m] + np.random.default_rng(0).normal(size=system.m)
    arguments = work["s"], np.zeros(1), work["q"][None, :], lam[None, :]
    full, few = both(system, lambda x: least_norm(x, *arguments)[0])
    np.testing.assert_allclose(few, full, atol=1e-9 * np.abs(lam).max())
    np.testing.assert_allclose(J.T @ few, J.T @ lam, atol=1e-11 * np.abs(lam).max())


def test_rows_that_move_nothing_are_named_by_fronts():
    """A bar without inertia about its axis, free to spin: the coordinate at which factors stop is told."""
    link = {"mass": 1, "inertia": [0, 1, 1], "markers": {"A": [0, 0, 0], "B": [1, 0, 0]}}
    model = kg.Model.from_dict(
        {
            "kinegrad": 1,
            "ground": {"markers": {"O": [0, 0, 0]}},
            "bodies": {"bar": link},
            "joints": {"spin": {"type": "revolute", "between": ["ground.O", "bar.A"], "axis": [1, 0, 0]}},
            "degrees_of_freedom": {"spin.angle": {"position": 0.3}},
        }
    )
    for kind in SETS:
        for sentence in both(kg.lower(model, kind), started):
            assert "singular on the motions that the constraints allow" in sentence
