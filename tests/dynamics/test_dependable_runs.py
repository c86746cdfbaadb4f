"""Runs and gradients that must go through: far from the origin, long chains, redundant rows, short steps, other units."""

import pickle
import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import kinegrad as kg
from kinegrad.kernels.jit import JIT

pytestmark = pytest.mark.skipif(not JIT, reason="runs of many steps need the compiler")
EXAMPLES = Path(__file__).parents[2] / "examples"

SATELLITE = """
kinegrad: 1
ground: {markers: {O: [0, 0, 0]}}
bodies: {b: {mass: 1.0, inertia: [0.1, 0.2, 0.25], markers: {O: [0, 0, 0], P: [0.3, 0, 0]}}}
joints: {f: {type: floating, between: [ground.O, b.O]}}
degrees_of_freedom:
  f: {position: [7.0e+6, 0, 0], velocity: [7500.0, 0, 0], rotation: [0, 0, 0], angular_velocity: [1, 10, 0.1]}
objectives: {x: {final: b.O.position.x}}
simulation: {t_end: 1, step: 0.001}
"""


def test_a_satellite_far_from_the_origin():
    """Positions are rounded to 1e-9 m there; no tolerance below that stops the run, and the rotation hardly sees it."""
    model = kg.Model.from_yaml_text(SATELLITE)
    with pytest.warns(
        kg.AccuracyWarning, match="7e.06 m from the origin, and moments of inertia taken there keep . digits"
    ):
        kg.simulate(kg.joint(model))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        motion = kg.simulate(kg.joint(model, body_point="com"))
        near = kg.simulate(kg.joint(kg.Model.from_yaml_text(SATELLITE.replace("7.0e+6", "0").replace("7500.0", "0"))))
        gradient = kg.gradient(motion, wrt=[], method="discrete-adjoint", every_slot=True).by_number()["x"]
    assert motion.q[-1, 0] == pytest.approx(7.0e6 + 7500.0, abs=1e-6)
    assert_allclose(motion.q[:, 3:], near.q[:, 3:], rtol=0, atol=1e-6)
    assert gradient["degrees_of_freedom.f.velocity.x"] == pytest.approx(1.0, abs=1e-12)


def chain(links: int) -> str:
    """A floating base with slender links on Cardan joints, one below the other."""
    bodies = ["  base: {mass: 20, inertia: [1, 1, 1], markers: {A: [0, 0, 0]}}"]
    joints = ["  air: {type: floating, between: [ground.O, base.A]}"]
    freedoms = ["  air: {position: [0, 0, 0], velocity: [0, 0, 0], rotation: [0, 0, 0], angular_velocity: [0, 0, 0]}"]
    for k in range(links):
        bodies.append(
            f"  b{k}: {{mass: 1, com: [0, 0, -0.1], inertia: [4.0e-3, 4.0e-3, 1.0e-4], "
            f"markers: {{A: [0, 0, 0], B: [0, 0, -0.2]}}, pose: {{origin: [0, 0, {-0.2 * k}], x_axis: [1, 0, 0]}}}}"
        )
        above = "base.A" if k == 0 else f"b{k - 1}.B"
        joints.append(f"  j{k}: {{type: cardan, between: [{above}, b{k}.A], axes: [[1, 0, 0], [0, 1, 0]]}}")
        freedoms += [f"  j{k}.angle{i}: {{position: {0.02 * (i + k % 3)}, velocity: 0}}" for i in (1, 2)]
    return "\n".join(
        ["kinegrad: 1", "ground: {markers: {O: [0, 0, 0]}}", "bodies:", *bodies, "joints:", *joints, "forces:"]
        + ["  gravity: {type: gravity, acceleration: [0, 0, -9.81]}", "degrees_of_freedom:", *freedoms]
    )


