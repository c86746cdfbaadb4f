"""Second derivatives of the five-bar against complex step of exact gradients.

Run as a script with ``NUMBA_DISABLE_JIT=1`` it prints these.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from kinematics.small_models import FOUR_BAR
from uncompiled import uncompiled_results

import kinegrad as kg
from kinegrad.kernels.jit import JIT
from kinegrad.sensitivity.direct import direct
from kinegrad.sensitivity.method import Wanted
from kinegrad.sensitivity.states import AllStates

MODEL = Path(__file__).parents[2] / "examples" / "five_bar" / "model.yaml"
TIMES = {"t_end": 0.1, "step": 0.01}
STEP = 1e-30


def five_bar():
    return kg.joint(kg.Model.from_yaml(MODEL))


def second_derivatives(k: int) -> list:
    """(objectives, parameters) derivatives of the gradient by the parameter k of the design."""
    system, labels = five_bar(), five_bar().model.design
    rho = system.rho.astype(complex)
    rho[system.parameters.positions([labels[k]])[0]] += 1j * STEP
    moved = system.with_parameters(rho)
    motion = kg.simulate(system, kg.ALI3P(tolerance=0.0, max_iterations=20), "newmark", s=moved.s, **TIMES)
    return (direct(AllStates(motion), Wanted(moved, labels)).imag / STEP).tolist()


@pytest.mark.skipif(not JIT, reason="differences need the compiler")
def test_five_bar():
    expected = uncompiled_results(__file__)
    expected = np.stack([np.array(expected[str(k)]) for k in range(5)], axis=2)
    motion = kg.simulate(five_bar(), kg.ALI3P(), "newmark", **TIMES)
    found = kg.hessian(motion)
    assert found.matrix.shape == (3, 5, 5) and found.wrt == tuple(motion.system.model.design)
    assert np.array_equal(found.matrix, found.matrix.transpose(0, 2, 1))
    for H, error, exact in zip(found.matrix, found.error, expected, strict=True):
        assert np.abs(H - exact).max() < 1e-6 * np.abs(exact).max()
        assert (np.abs(H - exact) <= 30.0 * error + 1e-9 * np.abs(exact).max()).all()
    one = found[next(iter(found.values)), found.wrt[0], found.wrt[1]]
    assert one == found.matrix[0, 0, 1] and "good to" in repr(found) and "Second derivatives" in found._repr_html_()
    direction = np.array([0.1, -0.2, 1.0, 0.3, 0.05])
    product = kg.hessian_product(motion, direction)
    size = np.abs(found.matrix @ np.abs(direction)).max(axis=1, keepdims=True)
    assert (np.abs(product.matrix - found.matrix @ direction) < 1e-6 * size).all()


def test_the_end_of_the_run_has_second_derivatives():
    """x = x0 cos(w T) of a mass on a spring, and its integral."""
    model = kg.Model.from_yaml_text("""
kinegrad: 1
parameters: {k: 8, x0: 0.5, T: 0.7}
design: [T, x0, k]
ground: {markers: {O: [0, 0, 0]}}
bodies: {block: {mass: 2, markers: {C: [0, 0, 0]}}}
joints: {rail: {type: prismatic, between: [ground.O, block.C], axis: [1, 0, 0]}}
forces: {coil: {type: spring, acts_on: rail.distance, stiffness: k}}
degrees_of_freedom: {rail.distance: {position: x0}}
objectives: {x: {final: rail.distance}, way: {integral: rail.distance}}
simulation: {t_end: T, step: 0.01}
""")
    motion, w, T = kg.simulate(kg.joint(model), "index1", "rk4"), 2.0, 0.7
    s, c = np.sin(w * T), np.cos(w * T)
    by_end = [[-0.5 * w * w * c, -w * s, -0.5 * (s + w * T * c) / 8.0], [-0.5 * w * s, c, -0.5 * T * s / 8.0]]
    np.testing.assert_allclose(kg.hessian(motion).matrix[:, 0], by_end, rtol=0, atol=1e-7)
    np.testing.assert_allclose(
        kg.hessian_product(motion, [2.0, 0, 0]).matrix, 2.0 * np.array(by_end), rtol=0, atol=2e-7
    )


def test_a_parameter_near_what_cannot_be_assembled_is_named():
    """Rods that just reach each other: one per cent less and they do not."""
    text = FOUR_BAR.replace("rocker: 0.6", "rocker: 0.3").replace("coupler: 0.9", "coupler: 0.556")
    text = text.replace("objectives", "design: [coupler]\nobjectives")
    motion = kg.simulate(kg.joint(kg.Model.from_yaml_text("kinegrad: 1\n" + text)), t_end=0.004, step=0.002)
    with pytest.raises(
        kg.AssemblyError, match=r"by 'coupler' take runs with values up to 1 % from its own, .*assembled"
    ):
        kg.hessian(motion, ["coupler"])


def test_refused_by_name():
    motion = kg.simulate(five_bar(), "index1", "rk54", t_end=0.05)
    with pytest.raises(
        kg.KinegradError, match=r"with error control \(rk54\) would see other steps in every run; take 'rk4'"
    ):
        kg.hessian(motion)
    motion = kg.simulate(five_bar(), t_end=0.02, step=0.01)
    with pytest.raises(kg.KinegradError, match=r"direction has the shape \(2,\); 5 finite numbers are needed"):
        kg.hessian_product(motion, [1.0, 2.0])
    assert (kg.hessian_product(motion, np.zeros(5)).matrix == 0.0).all()


if __name__ == "__main__":
    processes, mine = map(int, sys.argv[1:3])
    import warnings

    warnings.simplefilter("ignore")
    print(json.dumps({str(k): second_derivatives(k) for k in range(5) if k % processes == mine}))
