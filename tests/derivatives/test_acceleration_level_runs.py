"""Gradients of whole runs at acceleration level, direct and adjoint, against complex step of the simulator.

Run as a script with ``NUMBA_DISABLE_JIT=1`` it prints the complex-step results: see `whole_runs`.
"""

import json
import sys
from functools import partial

import numpy as np
import pytest
from uncompiled import uncompiled_results
from whole_runs import (
    DRIVEN_WRT,
    EXAMPLES,
    FIVE_BAR,
    SLIDER_CRANK,
    SPATIAL_WRT,
    Case,
    H,
    driven_crank,
    five_bar,
    slider_crank,
    spatial_loop,
)

from kinegrad.kernels.jit import JIT
from kinegrad.model.model import Model
from kinegrad.model.simulation import (
    HHT,
    GeneralizedAlpha,
    Index1,
    Newmark,
    Penalty,
    Recursive,
    RungeKutta4,
    RungeKutta54,
    UdwadiaKalaba,
)
from kinegrad.sensitivity.gradient import gradient, labels_of

# Two hinged bars and a slide on the second: no constraint rows at all.
CHAIN = """
kinegrad: 1
parameters: {L: 0.6, m: 1.4, J: 0.2, k: 25, c: 0.7, L0: 0.4, tilt: 0.3, turn: 0.2, spin: 1.1}
ground: {markers: {O: [0, 0, 0.1], S: [0.5, -0.4, 0.2]}}
bodies:
  a: {mass: m, com: [0.1, 0.1, -0.2], inertia: [0.3, 0.4, 0.5, 0.02, -0.03, 0.05], markers: {p: [0, 0.1, 0], q: [L, 0.1, 0.2]}}
  b: {mass: 0.8, com: [0.2, 0, 0.1], inertia: [J, 0.3, 0.25], markers: {p: [-0.1, 0.2, tilt], q: [L, 0.3, -0.2]}}
  d: {mass: 0.5, com: [0, 0.1, 0.2], inertia: [0.1, 0.15, 0.12], markers: {p: [0, 0, 0], q: [0, 0, L/2]}}
joints:
  base: {type: revolute, between: [ground.O, a.p], axis: [0, 0, 1]}
  hinge: {type: revolute, between: [a.q, b.p], axis: [1, tilt, 0.4]}
  slide: {type: prismatic, between: [b.q, d.p], axis: [tilt, 1, 0]}
forces:
  gravity: {type: gravity, acceleration: [0.3, -9.81, 1]}
  coil: {type: spring, between: [ground.S, d.q], stiffness: k, damping: c, natural_length: L0}
  push: {type: torque, acts_on: hinge.angle, value: "tilt*sin(5*t) - c*hinge.angle.velocity"}
degrees_of_freedom:
  base.angle: {position: turn, velocity: spin}
  hinge.angle: {position: 0.1, velocity: -spin}
  slide.distance: {position: turn/2, velocity: 0.3}
objectives:
  path: {integral: "norm2(d.q.position) + tilt*t"}
  effort: {integral: "norm2(b.q.acceleration) + L*hinge.angle.velocity**2"}
  end: {final: "dot(d.q.position, b.q.velocity) + hinge.angle.acceleration*c"}
"""


def open_chain() -> Model:
    """A tree without constraint rows."""
    return Model.from_yaml_text(CHAIN)


def example(name: str) -> Model:
    """The model of an example."""
    return Model.from_yaml(EXAMPLES / name / "model.yaml")


