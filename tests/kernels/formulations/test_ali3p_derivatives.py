"""Derivatives of steps of ALI3-P, direct and adjoint, by complex step of the same steps."""

import pytest
from products_by_complex_step import uncompiled

from kinegrad.kernels.formulations.ali3p import PROJECTED_A, PROJECTED_V
from kinegrad.model.simulation import ALI3P, HHT, GeneralizedAlpha, Newmark

from .short_runs import assert_gradients, short_run

EXACT = ALI3P(penalty=1e8, projection_method="augmented-lagrangian")
RUNS = {
    "newmark": (ALI3P(penalty=1e8), Newmark()),
    "damped newmark": (ALI3P(penalty=1e8), Newmark(beta=0.3025, gamma=0.6)),
    "hht": (ALI3P(penalty=1e8), HHT(alpha=-0.2)),
    "generalized-alpha": (ALI3P(penalty=1e8), GeneralizedAlpha(rho_inf=0.3)),
    "exact projections": (EXACT, Newmark()),
    "no projections": (ALI3P(penalty=1e8, projection=1e6), Newmark()),
}


@uncompiled
@pytest.mark.parametrize("name", RUNS)
def test_gradient_of_a_loop(name):
    motion = assert_gradients(short_run("four-bar", *RUNS[name]))
    projected = PROJECTED_V | PROJECTED_A
    assert (motion.flags & projected == (0 if name == "no projections" else projected)).all()


@uncompiled
def test_gradient_of_euler_parameters():
    assert_gradients(short_run("ball", *RUNS["newmark"]))
