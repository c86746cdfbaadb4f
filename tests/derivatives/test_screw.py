"""The screw joint: closed forms, limits, cuts at the screw and elsewhere, and gradients of whole runs with its pitch."""

import numpy as np
import pytest
from helpers import assert_close

from kinegrad.coordinates.joint.recursive import Recursive
from kinegrad.coordinates.sets import joint
from kinegrad.kernels.jit import JIT
from kinegrad.kernels.products import EVALUATE, LINEARISE
from kinegrad.model.model import Model
from kinegrad.model.simulation import ALI3P, MatrixR, Newmark, RungeKutta4
from kinegrad.sensitivity.gradient import gradient
from kinegrad.simulate import simulate

H = 1e-30
compiled = pytest.mark.skipif(not JIT, reason="takes too long without the compiler")
uncompiled = pytest.mark.skipif(JIT, reason="complex numbers need NUMBA_DISABLE_JIT=1; .ci/run runs these so")

NUT = """
kinegrad: 1
parameters: {pitch: 0.03, m: 1.7, J: 0.004, g: 9.81}
ground: {markers: {O: [0.3, 0.2, 0.1]}}
bodies:
  nut: {mass: m, com: [0, 0, 0.05], inertia: [0.01, 0.012, J], markers: {o: [0, 0, 0], side: [0.1, 0, 0]}}
joints: {thread: {type: screw, between: ENDS, axis: [0, 0, 1], pitch: pitch}}
forces: {gravity: {type: gravity, acceleration: [0, 0, -g]}}
degrees_of_freedom: {thread.angle: {position: 0, velocity: 0}}
objectives: {fall: {final: nut.o.position.z - 0.1}}
simulation: {t_end: 0.5, step: 1.0e-2}
"""

# A bar that a spindle raises: the nut slides in the rod's direction while the spindle turns in the housing.
JACK = """
kinegrad: 1
parameters: {pitch: 0.01, L: 0.9, base: 0.7, m: 2.5, J: 0.002, motor: 0.9, drag: 0.01, tilt: 0.1}
ground: {markers: {A: [0, 0, 0], C: [base, -0.3, 0]}}
bodies:
  bar: {mass: m, com: [L/2, tilt, 0.02], inertia: [0.01, 0.2, 0.2], markers: {A: [0, 0, 0], B: [L, 0, 0]},
        pose: {origin: [0, 0, 0], x_axis: [0.7, 0.5, 0]}}
  rod: {mass: 0.6, com: [-0.1, 0.01, 0], inertia: [0.001, 0.01, 0.01], markers: {B: [0, 0, 0], n: [-0.2, 0, 0]},
        pose: {origin: [0.7, 0.5, 0], x_axis: [0, 1, 0]}}
  spindle: {mass: 0.8, com: [0.2, 0, 0.003], inertia: [J, 0.02, 0.02], markers: {s: [0, 0, 0]},
        pose: {origin: [0.7, 0, 0], x_axis: [0, 1, 0]}}
  housing: {mass: 1.5, com: [0.1, 0.02, 0], inertia: [0.01, 0.03, 0.03], markers: {C: [0, 0, 0], s: [0.2, 0, 0]},
        pose: {origin: [0.7, -0.3, 0], x_axis: [0, 1, 0]}}
joints:
  pivot: {type: revolute, between: [ground.A, bar.A], axis: [0, 0, 1]}
  pin: {type: revolute, between: [bar.B, rod.B], axis: [0, 0, 1]}
  thread: {type: screw, between: [rod.n, spindle.s], axis: [1, 0, 0], pitch: -pitch}
  bearing: {type: revolute, between: [housing.s, spindle.s], axis: [1, 0, 0]}
  foot: {type: revolute, between: [ground.C, housing.C], axis: [0, 0, 1]}
forces:
  gravity: {type: gravity, acceleration: [0, -9.81, 0]}
  drive: {type: torque, acts_on: bearing.angle, value: "motor - drag*bearing.angle.velocity"}
degrees_of_freedom: {thread.angle: {position: 30, velocity: 40}}
objectives:
  height: {integral: bar.B.position.y}
  shake: {integral: norm2(bar.B.acceleration) + bearing.angle.velocity**2/100}
  last: {final: bearing.angle.velocity + rod.n.velocity.y}
simulation: {t_end: 0.4, step: 5.0e-3}
"""
JACK_WRT = ("pitch", "L", "m", "J", "motor", "tilt", "base")

