"""The continuous adjoint of a few steps: beside the discrete one it is off by the order of its rule."""

import pytest
from kinematics.small_models import FOUR_BAR, system

import kinegrad as kg


@pytest.mark.parametrize(
    ("formulation", "integrator", "ratio"),
    [("index1", "rk4", 16.0), ("penalty", "newmark", 4.0), ("ali3p", "newmark", 4.0)],
)
def test_order(formulation, integrator, ratio):
    made, apart = system(FOUR_BAR), []
    for steps in (4, 8):
        motion = kg.simulate(made, formulation, integrator, t_end=0.08, step=0.08 / steps)
        one, other = (
            kg.gradient(motion, wrt=list(made.parameters.independent), method=method).matrix
            for method in ("discrete-adjoint", "continuous-adjoint")
        )
        apart.append(abs(one - other).max())
    assert apart[0] / apart[1] == pytest.approx(ratio, rel=0.35)
