"""Gradients of motions by drivers and of assemblies: closed forms, direct = adjoint, differences."""

import numpy as np
import pytest
from kinematics.small_models import FOUR_BAR, system

import kinegrad as kg

SETS = ("joint", "reference-point", "natural")
LENGTHS = ("crank", "coupler", "rocker", "span")
DRIVEN = (
    FOUR_BAR.replace("degrees_of_freedom: {JA.angle: {position: pi/2, velocity: 1}}",
                     "design: [crank, coupler, rocker, span]\ndrivers: {motor: {measure: JA.angle, value: turn + speed*t}}")
    .replace("span: 0.8}", "span: 0.8, turn: 1.2, speed: 2.0}")
    .replace("C: [coupler, 0, 0]}", "C: [coupler, 0, 0], P: [coupler/2, 0.2, 0]}")
    .replace("objectives: {path: {integral: norm2(b.C.position)}}", """objectives:
  x: {final: b.P.x}
  y: {final: b.P.y}
  vx: {final: b.P.velocity.x}
  ax: {final: b.P.acceleration.x}
  path: {integral: norm2(b.P.velocity)}
  rush: {integral: "dot(b.P.acceleration, b.P.position)"}
""")
)  # fmt: skip


def coupler_point(lengths: np.ndarray, angle: complex) -> np.ndarray:
    """P of the open four-bar, analytic in all its arguments."""
    crank, coupler, rocker, span = lengths
    B = crank * np.array([np.cos(angle), np.sin(angle)])
    D = np.array([span, 0.0])
    d2 = (D - B) @ (D - B)
    along = (d2 + coupler**2 - rocker**2) / (2.0 * d2)
    across = np.sqrt(coupler**2 / d2 - along**2)
    e = D - B
    u = (along * e + across * np.array([-e[1], e[0]])) / coupler  # from B to C
    return B + coupler / 2 * u + 0.2 * np.array([-u[1], u[0]])


@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("method", ["direct", "adjoint"])
def test_the_coupler_point_of_a_four_bar(kind, method):
    """Closed form by complex step in the lengths, and for the velocity by that in time of its difference."""
    driven = kg.lower(kg.Model.from_yaml_text("kinegrad: 1\n" + DRIVEN), kind)
    motion = kg.drive(driven, t_end=1.0, step=0.05)
    gradient = kg.gradient(motion, method=method)
    assert gradient.method == method and gradient.wrt == LENGTHS
    lengths, end = np.array([0.3, 0.9, 0.6, 0.8]), 1.2 + 2.0
    values = coupler_point(lengths, end)
    assert np.abs([gradient.values["x"], gradient.values["y"]] - values).max() < 1e-11
    for k, name in enumerate(LENGTHS):
        z = lengths.astype(complex)
        z[k] += 1e-30j
        exact = coupler_point(z, end).imag / 1e-30
        assert abs(gradient["x", name] - exact[0]) < 1e-9 and abs(gradient["y", name] - exact[1]) < 1e-9
        h = 1e-3  # velocities: central differences of fourth order in time
        slope = [coupler_point(z, end + 2.0 * s * h)[0].imag / 1e-30 for s in (-2, -1, 1, 2)]
        assert abs(gradient["vx", name] - (slope[0] - 8 * slope[1] + 8 * slope[2] - slope[3]) / (12 * h)) < 1e-8
    assert gradient.check().good


def test_adjoint_is_direct_and_every_number():
    motion = kg.drive(system(DRIVEN), t_end=1.0, step=0.02)
    names = [*LENGTHS, "turn", "speed"]
    direct, adjoint = (kg.gradient(motion, wrt=names, method=m).matrix for m in ("direct", kg.DiscreteAdjoint()))
    np.testing.assert_allclose(adjoint, direct, rtol=0, atol=1e-12 * np.abs(direct).max())
    every = kg.gradient(motion, wrt=[], method=kg.DiscreteAdjoint(every_slot=True)).by_number()
    assert every["x"]["bodies.a.mass"] == 0.0 != every["x"]["bodies.a.markers.B.x"]


def test_objectives_of_an_assembly():
    found = kg.assemble(system(FOUR_BAR))
    direct = found.gradient(wrt=list(LENGTHS))
    adjoint = found.gradient(wrt=list(LENGTHS), method="adjoint")
    np.testing.assert_allclose(adjoint.matrix, direct.matrix, rtol=1e-11)
    lengths = np.array([0.3, 0.9, 0.6, 0.8])

    def objective(z):
        e = np.array([z[3], 0.0]) - z[0] * np.array([0.0, 1.0])
        d2 = e @ e
        along = (d2 + z[1] ** 2 - z[2] ** 2) / (2.0 * d2)
        C = z[0] * np.array([0.0, 1.0]) + along * e + np.sqrt(z[1] ** 2 / d2 - along**2) * np.array([-e[1], e[0]])
        return C @ C

    assert found.objectives["path"] == pytest.approx(objective(lengths), rel=1e-12)
    for k, name in enumerate(LENGTHS):
        z = lengths.astype(complex)
        z[k] += 1e-30j
        assert abs(direct["path", name] - objective(z).imag / 1e-30) < 1e-11
    assert direct.check().good


def test_a_singular_position_is_told():
    """Cranks of equal length, driven over the line on which all rods lie."""
    flat = DRIVEN.replace("coupler: 0.9, rocker: 0.6", "coupler: 0.8, rocker: 0.3").replace("turn: 1.2", "turn: 2.5")
    motion = kg.drive(system(flat), t_end=0.6, step=0.01)
    assert motion.extra["singular"]
    with pytest.warns(kg.DerivativeWarning, match="passes a singular position at t = 0.32"):
        kg.gradient(motion, wrt=["speed"])


def test_a_motion_with_an_output_step_is_driven_again():
    thin = kg.drive(system(DRIVEN), t_end=0.2, step=0.01, output_step=0.1)
    whole = kg.drive(system(DRIVEN), t_end=0.2, step=0.01)
    assert np.array_equal(kg.gradient(thin).matrix, kg.gradient(whole).matrix)


def test_refused_by_name():
    motion = kg.drive(system(DRIVEN), t_end=0.2, step=0.01)
    with pytest.raises(
        kg.KinegradError, match=r"ContinuousAdjoint.* does not go with a motion by drivers; choose from direct"
    ):
        kg.gradient(motion, method="continuous-adjoint")
    with pytest.raises(kg.KinegradError, match="memory does not go with a motion by drivers"):
        kg.gradient(motion, memory=1)


def test_forces_of_drivers_against_differences():
    driven = system(DRIVEN)
    found = kg.inverse(driven, t_end=0.5, step=0.05).sensitivity(["coupler"])
    forces = [
        kg.inverse(driven.with_parameters({"coupler": 0.9 + s * 1e-4}), t_end=0.5, step=0.05).forces["motor"]
        for s in (1, -1)
    ]
    np.testing.assert_allclose(found.forces["motor"][:, 0], (forces[0] - forces[1]) / 2e-4, rtol=1e-6, atol=1e-5)
