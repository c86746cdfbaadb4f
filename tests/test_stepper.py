"""Stepper: the digits of `simulate`, states in and out, inputs that change, and what is refused."""

import os
import pickle
import signal
from pathlib import Path

import numpy as np
import pytest
from dynamics.test_dependable_runs import scissors
from kinematics.small_models import FOUR_BAR, SLIDER, system

import kinegrad as kg
from kinegrad.dynamics.schemes import SCHEMES
from kinegrad.model.slots import PartOfSlots

EXAMPLES = Path(__file__).parents[1] / "examples"

H = 2.0**-9  # a power of two: the times of a run are multiples of it to the last digit
FIXED = [key for key in SCHEMES if key[1] != "rk54"]
TORQUE = [
    ("span: 0.8}", "span: 0.8, u: 2.0}"),
    ("forces: {", "forces: {motor: {type: torque, acts_on: JA.angle, value: u}, "),
    ("{path: {integral: norm2(b.C.position)}}", "{path: {integral: norm2(b.C.position)}, last: {final: b.C.x}}"),
]


def four_bar(*replace):
    return system(FOUR_BAR, [*TORQUE, *replace])


def redundant():
    """A scissor lift: more constraint rows than their rank."""
    return kg.joint(kg.Model.from_dict(scissors(2)))


def assert_same(stepper, motion, k):
    for name in ("q", "qd", "qdd"):
        assert np.array_equal(getattr(stepper, name), getattr(motion, name)[k]), (name, k)


# --- the digits of simulate ---


@pytest.mark.parametrize("made", [four_bar, redundant])
@pytest.mark.parametrize("key", FIXED, ids=" ".join)
def test_every_scheme_has_the_digits_of_simulate(key, made):
    model = made()
    motion = kg.simulate(model, *key, step=H, t_end=100 * H)
    stepper = kg.Stepper(model, *key, step=H)
    assert_same(stepper, motion, 0)
    for k in range(1, 31):
        assert_same(stepper.advance(), motion, k)
        assert stepper.iterations == motion.iterations[k - 1]
    saved = pickle.loads(pickle.dumps(stepper.state))
    assert (saved.t, saved.steps) == (30 * H, 30)
    for _ in range(2):  # once on its own way, once from the state; in many steps at once
        assert_same(stepper.advance(70), motion, -1)
        assert stepper.objectives == motion.objectives
        assert np.array_equal(stepper.lam, kg.simulate(model, *key, step=H, t_end=100 * H, output_step=100 * H).lam[-1])
        stepper.restore(saved)
        assert_same(stepper, motion, 30)
    other = kg.Stepper(model, *key, step=H)
    other.restore(saved)
    assert_same(other.advance(70), motion, -1)


def test_coordinates_that_change_on_the_way():
    """Matrix R takes other independent coordinates; states before and after can be restored."""
    model = system(FOUR_BAR, [("velocity: 1}", "velocity: 25}")])
    for integrator in ("newmark", "hht", "rk4"):
        how = kg.MatrixR(reselect_below=0.95), integrator
        motion = kg.simulate(model, *how, step=1e-3, t_end=0.5)
        assert (motion.flags & 4).any()
        stepper, states = kg.Stepper(model, *how, step=1e-3), []
        for k in range(1, 500):
            assert_same(stepper.advance(), motion, k)
            states.append(stepper.state)
        for k in (13, 400, 101, 250):
            stepper.restore(states[k - 1])
            assert_same(stepper, motion, k)
            assert_same(stepper.advance(99), motion, k + 99)


def test_laws_are_called_as_usual():
    model = kg.Model.from_yaml_text("kinegrad: 1\n" + SLIDER)
    model.forces["pull"] = kg.Force(at="block.P", value=kg.law(lambda x, t: [-x, 0.0, t], ["rail.distance", "t"]))
    system = kg.joint(model)
    motion = kg.simulate(system, step=0.01, t_end=0.3)
    stepper = kg.Stepper(system, step=0.01).advance(29)
    assert_same(stepper, motion, 29)


