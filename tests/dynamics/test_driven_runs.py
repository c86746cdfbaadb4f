"""Models with no freedom left, all of them driven, and objectives under error control."""

import numpy as np
import pytest

from kinegrad.coordinates.sets import joint
from kinegrad.dynamics.schemes import SCHEMES
from kinegrad.model.model import Model
from kinegrad.model.simulation import MatrixR, RungeKutta54
from kinegrad.sensitivity.gradient import gradient
from kinegrad.simulate import simulate

# A rod that swings by amp sin(w t): everything is known in closed form.
ROD = """
kinegrad: 1
parameters: {w: 7, amp: 0.3, L: 1.1}
design: [w, amp, L]
ground: {markers: {O: [0, 0, 0]}}
bodies: {rod: {mass: 1, com: [0.3, 0, 0], inertia: [0.1, 0.1, 0.1], markers: {O: [0, 0, 0], P: [L, 0, 0]}}}
joints: {hinge: {type: revolute, between: [ground.O, rod.O], axis: [0, 0, 1]}}
drivers: {motor: {measure: hinge.angle, value: "amp*sin(w*t)"}}
objectives:
  speed: {integral: norm2(rod.P.velocity)}
  last: {final: norm2(rod.P.velocity)}
"""
# The same rod beside a slow pendulum, which knows nothing of it.
TWO = (
    ROD.replace("joints: {", "joints: {axle: {type: revolute, between: [ground.O, slow.O], axis: [0, 0, 1]}, ").replace(
        "bodies: {", "bodies: {slow: {mass: 1, com: [0, 0, 0], inertia: [1, 1, 1], markers: {O: [0, 0, 0]}}, "
    )
    + "degrees_of_freedom: {axle.angle: {position: 0, velocity: 0.1}}\n"
)
T_END, W, AMP, L = 3.0, 7.0, 0.3, 1.1
SPEED = (L * AMP * W) ** 2 * (T_END / 2 + np.sin(2 * W * T_END) / (4 * W))
LAST = (L * AMP * W * np.cos(W * T_END)) ** 2


@pytest.fixture(scope="module")
def rod():
    return joint(Model.from_yaml_text(ROD))


@pytest.mark.parametrize("text", [ROD, TWO], ids=["nothing free", "something free"])
@pytest.mark.parametrize("formulation", ["matrix-r", "index1", "recursive"])
def test_error_control_sees_objectives(text, formulation):
    """Integrals are as accurate as the tolerance asks, though the motion of what is free needs no small steps."""
    system = joint(Model.from_yaml_text(text))
    steps = []
    for tolerance in (1e-6, 1e-8, 1e-10):
        motion = simulate(system, formulation, RungeKutta54(tolerance=tolerance), t_end=T_END, step=0.1)
        steps.append(len(motion.hs))
        # some two steps a radian, each with an error of the tolerance times 1 + |psi|
        assert abs(motion.objectives["speed"] - SPEED) < 30.0 * tolerance * (1.0 + SPEED)
    assert steps[2] > 2 * steps[1] > 3 * steps[0] > 60


def test_error_control_without_objectives_resolves_what_is_driven():
    model = Model.from_yaml_text(ROD)
    model.objectives = {}
    motions = [
        simulate(joint(model), MatrixR(), RungeKutta54(tolerance=x), t_end=T_END, step=0.1) for x in (1e-5, 1e-9)
    ]
    assert len(motions[1].hs) > 2 * len(motions[0].hs) > 40
    angle = motions[0].q[:, 0]
    assert np.abs(angle - AMP * np.sin(W * motions[0].t)).max() < 1e-12


@pytest.mark.parametrize("integrator", [i for f, i in SCHEMES if f == "matrix-r"])
def test_matrix_r_with_nothing_free(rod, integrator):
    """The motion is that of the driver, exactly, and gradients are those of the quadrature of the integrator."""
    motion = simulate(rod, "matrix-r", integrator, t_end=T_END, step=0.01)
    assert np.abs(motion.q[:, 0] - AMP * np.sin(W * motion.t)).max() < 1e-12
    assert motion.objectives["last"] == pytest.approx(LAST, rel=1e-11)
    # the trapezoidal rule is off by h²/12 of the change of the integrand's rate
    assert motion.objectives["speed"] == pytest.approx(SPEED, rel=1e-7 if integrator in ("rk4", "rk54") else 1e-4)
    found = gradient(motion)
    direct, adjoint = found.matrix, gradient(motion, method="discrete-adjoint").matrix
    assert np.abs(adjoint - direct).max() < 1e-12 * np.abs(direct).max()
    last = LAST * np.array([2 / W - 2 * T_END * np.tan(W * T_END), 2 / AMP, 2 / L])
    assert direct[1] == pytest.approx(last, rel=1e-10)
    assert direct[0, 1:] == pytest.approx(found.values["speed"] * np.array([2 / AMP, 2 / L]), rel=1e-10)
