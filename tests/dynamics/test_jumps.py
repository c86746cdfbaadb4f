"""Runs with jumps in time, kinks and tables that end: order, states at jumps, words."""

import warnings

import numpy as np
import pytest
from scipy.interpolate import CubicSpline as Peer

import kinegrad as kg
from kinegrad.errors import AccuracyWarning, AssemblyError, KinegradError, SimulationError
from kinegrad.jumps import jump_times

BLOCK = """
kinegrad: 1
parameters: {m: 2, t1: 0.3123, F: 5, y: [0, 1, 4, 9]}
design: [m]
tables:
  square: {x: [0, 1, 2, 3], y: y}
  kinked: {x: [0, 0.05, 1], y: [0, 1, 3], interpolation: linear, outside: hold}
bodies:
  block: {mass: m, inertia: [1, 1, 1], markers: {A: [0, 0, 0]}}
ground: {markers: {O: [0, 0, 0]}}
joints: {slide: {type: prismatic, between: [ground.O, block.A], axis: [1, 0, 0]}}
forces: {push: {type: force, acts_on: slide.distance, value: "VALUE"}}
degrees_of_freedom: {slide.distance: {position: 0.1, velocity: 0.2}}
objectives: {on: {integral: "step(t - t1) + 0*F"}, end: {final: slide.distance}}
simulation: {t_end: 1, step: 0.01}
"""


def block(value):
    return kg.Model.from_yaml_text(BLOCK.replace("VALUE", value))


def end(t_end=1.0, t1=0.3123):
    """Position after a force that changes from -5 to 5 at t1, on 2 kg."""
    v1, x1 = 0.2 - 2.5 * t1, 0.1 + 0.2 * t1 - 1.25 * t1**2
    return x1 + v1 * (t_end - t1) + 1.25 * (t_end - t1) ** 2


@pytest.mark.parametrize("scheme", [("ali3p", "newmark"), ("index1", "hht"), ("matrix-r", "generalized-alpha")])
def test_implicit_schemes_lose_next_to_nothing(scheme):
    system = kg.joint(block("5*sign(t - t1)"))
    for step in (0.04, 0.01):
        motion = kg.simulate(system, *scheme, step=step)
        assert motion.objectives["end"] == pytest.approx(end(), abs=2e-6)
        assert motion.objectives["on"] == pytest.approx(1 - 0.3123, abs=1e-6)


@pytest.mark.parametrize("scheme", [("index1", "rk4"), ("recursive", "rk4"), ("matrix-r", "rk54"), ("index1", "rk54")])
def test_explicit_schemes_are_exact_between_jumps(scheme):
    motion = kg.simulate(kg.joint(block("5*sign(t - t1)")), *scheme, step=0.05)
    assert motion.objectives["end"] == pytest.approx(end(), abs=1e-9)
    assert motion.objectives["on"] == pytest.approx(1 - 0.3123, abs=1e-9)
    assert np.abs(motion.t - 0.3123).min() < 1e-9


def test_steps_end_at_jumps_and_at_outputs():
    model = block("5*sign(sin(20*t - 1)) + step(2 - 7*t)")
    system = kg.joint(model)
    expected = sorted([*((1 + k * np.pi) / 20 for k in range(7)), 2 / 7, 0.3123])
    assert jump_times(system, 1.0, 0.01) == pytest.approx([t for t in expected if t < 1.0], abs=1e-15)
    assert jump_times(kg.joint(block("sign(sin(pi*t)) + step(t - 1) + sign(t)")), 1.0, 0.01) == [0.0, 0.3123, 1.0]
    motion = kg.simulate(system, output_step=0.1)
    for t in (*np.arange(0.1, 1.0, 0.1), 1.0):
        assert np.abs(motion.t - t).min() < 1e-12
    for t in expected[:6]:
        assert (np.sort(np.abs(motion.t - t))[:2] < 1.001e-7).all()
    assert motion.hs.max() <= 0.01 * (1 + 1e-9) and motion.t[-1] == 1.0
    assert motion.objectives["on"] == pytest.approx(1 - 0.3123, abs=1e-8)


def test_a_motion_with_jumps_is_saved_and_differentiated(tmp_path):
    motion = kg.simulate(kg.joint(block("5*sign(t - t1)")))
    motion.save(tmp_path / "jump.nc")
    again = kg.load(tmp_path / "jump.nc")
    assert again.t.tolist() == motion.t.tolist() and again.hs.tolist() == motion.hs.tolist()
    by_m = kg.gradient(motion).matrix[1, 0]
    assert by_m == pytest.approx(-(motion.objectives["end"] - 0.1 - 0.2) / 2, rel=1e-9)
    with pytest.raises(KinegradError, match=r"where 't - t1' is zero and follows the parameter 't1'"):
        kg.gradient(motion, wrt=["t1"])


def test_a_kink_that_is_crossed_is_told_once():
    model = block("3*abs(slide.distance - 0.15) + max(F - 6, 0) + table(slide.distance, kinked)")
    with pytest.warns(AccuracyWarning, match=r"The force 'push' crosses a kink .* by t = 0\.\d+ s"):
        motion = kg.simulate(kg.joint(model))
    assert motion.q.max() > 0.15
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kg.simulate(kg.natural(model))
        kg.simulate(kg.joint(block("-3*abs(slide.distance + 5) + min(t, 7)")))


def test_a_table_that_is_left_is_named_with_the_time():
    with pytest.raises(
        SimulationError, match=r"stopped at t = 0\.9\d* s: force 'push' leaves the table 'square' with the argument 3\."
    ):
        kg.simulate(kg.joint(block("-table(3.2*t, square)")))
    with pytest.raises(
        SimulationError, match=r"force 'push' leaves the table 'square' with the argument -1 \(it goes from"
    ):
        kg.simulate(kg.joint(block("-table(t - 1, square)")))
    model = block("0")
    model.objectives["far"] = {"final": "table(slide.distance - 0.2, square)"}
    model.objectives["sum"] = {"integral": "table(0.2 - slide.distance, square)"}
    with pytest.raises(SimulationError, match=r"objective 'sum' .* at t = 0\.50\d* s objective 'sum' leaves the table"):
        kg.simulate(kg.joint(model))
    del model.objectives["sum"]
    assert kg.simulate(kg.joint(model)).objectives["far"] == pytest.approx(
        Peer([0, 1, 2, 3], [0, 1, 4, 9], bc_type="natural")(0.1)
    )
    model.objectives["far"] = {"final": "table(slide.distance - 0.5, square)"}
    with pytest.raises(
        SimulationError, match=r"objective 'far' .* at t = 1 s objective 'far' leaves the table 'square'"
    ):
        kg.simulate(kg.joint(model))


def driven(value):
    model = block("0")
    del model.degrees_of_freedom["slide.distance"]
    model.drivers["go"] = {"measure": "slide.distance", "value": value}
    return kg.joint(model)


def test_a_driver_that_leaves_its_table():
    with pytest.raises(AssemblyError, match=r"driver 'go' leaves the table 'square' with the argument 3\S* \(it"):
        kg.drive(driven("table(3.5*t, square)"))
    with pytest.raises(AssemblyError, match=r"cannot be assembled .*driver 'go' leaves the table 'square'"):
        kg.drive(driven("table(t - 1, square)"))
    motion = kg.drive(driven("table(3*t, square)"))
    assert motion.q[-1, 0] == pytest.approx(9, abs=1e-12)