def _cases() -> dict[str, Case]:
    formulations = {"index1": Index1(frequency=15.0, damping=0.8), "penalty": Penalty(penalty=1e7)}
    integrators = {"newmark": Newmark(), "rk4": RungeKutta4(), "rk54": RungeKutta54(tolerance=1e-7)}
    crank = {"wrt": SLIDER_CRANK, "t_end": 0.06, "step": 0.005}
    runs = {
        "five-bar": (five_bar, {"wrt": FIVE_BAR, "t_end": 0.1, "step": 0.0085}),
        "slider-crank, ball cut": (slider_crank, crank | {"cut": ("ball",)}),
        "slider-crank, pivot cut": (slider_crank, crank | {"cut": ("pivot",)}),
        "open chain": (open_chain, {"wrt": ("L", "J", "tilt", "L0", "turn", "spin"), "t_end": 0.1, "step": 0.015}),
    }
    cases = {
        f"{name}, {f}, {i}": Case(model, formulation, integrator, **options)
        for name, (model, options) in runs.items()
        for f, formulation in formulations.items()
        for i, integrator in integrators.items()
    }
    weak = Penalty(penalty=1e3, frequency=15.0)
    damped = Newmark(beta=0.3025, gamma=0.6)
    five = runs["five-bar"][1]
    driven = {"wrt": DRIVEN_WRT[1::2], "t_end": 0.02, "step": 0.0055}
    hht, generalized = HHT(alpha=-0.2), GeneralizedAlpha(rho_inf=0.3)
    chain = runs["open chain"][1]
    spatial = {"wrt": SPATIAL_WRT, "t_end": 0.04, "step": 0.008}
    loops = {
        f"spatial loop, {cut} cut, {formulation.type}, {integrator.type}": Case(
            spatial_loop, formulation, integrator, cut=(cut,), **spatial
        )
        for cut, formulation, integrator in (
            ("tube", formulations["index1"], RungeKutta4()),
            ("tube", formulations["index1"], damped),
            ("tube", Recursive(), RungeKutta4()),
            ("hinge", formulations["index1"], RungeKutta4()),
            ("hinge", Recursive(), RungeKutta54(tolerance=1e-5)),
        )
    }
    ball = {"wrt": ("m_B", "p_B", "p_C", "w"), "t_end": 0.06, "step": 0.016}
    unstabilised = {
        f"{model}, udwadia-kalaba, {integrator.type}": Case(
            partial(example, model), UdwadiaKalaba(), integrator, **options
        )
        for model, integrator, options in (
            *(("ball_joint", i, ball) for i in (*integrators.values(), hht, generalized)),
            ("bennett", RungeKutta4(), {"wrt": ("m",), "t_end": 0.01, "step": 0.004}),
            ("bennett", Newmark(), {"wrt": ("m",), "t_end": 0.01, "step": 0.004}),
        )
    }
    return (
        cases
        | loops
        | unstabilised
        | {
            "five-bar, index1, hht": Case(five_bar, formulations["index1"], hht, **five),
            "five-bar, index1, generalized-alpha": Case(five_bar, formulations["index1"], generalized, **five),
            "five-bar, penalty, hht": Case(five_bar, formulations["penalty"], hht, **five),
            "five-bar, penalty, generalized-alpha": Case(five_bar, formulations["penalty"], generalized, **five),
            "open chain, index1, hht": Case(open_chain, formulations["index1"], hht, **chain),
            "driven, penalty, generalized-alpha": Case(driven_crank, weak, generalized, **driven),
            "five-bar, weak penalty, newmark": Case(five_bar, weak, Newmark(), **five),
            "five-bar, weak penalty, rk54": Case(five_bar, weak, integrators["rk54"], **five),
            "five-bar, weak penalty, redundant rows, rk4": Case(
                five_bar, weak, RungeKutta4(), FIVE_BAR[::3], 0.08, 0.0085, coordinates="reference-point"
            ),
            "five-bar, weak penalty, redundant rows, rk54": Case(
                five_bar, weak, integrators["rk54"], FIVE_BAR[1::3], 0.02, 0.0085, coordinates="natural"
            ),
            "five-bar, index1, damped newmark": Case(five_bar, formulations["index1"], damped, **five),
            "five-bar, no stabilisation, rk4": Case(five_bar, Index1(frequency=0.0), RungeKutta4(), **five),
            "slider-crank, rail cut, index1, rk4": Case(
                slider_crank, formulations["index1"], RungeKutta4(), cut=("rail",), **crank
            ),
            "driven, index1, newmark": Case(driven_crank, formulations["index1"], Newmark(), **driven),
            "driven, penalty, rk4": Case(driven_crank, weak, RungeKutta4(), **driven),
        }
    )


CASES = _cases()


def by_complex_step(case: Case) -> dict:
    """Objectives, gradient (objectives, parameters) and steps by complex step of the simulator."""
    system = case.system()
    columns = []
    for direction in system.directions(labels_of(system, case.wrt)):
        motion = case.run(system, 0.0, 16, s=system.s + 1j * H * direction)
        columns.append([value.imag / H for value in motion.objectives.values()])
    values = [float(value.real) for value in motion.objectives.values()]
    return {"objectives": values, "gradient": np.array(columns).T.tolist(), "steps": motion.hs.tolist()}


@pytest.fixture(scope="module")
def expected():
    """{case: {objectives, gradient, steps}} from processes without the compiler."""
    return uncompiled_results(__file__)


@pytest.mark.slow
@pytest.mark.skipif(not JIT, reason="compares compiled code with uncompiled runs")
@pytest.mark.parametrize("name", list(CASES))
def test_gradient(name, expected):
    case, expected = CASES[name], expected[name]
    motion = case.run(case.system(), 1e-14, 30)
    values = np.array(list(motion.objectives.values()))
    assert np.abs(values - expected["objectives"]).max() < 1e-11 * np.abs(values).max()
    np.testing.assert_allclose(motion.hs, expected["steps"], rtol=1e-5)
    direct = gradient(motion, wrt=case.wrt, method="direct").matrix
    adjoint = gradient(motion, wrt=case.wrt, method="discrete-adjoint").matrix
    complex_step = np.array(expected["gradient"])
    scale = np.maximum(np.abs(complex_step), 1e-3 * np.abs(complex_step).max(axis=1, keepdims=True))
    assert np.isfinite(direct).all()
    assert (np.abs(direct - complex_step) / scale).max() < 1e-11
    assert (np.abs(adjoint - direct) / scale).max() < 1e-11


def main() -> None:
    """Write the results of every n-th case, from the k-th on, as JSON; n and k are the arguments."""
    n, k = map(int, sys.argv[1:])
    json.dump({name: by_complex_step(CASES[name]) for name in list(CASES)[k::n]}, sys.stdout)


if __name__ == "__main__":
    main()
