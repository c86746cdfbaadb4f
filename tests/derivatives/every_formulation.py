"""Gradients of short runs in every formulation against complex step; a test file gives the models.

Run as a script with ``NUMBA_DISABLE_JIT=1`` such a file prints the complex-step results: see `whole_runs`.
"""

import json
import sys

import numpy as np
import pytest
from uncompiled import uncompiled_results
from whole_runs import TO_ROUNDING, Case, H

from kinegrad.kernels.jit import JIT
from kinegrad.model.simulation import ALI3P, HHT, Index1, MatrixR, Newmark, Penalty, Recursive, RungeKutta4
from kinegrad.sensitivity.gradient import gradient, labels_of

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


def cases(*models) -> dict[str, Case]:
    """A case for each (name, model, options) in each formulation."""
    return {
        f"{name}, {key}": Case(model, *scheme, **options)
        for name, model, options in models
        for key, scheme in FORMULATIONS.items()
    }


def by_complex_step(case: Case) -> dict:
    """Objectives and their gradient (objectives, parameters) by complex step of the simulator."""
    system, rounds = case.system(), TO_ROUNDING.get(case.formulation.type, (0.0, 9))
    columns = []
    for direction in system.directions(labels_of(system, case.wrt)):
        motion = case.run(system, *rounds, s=system.s + 1j * H * direction)
        columns.append([value.imag / H for value in motion.objectives.values()])
    values = [float(value.real) for value in motion.objectives.values()]
    return {"objectives": values, "gradient": np.array(columns).T.tolist()}


def assert_gradient(case: Case, expected: dict, tolerance: float = 1e-9) -> None:
    """Objectives, direct and adjoint gradient of a compiled run are those of complex step."""
    motion = case.run(case.system(), 1e-15, 40)
    values = np.array(list(motion.objectives.values()))
    assert np.abs(values - expected["objectives"]).max() < 1e-11 * np.abs(values).max()
    direct = gradient(motion, wrt=case.wrt, method="direct").matrix
    adjoint = gradient(motion, wrt=case.wrt, method="discrete-adjoint").matrix
    complex_step = np.array(expected["gradient"])
    scale = np.maximum(np.abs(complex_step), 1e-3 * np.abs(complex_step).max(axis=1, keepdims=True))
    assert np.isfinite(direct).all()
    assert (np.abs(direct - complex_step) / scale).max() < tolerance
    assert (np.abs(adjoint - direct) / scale).max() < tolerance


def gradient_tests(file: str, cases: dict[str, Case]):
    """The fixture `expected` and the test `test_gradient` of a file with these cases, which as a script runs `main`."""

    @pytest.fixture(scope="module")
    def expected():
        """{case: {objectives, gradient}} from processes without the compiler."""
        return uncompiled_results(file)

    @pytest.mark.slow
    @pytest.mark.skipif(not JIT, reason="compares compiled code with uncompiled runs")
    @pytest.mark.parametrize("name", list(cases))
    def test_gradient(name, expected):
        assert_gradient(cases[name], expected[name])

    return expected, test_gradient


def main(cases: dict[str, Case]) -> None:
    """Write the results of every n-th case, from the k-th on, as JSON; n and k are the arguments."""
    n, k = map(int, sys.argv[1:])
    json.dump({name: by_complex_step(cases[name]) for name in list(cases)[k::n]}, sys.stdout)
