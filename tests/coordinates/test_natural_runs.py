"""Natural coordinates in use: motions, reactions, rest, gradients and steps are those of joint coordinates."""

from pathlib import Path

import numpy as np
import pytest
from helpers import assert_close

import kinegrad as kg
from kinegrad.kernels.jit import JIT

pytestmark = pytest.mark.skipif(not JIT, reason="runs need the compiler")
EXAMPLES = Path(__file__).parents[2] / "examples"
EXACT = ("matrix-r", "rk4")


def example(name):
    return kg.Model.from_yaml(EXAMPLES / name / "model.yaml")


def both(model, *scheme, **times):
    return [kg.simulate(lower(model), *scheme, **times) for lower in (kg.joint, kg.natural)]


def apart(one, other):
    """The largest distance of a marker in two motions, at the last time."""
    return max(np.abs(one.marker(k).position[-1] - other.marker(k).position[-1]).max() for k in one.system.markers)


@pytest.mark.parametrize("name", ["five_bar", "slider_crank"])
def test_gradients_converge_to_those_of_joint_coordinates(name):
    """By the trapezoidal rule with order 2, by Runge-Kutta to nearly all digits; direct and adjoint alike."""
    model, errors = example(name), []
    reference = kg.gradient(kg.simulate(kg.joint(model), *EXACT, t_end=0.1, step=5e-4)).matrix
    size = np.abs(reference).max(axis=1, keepdims=True)
    for step in (2e-3, 1e-3):
        motion = kg.simulate(kg.natural(model), "ali3p", "newmark", t_end=0.1, step=step)
        found = [kg.gradient(motion, method=method).matrix for method in ("direct", "discrete-adjoint")]
        assert (np.abs(found[0] - found[1]) / size).max() < 1e-9
        errors.append((np.abs(found[0] - reference) / size).max())
    assert 3.0 < errors[0] / errors[1] < 5.0
    exact = kg.gradient(kg.simulate(kg.natural(model), *EXACT, t_end=0.1, step=5e-4)).matrix
    assert (np.abs(exact - reference) / size).max() < 1e-8


@pytest.mark.parametrize("name", ["five_bar", "bennett", "gyroscope"])
def test_motions_and_energies(name):
    """Differences of two sets fall with the order of the integrator; energy is the same number in both."""
    t_end = {"gyroscope": 0.01}.get(name, 0.1)
    model = example(name)
    for scheme, factor in ((("ali3p", "newmark"), 0.3), (EXACT, 0.1)):
        found = []
        for step in (t_end / 50, t_end / 100):
            one, other = both(model, *scheme, t_end=t_end, step=step)
            found.append(apart(one, other))
        assert found[1] < factor * found[0] or found[1] < 1e-12
    one, other = both(model, *EXACT, t_end=t_end, step=t_end / 400)
    assert_close(other.energies.kinetic, one.energies.kinetic, 1e-8)
    change = [motion.energies.potential - motion.energies.potential[0] for motion in (one, other)]
    assert_close(change[1], change[0], 1e-8, one.energies.kinetic.max())


@pytest.mark.parametrize("name", ["five_bar", "slider_crank"])
def test_reactions(name):
    """Of joints that are shared coordinates too, across the plane as well."""
    one, other = (motion.reactions() for motion in both(example(name), *EXACT, t_end=0.02, step=1e-3))
    size = max(np.abs(wrench).max() for wrench in one.values())
    assert list(one) == list(other)
    for joint, wrench in one.items():
        assert np.array_equal(one.unique[joint], other.unique[joint])
        assert np.abs(other[joint] - wrench)[:, one.unique[joint]].max(initial=0.0) < 1e-9 * size


def test_rest():
    one, other = (kg.equilibrium(lower(example("five_bar"))) for lower in (kg.joint, kg.natural))
    for name in ("bar_12.P2", "bar_23.P3"):
        assert_close(other.markers()[name].position, one.markers()[name].position, 1e-9)
    assert_close(other.frequencies, one.frequencies, 1e-7)
    wrt = ["L_s1", "m_A1"]
    assert_close(other.gradient(wrt=wrt).matrix, one.gradient(wrt=wrt).matrix, 1e-7)


def test_a_stepper_changes_parameters():
    """M and the weight, which are kept between steps, follow at once."""
    ends = []
    for lower in (kg.joint, kg.natural):
        stepper = kg.Stepper(lower(example("five_bar")), *EXACT, step=1e-3)
        stepper.advance(20)
        stepper.set(m_A1=2.0)
        stepper.advance(20)
        ends.append(stepper.marker("bar_12.P2").position)
    assert_close(ends[1], ends[0], 1e-10)