def test_what_can_be_read():
    model = four_bar()
    motion = kg.simulate(model, step=H, t_end=10 * H)
    stepper = kg.Stepper(model, step=H).advance(10)
    assert stepper.t == 10 * H == motion.t[-1]
    for name in ("b.C", "a.B", "ground.D"):
        found, expected = stepper.marker(name), motion.marker(name)
        for quantity in ("position", "velocity", "acceleration"):
            assert np.array_equal(getattr(found, quantity), getattr(expected, quantity)[-1])
    angle, rate = stepper.coordinate("JA.angle")
    k = model.number_of["JA.angle"]
    assert (angle, rate) == (stepper.q[k], stepper.qd[k])
    assert stepper.parameters["u"] == 2.0 and "0.0195312 s" in repr(stepper)
    before = stepper.q
    stepper.advance()
    assert not np.array_equal(stepper.q, before)  # what was read stays as it was
    assert not np.array_equal(stepper.marker("b.C").position, found.position)


# --- inputs ---


@pytest.mark.parametrize("key", FIXED, ids=" ".join)
def test_an_input_that_changes_is_a_force_in_pieces(key):
    """As if it changed just after the instant: the force of the run has the old value there."""
    pieces = [(20, 2.0), (45, -3.0), (80, 1.0)]

    def torque(t):
        return next(value for last, value in pieces if t.real <= last * H)

    text = FOUR_BAR
    for old, new in TORQUE:
        text = text.replace(old, new)
    model = kg.Model.from_yaml_text("kinegrad: 1\n" + text)
    model.forces["motor"] = kg.Torque(acts_on="JA.angle", value=kg.law(torque, ["t"]))
    motion = kg.simulate(kg.joint(model), *key, step=H, t_end=80 * H)
    stepper = kg.Stepper(four_bar(), *key, step=H)
    for last, value in pieces:
        stepper.set(u=value, settle=False)
        assert_same(stepper.advance(last - stepper.steps), motion, last)
    assert stepper.objectives == motion.objectives


@pytest.mark.parametrize("key", FIXED, ids=" ".join)
def test_a_switched_input_is_a_new_start(key):
    """Accelerations and multipliers are at once those of a run that starts there with the new value."""
    stepper = kg.Stepper(four_bar(), *key, step=H).advance(40)
    start = stepper.q, stepper.qd
    stepper.set(u=-5.0)
    assert stepper.parameters["u"] == -5.0
    angle, rate = stepper.coordinate("JA.angle")
    at = f"JA.angle: {{position: {angle!r}, velocity: {rate!r}}}"
    again = four_bar(("JA.angle: {position: pi/2, velocity: 1}", at)).with_parameters({"u": -5.0})
    motion = kg.simulate(again, *key, step=H, t_end=40 * H, guess=stepper.q)
    drift = 1e-9 if key[0] in ("ali3p", "matrix-r") else 1e-5  # of constraints that are stabilised, until then
    for found, before in zip((stepper.q, stepper.qd), start, strict=True):
        np.testing.assert_allclose(found, before, atol=1e-9)
    np.testing.assert_allclose(stepper.qdd, motion.qdd[0], atol=1e3 * drift)
    np.testing.assert_allclose(stepper.lam, motion.lam[0], atol=1e3 * drift)
    if key[1] in ("newmark", "rk4"):  # the others remember accelerations
        stepper.advance(40)
        np.testing.assert_allclose(stepper.q, motion.q[-1], atol=100 * drift)
    assert np.abs(stepper.marker("b.C").position).max() < 2.0


@pytest.mark.parametrize("key, order", [(("ali3p", "newmark"), 2), (("index1", "rk4"), 4), (("matrix-r", "rk4"), 4)])
def test_a_held_input_keeps_the_order(key, order):
    """An input that is switched every 0.05 s, in steps of 0.05 s and parts of it."""
    found = []
    for parts in (4, 8, 16, 64):
        stepper = kg.Stepper(four_bar(), *key, step=0.05 / parts)
        for k in range(10):
            stepper.set(u=2.0 * (-1.0) ** k).advance(parts)
        found.append(stepper.q)
    errors = [np.abs(q - found[-1]).max() for q in found[:-1]]
    assert np.log2(errors[1] / errors[2]) > order - 0.5