CHAIN = """
kinegrad: 1
parameters: {p1: 0.05, p2: -0.08, tilt: 0.3, m: 1.1, start: 0.4, spin: 2, k: 20}
ground: {markers: {O: [0.1, 0, 0.2], S: [0.4, 0.3, 0.1]}}
bodies:
  a: {mass: m, com: [0.1, 0.2, 0], inertia: [0.2, 0.15, 0.3, 0.01, 0, 0.02], markers: {p: [0, 0.1, 0], q: [0.3, 0.2, 0.1]}}
  b: {mass: 0.7, com: [0, 0.1, 0.2], inertia: [0.1, 0.12, 0.15], markers: {p: [0.1, 0, tilt], q: [0.2, 0.1, 0.3]}}
  d: {mass: 0.5, com: [0.1, 0.1, 0], inertia: [0.1, 0.09, 0.05], markers: {p: [0.2, 0.1, 0], q: [0.1, 0.3, 0.2]}}
joints:
  one: {type: screw, between: [ground.O, a.p], axis: [0, tilt, 1], pitch: p1}
  two: {type: screw, between: [b.p, a.q], axis: [1, tilt, 0.2], pitch: p2*tilt}
  three: {type: revolute, between: [b.q, d.p], axis: [0, 1, tilt]}
forces:
  gravity: {type: gravity, acceleration: [0.4, 1, -9.81]}
  coil: {type: spring, between: [ground.S, d.q], stiffness: k, damping: 0.4, natural_length: 0.2}
constraints: {track: {type: guidance, measure: d.q.x, value: "0.4 + tilt*t"}}
degrees_of_freedom: {one.angle: {position: start, velocity: spin}, two.angle: {position: -0.3, velocity: start}}
objectives:
  path: {integral: "norm2(d.q.position) + one.angle*two.angle.velocity"}
  last: {final: "norm2(d.q.acceleration) + two.angle.acceleration*p1"}
"""


# --- closed forms ---


@pytest.mark.parametrize(("ends", "sign"), [("[ground.O, nut.o]", 1.0), ("[nut.o, ground.O]", -1.0)])
def test_nut_on_a_lead_screw(ends, sign):
    """(J + m p²) θ̈ = -m g p, whichever body comes first."""
    p, m, J, g, t = 0.03, 1.7, 0.004, 9.81, 0.5
    motion = simulate(joint(Model.from_yaml_text(NUT.replace("ENDS", ends))), "matrix-r", "newmark")
    angle = -m * g * p / (J + m * p * p)
    assert_close(motion.qdd[:, 0], np.full(len(motion.t), sign * angle), 1e-12)
    assert_close(motion.q[:, 0], sign * 0.5 * angle * motion.t**2, 1e-12)
    fall = 0.5 * p * angle * t * t
    assert motion.objectives["fall"] == pytest.approx(fall, rel=1e-12)
    by = {"pitch": -m * g * t * t * p * J / (J + m * p * p) ** 2, "J": -fall / (J + m * p * p), "g": fall / g}
    for method in ("direct", "discrete-adjoint"):
        found = gradient(motion, wrt=list(by), method=method).matrix[0]
        assert_close(found, np.array(list(by.values())), 1e-12)
    a, a_q, a_v, a_tau = Recursive(motion.system).derivatives(np.array([7.0]), np.array([3.0]))
    assert_close([a[0], a_q[0, 0], a_v[0, 0], a_tau[0, 0]], [sign * angle, 0, 0, 1 / (J + m * p * p)], 1e-12)


def test_pitch_0_is_a_revolute_joint(rng):
    text = CHAIN.replace("p1: 0.05", "p1: 0").replace("p2: -0.08", "p2: 0")
    plain = text.replace(", pitch: p1", "").replace(", pitch: p2*tilt", "").replace("screw", "revolute")
    systems = [joint(Model.from_yaml_text(t)) for t in (text, plain)]
    state = {name: rng.normal(size=systems[0].n) for name in ("q", "v", "a", "vp", "ap", "dv", "da")}
    found = []
    for system in systems:
        work = system.workspace(ds=system.directions(["tilt", "m", "k"]))
        for name, value in state.items():
            work[name][:] = value
        work.call(EVALUATE)
        first = [work[name].copy() for name in ("M", "f", "Phi", "J")]
        work.call(LINEARISE)
        found.append([*first, *(work[name].copy() for name in ("R_z", "C", "Nv_z", "Na_z", "Phidd_z", "g_z"))])
    for one, other in zip(*found, strict=True):
        assert_close(one, other, 1e-14)


@pytest.mark.parametrize(("ends", "sign"), [("[ground.O, nut.o]", 1.0), ("[nut.o, ground.O]", -1.0)])
def test_first_guess_counts_the_turns(ends, sign):
    """A pose three turns and a bit along the thread starts there."""
    angle = 3 * 2 * np.pi + 0.4
    text = NUT.replace("ENDS", ends).replace(
        "nut: {mass",
        f"nut: {{pose: {{origin: [0.3, 0.2, {0.1 + 0.03 * angle}], x_axis: [{np.cos(0.4)}, {np.sin(0.4)}, 0]}}, mass",
    )
    system = joint(Model.from_yaml_text(text))
    assert system.set.guess(system, system.s)[0] == pytest.approx(sign * angle, abs=1e-12)


