"""The continuous adjoint: its orders, its own step, and the discrete adjoint as its limit (CAD-1 to CAD-4)."""

from functools import cache
from pathlib import Path

import numpy as np
import own_models
import pytest
from kinematics.small_models import FOUR_BAR, system
from rolling_models import SKATE

import kinegrad as kg

EXAMPLES = Path(__file__).parents[2] / "examples"
SETS = ("joint", "reference-point", "natural")
ALSO = {
    "hurry": {"integral": "dot({0}.acceleration, {0}.velocity) + {0}.acceleration.x"},
    "jolt": {"final": "{0}.acceleration.y"},
}
TIP = {"five_bar": "bar_12.P2", "slider_crank": "rod.B"}


@cache
def mechanism(name: str, kind: str):
    model = kg.Model.from_yaml(EXAMPLES / name / "model.yaml")
    for objective, entry in ALSO.items():
        model.objectives[objective] = {how: text.format(TIP[name]) for how, text in entry.items()}
    return kg.lower(model.check(), kind)


@cache
def limit(name: str, t_end: float) -> np.ndarray:
    """The gradient of the motion itself to ten digits."""
    return kg.gradient(
        kg.simulate(mechanism(name, "joint"), "index1", "rk4", t_end=t_end, step=t_end / 1600), method="adjoint"
    ).matrix


def errors(expected: np.ndarray, matrices) -> np.ndarray:
    scale = np.maximum(np.abs(expected), 1e-3 * np.abs(expected).max(axis=1, keepdims=True))
    return np.array([(np.abs(matrix - expected) / scale).max() for matrix in matrices])


def orders(e: np.ndarray) -> np.ndarray:
    return np.log2(e[:-1] / e[1:])


SCHEMES = {("index1", "rk4"): 4, ("matrix-r", "rk4"): 4, ("ali3p", "newmark"): 2, ("udwadia-kalaba", "newmark"): 2}


@pytest.mark.parametrize("scheme", SCHEMES, ids="-".join)
@pytest.mark.parametrize("name", TIP)
def test_order(name, scheme):
    """Positions, velocities, accelerations and final values in objectives, with the order of the integrator."""
    t_end, counts = (1.0, (100, 200)) if name == "five_bar" else (0.3, (150, 300))
    found = []
    for steps in counts:
        motion = kg.simulate(mechanism(name, "joint"), *scheme, t_end=t_end, step=t_end / steps)
        found.append(kg.gradient(motion, method="continuous-adjoint").matrix)
    e = errors(limit(name, t_end), found)
    assert orders(e)[0] == pytest.approx(SCHEMES[scheme], abs=0.35)
    assert e[1] < {4: 5e-5, 2: 5e-2}[SCHEMES[scheme]]


@pytest.mark.parametrize("kind", SETS[1:])
@pytest.mark.parametrize("scheme", [("index1", "rk4"), ("ali3p", "newmark")], ids="-".join)
def test_every_set(kind, scheme):
    """Redundant rows, Euler parameters and shared points; slender bars, whose mass matrices are singular."""
    motion = kg.simulate(mechanism("five_bar", kind), *scheme, t_end=1.0, step=0.005)
    e = errors(limit("five_bar", 1.0), [kg.gradient(motion, method="continuous-adjoint").matrix])
    assert e[0] < (1e-6 if scheme[1] == "rk4" else 8e-3)


def test_own_step():
    """Twice the step of the run has the order too, and a tenth of it changes nothing but what steps leave."""
    five_bar, found = mechanism("five_bar", "joint"), {2.0: [], 0.1: []}
    for steps in (100, 200):
        motion = kg.simulate(five_bar, "index1", "rk4", t_end=1.0, step=1.0 / steps)
        for factor in found:
            method = kg.ContinuousAdjoint(step=factor / steps)
            found[factor].append(kg.gradient(motion, method=method).matrix)
    for factor in found:
        e = errors(limit("five_bar", 1.0), found[factor])
        assert orders(e)[0] == pytest.approx(4.0, abs=0.4) and e[1] < 1e-5


