"""Derivatives by every number of a joint are the same in the tree, reversed in it, cut, and named from the other side."""

import joint_roles as roles
import pytest
from helpers import assert_close

import kinegrad as kg
from kinegrad.coordinates.sets import joint
from kinegrad.model.model import Model

TOLERANCE = 1e-9  # of the largest derivative of an objective


def by_number(description, cut):
    """Derivatives of position, velocity and acceleration after two tiny steps, by every number of the model."""
    system = joint(Model.from_dict(description), cut=(cut,))
    assert cut in system.set.tree.cut
    motion = kg.simulate(system, "matrix-r", "rk4", t_end=2e-5, step=1e-5)
    return kg.gradient(motion, wrt=[], method="discrete-adjoint", every_slot=True).by_number()


def other_side(path):
    """Where a number stands when the joint is named from the other side."""
    swap = {"[0]": "[1]", "[1]": "[0]"}
    if path.startswith("joints.it.") and "[" in path:
        at = path.index("[")
        return path[:at] + swap[path[at : at + 3]] + path[at + 3 :]
    for a, b in (("angle1", "angle2"), ("angle2", "angle1")):
        if path.startswith(f"degrees_of_freedom.it.{a}"):
            return path.replace(a, b)
    return path


def differences(found, expected, place=lambda path: path, sign=lambda path: 1.0):
    """The numbers whose derivatives are not those expected, as (objective, path, found, expected)."""
    out = []
    for objective, values in expected.items():
        scale = max(map(abs, values.values())) or 1.0
        for path, value in values.items():
            other = sign(path) * found[objective][place(path)]
            if not abs(other - value) <= TOLERANCE * scale:
                out.append((objective, path, other, value))
    return out


@pytest.mark.parametrize("kind", roles.KINDS)
def test_the_cut_does_not_change_a_derivative(kind):
    description = roles.closed(kind)
    expected = by_number(description, "rail")
    assert any(path.startswith("joints.it.") for path in expected["push"]) or kind in ("spherical", "fixed")
    for cut in ("base", "it"):
        assert not differences(by_number(description, cut), expected)


@pytest.mark.parametrize("cut", ["rail", "base", "it"])
@pytest.mark.parametrize("kind", roles.KINDS)
def test_the_order_of_the_bodies_does_not_change_a_derivative(kind, cut):
    description = roles.closed(kind, by_markers=kind.startswith("planar"))
    expected = by_number(description, "rail")
    found = by_number(roles.turned(description), cut)
    turned_angle = ("degrees_of_freedom.it", *(("joints.it.zero",) if kind == "cardan pair" else ()))
    assert not differences(found, expected, other_side, lambda path: -1.0 if path.startswith(turned_angle) else 1.0)


def test_axes_of_a_cardan_joint_keep_the_angle_they_are_given_with():
    """A parameter may spoil the right angle: the motion stays one and the same in every role, and its reactions."""
    description = roles.closed("cardan") | {"parameters": {"tilt": 0.0}}
    axes = description["joints"]["it"]["axes"]
    description["joints"]["it"]["axes"] = [axes[0], [axes[1][0], axes[1][1], "-0.3 + tilt"]]
    ends = {}
    for cut in ("rail", "base", "it"):
        system = joint(Model.from_dict(description), cut=(cut,)).with_parameters({"tilt": 0.35})
        motion = kg.simulate(system, "matrix-r", "rk4", t_end=2e-5, step=1e-5)
        gradient = kg.gradient(motion, wrt=["tilt"], method="direct")
        reactions = motion.reactions()
        ends[cut] = [*motion.objectives.values(), *gradient.matrix[:, 0], *reactions["it"][0], *reactions["base"][0]]
        assert reactions.residual[0] < 1e-10 and reactions.unique["it"].all()
    assert_close(ends["base"], ends["rail"], 1e-9)
    assert_close(ends["it"], ends["rail"], 1e-9)
    plus, minus = (
        kg.simulate(system.with_parameters({"tilt": 0.35 + d}), "matrix-r", "rk4", t_end=2e-5, step=1e-5).objectives
        for d in (1e-5, -1e-5)
    )
    slope = [(plus[name] - minus[name]) / 2e-5 for name in plus]
    assert_close(ends["it"][3:6], slope, 1e-7)
