"""Bushings: oscillators and deflections with known solutions, balances, and what is refused."""

import bushing_models
import numpy as np
import pytest

import kinegrad as kg
from kinegrad.kernels.products import ENERGY, EVALUATE, LINEARISE, WC, WK

BLOCK = """
kinegrad: 1
parameters: {m: 1.7, kx: 60, ky: 90, kz: 40, c: 0.9, Jz: 0.4, kt: 3, ct: 0.05}
ground: {markers: {O: [0, 0, 0], F: {origin: [0.3, 0.1, 0], x_axis: [0, 1, 0], z_axis: [0, 0, 1]}}}
bodies:
  block: {mass: m, com: [0.3, 0.1, 0], inertia: [0.2, 0.3, Jz], markers: {P: [0, 0, 0],
          F: {origin: [0.3, 0.1, 0], x_axis: [0, 1, 0], z_axis: [0, 0, 1]}}}
joints: {air: {type: floating, between: [ground.O, block.P]}}
forces:
  mount: {type: bushing, between: [ground.F, block.F], stiffness: [kx, ky, kz], damping: [c, 2*c, 3*c],
          rotational_stiffness: [1, 2, kt], rotational_damping: [0.1, 0.1, ct]}
"""


def decaying(t, m, k, c, x0, v0=0.0):
    """A damped oscillator from x0, v0."""
    d = c / (2.0 * m)
    w = np.sqrt(k / m - d**2)
    return np.exp(-d * t) * (x0 * np.cos(w * t) + (v0 + d * x0) / w * np.sin(w * t))


def run(text, formulation="matrix-r", integrator="rk4", t_end=1.0, step=2e-3):
    return kg.simulate(kg.joint(kg.Model.from_yaml_text(text)), formulation, integrator, t_end=t_end, step=step)


def test_lengths_oscillate_each_by_itself():
    """Along the axes of the first frame: its x is the global y, its y the global -x."""
    motion = run(BLOCK + "degrees_of_freedom: {air: {position: [0.02, -0.03, 0.05], rotation: [0, 0, 0]}}\n")
    x = motion.marker("block.F").position - [0.3, 0.1, 0.0]
    for column, k, c, x0 in ((0, 90.0, 1.8, 0.02), (1, 60.0, 0.9, -0.03), (2, 40.0, 2.7, 0.05)):
        assert np.abs(x[:, column] - decaying(motion.t, 1.7, k, c, x0)).max() < 1e-9


def test_an_angle_oscillates_as_a_linear_spring_however_large():
    """The torque is stiffness times angle about one axis: 2 rad, about the centre of mass."""
    p = np.array([0.3, 0.1, 0.0])
    turn = kg.rotations.A_of(np.array([np.cos(1.0), 0.0, 0.0, np.sin(1.0)]))
    start = ", ".join(repr(float(x)) for x in p - turn @ p)
    motion = run(BLOCK + f"degrees_of_freedom: {{air: {{position: [{start}], rotation: [0, 0, 2]}}}}\n")
    k = motion.system.coordinates.index("air.e3")
    angle = 2.0 * np.arctan2(motion.q[:, k], motion.q[:, k - 3])
    assert np.abs(angle - decaying(motion.t, 0.4, 3.0, 0.05, 2.0)).max() < 1e-8


STATIC = """
kinegrad: 1
parameters: {l: 0.4, w: 30, k: 500, kt: 25}
ground: {markers: {O: [0, 0, 0], F: {origin: [0, 0, 0]}}}
bodies: {arm: {mass: w/10, com: [l, 0, 0], inertia: [0.1, 0.1, 0.1], markers: {P: [0, 0, 0], F: {origin: [0, 0, 0]}}}}
joints: {air: {type: floating, between: [ground.O, arm.P]}}
forces:
  weight: {type: gravity, acceleration: [0, -10, 0]}
  mount: {type: bushing, between: [ground.F, arm.F], stiffness: [400, k, 300], rotational_stiffness: [20, 30, kt],
          natural: [0.01, 0, 0], natural_rotation: [0, 0, 0.1]}
degrees_of_freedom: {air: {position: [0, 0, 0], rotation: [0, 0, 0]}}
objectives: {drop: {final: arm.F.position.y}, out: {final: arm.F.position.x}}
"""


def test_static_deflection():
    """w = k y below the mount, and kt (θ - 0.1) = -w l cos θ about it."""
    rest = kg.equilibrium(kg.joint(kg.Model.from_yaml_text(STATIC)))
    angle = 0.0
    for _ in range(50):
        angle -= (25.0 * (angle - 0.1) + 12.0 * np.cos(angle)) / (25.0 - 12.0 * np.sin(angle))
    names = rest.system.coordinates
    assert rest.objectives["drop"] == pytest.approx(-30.0 / 500.0, rel=1e-9)
    assert rest.objectives["out"] == pytest.approx(0.01, rel=1e-9)
    assert 2.0 * np.arcsin(rest.q[names.index("air.e3")]) == pytest.approx(angle, rel=1e-9)