def test_drivers_change_where_they_hold():
    """A crank whose speed is changed: the position stays, velocities follow as after an impulse."""
    driven = system(
        FOUR_BAR,
        [
            ("span: 0.8}", "span: 0.8, a0: 1.5707963267948966, w: 2.0, t0: 0.0}"),
            ("degrees_of_freedom: {JA.angle: {position: pi/2, velocity: 1}}", ""),
            ("objectives", "drivers: {turn: {measure: JA.angle, value: a0 + w*(t - t0)}}\nobjectives"),
        ],
    )
    for key in [("ali3p", "newmark"), ("index1", "rk4"), ("matrix-r", "rk4"), ("recursive", "newmark")]:
        stepper = kg.Stepper(driven, *key, step=H).advance(50)
        angle, rate = stepper.coordinate("JA.angle")
        assert rate == pytest.approx(2.0, abs=1e-6)
        with pytest.raises(kg.KinegradError, match=r"'turn' would be off by .* positions stay when 'w' changes"):
            stepper.set(w=3.0)
        assert stepper.parameters["w"] == 2.0
        stepper.set(a0=1.5707963267948966 + 2.0 * stepper.t, w=3.0, t0=stepper.t)
        assert stepper.coordinate("JA.angle") == pytest.approx((angle, 3.0), abs=1e-5)
        stepper.advance(20)
        assert stepper.coordinate("JA.angle") == pytest.approx((angle + 60 * H, 3.0), abs=1e-4)


PENDULA = """
parameters: {a0: 0.3, w: 2.0, t0: 0.0}
ground: {markers: {O: [0, 0, 0]}}
bodies:
  a: {mass: 1, com: [0.2, 0, 0], inertia: [0, 0.02, 0.02], markers: {O: [0, 0, 0], P: [0.4, 0, 0]}}
  b: {mass: 2, com: [0.2, 0, 0], inertia: [0, 0.01, 0.01], markers: {P: [0, 0, 0], Q: [0.4, 0, 0]}}
joints:
  one: {type: revolute, between: [ground.O, a.O], axis: [0, 0, 1]}
  two: {type: revolute, between: [a.P, b.P], axis: [0, 0, 1]}
forces: {g: {type: gravity, acceleration: [0, -9.81, 0]}}
drivers: {turn: {measure: one.angle, value: a0 + w*(t - t0)}}
degrees_of_freedom: {two.angle: {position: 0.5, velocity: 0}}
"""


@pytest.mark.parametrize("key", FIXED, ids=" ".join)
def test_an_impulse_keeps_what_it_does_not_act_on(key):
    """The driver's impulse has no moment about the hinge: the second arm keeps its angular momentum about it."""
    stepper = kg.Stepper(system(PENDULA), *key, step=H).advance(30)

    def momentum():
        c, v = stepper.marker("b.P"), stepper.marker("b.Q")
        centre, rate = 0.5 * (v.position - c.position), 0.5 * (c.velocity + v.velocity)
        return 2.0 * np.cross(centre, rate)[2] + 0.01 * sum(stepper.coordinate(f"{n}.angle")[1] for n in ("one", "two"))

    before, angle = momentum(), stepper.coordinate("two.angle")[0]
    stepper.set(a0=0.3 + 2.0 * stepper.t, w=-1.0, t0=stepper.t)
    assert stepper.coordinate("one.angle")[1] == pytest.approx(-1.0, abs=1e-6)
    assert momentum() == pytest.approx(before, abs=1e-9)
    assert stepper.coordinate("two.angle")[0] == pytest.approx(angle, abs=1e-12)
    stepper.advance(10)
    assert stepper.coordinate("one.angle") == pytest.approx((0.3 + 60 * H - 10 * H, -1.0), abs=1e-5)


