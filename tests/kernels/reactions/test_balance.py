"""The balance of bodies as a linear problem: solved as it is, by fronts, and by NumPy."""

import numpy as np
import pytest
from body_motions import body_motions
from helpers import assert_close
from kinematics.small_models import FOUR_BAR, system
from whole_runs import DRIVEN

import kinegrad as kg
from kinegrad.bench.chain import chain_model
from kinegrad.bench.windows import windows
from kinegrad.coordinates.sets import joint
from kinegrad.kernels.pattern import spread
from kinegrad.model.model import Model
from kinegrad.reactions import solve
from kinegrad.reactions.solve import Balance, reactions

G = 9.81
MODELS = {
    "four bars, of which three directions are free to share": lambda: system(FOUR_BAR),
    "a driven loop in space": lambda: joint(Model.from_yaml_text(DRIVEN)),
    "three windows": lambda: joint(windows(3)),
    "two windows, all joints closed": lambda: kg.reference_point(windows(2)),
}
MODELS = {name.replace(" ", "-"): make for name, make in MODELS.items()}


@pytest.fixture
def by_fronts(monkeypatch):
    """Every balance is solved by fronts."""
    monkeypatch.setattr(solve, "SMALL", 0)
    monkeypatch.setattr(solve, "PAYS", np.inf)


def states_at_random(system, rng, count):
    """Positions and velocities of a motion, and accelerations that no forces give."""
    motion = kg.simulate(system, "index1", t_end=count * 1e-2, step=1e-2)
    rows = slice(1, count + 1)
    return motion.t[rows], motion.q[rows], motion.qd[rows], motion.qdd[rows] + rng.uniform(-1, 1, (count, system.n))


@pytest.mark.parametrize("name", MODELS)
def test_unknowns_are_those_of_the_pseudoinverse(name, rng):
    """Also where no unknowns balance the bodies: of least squares and least norm; what is loose is its null space."""
    system = MODELS[name]()
    t, q, qd, qdd = states_at_random(system, rng, 3)
    for k in range(3):
        balance = Balance(system)
        found = balance.run(t[k : k + 1], q[k : k + 1], qd[k : k + 1], qdd[k : k + 1])
        matrix = spread(balance.topology.wide, balance.scratch.J).T
        inverse = np.linalg.pinv(matrix, rcond=1e-9)
        b = balance.scratch.b
        scratch = balance.scratch  # matrix and b are in units of the model
        assert_close(found.y[:, 0], scratch.of_unknowns * (inverse @ b), 1e-10)
        assert_close(found.residual[0], np.abs((b - matrix @ inverse @ b) / scratch.of_rows).max(), 1e-9)
        N = np.eye(len(inverse)) - inverse @ matrix
        if round(np.trace(N)) <= 4:
            assert_close(found.loose**2, np.diag(N), 1e-12, scale=1.0)
        else:
            assert np.array_equal(found.loose > 1e-6, np.diag(N) > 1e-12)


@pytest.mark.parametrize("name", MODELS)
def test_fronts_give_the_same(name, request):
    """Motions that follow the equations: all values, those of least norm too, and what is unique."""
    system = MODELS[name]()
    motion = kg.simulate(system, "index1", t_end=0.02, step=1e-3)
    whole = motion.reactions()
    request.getfixturevalue("by_fronts")
    by_fronts = reactions(system, motion.t, motion.q, motion.qd, motion.qdd, s=motion.s)
    assert Balance(system).large is not None
    scale = max(np.abs(x).max() for x in whole.values())
    for element, values in whole.items():
        assert np.array_equal(by_fronts.unique[element], whole.unique[element]), element
        assert np.abs(by_fronts[element] - values).max() < 1e-11 * scale, element
    for driver, values in whole.forces.items():
        assert np.abs(by_fronts.forces[driver] - values).max() < 1e-11 * scale
        assert by_fronts.unique_forces[driver] == whole.unique_forces[driver]
    assert by_fronts.residual.max() < 1e-8 * scale


