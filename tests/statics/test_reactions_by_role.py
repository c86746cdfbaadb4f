"""Reactions of every kind of joint in the tree, cut, and reversed, against the balance of each body written out here."""

import joint_roles as roles
import numpy as np
import pytest
from body_motions import body_motions

import kinegrad as kg
from kinegrad.coordinates.sets import joint
from kinegrad.model.model import Model

TOLERANCE = 1e-9  # of forces and moments of a few tens of N and N m


def first_state(description, cut):
    """The motion at its start: accelerations there solve the equations of motion to rounding."""
    system = joint(Model.from_dict(description), cut=(cut,))
    assert cut in system.set.tree.cut
    return kg.simulate(system, "index1", "rk4", t_end=1e-4, step=1e-4)


def unbalanced(description, motion, reactions):
    """Largest force and moment about its centre of mass that is left on a body at the start, by Newton and Euler."""
    states = body_motions(motion, slice(1))
    left = []
    for i, (name, body) in enumerate(description["bodies"].items()):
        A, w, alpha = states.A[0, i], states.V[0, i, 3:], states.a[0, i, 3:]
        anchor = next(iter(body["markers"]))
        p = motion.marker(f"{name}.{anchor}")
        arm = A @ (np.array(body["com"]) - body["markers"][anchor])
        c = p.position[0] + arm
        acceleration = p.acceleration[0] + np.cross(alpha, arm) + np.cross(w, np.cross(w, arm))
        xx, yy, zz, xy, xz, yz = [*body["inertia"], 0.0, 0.0, 0.0][:6]
        I = A @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ A.T
        F = body["mass"] * (np.array(roles.GRAVITY) - acceleration)
        N = -I @ alpha - np.cross(w, I @ w)
        for joint_name, j in description["joints"].items():
            first, second = j["between"]
            for sign, marker in ((1.0, second), (-1.0, first)):
                if marker.split(".")[0] == name:
                    f, m = np.split(sign * reactions[joint_name][0], 2)
                    x = motion.marker(first).position[0]
                    F, N = F + f, N + m + np.cross(x - c, f)
        if name == "tool":
            f, x = spring_on_tool(motion)
            F, N = F + f, N + np.cross(x - c, f)
        elif name == "arm":
            N = N + roles.TORQUE
        left += [np.abs(F).max(), np.abs(N).max()]
    return max(left)


def spring_on_tool(motion):
    end, foot = motion.marker("tool.q"), motion.marker("ground.S")
    d, rate = (end.position - foot.position)[0], (end.velocity - foot.velocity)[0]
    length = np.linalg.norm(d)
    k, c, free = (roles.SPRING[key] for key in ("stiffness", "damping", "natural_length"))
    return -(k * (length - free) + c * (d @ rate) / length) * d / length, end.position[0]


@pytest.mark.parametrize("kind", roles.KINDS)
def test_reactions_do_not_depend_on_the_cut(kind):
    description = roles.closed(kind)
    found = {}
    for cut in ("rail", "base", "it"):  # the joint in the tree, reversed in it, and cut
        motion = first_state(description, cut)
        found[cut] = motion.reactions()
        assert unbalanced(description, motion, found[cut]) < TOLERANCE
        assert set(found[cut]) == set(description["joints"]) and not found[cut].forces
        assert all(found[cut].unique[name].all() for name in found[cut])
        assert found[cut].residual[0] < TOLERANCE
        for name in found[cut]:
            assert np.abs(found[cut][name][0] - found["rail"][name][0]).max() < TOLERANCE, (cut, name)


@pytest.mark.parametrize("cut", ["rail", "base", "it"])
@pytest.mark.parametrize("kind", roles.KINDS)
def test_a_joint_named_from_the_other_side_has_the_opposite_reaction(kind, cut):
    description = roles.closed(kind, by_markers=kind.startswith("planar"))
    other = roles.turned(description)
    expected = first_state(description, "rail").reactions()
    motion = first_state(other, cut)
    found = motion.reactions()
    assert unbalanced(other, motion, found) < TOLERANCE
    for name in ("base", "hinge", "rail"):
        assert np.abs(found[name][0] - expected[name][0]).max() < TOLERANCE
    F, M = np.split(expected["it"][0], 2)
    d = (motion.marker("arm.j").position - motion.marker("tool.j").position)[0]
    assert np.abs(found["it"][0] + np.concatenate([F, M + np.cross(d, F)])).max() < TOLERANCE


@pytest.mark.parametrize("kind", [kind for kind in roles.KINDS if kind not in ("spherical", "fixed")])
def test_forces_on_held_coordinates_do_not_depend_on_the_cut(kind):
    """A motion that is given needs forces on the freedoms: on a coordinate of the joint they are no part of its reaction."""
    description = roles.closed(kind)
    found = {}
    for cut in ("rail", "base", "it"):
        motion = first_state(description, cut)
        model = Model.from_dict(description)
        model.forces.pop("coil")
        model.forces.pop("twist")
        t, q, qd, qdd = (x[:1] for x in (motion.t, motion.q, motion.qd, motion.qdd))
        found[cut] = kg.inverse(joint(model, cut=(cut,)), t=t, q=q, qd=qd, qdd=qdd)
        assert list(found[cut].forces) == list(description["degrees_of_freedom"])
        for name, force in found[cut].forces.items():
            assert abs(force[0] - found["rail"].forces[name][0]) < TOLERANCE
        for name in description["joints"]:
            assert np.abs(found[cut].reactions[name][0] - found["rail"].reactions[name][0]).max() < TOLERANCE
