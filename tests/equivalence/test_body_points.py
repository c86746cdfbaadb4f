"""Motion taken at the centres of mass or at the global origin: one M, one f, one run."""

from pathlib import Path

import numpy as np
import pytest
from helpers import assert_close
from mechanisms import random_tree, tree

import kinegrad as kg
from kinegrad.coordinates.sets import joint
from kinegrad.errors import KinegradError
from kinegrad.kernels.products import ENERGY, EVALUATE, OBSERVE, TIME
from kinegrad.model.model import Model

FIVE_BAR = Path(__file__).parents[2] / "examples" / "five_bar" / "model.yaml"
FAR = (1e5, -7e4, 4e4)


def evaluated(model, body_point, q, v):
    """M, f and the energies at a state."""
    work = joint(model, body_point=body_point).workspace()
    work["q"][:], work["v"][:], work["par"][TIME] = q, v, 0.37
    work.call(EVALUATE)
    work.call(ENERGY)
    return work["M"].copy(), work["f"].copy(), work["energy"].copy()


def state(model, seed=5):
    n = joint(model).n
    return np.random.default_rng(seed).normal(size=(2, n))


@pytest.mark.parametrize("model", [tree, *(lambda k=k: random_tree(k) for k in range(3))])
def test_both_points_give_one_mass_matrix_and_one_force(model):
    model = model()
    q, v = state(model)
    (M, f, energy), (M0, f0, energy0) = (evaluated(model, point, q, v) for point in ("com", "origin"))
    assert_close(M, M0, 1e-13)
    assert_close(f, f0, 1e-13)
    assert_close(energy, energy0, 1e-14)
    assert 0.5 * v @ M @ v == pytest.approx(energy[0], rel=1e-13)


def test_momentum_is_that_of_the_floating_joint():
    """The rows of M v for the three slides of the root are Σ m ċ, for both points; f of them is minus the weight plus Ṁ v."""
    model = random_tree(4)
    system = joint(model)
    q, v = state(model)
    work = system.workspace(every_marker=True)
    work["q"][:], work["vp"][:] = q, v
    work.call(EVALUATE)
    work.call(OBSERVE)
    mass = {f"{name}.c": body.mass for name, body in model.bodies.items()} | {"b3.tip": 0.4}
    momentum = sum(m * work["mk"][system.markers[name]]["xd"] for name, m in mass.items())
    force = sum(m * work["mk"][system.markers[name]]["xdd"] for name, m in mass.items())
    weight = sum(mass.values()) * np.array([0.3, -9.81, 1.0])
    slides = [system.set.index["j0", c] for c in "xyz"]
    for point in ("com", "origin"):
        M, f, _ = evaluated(model, point, q, v)
        assert_close((M @ v)[slides], momentum, 1e-13)
        assert_close(f[slides], force - weight, 1e-13)


def test_far_from_the_origin_centres_of_mass_keep_their_digits():
    """The same tree 1e5 m away: nothing is lost at the centres of mass, six digits and more at the origin."""
    near, far = random_tree(2), random_tree(2, FAR)
    q, v = state(near)
    M, f, _ = evaluated(near, "com", q, v)
    lost = {}
    for point in ("com", "origin"):
        M1, f1, _ = evaluated(far, point, q, v)
        lost[point] = np.abs(M1 - M).max() / np.abs(M).max(), np.abs(f1 - f).max() / np.abs(f).max()
    assert max(lost["com"]) < 1e-15, lost
    assert min(lost["origin"]) > 1e-9, lost


def test_five_bar_runs_agree():
    model = Model.from_yaml(FIVE_BAR)
    for formulation, integrator in ((kg.ALI3P(tolerance=1e-14), "newmark"), ("matrix-r", "rk4")):
        runs = [
            kg.simulate(kg.joint(model, body_point=point), formulation, integrator, t_end=1.0, step=2e-3)
            for point in ("com", "origin")
        ]
        assert_close(runs[0].q, runs[1].q, 1e-12)
        assert_close(runs[0].qd, runs[1].qd, 1e-12)
        for name, value in runs[1].objectives.items():
            assert runs[0].objectives[name] == pytest.approx(value, rel=1e-12)
        wrt = ["L_s1", "m_A1", "r_G", "L_A1"]
        found = [kg.gradient(run, wrt=wrt, method="direct").matrix for run in runs]
        assert_close(found[0], found[1], 1e-9)


def test_the_point_is_chosen_by_argument_then_by_file_and_is_saved(tmp_path):
    model = Model.from_yaml(FIVE_BAR)
    assert kg.joint(model).set.body_point == "origin"
    model.simulation = {"t_end": 0.01, "step": 1e-3, "body_point": "com"}
    system = kg.joint(model)
    assert (system.set.body_point, kg.joint(model, body_point="origin").set.body_point) == ("com", "origin")
    path = kg.simulate(kg.joint(model, body_point="origin")).save(tmp_path / "motion.nc")
    assert kg.load(path).system.set.body_point == "origin"
    with pytest.raises(KinegradError, match="body_point is 'middle'; choose one of origin, com"):
        kg.joint(model, body_point="middle")