# --- cut ---


@compiled
@pytest.mark.parametrize("cut", ["thread", "foot"])
def test_a_cut_screw_of_pitch_0_is_a_revolute_joint(cut):
    """Without a pitch the distance does not tell the angle: it is a coordinate of its own, with all turns."""
    text = JACK.replace("position: 30", "position: 7")
    models = text.replace("pitch: -pitch", "pitch: 0"), text.replace(", pitch: -pitch", "").replace("screw", "revolute")
    one, other = (
        simulate(joint(Model.from_yaml_text(model), cut=[cut]), MatrixR(), RungeKutta4(), t_end=0.2, step=2e-3)
        for model in models
    )
    assert one.objectives["last"] > 10.0
    for name in one.objectives:
        assert one.objectives[name] == pytest.approx(other.objectives[name], rel=1e-11)


def assert_same_rows(found, expected):
    """Agreement to 1e-10 of the largest entry, of a matrix of that in the row."""
    scale = np.abs(expected).max(axis=1, keepdims=True) if expected.ndim == 2 else np.abs(expected).max()
    assert (np.abs(found - expected) / scale).max() < 1e-10


@compiled
def test_cut_at_the_screw_or_elsewhere():
    """Independent coordinates give one motion and one gradient, over several turns, wherever the loop is cut."""
    runs = {}
    for cut in ("thread", "foot", "pin"):
        system = joint(Model.from_yaml_text(JACK), cut=[cut])
        assert system.set.tree.cut == (cut,)
        motion = simulate(system, MatrixR(tolerance=1e-15), RungeKutta4())
        adjoint = gradient(motion, wrt=JACK_WRT, method="discrete-adjoint")
        direct = gradient(motion, wrt=JACK_WRT, method="direct").matrix
        assert_same_rows(direct, adjoint.matrix)
        order = np.argsort(list(system.markers))
        markers = motion.marker_array()[:, order]
        runs[cut] = markers, adjoint.matrix, np.array(list(motion.objectives.values()))
        if cut == "pin":
            angle = motion.q[:, motion.system.set.index["thread", "angle"]]
            assert abs(angle[-1] - angle[0]) > 3 * 2 * np.pi
    for cut in ("foot", "pin"):
        for one, other in zip(runs["thread"], runs[cut], strict=True):
            assert_same_rows(one, other)


@compiled
def test_ali3p_follows_a_cut_thread_over_turns():
    """The trapezoidal rule of 2 ms and 1 ms converges to Runge-Kutta on the same loop cut elsewhere."""
    model = Model.from_yaml_text(JACK)
    exact = simulate(joint(model, cut=["pin"]), MatrixR(), RungeKutta4(), step=1e-3).marker("bar.B").position[-1]
    errors = []
    for step in (2e-3, 1e-3):
        motion = simulate(joint(model, cut=["thread"]), ALI3P(), Newmark(), step=step)
        errors.append(np.abs(motion.marker("bar.B").position[-1] - exact).max())
        assert motion.constraint_violation[:, 0].max() < 1e-12
    assert errors[0] < 3e-7
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.05)


# --- whole runs ---

RUNS = {
    "ali3p": (CHAIN, (), ALI3P(penalty=1e7), Newmark(), ("p1", "p2", "tilt", "m", "start", "spin"), (0.0, 9)),
    "matrix-r": (CHAIN, (), MatrixR(), RungeKutta4(), ("p1", "p2", "tilt"), (1e-300, 25)),
    "ali3p, thread cut": (JACK, ("thread",), ALI3P(penalty=1e7), Newmark(), ("pitch", "L", "J"), (0.0, 9)),
}


@uncompiled
@pytest.mark.parametrize("name", RUNS)
def test_gradient_of_a_whole_run(name):
    """Direct and adjoint against complex step of the simulator."""
    text, cut, formulation, integrator, wrt, (tolerance, rounds) = RUNS[name]
    system = joint(Model.from_yaml_text(text), cut=cut)
    times = {"t_end": 0.02, "step": 4.5e-3}
    tight = formulation.model_copy(update={"tolerance": tolerance, "max_iterations": rounds})
    columns = []
    for direction in system.directions(wrt):
        motion = simulate(system, tight, integrator, **times, s=system.s + 1j * H * direction)
        columns.append([value.imag / H for value in motion.objectives.values()])
    expected = np.array(columns).T
    motion = simulate(system, formulation, integrator, **times)
    scale = np.maximum(np.abs(expected), 1e-3 * np.abs(expected).max(axis=1, keepdims=True))
    for method in ("direct", "discrete-adjoint"):
        found = gradient(motion, wrt=wrt, method=method).matrix
        assert (np.abs(found - expected) / scale).max() < 1e-8
