"""Motion of the tree: screws, velocities, accelerations and fields against complex step of positions, for each type of node."""

import numpy as np
import pytest
from helpers import assert_close
from products_by_complex_step import H, uncompiled
from small_mechanisms import NODE_TYPES, two_bodies_with

from kinegrad.coordinates.sets import joint
from kinegrad.kernels.joint import records
from kinegrad.kernels.joint.motion import accelerations, field, positions, velocities

pytestmark = uncompiled


class Tree:
    """A tree at q, v, a, and fields dv, da; complex numbers pass."""

    def __init__(self, system, q, v, a, dv, da):
        work = system.workspace(s=system.s.astype(complex))
        self.work, self.nodes, self.coordinates = work, work["node"], work["coord"]
        positions(self.nodes, self.coordinates, work["s"], q)
        velocities(self.nodes, self.coordinates, q, v, a)
        self.V, self.a = self.nodes["V"].copy(), self.nodes["a"].copy()
        accelerations(self.nodes, self.coordinates, q, v, a)
        field(self.nodes, self.coordinates, q, dv, da)

    @property
    def twists(self):
        """Twists (nodes, 6) about the global origin that the imaginary parts of positions are."""
        A, r = self.nodes["A"].reshape(-1, 3, 3), self.nodes["r"]
        W = A.imag @ A.real.transpose(0, 2, 1) / H
        o = np.stack([W[:, 2, 1], W[:, 0, 2], W[:, 1, 0]], axis=1)
        assert_close(W, -W.transpose(0, 2, 1), 1e-13, max(1.0, np.abs(W).max()))
        return np.concatenate([r.imag / H - np.cross(o, r.real), o], axis=1)

    def of_coordinates(self, name):
        return self.coordinates[name].copy()


@pytest.fixture(params=NODE_TYPES, scope="module")
def case(request):
    system = joint(two_bodies_with(request.param))
    return system, *np.random.default_rng(3).normal(size=(5, system.n))


def carried(tree, k):
    """The nodes that coordinate k moves."""
    nodes, first = tree.nodes, tree.coordinates[k]["node"]
    moves = np.zeros(len(nodes), bool)
    for i in range(1, len(nodes)):
        moves[i] = i == first or moves[nodes[i]["parent"]]
    return moves


def test_every_type_of_node_is_here():
    nodes = [joint(two_bodies_with(name)).workspace()["node"] for name in NODE_TYPES]
    types = {int(t) for table in nodes for t in table["type"][1:]}
    assert types == {records.RIGID, records.TURN, records.SLIDE, records.EULER, records.SCREW}
    assert any(table["rot"].max() > 0 for table in nodes)
    assert any(table["sgn"].min() < 0 for table in nodes)


def test_screws_are_the_twists_of_coordinates(case):
    system, q, *rest = case
    for k in range(system.n):
        tree = Tree(system, q + H * 1j * np.eye(system.n)[k], *rest)
        expected = np.where(carried(tree, k)[:, None], tree.coordinates[k]["b"].real, 0.0)
        assert_close(tree.twists, expected, 1e-12)


def test_velocities_and_accelerations(case):
    system, q, v, a, dv, da = case
    tree = Tree(system, q + H * 1j * v, v + H * 1j * a, a, dv, da)
    assert_close(tree.twists, tree.V.real)
    assert_close(tree.V.imag / H, tree.a.real)
    assert_close(tree.nodes["V"], tree.V)
    assert_close(tree.nodes["a"], tree.a)


def test_rates_of_screws(case):
    system, q, v, a, dv, da = case
    tree = Tree(system, q + H * 1j * v, v + H * 1j * a, a, dv, da)
    assert_close(tree.of_coordinates("b").imag / H, tree.of_coordinates("bd").real)
    assert_close(tree.of_coordinates("bd").imag / H, tree.of_coordinates("bdd").real)


def test_fields(case):
    system, q, v, a, dv, da = case
    for along, motion, name in ((dv, "W", "w"), (da, "U", "u")):
        tree = Tree(system, q + H * 1j * along, v, a, dv, da)
        assert_close(tree.twists, tree.nodes[motion].real)
        assert_close(tree.of_coordinates("b").imag / H, tree.of_coordinates(name).real)
