"""Reactions along a motion: one loop over its states gives what each state gives alone."""

import numpy as np
from helpers import assert_close
from kinematics.small_models import FOUR_BAR, system
from whole_runs import DRIVEN

import kinegrad as kg
from kinegrad.coordinates.sets import joint
from kinegrad.model.model import Model
from kinegrad.reactions.solve import reactions


def test_states_do_not_know_of_each_other():
    for made in (system(FOUR_BAR), joint(Model.from_yaml_text(DRIVEN))):
        motion = kg.simulate(made, "index1", "rk4", t_end=4e-2, step=1e-2)
        states = motion.t, motion.q, motion.qd, motion.qdd
        whole = reactions(made, *states)
        assert np.abs(whole.residual).max() < 1e-9 * max(np.abs(x).max() for x in whole.values())
        for k in range(len(motion.t)):
            alone = reactions(made, *(x[k : k + 1] for x in states))
            for name, found in whole.items():
                assert_close(found[k], alone[name][0], 1e-12, max(1.0, np.abs(found).max()))
            for name, force in whole.forces.items():
                assert_close(force[k], alone.forces[name][0], 1e-12, max(1.0, np.abs(force).max()))
