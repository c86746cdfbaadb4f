"""Gradients of motions by drivers of several mechanisms in all sets: direct, adjoint, differences, change points."""

import numpy as np
import pytest

import kinegrad as kg
from kinegrad.sensitivity import end_time

SETS = ("joint", "reference-point", "natural")
SLIDER_CRANK = """
kinegrad: 1
parameters: {r: 0.1, l: 0.35, e: 0.02, w: 5, m: 2}
ground: {markers: {O: [0, 0, 0], S: [0, e, 0]}}
bodies:
  crank: {pose: {origin: [0, 0, 0], x_axis: [1, 1, 0]}, mass: 1, com: [r/2, 0, 0], inertia: [0.01, 0.01, 0.01],
          markers: {O: [0, 0, 0], P: [r, 0, 0]}}
  rod: {pose: {origin: [0.07, 0.07, 0], x_axis: [1, -0.14, 0]}, mass: 1, com: [l/2, 0, 0], inertia: [0.02, 0.02, 0.02],
        markers: {P: [0, 0, 0], Q: [l, 0, 0]}}
  piston: {pose: {origin: [0.41, 0.02, 0], x_axis: [1, 0, 0]}, mass: m, inertia: [0.05, 0.05, 0.05], markers: {Q: [0, 0, 0]}}
joints:
  main: {type: revolute, between: [ground.O, crank.O], axis: [0, 0, 1]}
  pin: {type: revolute, between: [crank.P, rod.P], axis: [0, 0, 1]}
  wrist: {type: revolute, between: [rod.Q, piston.Q], axis: [0, 0, 1]}
  bore: {type: prismatic, between: [ground.S, piston.Q], axis: [1, 0, 0]}
drivers: {turn: {measure: main.angle, value: 0.8 + w*t}}
objectives:
  stroke: {final: piston.Q.x}
  speed: {integral: norm2(piston.Q.velocity)}
  peak: {maximum: piston.Q.acceleration.x, sharpness: 2}
  passing: {sum: rod.Q.velocity.x, times: [0.03, 0.07]}
  effort: {integral: turn.force**2}
"""
RSSR = """
kinegrad: 1
parameters: {a: 0.2, b: 0.5, c: 0.6, w: 4}
ground: {markers: {A: [0, 0, 0], D: [0.7, -0.4, 0.4]}}
bodies:
  crank: {pose: global, mass: 1, com: [a/2, 0, 0], inertia: [0.01, 0.02, 0.03], markers: {A: [0, 0, 0], B: [a, 0, 0]}}
  rocker: {pose: {origin: [0.7, -0.4, 0.4], x_axis: [1, 0, 0]}, mass: 1, com: [0, b/2, 0.1],
           inertia: [0.02, 0.03, 0.01], markers: {C: [0, b, 0.4], D: [0, 0, 0]}}
joints:
  A: {type: revolute, between: [ground.A, crank.A], axis: [0, 0, 1]}
  D: {type: revolute, between: [ground.D, rocker.D], axis: [1, 0, 0]}
constraints: {coupler: {type: distance, between: [crank.B, rocker.C], distance: c + 0.35}}
drivers: {turn: {measure: A.angle, value: w*t + 0.2*t**2}}
objectives:
  end: {final: rocker.C.z}
  path: {integral: norm2(rocker.C.velocity)}
  rush: {integral: "dot(rocker.C.acceleration, rocker.C.position)"}
"""
ARM = """
kinegrad: 1
parameters: {a: 0.4, b: 0.3, w: 2, lift: 0.1}
ground: {markers: {O: [0, 0, 0]}}
bodies:
  post: {pose: global, mass: 1, inertia: [0.01, 0.02, 0.03], markers: {O: [0, 0, 0], P: [a, 0, 0]}}
  hand: {pose: {origin: [0.4, 0, 0], x_axis: [1, 0, 0]}, mass: 1, com: [b/2, 0, 0], inertia: [0.02, 0.03, 0.01],
         markers: {P: [0, 0, 0], T: [b, 0, 0]}}
joints:
  base: {type: cylindrical, between: [ground.O, post.O], axis: [0, 0, 1]}
  elbow: {type: revolute, between: [post.P, hand.P], axis: [0, 1, 0]}
forces: {weight: {type: gravity, acceleration: [0, 0, -9.81]}}
drivers:
  turn: {measure: base.angle, value: w*t}
  rise: {measure: base.distance, value: lift*t**2}
  bend: {measure: elbow.angle, value: 0.3 + sin(w*t)}
objectives:
  tip: {final: hand.T.z}
  path: {integral: norm2(hand.T.acceleration)}
  effort: {integral: rise.force + bend.force}
"""
MODELS = {"slider-crank": SLIDER_CRANK, "RSSR": RSSR, "all driven": ARM}


@pytest.mark.parametrize("name", MODELS)
def test_direct_is_adjoint_is_differences_in_all_sets(name):
    """The planar loop has redundant rows in space; the arm has a driver for each freedom and no loop."""
    model, by_set = kg.Model.from_yaml_text(MODELS[name]), []
    for kind in SETS:
        system = kg.lower(model, kind)
        motion = kg.drive(system, t_end=0.2, step=0.01)
        direct, adjoint = (
            kg.gradient(motion, wrt=list(system.parameters.independent), method=m) for m in ("direct", "adjoint")
        )
        size = np.abs(direct.matrix).max(axis=1, keepdims=True)
        assert np.abs((adjoint.matrix - direct.matrix) / size).max() < 1e-12
        by_set.append(direct.matrix / size)
    assert max(np.abs(by_set[0] - x).max() for x in by_set[1:]) < 1e-10
    for k, label in enumerate(direct.wrt):  # central differences of fourth order
        at, h = system.rho[k], 1e-3 * abs(system.rho[k])
        ends = [
            np.array(
                list(kg.drive(system.with_parameters({label: at + e * h}), t_end=0.2, step=0.01).objectives.values())
            )
            for e in (-2, -1, 1, 2)
        ]
        slope = (ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * h)
        assert np.abs((direct.matrix[:, k] - slope) / size[:, 0]).max() < 1e-8


