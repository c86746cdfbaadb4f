"""Methods of differentiation: objects, their names, and what is refused."""

import dataclasses

import numpy as np
import pytest
from kinematics.small_models import system
from statics.test_equilibrium import ROD

import kinegrad as kg
from kinegrad.dynamics.schemes import SCHEMES
from kinegrad.sensitivity.method import Wanted
from kinegrad.sensitivity.methods import ALSO, METHODS

OBJECTIVES = "{height: {final: rod.T.y}, angle: {final: hinge.angle}}"
SWING = ROD.replace(OBJECTIVES, "{height: {final: rod.T.y}, swept: {integral: hinge.angle**2}}")


@pytest.fixture(scope="module")
def motion():
    return kg.simulate(system(SWING), t_end=0.1, step=0.01)


def test_objects_and_names_are_the_same(motion):
    for named, made in (("direct", kg.Direct()), ("discrete-adjoint", kg.DiscreteAdjoint())):
        by_name, by_object = kg.gradient(motion, method=named), kg.gradient(motion, method=made)
        assert by_name.method == by_object.method == named == made.name
        assert np.array_equal(by_name.matrix, by_object.matrix)
    assert kg.gradient(motion, method="adjoint").method == "discrete-adjoint"
    assert list(METHODS) == ["direct", "discrete-adjoint", "continuous-adjoint"] and set(ALSO.values()) <= set(METHODS)


def test_options_of_objects_are_those_given_beside_names(motion):
    one, two = kg.gradient(motion, history=True), kg.gradient(motion, method=kg.Direct(history=True))
    assert np.array_equal(one.history, two.history, equal_nan=True) and np.array_equal(one.history_t, two.history_t)
    assert kg.gradient(motion).history is None
    one = kg.gradient(motion, wrt=[], method="adjoint", every_slot=True)
    two = kg.gradient(motion, wrt=[], method=kg.DiscreteAdjoint(every_slot=True))
    assert one.by_number() == two.by_number()
    with pytest.raises(dataclasses.FrozenInstanceError):
        kg.Direct().history = True


def test_refused_by_name(motion):
    with pytest.raises(kg.KinegradError, match="history=True does not go with 'continuous-adjoint'"):
        kg.gradient(motion, method="continuous-adjoint", history=True)
    with pytest.raises(
        kg.KinegradError, match="every_slot=True does not go with 'direct'; use method='discrete-adjoint'"
    ):
        kg.gradient(motion, method=kg.Direct(), every_slot=True)
    with pytest.raises(kg.KinegradError, match="None is no method; choose from direct, discrete-adjoint"):
        kg.gradient(motion, method=None)


def test_an_equilibrium_takes_the_same_methods():
    found = kg.equilibrium(system(ROD))
    adjoint = found.gradient(method="adjoint")
    for method in ("discrete-adjoint", kg.DiscreteAdjoint()):
        gradient = found.gradient(method=method)
        assert gradient.method == "adjoint" and np.array_equal(gradient.matrix, adjoint.matrix)
    assert found.gradient(method=kg.Direct()).method == "direct"
    assert found.gradient(method=kg.DiscreteAdjoint(every_slot=True)).by_slot is not None
    with pytest.raises(kg.KinegradError, match=r"Direct\(history=True\) needs a motion in time"):
        found.gradient(method=kg.Direct(history=True))
    with pytest.raises(kg.KinegradError, match="every_slot=True does not go with 'direct'"):
        found.gradient(every_slot=True)


@pytest.mark.parametrize("key", SCHEMES, ids=" ".join)
def test_loading_changes_nothing(key):
    """Code may be asked for at any time: no step is taken, and the motion stays as it is."""
    motion = kg.simulate(system(SWING), *key, t_end=0.05, step=0.01)
    before = motion.traj.copy()
    for method in (kg.Direct(), kg.DiscreteAdjoint(), kg.DiscreteAdjoint(every_slot=True), kg.ContinuousAdjoint()):
        expected = kg.gradient(motion, method=method, tighten=False).matrix
        method.load(motion, Wanted(motion.system, motion.system.model.design))
        assert np.array_equal(kg.gradient(motion, method=method, tighten=False).matrix, expected)
    assert np.array_equal(motion.traj, before)


def test_what_is_differentiated_and_by_what(motion):
    system = motion.system
    label = next(iter(system.parameters.independent))
    assert np.array_equal(kg.gradient(motion, wrt=label).matrix, kg.gradient(motion, wrt=[label]).matrix)
    with pytest.raises(kg.KinegradError, match=f"There is no parameter '{label}{label}'"):
        kg.gradient(motion, wrt=label + label)  # a name, and no list of letters
    for wrong in (system.model, motion.state(0.05), None):
        with pytest.raises(kg.KinegradError, match=f"a motion, .* or a system, .* and not {type(wrong).__name__}"):
            kg.gradient(wrong)