def test_what_may_not_change():
    stepper = kg.Stepper(four_bar(), step=H).advance(10)
    before = stepper.state
    with pytest.raises(kg.KinegradError, match=r"would be off by .* positions stay when 'coupler' changes"):
        stepper.set(coupler=0.95, u=1.0)
    with pytest.raises(kg.KinegradError, match="'v'"):
        stepper.set(v=1.0)
    with pytest.raises(kg.KinegradError, match="Parameter 'u' cannot be set to inf"):
        stepper.set(u=np.inf)
    with pytest.raises(kg.KinegradError, match=r"given by name, as in set\(torque=3.0\); found 3"):
        stepper.set(3)
    after = stepper.state
    assert np.array_equal(before.row, after.row) and np.array_equal(before.parameters, after.parameters)
    slider = kg.Stepper(system(SLIDER), step=H)
    with pytest.raises(kg.KinegradError, match="'x0' says how a motion begins"):
        slider.set(x0=0.7)


def test_python_laws_that_read_something():
    """`set()` tells that what a law reads has changed; without it the old accelerations serve once more."""
    force = {"x": 1.0}
    model = kg.Model.from_yaml_text("kinegrad: 1\n" + SLIDER)
    model.forces["pull"] = kg.Force(at="block.P", value=kg.law(lambda: [force["x"], 0.0, 0.0]))
    stepper = kg.Stepper(kg.joint(model), "index1", "rk4", step=0.5)
    assert stepper.qdd[0] == pytest.approx(1.0)
    force["x"] = 3.0
    stepper.set()
    assert stepper.qdd[0] == pytest.approx(3.0)
    assert stepper.advance().q[0] == pytest.approx(0.5 + 3.0 * 0.125, abs=1e-14)


def test_slots_follow_the_parameters_that_change():
    """What is brought up to date in part is what is computed as a whole, for every parameter."""
    model = kg.joint(kg.Model.from_yaml(EXAMPLES / "five_bar" / "model.yaml"))
    slots, fields, s = model.slots, model.slots.field_values(model.rho), model.s
    for k in range(len(model.rho)):
        part, rho = PartOfSlots(slots, [k]), model.rho.copy()
        rho[k] *= 1.1
        changed, now = fields.copy(), s.copy()
        assert part.update(rho, changed, now)
        assert np.array_equal(now, slots.values(rho)) and np.array_equal(changed, slots.field_values(rho))
        rho[k] = np.inf
        assert not part.update(rho, changed, now)


# --- errors ---


def test_a_step_that_fails_leaves_the_last_good_state():
    model = four_bar()
    for how in [
        (kg.ALI3P(max_iterations=8), "newmark"),
        ("index1", "newmark"),
        ("matrix-r", "newmark"),
        ("index1", "rk4"),
    ]:
        motion = kg.simulate(model, *how, step=H, t_end=60 * H)
        stepper = kg.Stepper(model, *how, step=H).advance(20)
        good = stepper.state
        stepper.set(u=1e200, settle=False)
        with pytest.raises(kg.SimulationError, match=r"stopped at t = 0\.0390625 s"):
            stepper.advance(40)
        assert stepper.steps == 20 and np.array_equal(stepper.state.row, good.row)
        stepper.set(u=2.0, settle=False)
        assert_same(stepper.advance(40), motion, -1)


def test_a_step_that_fails_behind_others():
    """Of many steps at once those before it are done."""
    model = system(
        SLIDER.replace("v0: 0}", "v0: 1}"),
        [("degrees", "forces: {f: {type: force, at: block.P, value: ['sqrt(1 - rail.distance)', 0, 0]}}\ndegrees")],
    )
    for key in [("ali3p", "newmark"), ("index1", "rk4")]:
        stepper = kg.Stepper(model, *key, step=0.01)
        with pytest.raises(kg.SimulationError, match=r"the value of .*'f'") as failure:
            stepper.advance(100)
        assert 30 < stepper.steps < 60 and f"t = {stepper.t:.6g} s" in str(failure.value)
        one = kg.Stepper(model, *key, step=0.01)
        for _ in range(stepper.steps):
            one.advance()
        assert np.array_equal(one.q, stepper.q) and np.array_equal(one.qdd, stepper.qdd)
        with pytest.raises(kg.SimulationError):
            one.advance()
        assert np.array_equal(one.q, stepper.q)