def test_error_control_and_a_shorter_last_step():
    motion = kg.simulate(mechanism("five_bar", "joint"), "index1", kg.RungeKutta54(tolerance=1e-9), t_end=1.0)
    assert errors(limit("five_bar", 1.0), [kg.gradient(motion, method="continuous-adjoint").matrix])[0] < 1e-5
    motion = kg.simulate(mechanism("five_bar", "joint"), "index1", "rk4", t_end=1.0, step=0.0071)
    assert errors(limit("five_bar", 1.0), [kg.gradient(motion, method="continuous-adjoint").matrix])[0] < 1e-5


@pytest.mark.parametrize("scheme", [("index1", "rk4"), ("ali3p", "newmark")], ids="-".join)
def test_pieces_of_a_run(scheme):
    """Nodes of an own step lie anywhere in the pieces; the result is that with all states."""
    linkage = system(FOUR_BAR)
    whole = kg.simulate(linkage, *scheme, t_end=0.2, step=0.002)
    thin = kg.simulate(linkage, *scheme, t_end=0.2, step=0.002, output_step=0.02)
    for step in (None, 0.0033, 0.017):
        method = kg.ContinuousAdjoint(step=step, every_slot=True)
        one = kg.gradient(whole, wrt=["crank", "coupler"], method=method)
        two = kg.gradient(thin, wrt=["crank", "coupler"], method=method, memory=0.012)
        assert two.runs >= 2.0
        np.testing.assert_allclose(two.by_slot, one.by_slot, rtol=0, atol=1e-11 * np.abs(one.by_slot).max())


@pytest.mark.parametrize("text", [SKATE, own_models.FOUR_BAR], ids=["rows of velocities", "own coordinates"])
def test_other_rows_and_coordinates(text):
    found, exact, model = [], None, kg.joint(kg.Model.from_yaml_text(text))
    for steps in (50, 100, 800):
        motion = kg.simulate(model, "index1", "rk4", t_end=0.4, step=0.4 / steps)
        if steps == 800:
            exact = kg.gradient(motion, method="adjoint").matrix
        else:
            found.append(kg.gradient(motion, method="continuous-adjoint").matrix)
    e = errors(exact, found)
    assert e[1] < 1e-5 and orders(e)[0] > 3.5


def test_refused_by_name():
    motion = kg.simulate(system(FOUR_BAR), t_end=0.1, step=0.01)
    gradient = kg.gradient(motion, wrt=["crank"], method="continuous-adjoint")
    with pytest.raises(kg.KinegradError, match="off differences by the error of the steps; check the discrete adjoint"):
        gradient.check()
    with pytest.raises(kg.KinegradError, match="step of the continuous adjoint is -1; give a finite number"):
        kg.ContinuousAdjoint(step=-1.0)
    with pytest.raises(kg.KinegradError, match="history=True does not go with 'continuous-adjoint'"):
        kg.gradient(motion, method="continuous-adjoint", history=True)


def test_own_steps_end_where_something_jumps():
    """A mass that is pushed for a while: its way is v0 T + F/m (d²/2 + d (T - t1)), d = t1 - t0, whatever the steps are."""
    model = kg.Model.from_yaml_text("""
kinegrad: 1
parameters: {m: 2, F: 3}
design: [m, F]
ground: {markers: {O: [0, 0, 0]}}
bodies: {block: {mass: m, markers: {C: [0, 0, 0]}}}
joints: {rail: {type: prismatic, between: [ground.O, block.C], axis: [1, 0, 0]}}
forces: {push: {type: force, acts_on: rail.distance, value: "F*step(t - 0.1234)*step(0.5017 - t)"}}
degrees_of_freedom: {rail.distance: {position: 0, velocity: 0.2}}
objectives: {way: {final: rail.distance}, effort: {integral: rail.distance.acceleration**2}}
simulation: {t_end: 0.7, step: 0.01}
""")
    motion, d = kg.simulate(kg.joint(model), "index1", "rk4"), 0.5017 - 0.1234
    way = d * d / 2 + d * (0.7 - 0.5017)
    exact = [[-3 * way / 4, way / 2], [-2 * d * 9 / 8, 2 * d * 3 / 4]]
    for step in (None, 0.01, 0.013, 0.05):
        found = kg.gradient(motion, method=kg.ContinuousAdjoint(step=step))
        np.testing.assert_allclose(found.matrix, exact, rtol=1e-9)
