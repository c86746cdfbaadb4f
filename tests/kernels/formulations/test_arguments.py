"""Named tuples of entries: compiled code finds every part of them by its name, whatever stands inside another."""

import numpy as np
import pytest

from kinegrad.kernels.formulations.arguments import Explicit, Implicit, Objectives, Rule, Segment, Steps, Variation
from kinegrad.kernels.formulations.objectives import FINAL
from kinegrad.kernels.formulations.runge_kutta import RK4
from kinegrad.kernels.jit import entry
from kinegrad.objectives import at_end

NUMBERS = np.arange(1.0, 4.0)
ROWS, BLOCKS = NUMBERS[:, None] * NUMBERS, np.full((2, 3, 4), 0.5)
COUNTS, KINDS = np.array([7, 8]), at_end(2)


@entry
def of_steps(method, steps, objectives):
    steps.counts[1] = steps.stride
    objectives.psi[0] = method.tableau.b[1] + method.control[2]
    return (
        steps.ts[1] + steps.traj[2, 2] + steps.hs[0] + steps.flags[0],
        objectives.kinds.kind[1],
        method.rates[1, 2, 3],
    )


@entry
def of_implicit_steps(method):
    method.auxiliary[0] = 5.0
    return method.family[1], method.allowed


@entry
def of_sweeps(rule, segment, variation):
    variation.x[0, 1, 2] = 9.0
    return rule.explicit, rule.tableau.A[1, 0] + rule.family[0] + segment.after + segment.traj[0, 1] + variation.q[
        1, 2, 3
    ]


def test_steps():
    psi, counts = np.zeros(2), COUNTS.copy()
    method = Explicit(RK4, NUMBERS, np.full((2, 5, 4), 2.0), np.zeros(2))
    steps, objectives = Steps(NUMBERS, NUMBERS[:2], 4, ROWS, counts, COUNTS), Objectives(KINDS, psi, np.zeros(2))
    assert of_steps(method, steps, objectives) == (2.0 + 9.0 + 1.0 + 7, FINAL, 2.0)
    assert counts[1] == 4 and psi[0] == pytest.approx(1 / 3 + 3.0, abs=1e-15)
    auxiliary = np.zeros(1)
    assert of_implicit_steps(Implicit(NUMBERS, auxiliary, 25)) == (2.0, 25)
    assert auxiliary[0] == 5.0


@pytest.mark.parametrize("explicit", [False, True])
def test_sweeps(explicit):
    """An array may stand at two places, as the accelerations of Newmark's method do."""
    rule, segment = Rule(explicit, RK4, NUMBERS), Segment(NUMBERS, NUMBERS[:2], 0.0, 0.25, KINDS, ROWS, COUNTS)
    a = BLOCKS.copy()
    assert of_sweeps(rule, segment, Variation(BLOCKS, BLOCKS, a, a)) == (explicit, 0.5 + 1.0 + 0.25 + 2.0 + 0.5)
    assert a[0, 1, 2] == 9.0
