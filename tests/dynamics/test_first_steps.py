"""Runs with error control find their steps, however far the first one that is tried is from them."""

import numpy as np
import pytest

import kinegrad as kg
from kinegrad.kernels.jit import JIT

pytestmark = pytest.mark.skipif(not JIT, reason="runs of many steps need the compiler")

PENDULUM = """
kinegrad: 1
ground: {markers: {O: [0, 0, 0]}}
bodies:
  bar: {mass: 1, com: [0, 0, -0.5], inertia: [0.0833, 0.0833, 0], markers: {O: [0, 0, 0], P: [0, 0, -1]}}
joints: {j: {type: revolute, between: [ground.O, bar.O], axis: [0, 1, 0]}}
forces: {g: {type: gravity, acceleration: [0, 0, -9.81]}}
degrees_of_freedom: {j.angle: {position: 0.8}}
objectives: {x: {final: bar.P.x}}
"""
FOUR_BAR = """
kinegrad: 1
parameters: {L: 0.3, m: 1}
ground: {markers: {A: [0, 0, 0], D: [1, 0, 0]}}
bodies:
  crank: {mass: m, com: [0.15, 0, 0], inertia: [0.001, 0.01, 0.01], markers: {A: [0, 0, 0], B: [L, 0, 0]}}
  rod: {mass: 1, com: [0.5, 0, 0], inertia: [0.001, 0.1, 0.1], markers: {B: [0, 0, 0], C: [1.0, 0, 0]}}
  rocker: {mass: 1, com: [0.35, 0, 0], inertia: [0.001, 0.05, 0.05], markers: {D: [0, 0, 0], C: [0.7, 0, 0]}}
joints:
  a: {type: revolute, between: [ground.A, crank.A], axis: [0, 0, 1]}
  b: {type: revolute, between: [crank.B, rod.B], axis: [0, 0, 1]}
  c: {type: revolute, between: [rod.C, rocker.C], axis: [0, 0, 1]}
  d: {type: revolute, between: [ground.D, rocker.D], axis: [0, 0, 1]}
forces: {g: {type: gravity, acceleration: [0, -9.81, 0]}}
degrees_of_freedom: {a.angle: {position: 1.2}}
objectives: {x: {final: rod.C.x}}
"""
MODELS = {"pendulum": PENDULUM, "four-bar": FOUR_BAR}
USUAL = 0.01  # s: about what error control takes
LONG = 1e6
SCHEMES = [
    *((kind, name) for kind in ("joint", "natural", "reference-point") for name in ("index1", "penalty", "matrix-r")),
    *((kind, "udwadia-kalaba") for kind in ("joint", "natural", "reference-point")),
    ("joint", "recursive"),
]


@pytest.fixture(scope="module")
def right() -> dict[str, float]:
    """The end of each motion, by short steps of constant size."""
    found = {}
    for name, text in MODELS.items():
        motion = kg.simulate(kg.joint(kg.Model.from_yaml_text(text)), "matrix-r", "rk4", t_end=2.0, step=1e-4)
        found[name] = motion.objectives["x"]
    return found


@pytest.mark.parametrize("scheme", SCHEMES, ids="-".join)
@pytest.mark.parametrize("name", MODELS)
def test_any_first_step_leads_to_the_same_motion(name, scheme, right):
    """A trial that was far too long is refused, leaves nothing behind, and is not told as a singular position."""
    kind, formulation = scheme
    system = kg.lower(kg.Model.from_yaml_text(MODELS[name]), kind)
    for factor in (1e-12, 1e-6, 1.0, 1e2, 1e3, LONG):
        motion = kg.simulate(system, formulation, "rk54", t_end=2.0, step=USUAL * factor)
        assert motion.objectives["x"] == pytest.approx(right[name], abs=2e-5), factor
        assert motion.constraint_violation[:, 0].max() < 1e-5


def test_the_end_may_be_as_far_away_as_the_first_step():
    """A pendulum for 100 s, with a first step of 100 s: rows that move far refuse it, though the error estimate may not."""
    text = PENDULUM.replace("position: 0.8", "position: 0.1")
    system = kg.natural(kg.Model.from_yaml_text(text))
    short, long = (kg.simulate(system, "index1", "rk54", t_end=100.0, step=h) for h in (USUAL, 100.0))
    assert long.objectives["x"] == pytest.approx(short.objectives["x"], abs=1e-6)
    assert long.constraint_violation[:, 0].max() < 1e-8


def test_penalties_are_allowed_what_their_compliance_explains():
    """A soft penalty lets rows move by far more than the error allowed, and no step is refused for it."""
    system = kg.natural(kg.Model.from_yaml_text(PENDULUM))
    soft = kg.simulate(system, kg.Penalty(penalty=1e3), "rk54", t_end=1.0, step=USUAL)
    hard = kg.simulate(system, kg.Penalty(penalty=1e9), "rk54", t_end=1.0, step=USUAL)
    assert soft.constraint_violation[:, 0].max() > 1e-5
    assert len(soft.hs) < 1.5 * len(hard.hs)


@pytest.mark.parametrize(
    "scheme", [("natural", "index1"), ("joint", "recursive"), ("reference-point", "penalty")], ids="-".join
)
def test_derivatives_after_a_first_step_that_was_refused(scheme):
    """Those of the accepted steps, as after a first step that was accepted."""
    kind, formulation = scheme
    system = kg.lower(kg.Model.from_yaml_text(FOUR_BAR), kind)
    motion = kg.simulate(system, formulation, "rk54", t_end=0.5, step=1e3)
    direct, adjoint = (
        kg.gradient(motion, wrt=["L", "m"], method=name).matrix for name in ("direct", "discrete-adjoint")
    )
    np.testing.assert_allclose(direct, adjoint, rtol=1e-9)
    usual = kg.simulate(system, formulation, "rk54", t_end=0.5, step=USUAL)
    again = kg.gradient(usual, wrt=["L", "m"], method="discrete-adjoint").matrix
    np.testing.assert_allclose(adjoint, again, rtol=1e-5)
