"""Every formulation with every integrator converges with its own order to one limit; what drifts says by how much."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from kinegrad.coordinates.sets import joint
from kinegrad.dynamics.schemes import SCHEMES
from kinegrad.model.model import Model
from kinegrad.model.simulation import FORMULATIONS, INTEGRATORS
from kinegrad.simulate import simulate

EXAMPLES = Path(__file__).parents[2] / "examples"
T_END = 0.2
#: first steps of methods of second and fourth order; first tolerance of error control (fifth)
FIRST = {"five_bar": {2: 2e-3, 4: 2e-2, 5: 8e-6}, "slider_crank": {2: 1e-3, 4: 8e-3, 5: 1.6e-5}}
NEAR = {1: 0.1, 2: 0.1, 4: 0.2, 5: 1.0}  # of the order that is found to its own; steps under error control are uneven
KNOWN, PENALTY = 1e-12, 2e-11  # how well the limit is known [m], and what penalties of 1e9 leave
DRIFT = ("index1", "penalty", "recursive", "udwadia-kalaba")  # constraints are kept at acceleration level


@cache
def system(model):
    return joint(Model.from_yaml(EXAMPLES / model / "model.yaml"))


def points(model, formulation, integrator, step, output_step=T_END):
    motion = simulate(system(model), formulation, integrator, step=step, t_end=T_END, output_step=output_step)
    return motion.marker_array()[-1, :, 0], motion


@cache
def limit(model):
    """The motion that all should approach, to 1e-12."""
    fine, finer = (points(model, "matrix-r", "rk4", h)[0] for h in (5e-4, 2.5e-4))
    assert np.abs(fine - finer).max() < 2e-11
    return finer


@pytest.mark.parametrize("key", SCHEMES, ids="-".join)
@pytest.mark.parametrize("model", FIRST)
def test_order(model, key):
    formulation, integrator = FORMULATIONS[key[0]](), INTEGRATORS[key[1]]()
    order = integrator.order
    if (
        order == 5 and key[0] == "udwadia-kalaba"
    ):  # ten steps of a growing drift do not show the order of error control yet
        formulation = formulation.with_(frequency=10.0)
    first = FIRST[model][order]
    errors = []
    for k in range(3):
        if order == 5:  # half the step is the tolerance divided by 2 to the fifth
            integrator, step = integrator.with_(tolerance=first / 2.0 ** (5 * k)), 1e-2
        else:
            step = first / 2.0**k
        errors.append(np.abs(points(model, formulation, integrator, step)[0] - limit(model)).max())
    floor = 20.0 * (PENALTY if "penalty" in type(formulation).model_fields else KNOWN)
    found = [np.log2(errors[k] / errors[k + 1]) for k in range(2) if errors[k + 1] > floor]
    assert found
    assert found == pytest.approx([order] * len(found), abs=NEAR[order]), errors


@pytest.mark.parametrize("key", SCHEMES, ids="-".join)
def test_drift(key):
    """Formulations at acceleration level drift, and say so; the others keep the constraints."""
    position, velocity, acceleration = points("five_bar", *key, 2e-3, None)[1].constraint_violation.max(axis=0)
    assert (1e-12 < position < 1e-6) if key[0] in DRIFT else position < 1e-12
    assert velocity < 1e-5 and acceleration < 1e-4