@pytest.mark.parametrize("angle", [0.02, 0.6, 1.5])
def test_stored_energy_is_a_potential_and_dampers_take_energy(angle, rng):
    """f at rest is the gradient of the stored energy, near and far from the series of small angles; power is not positive."""
    text = bushing_models.OPEN.replace("gravity: {type: gravity, acceleration: [0.3, -9.81, 1]}", "")
    system = kg.joint(kg.Model.from_yaml_text(text))
    work = system.workspace()
    q = system.set.guess(system, system.s) + 0.3 * angle * rng.normal(size=system.n)

    def at(q, v):
        work["q"][:], work["v"][:] = q, v
        work.call(EVALUATE)
        work.call(ENERGY)
        return work["energy"].copy()

    h, one = 1e-6, np.eye(system.n)
    slope = [(at(q + h * e, 0.0)[1] - at(q - h * e, 0.0)[1]) / (2.0 * h) for e in one]
    at(q, 0.0)
    assert np.abs(work["f"] - slope).max() < 1e-7 * np.abs(slope).max()
    assert at(q, rng.normal(size=system.n))[2] < 0.0


def test_energy_is_kept_without_dampers():
    """But for the error of the integrator, which is of fourth order."""
    text = bushing_models.OPEN
    for damping in ("damping: [c, 0.3, c/2],", "rotational_damping: [0.1, ct, 0.3],", "damping: [0.1, c, 0.2],"):
        text = text.replace(damping, "")
    text = text.replace(",\n         rotational_damping: [ct, 0, 0.1]", "")
    assert "damping" not in text
    coarse, motion = (run(text, t_end=0.5, step=h) for h in (5e-4, 2.5e-4))
    assert motion.energies.drift < 2e-9
    assert coarse.energies.drift > 14.0 * motion.energies.drift
    assert np.abs(motion.energies.work).max() == 0.0
    assert motion.energies.potential.max() - motion.energies.potential.min() > 0.1


def test_wrenches_on_both_bodies_are_opposite(rng):
    """Covectors of points and vectors: no resultant force, no resultant moment about the origin."""
    text = bushing_models.OPEN.replace("gravity: {type: gravity, acceleration: [0.3, -9.81, 1]}", "")
    system = kg.joint(kg.Model.from_yaml_text(text))
    work = system.workspace()
    work["q"][:], work["v"][:] = system.set.guess(system, system.s), rng.normal(size=system.n)
    work["q"][:] += 0.2 * rng.normal(size=system.n)
    work.call(EVALUATE)
    mk, point = work["mk"], work["mk"]["point"] != 0
    size = np.abs(mk["f"]).max()
    assert size > 1.0
    assert np.abs(mk["f"][point].sum(axis=0)).max() < 1e-12 * size
    assert np.abs(np.cross(mk["x"], mk["f"]).sum(axis=0)).max() < 1e-12 * size


def test_the_tangent_of_a_step_is_exact_without_deflection():
    text = BLOCK + "degrees_of_freedom: {air: {position: [0, 0, 0], rotation: [0, 0, 0]}}\n"
    system = kg.joint(kg.Model.from_yaml_text(text))
    work = system.workspace()
    work["q"][:] = system.set.guess(system, system.s)
    for name in ("v", "a", "lam", "vp", "ap"):
        work[name][:] = 0.0
    for weights, name in (((1.0, 0.0), "R_z"), ((1e-300, 1.0), "C")):
        work["par"][WK], work["par"][WC] = weights
        work.call(EVALUATE)
        work.call(LINEARISE)
        lower = np.tril(work[name][:, : system.n])
        assert np.abs(np.tril(work["K"]) - lower).max() < 1e-12 * np.abs(lower).max()


def test_frames_turned_too_far_are_told():
    text = (
        BLOCK
        + "degrees_of_freedom: {air: {position: [0, 0, 0], rotation: [0, 0, 2.9], angular_velocity: [0, 0, 30]}}\n"
    )
    with pytest.raises(kg.SimulationError, match=r"bushing 'mount', whose frames are turned .* up to 170 degrees"):
        run(text)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("between: [ground.F, block.F]", "between: [ground.O, block.F]", "names 'ground.O', which is a point; name a frame"),
        ("between: [ground.F, block.F]", "between: [ground.F, block.Q]", "block"),
        ("between: [ground.F, block.F]", "between: [block.F, block.F]", "names the body 'block' twice"),
        ("stiffness: [kx, ky, kz]", "stiffness: [kx, ky]", "stiffness"),
        ("stiffness: [kx, ky, kz]", "stiffness: 5", "stiffness"),
        ("stiffness: [kx, ky, kz]", "stiffness: [kx, -ky, kz]", "is '-ky' (= -90); give a number of zero or more"),
        ("rotational_damping: [0.1", "rotational_damping: [-0.1", "is -0.1; give a number of zero or more"),
        ("stiffness: [kx, ky, kz], ", "", "stiffness is missing"),
        ("damping: [c,", "natural_rotation: [0, 3, 1], damping: [c,", "a turn by 181.2 degrees; give one below 170"),
        ("damping: [c,", "natural_length: 1, damping: [c,", "natural_length is an unknown key"),
        ("stiffness: [kx, ky, kz]", "stiffness: [t, ky, kz]", "only parameters may be used here"),
    ],
)  # fmt: skip
def test_bad_input(old, new, sentence):
    assert old in BLOCK
    with pytest.raises(kg.ModelError) as error:
        kg.joint(kg.Model.from_yaml_text(BLOCK.replace(old, new)))
    assert sentence in str(error.value)


def test_it_is_drawn(tmp_path):
    motion = run(BLOCK + "degrees_of_freedom: {air: {position: [0, 0, 0.1], rotation: [0, 0, 0]}}\n", t_end=0.01)
    page = motion.to_html(tmp_path / "page.html").read_text()
    assert '"springs": [{"name": "mount"' in page.replace('"springs":[', '"springs": [').replace('":"', '": "')
