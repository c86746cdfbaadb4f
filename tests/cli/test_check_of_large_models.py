"""`check` on large models: what it computes is proportional to their size, counted in calls and in sizes of matrices."""

import os
import sys

import numpy as np
import pytest

from kinegrad.cli import check
from kinegrad.coordinates.sets import joint
from kinegrad.coordinates.workspace import Workspace
from kinegrad.kernels.products import POSITION
from kinegrad.kinematics import mobility
from kinegrad.model.model import Model


def bar(x, y, end):
    pose = {"origin": [x, y, 0]}
    return {"mass": 1, "inertia": [0.1, 0.1, 0.1], "pose": pose, "markers": {"p": [0, 0, 0], "q": end}}


def four_bars(count):
    """Parallelograms side by side on the ground, which have nothing to do with each other."""
    model = Model()
    markers = {}
    for i in range(count):
        x = 2.0 * i
        markers |= {f"A{i}": [x, 0, 0], f"D{i}": [x + 1, 0, 0]}
        model.bodies |= {
            f"a{i}": bar(x, 0, [0, 1, 0]),
            f"b{i}": bar(x, 1, [1, 0, 0]),
            f"c{i}": bar(x + 1, 0, [0, 1, 0]),
        }
    model.ground = {"markers": markers}
    for i in range(count):
        ends = {"A": ("ground.A", "a.p"), "B": ("a.q", "b.p"), "C": ("b.q", "c.q"), "D": ("ground.D", "c.p")}
        for name, pair in ends.items():
            between = [f"ground.{x[-1]}{i}" if x.startswith("ground") else f"{x[0]}{i}.{x[-1]}" for x in pair]
            model.joints[f"{name}{i}"] = {"type": "revolute", "between": between, "axis": [0, 0, 1]}
        model.degrees_of_freedom[f"A{i}.angle"] = {"position": 0.3}
    return model


@pytest.fixture
def work_done(monkeypatch):
    """The functions of the set that were called, and the columns of matrices in least squares and in ranks."""
    calls, columns = [], []
    call, lstsq, independent = Workspace.call, np.linalg.lstsq, mobility._independent

    def counted_call(self, which):
        calls.append(which)
        return call(self, which)

    def counted_lstsq(A, *rest, **options):
        columns.append(A.shape[1])
        return lstsq(A, *rest, **options)

    def counted_independent(A, smallest):
        columns.append(A.shape[1])
        return independent(A, smallest)

    monkeypatch.setattr(Workspace, "call", counted_call)
    monkeypatch.setattr(np.linalg, "lstsq", counted_lstsq)
    monkeypatch.setattr(mobility, "_independent", counted_independent)
    return calls, columns


def test_loops_that_have_nothing_to_do_with_each_other_are_looked_at_one_by_one(work_done):
    """Only positions are evaluated, no mass matrix; no dense matrix is larger than a loop."""
    calls, columns = work_done
    found = mobility.mobility(joint(four_bars(40)))
    assert (found.dof, found.nearby, found.problems) == (40, (40, 40), ())
    assert len(found.redundant) == 40 * 4
    assert set(calls) == {POSITION} and len(calls) < 40
    assert max(columns) <= 3


def test_freedoms_that_are_missing_are_found_at_once(work_done):
    """The last loop lacks its freedom: all coordinates before it are held already."""
    _, columns = work_done
    model = four_bars(40)
    del model.degrees_of_freedom["A39.angle"]
    found = mobility.mobility(joint(model))
    (problem,) = found.problems
    assert "gives 39" in problem and "add 1, such as A39.angle." in problem
    assert max(columns) <= 3 and len(columns) < 2000


def test_independent_rows_are_those_that_add_to_the_rows_before_them(rng):
    """Against ranks of the leading rows, over several panels, with redundant rows in between and at the end."""
    for m, n, rank in ((30, 40, 12), (200, 90, 61), (130, 60, 60)):
        A = rng.normal(size=(m, rank)) @ rng.normal(size=(rank, n))
        A[::7] = 0.0
        A[5::11] = 2.0 * A[4::11][: len(A[5::11])]
        kept = mobility._independent(A, 1e-9 * np.linalg.norm(A, axis=1).max())
        ranks = [np.linalg.matrix_rank(A[: k + 1], tol=1e-9) for k in range(m)]
        assert kept.tolist() == (np.diff(ranks, prepend=0) > 0).tolist()


@pytest.mark.parametrize(
    ("bodies", "argv", "loaded", "plain"),
    [
        (10, ["kinegrad", "check", "m.yaml"], False, True),
        (check.LARGE + 1, ["kinegrad", "check", "m.yaml"], False, False),
        (10, ["kinegrad", "run", "m.yaml"], False, False),
        (10, ["kinegrad", "check", "m.yaml"], True, False),
    ],
)
def test_kernels_are_compiled_for_large_models_only(monkeypatch, bodies, argv, loaded, plain):
    monkeypatch.setattr(sys, "argv", argv)
    monkeypatch.delenv("NUMBA_DISABLE_JIT", raising=False)
    if not loaded:
        monkeypatch.delitem(sys.modules, "kinegrad.kernels.jit")
    model = Model(bodies={f"b{i}": {"mass": 1} for i in range(bodies)})
    check._compile_only_for_large(model)
    assert ("NUMBA_DISABLE_JIT" in os.environ) == plain
    os.environ.pop("NUMBA_DISABLE_JIT", None)
