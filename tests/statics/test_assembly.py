"""kg.assemble: the start of a simulation, in closed form where there is one, and from another guess."""

from pathlib import Path

import numpy as np
import pytest

import kinegrad as kg

EXAMPLES = Path(__file__).parents[2] / "examples"
TURNING = """\
kinegrad: 1
parameters: {p: 0.4, r: 0.45, d: 0.6, side: 0.3}
ground: {markers: {A: [0, 0, 0], D: [d, 0, 0]}}
bodies:
  a: {pose: {origin: [0, 0, 0]}, mass: 1, com: [p/2, 0, 0], inertia: [0, 0.1, 0.1], markers: {A: [0, 0, 0], B: [p, 0, 0]}}
  b: {pose: {origin: [0.6, 0, 0], x_axis: [-1, 0.1, 0]}, mass: 1, com: [r/2, 0, 0], inertia: [0, 0.1, 0.1],
      markers: {D: [0, 0, 0], B: [r, 0, 0]}}
joints:
  JA: {type: revolute, between: [ground.A, a.A], axis: [0, 0, 1]}
  JD: {type: revolute, between: [ground.D, b.D], axis: [0, 0, 1]}
constraints: {rod: {type: distance, between: [a.B, b.B], distance: side}}
degrees_of_freedom: {JA.angle: {position: 0.8, velocity: 2}}
simulation: {t_end: 0.01}
"""


@pytest.fixture
def system():
    return kg.joint(kg.Model.from_yaml_text(TURNING))


def angles(side):
    """Angle of the second bar from that of the first, by the law of cosines; `side` chooses the branch."""
    B = 0.4 * np.array([np.cos(0.8), np.sin(0.8)])
    x, y = B - [0.6, 0.0]
    far = np.hypot(x, y)
    return np.arctan2(y, x) + side * np.arccos((far**2 + 0.45**2 - 0.3**2) / (2 * far * 0.45))


@pytest.mark.parametrize(("guess", "side"), [(None, 1.0), ([0.8, 1.7], -1.0)])
def test_both_branches_of_a_loop(system, guess, side):
    found = kg.assemble(system, guess=guess and np.array(guess))
    assert found.coordinates == pytest.approx({"JA.angle": 0.8, "JD.angle": angles(side)}, abs=1e-12)
    assert found.residual < 1e-12 and found.iterations > 0 and found.qd[0] == pytest.approx(2.0, rel=1e-12)
    markers = found.markers()
    apart = markers["b.B"].position - markers["a.B"].position
    faster = markers["b.B"].velocity - markers["a.B"].velocity
    speeding = markers["b.B"].acceleration - markers["a.B"].acceleration
    assert np.linalg.norm(apart) == pytest.approx(0.3, rel=1e-12)
    assert abs(apart @ faster) < 1e-12 and abs(apart @ speeding + faster @ faster) < 1e-11


@pytest.mark.parametrize("name", ["five_bar", "slider_crank", "bennett", "gyroscope"])
def test_it_is_where_a_simulation_begins(name):
    system = kg.joint(kg.Model.from_yaml(EXAMPLES / name / "model.yaml"))
    found, motion = kg.assemble(system), kg.simulate(system, t_end=2e-3, step=1e-3)
    for ours, theirs in ((found.q, motion.q), (found.qd, motion.qd), (found.qdd, motion.qdd)):
        assert np.abs(ours - theirs[0]).max() <= 1e-12 * max(1.0, np.abs(theirs[0]).max())
    assert repr(found).startswith(f"<Assembly of {system.model.title!r}")


def test_what_does_not_close_is_told_by_name(system):
    with pytest.raises(kg.AssemblyError, match=r"cannot be assembled at the start.*rod"):
        kg.assemble(system.with_parameters({"side": 3.0}))


def test_slots_in_place_of_parameters(system):
    s = system.with_parameters({"side": 0.31}).s
    given, changed = kg.assemble(system, s=s), kg.assemble(system.with_parameters({"side": 0.31}))
    assert np.array_equal(given.q, changed.q) and abs(given.q[1] - kg.assemble(system).q[1]) > 1e-3
    assert np.array_equal(given.markers()["b.B"].position, changed.markers()["b.B"].position)
