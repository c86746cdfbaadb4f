"""Gradients of runs with bushings in every formulation against complex step.

Run as a script with ``NUMBA_DISABLE_JIT=1`` it prints the complex-step results: see `whole_runs`.
"""

import json
import sys

import bushing_models
import numpy as np
import pytest
from uncompiled import uncompiled_results
from whole_runs import TO_ROUNDING, Case, H

from kinegrad.kernels.jit import JIT
from kinegrad.model.simulation import (
    ALI3P,
    HHT,
    Index1,
    MatrixR,
    Newmark,
    Penalty,
    Recursive,
    RungeKutta4,
)
from kinegrad.sensitivity.gradient import gradient, labels_of

OPEN = {"wrt": ("k", "c", "kt", "ct", "tilt", "off", "L", "turn", "spin"), "t_end": 0.03, "step": 0.006}
LOOP = {"wrt": ("k", "c", "kt", "ct", "skew", "off", "L", "spin"), "t_end": 0.03, "step": 0.006}
FORMULATIONS = {
    "ali3p": (ALI3P(penalty=1e8), Newmark()),
    "ali3p, hht": (ALI3P(penalty=1e8), HHT(alpha=-0.2)),
    "matrix-r": (MatrixR(), Newmark()),
    "matrix-r, rk4": (MatrixR(), RungeKutta4()),
    "index1": (Index1(frequency=15.0, damping=0.8), Newmark()),
    "index1, rk4": (Index1(frequency=15.0, damping=0.8), RungeKutta4()),
    "penalty": (Penalty(penalty=1e7), Newmark()),
    "recursive": (Recursive(), RungeKutta4()),
    "recursive, newmark": (Recursive(), Newmark()),
}
CASES = {
    f"{name}, {key}": Case(model, *scheme, **options)
    for name, model, options in (
        ("open", bushing_models.open_tree, OPEN), ("loop", bushing_models.loop, LOOP),
    )
    for key, scheme in FORMULATIONS.items()
}  # fmt: skip


def by_complex_step(case: Case) -> dict:
    """Objectives and their gradient (objectives, parameters) by complex step of the simulator."""
    system, rounds = case.system(), TO_ROUNDING.get(case.formulation.type, (0.0, 16))
    columns = []
    for direction in system.directions(labels_of(system, case.wrt)):
        motion = case.run(system, *rounds, s=system.s + 1j * H * direction)
        columns.append([value.imag / H for value in motion.objectives.values()])
    values = [float(value.real) for value in motion.objectives.values()]
    return {"objectives": values, "gradient": np.array(columns).T.tolist()}


@pytest.fixture(scope="module")
def expected():
    """{case: {objectives, gradient}} from processes without the compiler."""
    return uncompiled_results(__file__)


@pytest.mark.slow
@pytest.mark.skipif(not JIT, reason="compares compiled code with uncompiled runs")
@pytest.mark.parametrize("name", list(CASES))
def test_gradient(name, expected):
    case, expected = CASES[name], expected[name]
    motion = case.run(case.system(), 1e-15, 40)
    values = np.array(list(motion.objectives.values()))
    assert np.abs(values - expected["objectives"]).max() < 1e-11 * np.abs(values).max()
    direct = gradient(motion, wrt=case.wrt, method="direct").matrix
    adjoint = gradient(motion, wrt=case.wrt, method="discrete-adjoint").matrix
    complex_step = np.array(expected["gradient"])
    scale = np.maximum(np.abs(complex_step), 1e-3 * np.abs(complex_step).max(axis=1, keepdims=True))
    assert np.isfinite(direct).all()
    assert (np.abs(direct - complex_step) / scale).max() < 1e-9
    assert (np.abs(adjoint - direct) / scale).max() < 1e-9


def main() -> None:
    """Write the results of every n-th case, from the k-th on, as JSON; n and k are the arguments."""
    n, k = map(int, sys.argv[1:])
    json.dump({name: by_complex_step(CASES[name]) for name in list(CASES)[k::n]}, sys.stdout)


if __name__ == "__main__":
    main()
