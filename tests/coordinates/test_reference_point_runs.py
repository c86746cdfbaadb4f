"""Runs in reference-point coordinates: every formulation, gradients, rest, given motions, files; against joint coordinates and
against closed forms."""

import pickle
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from helpers import assert_close
from products_by_complex_step import uncompiled

import kinegrad as kg
from kinegrad.kernels.jit import JIT

FOLDER = Path(__file__).parents[2] / "examples"
compiled = pytest.mark.skipif(not JIT, reason="runs need the compiler")
EXACT = kg.ALI3P(tolerance=1e-12, projection_method="augmented-lagrangian")


def example(name, **changes):
    return kg.Model.from_dict(kg.Model.from_yaml(FOLDER / name / "model.yaml").to_dict() | changes)


def both(model):
    return kg.joint(model), kg.reference_point(model)


def apart(one, other):
    """The largest distance of a marker of two motions at the end."""
    x, y = one.at_end(), other.at_end()
    return max(np.abs(x[name].position - y[name].position).max() for name in x)


# --- formulations ---


@compiled
@pytest.mark.parametrize(
    ("name", "ratios"),
    [("five_bar", 2), ("bricard", 2), ("gyroscope", 1), ("parallelogram", 1), ("flyball_governor", 1)],
)
def test_differences_fall_with_the_square_of_the_step(name, ratios):
    """Newmark takes other steps in other coordinates, to one motion."""
    systems, h = both(example(name)), 1e-4 if name == "gyroscope" else 1e-3
    t_end = 0.02 if name == "gyroscope" else 0.2
    distances = []
    for k in range(ratios + 1):
        runs = [kg.simulate(system, EXACT, "newmark", step=h / 2**k, t_end=t_end) for system in systems]
        distances.append(apart(*runs))
    assert distances[-1] > 1e-8
    for coarse, fine in pairwise(distances):
        assert coarse / fine == pytest.approx(4.0, abs=0.05)


@compiled
@pytest.mark.parametrize("name", ["five_bar", "slider_crank", "bennett", "bricard_cube", "windows", "squeezer"])
def test_steps_take_few_iterations(name):
    """bricard_cube: bars without inertia about their axes, whose Euler parameters begin without inertia too."""
    model = example(name)
    motion = kg.simulate(kg.reference_point(model), t_end=1e-3 if name == "squeezer" else 0.1)
    assert motion.iterations.max() <= 3


@compiled
@pytest.mark.parametrize(
    ("formulation", "integrator", "tolerance"),
    [("matrix-r", "rk4", 1e-10), ("index1", "rk4", 1e-9), ("index1", "rk54", 1e-7), ("penalty", "rk4", 1e-8)],
)
def test_accurate_formulations_give_the_motion_and_gradient_of_joint_coordinates(formulation, integrator, tolerance):
    motions = [
        kg.simulate(system, formulation, integrator, t_end=0.05, step=1e-3) for system in both(example("five_bar"))
    ]
    assert apart(*motions) < tolerance
    one, other = (kg.gradient(motion) for motion in motions)
    assert_close(other.matrix, one.matrix, 10.0 * tolerance, np.abs(one.matrix).max())
    adjoint = kg.gradient(motions[1], method="discrete-adjoint")
    assert_close(adjoint.matrix, other.matrix, 1e-9, np.abs(other.matrix).max())


# --- the gradient of the five-bar ---


@compiled
def test_the_gradient_of_the_five_bar_converges_with_order_two():
    """All 15 entries, direct and adjoint, to those of matrix-r with rk4 in joint coordinates."""
    joint, system = both(example("five_bar"))
    exact = kg.gradient(kg.simulate(joint, "matrix-r", "rk4", t_end=0.4, step=1e-3)).matrix
    assert exact.shape == (3, 5)
    errors = []
    for h in (4e-3, 2e-3, 1e-3):
        motion = kg.simulate(system, "ali3p", "newmark", t_end=0.4, step=h)
        direct, adjoint = (kg.gradient(motion, method=method).matrix for method in ("direct", "discrete-adjoint"))
        assert_close(adjoint, direct, 1e-9, np.abs(direct).max())
        errors.append(np.abs(direct - exact))
    large = errors[2] > 1e-10 * np.abs(exact).max()  # the others are rounding of gradients a million times as large
    assert large.sum() == 14
    assert np.abs(errors[1] / errors[2] - 4.0)[large].max() < 0.1


@uncompiled
@pytest.mark.parametrize(("formulation", "integrator"), [("ali3p", "newmark"), ("matrix-r", "rk4"), ("index1", "rk4")])
def test_the_gradient_of_the_steps_is_exact(formulation, integrator):
    """Complex step through the whole run, start included."""
    system = kg.reference_point(example("five_bar"))
    motion = kg.simulate(system, formulation, integrator, t_end=4e-3, step=2e-3)
    direct = kg.gradient(motion, wrt=list(system.model.design)[:2], method="direct")
    for k, name in enumerate(direct.wrt):
        rho = system.rho.astype(complex)
        rho[system.parameters.independent.index(name)] += 1e-30j
        run = direct.motion
        moved = kg.simulate(system, run.formulation, run.integrator, t_end=4e-3, step=2e-3, s=system.slots.values(rho))
        expected = np.array([value.imag / 1e-30 for value in moved.objectives.values()])
        assert_close(direct.matrix[:, k], expected, 1e-8, np.abs(direct.matrix).max())


# --- closed forms ---

