"""Velocities and accelerations in angular velocities: those in Euler parameters, and those that bodies have."""

import numpy as np
import pytest
from driven_models import RSUR, SCREW, stewart, text_model

import kinegrad as kg
from kinegrad.coordinates.sets import SETS
from kinegrad.rotations import omega_b_from_pd, omegad_b_from_pdd

MODELS = {"RSUR": lambda: text_model(RSUR), "screw": lambda: text_model(SCREW), "Stewart": stewart}


def close(found, expected):
    return np.abs(found - expected).max(initial=0.0) < 1e-12 * max(1.0, np.abs(expected).max(initial=0.0))


@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("name", MODELS)
def test_both_forms_agree(name, kind):
    """With γ of the angular form: the one of Euler parameters would be off by the squares of the angular velocities."""
    motion = kg.drive(kg.lower(MODELS[name](), kind), t_end=0.5, step=0.05)
    found, system = kg.angular_rates(motion), motion.system
    assert close(found.qd, motion.qd) and close(found.qdd, motion.qdd)
    assert len(found.owners) == len(system.alike) and (found.owners or kind in ("joint", "natural"))
    for k, group in enumerate(system.alike):
        for i in range(len(motion.t)):
            p, pd, pdd = (x[i, group] for x in (motion.q, motion.qd, motion.qdd))
            assert close(found.omega[i, k], omega_b_from_pd(p, pd))
            assert close(found.omegad[i, k], omegad_b_from_pdd(p, pd, pdd))


def test_only_motions_by_drivers():
    motion = kg.simulate(kg.lower(text_model(RSUR)), t_end=0.002, step=1e-3)
    with pytest.raises(kg.KinegradError, match=r"make it by kg\.drive"):
        kg.angular_rates(motion)