@pytest.mark.parametrize("links", [24, 100])
def test_long_chains_of_cardan_joints_on_a_floating_base_start(links):
    """All fall freely: each angular acceleration is zero, whatever the condition of the mass matrix."""
    system = kg.joint(kg.Model.from_yaml_text(chain(links)))
    motion = kg.simulate(system, "ali3p", "newmark", t_end=0.01, step=1e-3)
    falling = motion.marker(f"b{links - 1}.B").acceleration
    assert_allclose(falling, np.broadcast_to([0, 0, -9.81], falling.shape), rtol=0, atol=1e-6)
    assert motion.iterations.max() <= 4


def hanging(links: int, swing: float) -> str:
    """A chain of links on Cardan joints that hangs from a guided point: the first link floats, and rows hold its upper end."""
    bodies, joints = [], ["  air: {type: floating, between: [ground.O, b0.A]}"]
    freedoms = [f"  b0.B.x: {{position: {swing}}}", "  b0.B.y: {position: 0}", "  b0.n.x: {position: 0}"]
    for k in range(links):
        inertia, axes = "[0.036, 0.077, 0.11]", "[[0, 0, 1], [0, 1, 0]]"
        if k % 2:
            inertia, axes = "[0.036, 0.11, 0.077]", "[[0, 1, 0], [0, 0, 1]]"
        bodies.append(
            f"  b{k}: {{mass: 11, com: [0.1, 0, 0], inertia: {inertia}, "
            "markers: {A: [0, 0, 0], B: [0.2, 0, 0], n: {vector: [0, 1, 0]}}, "
            f"pose: {{origin: [0, 0, {-0.2 * k}], x_axis: [0, 0, -1], z_axis: [1, 0, 0]}}}}"
        )
        if k > 0:
            joints.append(f"  j{k}: {{type: cardan, between: [b{k - 1}.B, b{k}.A], axes: {axes}}}")
            freedoms += [f"  j{k}.angle{i}: {{position: 0}}" for i in (1, 2)]
    return "\n".join(
        ["kinegrad: 1", "ground: {markers: {O: [0, 0, 0]}}", "bodies:", *bodies, "joints:", *joints, "constraints:"]
        + ["  held: {type: guidance, marker: b0.A, value: [0, 0, 0]}", "forces:"]
        + ["  gravity: {type: gravity, acceleration: [0, 0, -9.81]}", "degrees_of_freedom:", *freedoms]
    )


@pytest.mark.parametrize("scheme", [("ali3p", "newmark"), ("recursive", "rk4")], ids="-".join)
def test_a_long_chain_that_hangs_from_a_guided_point_starts(scheme):
    """Straight down it stays at rest; swung out it moves, and keeps its energy."""
    links = 96
    rest, swung = (kg.joint(kg.Model.from_yaml_text(hanging(links, x))) for x in (0.0, 0.004))
    motion = kg.simulate(rest, *scheme, t_end=0.01, step=1e-3)
    assert np.abs(motion.marker(f"b{links - 1}.B").acceleration).max() < 1e-9
    motion = kg.simulate(swung, *scheme, t_end=0.01, step=1e-3)
    assert motion.constraint_violation[:, 0].max() < 1e-11
    assert motion.energies.drift < 1e-7 * np.abs(motion.energies.potential[0])


@pytest.mark.parametrize("name", ["bennett", "bricard", "squeezer"])
@pytest.mark.parametrize("method", ["direct", "discrete-adjoint"])
def test_where_run_works_gradient_works(name, method):
    """Redundant rows, and steps of microseconds: Newton's method knows that it stands at rounding."""
    model = kg.Model.from_yaml(EXAMPLES / name / "model.yaml")
    if not model.objectives:
        body = next(iter(model.bodies))
        marker = next(iter(model.bodies[body].markers))
        model.objectives = {"x": {"final": f"{body}.{marker}.position.x"}}
    system = kg.joint(model)
    steps = (5e-6, 2e-6, 1e-6) if name == "squeezer" else (1e-3,)
    parts = []
    for step in steps:
        t_end = 2e-3 if name == "squeezer" else 0.2
        motion = kg.simulate(system, "ali3p", "newmark", t_end=t_end, step=step)
        gradient = kg.gradient(motion, wrt=[], method="discrete-adjoint", every_slot=True)
        assert gradient.motion.iterations.max() <= 10
        by_mass = {path: x for path, x in next(iter(gradient.by_number().values())).items() if path.endswith(".mass")}
        parts.append(np.array(list(by_mass.values())))
        assert np.isfinite(parts[-1]).all()
    for one, other in pairwise(parts):
        assert_allclose(one, other, rtol=0, atol=1e-4 * np.abs(other).max())


