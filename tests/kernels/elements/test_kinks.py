"""Kinks: the first state by which an element has crossed one, found after a run."""

import numpy as np
import pytest
from small_mechanisms import two_bodies

import kinegrad as kg

START = "degrees_of_freedom: {ja.angle: {position: 0.3, velocity: 0.5}, jb.angle: {position: 0.4, velocity: 0.8}}\n"
FORCES = START + "forces: {pull: {type: torque, acts_on: jb.angle, value: '-abs(jb.angle - AT)'}}"


def test_the_first_crossing_is_told_once():
    """The time is that of the first state on the other side."""
    free = kg.simulate(kg.joint(two_bodies(START)), "index1", "rk4", t_end=6e-3, step=1e-3)
    angle = free.q[:, free.system.number_of["jb.angle"]]
    assert (np.diff(angle) > 0.0).all() or (np.diff(angle) < 0.0).all()
    middle = 0.5 * (angle[2] + angle[3])
    model = two_bodies(FORCES.replace("AT", repr(float(middle))))
    with pytest.warns(kg.AccuracyWarning, match=r"'pull'.*t = 0\.003 s") as told:
        kg.simulate(kg.joint(model), "index1", "rk4", t_end=6e-3, step=1e-3)
    assert len(told) == 1