def test_a_law_that_raises():
    calls = []

    def pull(t):
        calls.append(t)
        if len(calls) == 25:
            raise ZeroDivisionError("no more")
        return [1.0, 0.0, 0.0]

    model = kg.Model.from_yaml_text("kinegrad: 1\n" + SLIDER)
    model.forces["pull"] = kg.Force(at="block.P", value=kg.law(pull, ["t"]))
    stepper = kg.Stepper(kg.joint(model), "index1", "rk4", step=0.01)
    with pytest.raises(ZeroDivisionError, match="no more") as failure:
        stepper.advance(50)
    assert any("'pull'" in note and "t = " in note for note in failure.value.__notes__)
    steps = stepper.steps
    assert 0 < steps < 25
    stepper.advance(50 - steps)  # it goes on from the last good state
    assert stepper.q[0] == pytest.approx(0.5 + 0.5 * 0.5**2, abs=1e-13)


@pytest.fixture
def listening():
    """The usual reaction to Ctrl-C, also where the tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class PressesCtrlC:
    """A method of a scheme that works as before, and is interrupted as soon as it has."""

    def __init__(self, method):
        self.method = method

    def __call__(self, *arguments):
        result = self.method(*arguments)
        os.kill(os.getpid(), signal.SIGINT)
        return result


@pytest.mark.parametrize("key", [("ali3p", "newmark"), ("matrix-r", "rk4"), ("recursive", "rk4")], ids=" ".join)
def test_an_interrupt_leaves_nothing_half_done(key, listening, monkeypatch):
    expected = kg.Stepper(four_bar(), *key, step=H).advance(5)
    stepper = kg.Stepper(four_bar(), *key, step=H).advance(5)
    with monkeypatch.context() as patched:
        patched.setattr(stepper, "_over", PressesCtrlC(stepper._over))
        with pytest.raises(KeyboardInterrupt):
            stepper.advance(7)
    with monkeypatch.context() as patched:
        patched.setattr(type(stepper.scheme), "settle", PressesCtrlC(stepper.scheme.settle))
        with pytest.raises(KeyboardInterrupt):
            stepper.set(u=30.0)
    assert stepper.steps == 5 and stepper.parameters["u"] == 2.0
    assert stepper.objectives == expected.objectives
    for one in (stepper, expected):
        one.advance(3).set(u=4.0).advance(9)
    for name in ("q", "qd", "qdd", "lam"):
        np.testing.assert_array_equal(getattr(stepper, name), getattr(expected, name))
    assert stepper.objectives == expected.objectives


def test_refused_by_name():
    model = four_bar()
    with pytest.raises(kg.KinegradError, match="'rk54' chooses its own; use 'rk4'"):
        kg.Stepper(model, "index1", "rk54", step=H)
    with pytest.raises(kg.KinegradError, match="step is -1"):
        kg.Stepper(model, step=-1.0)
    stepper = kg.Stepper(model, step=H)
    for n in (-1, 2.0, True):
        with pytest.raises(kg.KinegradError, match="give a whole number, 0 or more"):
            stepper.advance(n)
    assert stepper.advance(0).steps == 0
    with pytest.raises(kg.KinegradError, match=r"There is no marker 'b\.X'; markers: a\.A"):
        stepper.marker("b.X")
    with pytest.raises(kg.KinegradError, match=r"There is no coordinate 'JX\.angle'; coordinates: JA\.angle"):
        stepper.coordinate("JX.angle")
    with pytest.raises(kg.KinegradError, match="another model, formulation, integrator or step"):
        stepper.restore(kg.Stepper(model, step=2 * H).state)
