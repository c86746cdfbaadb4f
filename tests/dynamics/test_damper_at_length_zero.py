"""A spring of natural length 0 with a damper, whose points coincide at the start while they part (SPR-3)."""

import numpy as np
import pytest
from helpers import complex_step

import kinegrad as kg

SLIDE = """kinegrad: 1
parameters: {k: 10, c: 2, v: SIZE}
ground: {markers: {O: [0, 0, 0], P: [POINT]}}
bodies:
  mass: {mass: 1, inertia: [SIZE**2, SIZE**2, SIZE**2], markers: {P: [POINT], O: [0, 0, 0], E: [SIZE, 0, 0]}}
joints:
  slide: {type: prismatic, between: [ground.O, mass.O], axis: [AXIS]}
forces:
  coil: {type: spring, between: [ground.P, mass.P], stiffness: k, damping: c, natural_length: 0}
degrees_of_freedom:
  slide.distance: {position: 0, velocity: v}
objectives: {x: {final: slide.distance}}
simulation: {t_end: 0.5}
"""
SETS = [kg.joint, kg.natural, kg.reference_point]


def model(size=1.0, point="0, 0, 0", axis="1, 0, 0"):
    return kg.Model.from_yaml_text(SLIDE.replace("SIZE", repr(size)).replace("POINT", point).replace("AXIS", axis))


def exact(rho, t=0.5):
    """Where the mass is."""
    k, c, v = rho
    w = np.sqrt(k - c * c / 4)
    return np.array([np.exp(-c * t / 2) * v * np.sin(w * t) / w])


@pytest.mark.parametrize("lower", SETS)
@pytest.mark.parametrize(
    ("formulation", "integrator", "order"), [("ali3p", "newmark", 2), ("matrix-r", "rk4", 4), ("index1", "rk4", 4)]
)
def test_integrators_keep_their_order(lower, formulation, integrator, order):
    system, errors = lower(model()), []
    for step in (0.02, 0.01, 0.005):
        motion = kg.simulate(system, formulation, integrator, step=step)
        errors.append(abs(motion.objectives["x"] - exact((10, 2, 1.0))[0]))
    assert motion.marker("mass.P").acceleration[0] == pytest.approx([-2, 0, 0], abs=1e-9)
    assert np.log2(np.array(errors[:-1]) / errors[1:]) == pytest.approx([order] * 2, abs=0.2)


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e4])
@pytest.mark.parametrize("lower", SETS)
def test_points_that_coincide_to_rounding(lower, size):
    """Away from the origin, along a slanted slide, at any size."""
    point = ", ".join(repr(x * size) for x in (0.3, -0.7, 0.11))
    motion = kg.simulate(lower(model(size, point, "0.3, 0.7, -0.4")), "index1", "rk4", step=0.005)
    assert motion.objectives["x"] == pytest.approx(exact((10, 2, size))[0], rel=1e-8)
    a = motion.marker("mass.P").acceleration[0]
    assert np.linalg.norm(a) == pytest.approx(2 * size, rel=1e-9)


@pytest.mark.parametrize("lower", SETS)
def test_derivatives_of_such_a_start(lower):
    system = lower(model())
    slopes = complex_step(exact, np.array([10.0, 2.0, 1.0]))[0]
    for formulation, integrator, limit in (("index1", "rk4", 1e-8), ("ali3p", "newmark", 2e-5)):
        motion = kg.simulate(system, formulation, integrator, step=0.005)
        direct, adjoint = (kg.gradient(motion, wrt=["k", "c", "v"], method=x) for x in ("direct", "discrete-adjoint"))
        assert np.abs(direct.matrix - adjoint.matrix).max() < 1e-13
        assert np.abs(direct.matrix[0] - slopes).max() < limit
        assert direct.check().good


@pytest.mark.parametrize("lower", SETS)
def test_equations_there(lower):
    """F = k d + c dd: partials by rates against complex steps of the force law, in the directions that the slide allows."""
    system = lower(model())
    start = kg.assemble(system)
    at = system.at(start.q, start.qd, qdd=np.zeros(system.n))
    R = np.asarray(at.R)[:, 0]
    assert R @ np.asarray(at.Q) == pytest.approx(-2.0, rel=1e-12)
    assert R @ np.asarray(at.C) @ R == pytest.approx(2.0, rel=1e-12)
    assert R @ np.asarray(at.K) @ R == pytest.approx(10.0, rel=1e-12)
    still = system.at(start.q)
    assert np.abs(np.asarray(still.Q)).max() == 0.0


def test_what_signals_tell():
    motion = kg.simulate(kg.joint(model()), "matrix-r", "rk4", step=0.01)
    names = ("length", "rate", "force", "power")
    told = {name: motion.signals(f"coil.{name}")[f"coil.{name}"][0] for name in names}
    assert told == pytest.approx({"length": 0.0, "rate": 1.0, "force": 2.0, "power": -2.0}, abs=1e-12)
    assert motion.energies.drift < 1e-7