TOP = """
kinegrad: 1
parameters: {A: 1.0, B: 2.0, C: 3.0}
bodies: {top: {mass: 1.3, com: [0.1, 0.2, -0.1], inertia: [A, B, C], markers: {o: [0, 0, 0], x: {vector: [1, 0, 0]}}}}
ground: {markers: {O: [0, 0, 0]}}
joints: {air: {type: floating, between: [ground.O, top.o]}}
degrees_of_freedom:
  air: {rotation: [0.3, -0.2, 0.5], angular_velocity: OMEGA, position: [0, 0, 0], velocity: [0.3, 0, 0]}
simulation: {t_end: 10, step: 2.0e-3}
"""


@compiled
@pytest.mark.parametrize(("formulation", "integrator"), [("index1", "rk4"), ("matrix-r", "rk4")])
def test_a_free_top_turns_by_jacobis_functions(formulation, integrator):
    """ω in the body: (a cn, -b sn, c dn) of the rate and modulus that moments of inertia and energy give."""
    from scipy.special import ellipj

    A, B, C = 1.0, 2.0, 3.0
    w1, w3 = 0.8, 1.5  # ω2 = 0 at the start, energy above that of the separatrix
    R0 = kg.rotations.A_of(kg.rotations.p_from_rotation_vector([0.3, -0.2, 0.5]))
    omega = (R0 @ [w1, 0.0, w3]).tolist()
    model = kg.Model.from_yaml_text(TOP.replace("OMEGA", str(omega)))
    motion = kg.simulate(kg.reference_point(model), formulation, integrator)
    twice, square = A * w1**2 + C * w3**2, (A * w1) ** 2 + (C * w3) ** 2
    rate = np.sqrt((C - B) * (square - twice * A) / (A * B * C))
    modulus = (B - A) * (twice * C - square) / ((C - B) * (square - twice * A))
    assert 0.0 < modulus < 0.5
    sn, cn, dn, _ = ellipj(rate * motion.t, modulus)
    b = np.sqrt((twice * C - square) / (B * (C - B)))
    expected = np.stack([w1 * cn, -b * sn, w3 * dn], axis=1)
    k = motion.system.number_of["top.e0"]
    found = np.array(
        [2.0 * kg.rotations.G_of(q[k : k + 4]) @ v[k : k + 4] for q, v in zip(motion.q, motion.qd, strict=True)]
    )
    if found[1, 1] * expected[1, 1] < 0.0:
        expected[:, 1] *= -1.0
    assert_close(found, expected, 1e-7)
    assert motion.energies.drift < 1e-7


# --- everything else that is done with a system ---


@pytest.fixture(scope="module")
def driven():
    drivers = {"motor": {"measure": "pivot.angle", "value": "2*pi*t + 0.3"}}
    return both(example("slider_crank", degrees_of_freedom={}, drivers=drivers))


@compiled
def test_a_crank_is_driven_through_ten_turns(driven):
    motions = [kg.drive(system, t_end=10.0, step=0.02) for system in driven]
    turns = motions[1].q[:, motions[1].system.number_of["pivot.angle"]]
    assert_close(turns, 2.0 * np.pi * motions[1].t + 0.3, 1e-12)
    for name in motions[0].system.markers:
        assert_close(motions[1].marker(name).acceleration, motions[0].marker(name).acceleration, 1e-10)


@compiled
def test_forces_of_a_given_motion(driven):
    one, other = (kg.inverse(system, t_end=0.5, step=0.05) for system in driven)
    assert_close(other.forces["motor"], one.forces["motor"], 1e-11, np.abs(one.forces["motor"]).max())
    for name in one.reactions:
        assert_close(other.reactions[name], one.reactions[name], 1e-10, np.abs(one.reactions[name]).max())


def test_rest_and_its_gradient():
    one, other = (kg.equilibrium(system) for system in both(example("five_bar")))
    assert_close(other.frequencies, one.frequencies, 1e-10)
    assert other.stable and one.stable
    for name in one.markers():
        assert_close(other.markers()[name].position, one.markers()[name].position, 1e-12)
    gradients = [rest.gradient(method=method).matrix for rest in (one, other) for method in ("direct", "adjoint")]
    for matrix in gradients[1:]:
        assert_close(matrix, gradients[0], 1e-11, np.abs(gradients[0]).max())


@compiled
def test_reactions_energies_and_files(tmp_path):
    one, other = (kg.simulate(system, "index1", "rk4", t_end=0.02) for system in both(example("slider_crank")))
    for name in one.reactions():
        assert_close(other.reactions(name), one.reactions(name), 1e-8, np.abs(one.reactions(name)).max())
        assert np.array_equal(other.reactions().unique[name], one.reactions().unique[name])
    assert_close(other.energies.kinetic, one.energies.kinetic, 1e-9)
    change = [motion.energies.potential - motion.energies.potential[0] for motion in (one, other)]
    assert_close(change[1], change[0], 1e-9, one.energies.kinetic.max())
    other.save(tmp_path / "motion.nc", reactions=True)
    loaded, travelled = kg.load(tmp_path / "motion.nc"), pickle.loads(pickle.dumps(other))
    assert loaded.system.kind == travelled.system.kind == "reference-point"
    assert np.array_equal(loaded.q, other.q) and np.array_equal(travelled.q, other.q)
    assert np.array_equal(kg.gradient(travelled).matrix, kg.gradient(other).matrix)
    page = other.to_html(tmp_path / "motion.html")
    assert "pivot.angle" in page.read_text(encoding="utf-8")
    other.plot("pivot.angle", "energy", path=tmp_path / "motion.png")


@compiled
def test_a_stepper_has_the_digits_of_a_run():
    system = kg.reference_point(example("slider_crank"))
    stepper, motion = kg.Stepper(system, step=1e-3), kg.simulate(system, step=1e-3, t_end=5e-3)
    for _ in range(5):
        stepper.advance()
    assert np.array_equal(stepper.q, motion.q[-1])
    assert stepper.coordinate("pivot.angle")[0] == motion.q[-1, system.number_of["pivot.angle"]]