FREE = {  # what turns, from where, and a spring to a point
    "slider-crank": ("main.angle", 0.8, "ground.O", "piston.Q", ("r", "l", "e", "k")),
    "RSSR": ("A.angle", 0.1, "ground.A", "rocker.C", ("a", "b", "c", "k")),
}


@pytest.mark.parametrize("name", FREE)
def test_assemblies_and_rest_in_all_sets(name):
    """The same mechanisms without drivers: assembled with a velocity, and at rest under a spring and gravity."""
    turn, at, foot, point, wrt = FREE[name]
    model = kg.Model.from_yaml_text(MODELS[name])
    model.drivers, model.degrees_of_freedom = {}, {turn: {"position": at, "velocity": 2.0}}
    model.parameters["k"] = 40.0
    model.forces = {
        "weight": {"type": "gravity", "acceleration": [0, -9.81, -3]},
        "pull": {"type": "spring", "between": [foot, point], "stiffness": "k", "natural_length": 0.6},
    }
    model.objectives = {"x": {"final": f"norm2({point}.position)"}, "v": {"integral": f"norm2({point}.velocity)"}}
    for find in (kg.assemble, kg.equilibrium):
        by_set = []
        for kind in SETS:
            found = find(kg.lower(model, kind))
            direct, adjoint = (found.gradient(wrt=wrt, method=m) for m in ("direct", "adjoint"))
            size = np.abs(direct.matrix).max(axis=1, keepdims=True) + 1e-12
            assert np.abs((adjoint.matrix - direct.matrix) / size).max() < 1e-10
            by_set.append(direct.matrix / size)
        assert max(np.abs(by_set[0] - x).max() for x in by_set[1:]) < 1e-10
        assert direct.check().good


@pytest.mark.parametrize("step", [0.01, 0.05])
def test_derivatives_pass_a_change_point(step):
    """A parallelogram over the line of its rods, at an instant: derivatives by what keeps it a parallelogram are those of
    differences, also of the integrals that take that instant."""
    from statics.driven_models import parallelogram

    model = parallelogram(np.pi - 2.0)
    model.objectives |= {
        "path": {"integral": "norm2(rocker.Q.velocity) + rocker.Q.acceleration.x"},
        "x": {"final": "rocker.Q.x"},
    }
    system = kg.joint(model)

    def driven(w):
        return kg.drive(system.with_parameters({"w": w}), t_end=0.4, step=step)

    motion = driven(10.0)
    assert (motion.flags & 8).any()
    with pytest.warns(kg.DerivativeWarning, match=r"passes a singular position at t = 0\.2 s"):
        direct, adjoint = (kg.gradient(motion, wrt=["w"], method=m).matrix for m in ("direct", "adjoint"))
    np.testing.assert_allclose(adjoint, direct, rtol=1e-11)
    ends = [np.array(list(driven(10.0 + h).objectives.values())) for h in (1e-3, -1e-3)]
    np.testing.assert_allclose(direct[:, 0], (ends[0] - ends[1]) / 2e-3, rtol=1e-5)
    whole = kg.inverse(system, t_end=0.4, step=step).sensitivity(["w"])
    thin = kg.inverse(system, t_end=0.4, step=step, output_step=2 * step).sensitivity(["w"])
    np.testing.assert_allclose(thin.q, whole.q[::2], rtol=0, atol=1e-13)


def test_a_change_point_at_the_end_is_told():
    from statics.driven_models import parallelogram

    model = parallelogram(np.pi - 2.0)
    model.objectives["x"] = {"final": "rocker.Q.x"}
    motion = kg.drive(kg.joint(model), t_end=0.2, step=0.01)
    with pytest.warns(kg.DerivativeWarning, match=r"The last instant, at t = 0\.2 s, is a singular position"):
        kg.gradient(motion, wrt=["w"])


def test_the_end_of_a_driven_motion_is_checked_up_to_the_error_of_the_steps(monkeypatch):
    """The way of the tip of a crank, whose speed grows, to a time that is no whole number of steps; a wrong slope is found."""
    model = kg.Model.from_yaml_text("""
kinegrad: 1
parameters: {T: 0.473, L: 0.3}
design: [T, L]
ground: {markers: {O: [0, 0, 0]}}
bodies: {crank: {mass: 1, inertia: [0.1, 0.1, 0.1], markers: {O: [0, 0, 0], P: [L, 0, 0]}}}
joints: {hinge: {type: revolute, between: [ground.O, crank.O], axis: [0, 0, 1]}}
drivers: {turn: {measure: hinge.angle, value: 5*t**2}}
objectives:
  effort: {integral: turn.force**2 + crank.P.x**2}
  near: {maximum: crank.P.x, sharpness: 9}
  at: {sum: crank.P.y, times: [0.113]}
simulation: {t_end: T, step: 0.01}
""")
    motion = kg.drive(kg.joint(model))
    gradient = kg.gradient(motion)
    found = gradient.check()
    assert found.good and np.abs(found.differences[:, 0] / gradient.matrix[:, 0] - 1.0)[:2].min() > 2e-5
    monkeypatch.setattr(end_time, "by_end", lambda motion, right=end_time.by_end: 1.01 * right(motion))
    assert kg.gradient(motion).check().wrong == (("effort", "T"), ("near", "T"))