def scissors(stages: int) -> dict:
    """A scissor lift in a plane that no axis is normal to, so that each loop leaves redundant rows; one freedom."""
    u, v, n = np.linalg.qr(np.array([[1.0, 0.3, 0.2], [-0.2, 1.0, 0.4], [0.3, -0.5, 1.0]]))[0].T
    width, height = np.cos(0.5), np.sin(0.5)

    def at(x, y):
        return [float(c) for c in x * u + y * v]

    axis = [float(c) for c in n]
    bodies = {
        "slide": {
            "pose": "global",
            "mass": 0.5,
            "com": at(width, 0),
            "inertia": [0.01] * 3,
            "markers": {"S": at(width, 0)},
        }
    }
    joints = {"rail": {"type": "prismatic", "between": ["ground.S", "slide.S"], "axis": [float(c) for c in u]}}

    def hinge(name, first, second):
        joints[name] = {"type": "revolute", "between": [first, second], "axis": axis}

    for k in range(stages):
        low, high = k * height, (k + 1) * height
        centre = at(width / 2, (low + high) / 2)
        for side, x in (("l", 0.0), ("r", width)):
            markers = {"A": at(x, low), "M": centre, "B": at(width - x, high)}
            bodies[f"{side}{k}"] = {
                "pose": "global",
                "mass": "m",
                "com": centre,
                "inertia": [0.08, 0.08, 0.09],
                "markers": markers,
            }
        hinge(f"cross{k}", f"l{k}.M", f"r{k}.M")
        hinge(f"left{k}", "ground.O" if k == 0 else f"r{k - 1}.B", f"l{k}.A")
        hinge(f"right{k}", "slide.S" if k == 0 else f"l{k - 1}.B", f"r{k}.A")
    return {
        "kinegrad": 1, "parameters": {"m": 1.0}, "design": ["m"], "bodies": bodies, "joints": joints,
        "ground": {"markers": {"O": at(0, 0), "S": at(width, 0)}},
        "forces": {"gravity": {"type": "gravity", "acceleration": [float(-9.81 * c) for c in v]}},
        "degrees_of_freedom": {"left0.angle": {"position": 0, "velocity": 0}},
        "objectives": {"top": {"final": f"l{stages - 1}.B.position.x"}},
        "simulation": {"t_end": 0.1, "step": 1e-3},
    }  # fmt: skip


@pytest.mark.parametrize("stages", [2, 7])
def test_a_scissor_lift_has_gradients(stages):
    system = kg.joint(kg.Model.from_dict(scissors(stages)))
    motion = kg.simulate(system)
    assert motion.iterations.max() <= 3
    gradients = [kg.gradient(motion, method=method) for method in ("direct", "discrete-adjoint")]
    assert max(g.motion.iterations.max() for g in gradients) <= 6
    direct, adjoint = (g["top", "m"] for g in gradients)
    more, less = (
        kg.simulate(system.with_parameters({"m": 1.0 + h}), kg.ALI3P(tolerance=1e-14), "newmark").objectives["top"]
        for h in (1e-4, -1e-4)
    )
    assert direct == pytest.approx(adjoint, rel=1e-9)
    assert direct == pytest.approx((more - less) / 2e-4, rel=1e-6)