def test_windows_as_a_pendulum():
    """While all cranks turn alike each bar moves in circles: its end joints carry what its centre needs, and the ground all."""
    n = 20
    system = joint(windows(n))
    assert Balance(system).large is not None
    motion = kg.simulate(system, "index1", "rk4", t_end=0.05, step=5e-3)
    found = motion.reactions()
    in_plane = [True, True, False, False, False, True]
    assert all(found.unique[name].tolist() == in_plane for name in found)
    for i in range(1, n + 1):
        a = 0.5 * sum(motion.marker(f"bar_{i}.{end}").acceleration for end in ("left", "right"))
        force = found[f"left_{i}"][:, :2] - found[f"right_{i}"][:, :2]
        assert_close(force, a[:, :2] + [0.0, G], 1e-12)
    total = sum(found[f"A{i}"][:, :2] for i in range(n + 1))
    bars, cranks = n * motion.marker("crank_0.B").acceleration, 0.5 * (n + 1) * motion.marker("crank_0.B").acceleration
    assert_close(total, (bars + cranks)[:, :2] + [0.0, (2 * n + 1) * G], 1e-12)
    assert found.residual.max() < 1e-11


def test_the_first_joint_of_a_chain_carries_it_all():
    motion = kg.simulate(joint(chain_model(40)), "recursive", "rk4", t_end=2e-3, step=1e-3)
    found = motion.reactions()
    link = motion.system.model.bodies["b0"]
    mass, com = float(link.mass), np.array([float(x) for x in link.com])
    gravity = np.array([float(x) for x in motion.system.model.forces["gravity"].acceleration])
    needed, states = 0.0, body_motions(motion)
    for i in range(40):
        A, r, w, wd = states.A[:, i], states.r[:, i], states.V[:, i, 3:], states.a[:, i, 3:]
        c = r + A @ com
        v = states.V[:, i, :3] + np.cross(w, c)
        needed = needed + mass * (states.a[:, i, :3] + np.cross(wd, c) + np.cross(w, v) - gravity)
    assert_close(found["j0"][:, :3], needed, 1e-12)
    assert all(unique.all() for unique in found.unique.values())


def test_tables_grow_with_the_number_of_loops():
    """Entries of the balance and of its fronts; an open chain has no unknowns at all."""
    sizes = []
    for n in (20, 40, 80):
        balance = Balance(joint(windows(n)))
        sizes.append([len(balance.scratch.J), balance.large.F.size, len(balance.topology.hit)])
    growth = np.diff(np.log2(sizes), axis=0)
    assert growth.max() < 1.1
    assert Balance(joint(chain_model(50))).tables.width == 0


def test_blocks_of_states_are_joined(monkeypatch):
    motion = kg.simulate(system(FOUR_BAR), "index1", t_end=0.02, step=1e-3)
    whole = motion.reactions()
    monkeypatch.setattr(solve, "BLOCK", 6)
    parts = reactions(motion.system, motion.t, motion.q, motion.qd, motion.qdd, s=motion.s)
    for name in whole:
        assert np.array_equal(parts[name], whole[name]) and np.array_equal(parts.unique[name], whole.unique[name])
    assert np.array_equal(parts.residual, whole.residual)


def test_a_ball_that_starts_with_a_rotation_and_is_cut_is_no_driver():
    """Its forces are told only where the degrees of freedom are taken as driven."""
    text = """
    kinegrad: 1
    ground: {markers: {O: [0, 0, 0]}}
    bodies: {rod: {mass: 2, com: [0.5, 0, 0], inertia: [0.1, 0.2, 0.2], markers: {O: [0, 0, 0], P: [1, 0, 0]}}}
    joints:
      ball: {type: spherical, between: [ground.O, rod.O], cut: true}
      air: {type: floating, between: [ground.O, rod.O]}
    forces: {weight: {type: gravity, acceleration: [0, 0, -9.81]}}
    degrees_of_freedom: {ball: {rotation: [0, 0.3, 0], angular_velocity: [0, 1, 0.5]}}
    """
    system = joint(Model.from_yaml_text(text))
    motion = kg.simulate(system, "index1", t_end=2e-3, step=1e-3)
    found = motion.reactions()
    assert "ball" in system.set.tree.cut and found.forces == {} and found.unique["ball"].all()
    held = reactions(system, motion.t, motion.q, motion.qd, motion.qdd, s=motion.s, held=True)
    assert held.forces["ball"].shape == (len(motion.t), 3) and np.abs(held.forces["ball"]).max() < 1e-9
    assert np.abs(held["ball"] - found["ball"]).max() < 1e-9
