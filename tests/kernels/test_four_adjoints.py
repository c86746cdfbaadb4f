"""Four adjoints at once: the same as one after the other, in every set, whichever columns take part."""

import numpy as np
import pytest
from products_by_complex_step import uncompiled

import kinegrad as kg
from kinegrad.bench.five_bar import MODEL
from kinegrad.kernels.four_adjoints import collect
from kinegrad.kernels.products import (
    BLOCK,
    END_COLUMN,
    FIRST_COLUMN,
    LINEARISE,
    OBJECTIVE,
    PULLBACK,
    PULLBACK4,
    WEIGHT,
)

pytestmark = uncompiled
ADJOINTS = {"mu": "n", "eta_v": "n", "eta_a": "n", "yp": "r", "yv": "r", "ya": "r", "ys": "r"}
WEIGHTS = (0.3, -1.2, 2.0)


@pytest.mark.parametrize("kind", [kg.joint, kg.reference_point, kg.natural], ids=lambda kind: kind.__name__)
def test_four_at_once_are_one_after_the_other(kind, rng):
    system = kind(kg.Model.from_yaml(MODEL))
    work = system.workspace()
    work["q"][:] = kg.Stepper(system, "ali3p", "newmark", step=1e-3).q
    for name in ("v", "a", "vp", "ap", "dv", "da", "lam", "sv", "sa"):
        work[name][:] = rng.normal(size=work[name].shape)
    work.call(LINEARISE)
    given = {name: rng.normal(size=work[f"{name}4"].shape) for name in ADJOINTS}
    for o in (2, 0, 1):  # what is left of one must not come to the next
        for name, value in given.items():
            work[name][:] = value[:, o]
        work["flag"][OBJECTIVE], work["par"][WEIGHT] = o, WEIGHTS[o]
        work.call(PULLBACK)
    one_by_one = work["psi_s"].copy()
    work["psi_s"][:] = 0.0
    for name, value in given.items():
        work[f"{name}4"][:] = value
        work[f"{name}4"][:, 3] = 0.0  # there are three objectives
    work["weight4"][:3] = WEIGHTS
    work["flag"][[BLOCK, FIRST_COLUMN, END_COLUMN]] = 0, 0, 3
    work.call(PULLBACK4)
    collect(work.pointer)
    assert np.abs(one_by_one).max(axis=1).min() > 1.0 and not work["psi4"].any()
    np.testing.assert_allclose(work["psi_s"], one_by_one, rtol=1e-13, atol=1e-13 * np.abs(one_by_one).max())