OFF_THE_PLANE = """
kinegrad: 1
parameters: {off: 0.0}
ground: {markers: {A: [0, 0, 0], D: [1, 0, 0]}}
bodies:
  a: {pose: {origin: [0, 0, 0], x_axis: [0, 1, 0]}, mass: 1, com: [0.5, 0, 0], inertia: [0.01, 0.1, 0.1], markers: {A: [0, 0, 0], B: [1, 0, 0]}}
  b: {pose: {origin: [0, 1, 0], x_axis: [1, 0, 0]}, mass: 1, com: [0.5, 0, 0], inertia: [0.01, 0.1, 0.1], markers: {B: [0, 0, 0], C: [1, 0, off]}}
  c: {pose: {origin: [1, 0, 0], x_axis: [0, 1, 0]}, mass: 1, com: [0.5, 0, 0], inertia: [0.01, 0.1, 0.1], markers: {D: [0, 0, 0], C: [1, 0, 0]}}
joints:
  A: {type: revolute, between: [ground.A, a.A], axis: [0, 0, 1]}
  B: {type: revolute, between: [a.B, b.B], axis: [0, 0, 1]}
  C: {type: revolute, between: [b.C, c.C], axis: [0, 0, 1]}
  D: {type: revolute, between: [ground.D, c.D], axis: [0, 0, 1]}
degrees_of_freedom: {A.angle: {position: 1.2, velocity: 0}}
simulation: {t_end: 0.01, step: 1.0e-3}
"""  # noqa: E501


def test_a_gap_that_nothing_closes_is_told():
    """Rows that no coordinate changes are left out, but not what they say."""
    assert kg.simulate(kg.joint(kg.Model.from_yaml_text(OFF_THE_PLANE))).status == 0
    text = OFF_THE_PLANE.replace("off: 0.0", "off: 0.001")
    with pytest.raises(kg.AssemblyError, match=r"cannot be assembled: '.*z' is off by 0\.001 in every position"):
        kg.joint(kg.Model.from_yaml_text(text))


def test_a_model_in_which_nothing_can_move():
    """All joints fixed, one of them twice: it stays where it is, with every formulation."""
    text = """
kinegrad: 1
ground: {markers: {O: [0, 0, 0]}}
bodies: {a: {mass: 1, inertia: [1, 1, 1], markers: {O: [0, 0, 0], P: [1, 0, 0]}}, b: {mass: 1, inertia: [1, 1, 1], markers: {P: [1, 0, 0], O: [0, 0, 0]}}}
joints:
  one: {type: fixed, between: [ground.O, a.O]}
  two: {type: fixed, between: [a.P, b.P]}
  three: {type: fixed, between: [ground.O, b.O]}
objectives: {x: {final: b.P.position.x}}
simulation: {t_end: 0.01, step: 1.0e-3}
"""  # noqa: E501
    system = kg.joint(kg.Model.from_yaml_text(text))
    for scheme in (
        ("ali3p", "newmark"),
        ("index1", "rk4"),
        ("matrix-r", "rk54"),
        ("recursive", "rk4"),
        ("penalty", "hht"),
    ):
        assert kg.simulate(system, *scheme).objectives["x"] == 1.0


def test_a_step_that_takes_nearly_all_its_iterations_is_told():
    system = kg.joint(kg.Model.from_yaml(EXAMPLES / "five_bar" / "model.yaml"))
    with pytest.warns(kg.IterationWarning, match=r"A step of 0\.05 s took \d+ of the 5 iterations allowed, at t = "):
        kg.simulate(system, kg.ALI3P(max_iterations=5, tolerance=1e-6), "newmark", t_end=0.5, step=0.05)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kg.simulate(system, "ali3p", "newmark", t_end=0.1, step=1e-3)


def test_multipliers_of_redundant_rows_are_of_least_norm():
    system = kg.joint(kg.Model.from_yaml(EXAMPLES / "bennett" / "model.yaml"))
    found = {}
    for scheme in (("ali3p", "newmark"), ("index1", "rk4"), ("matrix-r", "rk4")):
        found[scheme[0]] = kg.simulate(system, *scheme, t_end=0.1, step=1e-4).lam[-1]
    assert_allclose(found["index1"], found["matrix-r"], rtol=0, atol=1e-6 * np.abs(found["matrix-r"]).max())
    assert_allclose(found["ali3p"], found["matrix-r"], rtol=0, atol=1e-4 * np.abs(found["matrix-r"]).max())


@pytest.mark.parametrize("name", ["bennett", "bricard"])
@pytest.mark.parametrize("scheme", [("index1", "rk4"), ("recursive", "rk4"), ("penalty", "rk4")], ids="-".join)
def test_mechanisms_that_move_by_redundancy_are_right_at_acceleration_level(name, scheme):
    """They converge with order 4 to the motion in independent coordinates."""
    system = kg.joint(kg.Model.from_yaml(EXAMPLES / name / "model.yaml"))
    exact = kg.simulate(system, "matrix-r", "rk4", t_end=1.0, step=2.5e-4)
    coarse, fine = (kg.simulate(system, *scheme, t_end=1.0, step=h) for h in (4e-3, 2e-3))
    errors = [np.abs(m.q[-1] - exact.q[-1]).max() for m in (coarse, fine)]
    floor = 3e-7 if scheme[0] == "penalty" else 1e-8  # what the penalty itself lets through
    assert errors[1] < max(errors[0] / 10.0, floor) and errors[1] < 1e-5


def test_penalties_that_hold_too_little_are_told():
    model = kg.Model.from_yaml(EXAMPLES / "five_bar" / "model.yaml")
    with pytest.warns(
        kg.AccuracyWarning, match="The penalty of 10 lets .* % of the accelerations through the constraints"
    ):
        kg.simulate(kg.joint(model), kg.Penalty(penalty=10.0), "rk4", t_end=0.01, step=1e-3)


def test_projections_that_leave_too_much_are_told():
    """A penalty is a mass: rows that hold a million tons need another."""
    text = """
kinegrad: 1
ground: {markers: {O: [0, 0, 0], A: [2.0e-3, 0, 0]}}
bodies:
  a: {mass: 1.0e+9, com: [0.5e-3, 0, 0], inertia: [10, 100, 100], markers: {O: [0, 0, 0], P: [1.0e-3, 0, 0]}, pose: {x_axis: [0, 1, 0]}}
  b: {mass: 1.0e+9, com: [0.5e-3, 0, 0], inertia: [10, 100, 100], markers: {O: [0, 0, 0], P: [1.2e-3, 0, 0]}, pose: {origin: [2.0e-3, 0, 0], x_axis: [0, 1, 0]}}
joints:
  one: {type: revolute, between: [ground.O, a.O], axis: [0, 0, 1]}
  two: {type: revolute, between: [ground.A, b.O], axis: [0, 0, 1]}
  bar: {type: link, between: [a.P, b.P], length: "0.001*sqrt(4.04)"}
forces: {gravity: {type: gravity, acceleration: [g, 0, 0]}}
parameters: {g: 9.81}
degrees_of_freedom: {one.angle: {position: 0}}
objectives: {x: {final: b.P.acceleration.x}}
"""  # noqa: E501
    system = kg.joint(kg.Model.from_yaml_text(text))
    with pytest.warns(kg.AccuracyWarning, match=r"The penalty of 1e\+09 leaves up to .* % of the accelerations that"):
        kg.simulate(system, kg.ALI3P(penalty=1e9), "newmark", t_end=1e-3, step=5e-5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exact = kg.simulate(system, "index1", "rk4", t_end=1e-3, step=1e-5).objectives["x"]
        for options in ({}, {"penalty": 1e15}, {"projection_method": "augmented-lagrangian"}):
            motion = kg.simulate(system, kg.ALI3P(**options), "newmark", t_end=1e-3, step=5e-5)
            assert motion.objectives["x"] == pytest.approx(exact, rel=1e-4)
            direct, adjoint = (kg.gradient(motion, wrt=["g"], method=method) for method in ("direct", "adjoint"))
            assert adjoint["x", "g"] == pytest.approx(direct["x", "g"], rel=1e-9)
            again = pickle.loads(pickle.dumps(direct.motion))
            assert kg.gradient(again, wrt=["g"], method="adjoint")["x", "g"] == adjoint["x", "g"]
