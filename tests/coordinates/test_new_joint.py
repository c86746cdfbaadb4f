"""A joint that kinegrad does not have, added by a class of the model and a kind: nothing else has to know of it.

A ball in a tube: the second marker lies on a line of the first body. A slide and three turns are free.
"""

from typing import ClassVar, Literal

import numpy as np
import pytest

import kinegrad as kg
from kinegrad.coordinates.joints import KINDS, rows
from kinegrad.coordinates.joints.base import Drawing, Free, JointKind, Measured, Motion, Symbol
from kinegrad.coordinates.joints.poses import direction, euler_parameters
from kinegrad.errors import ModelError
from kinegrad.kernels.joint.records import EULER, SLIDE, TURN
from kinegrad.kernels.reactions.records import FIRST, GLOBAL
from kinegrad.model.constraints import SphericalStart
from kinegrad.model.joints import JOINTS, Joint, as_pair
from kinegrad.model.model import Model
from kinegrad.model.values import Axis
from kinegrad.page.scene import scene

AXIS = [0.6, 0.0, 0.8]
MODEL = {
    "kinegrad": 1,
    "parameters": {"tilt": 0.8},
    "ground": {"markers": {"O": [0.1, 0.2, 0.3]}},
    "bodies": {
        "rod": {
            "mass": 1.5,
            "com": [0.3, 0.1, 0.0],
            "inertia": [0.1, 0.2, 0.25],
            "markers": {"p": [-0.1, 0.0, 0.1], "tip": [0.7, 0.2, 0.0], "side": [0.1, 0.5, -0.2]},
            "pose": {"origin": [0.38, 0.2, 0.44]},
        }
    },
    "joints": {"it": {"type": "tube", "between": ["ground.O", "rod.p"], "axis": [0.6, 0.0, "tilt"]}},
    "forces": {"weight": {"type": "gravity", "acceleration": [0.4, 1.0, -9.81]}},
    "degrees_of_freedom": {
        "rod.p.x": {"position": 0.28, "velocity": 0.3},
        "rod.tip.x": {"position": 1.08, "velocity": 0.3},
        "rod.tip.y": {"position": 0.4, "velocity": 0.8},
        "rod.side.z": {"position": 0.24, "velocity": -0.2},
    },
    "objectives": {"reach": {"final": "norm2(rod.tip.position)"}},
}


class Tube(Joint):
    """A point that stays on a line."""

    coordinates: ClassVar = ("distance",)
    n_coordinates: ClassVar[int] = 5
    start: ClassVar = SphericalStart
    type: Literal["tube"] = "tube"
    axis: Axis

    @property
    def axis_pair(self):
        return as_pair(self.axis)

    def findings(self, values, path):
        yield from values.directions((*path, "axis"), self.axis)


class TubeKind(JointKind):
    model = Tube
    coordinates: ClassVar = {"distance": "m", "e0": "1", "e1": "1", "e2": "1", "e3": "1"}
    n_norms = 1
    n_rows = 3  # alignment
    drawing = Drawing((Symbol("sphere", radius=2.0, end=1, axis=None),), rail=True)

    def motions(self, slots, path, joint):
        return [Motion("distance", SLIDE, rows.axis_slot(slots, path, joint)), Motion("e", EULER)]

    def extract(self, R, d, axes, pitch):
        return [[axes[0] @ d], euler_parameters(R)]

    def close(self, elements, name, joint):
        i, j = map(elements.marker, joint.between)
        first, _ = rows.columns(elements, name, joint, (None, None))
        rows.across(elements, f"{name} alignment", first, j, i)

    def measure(self, elements, formula, name, joint, part):
        first, _ = rows.columns(elements, name, joint, (None, None))
        return Measured(rows.distance_along(elements, formula, joint, first[2]), wraps=False)

    def free_directions(self, numbers, path, joint):
        slide = Free("distance", SLIDE, FIRST, direction(numbers, path, joint, "axis", 0))
        return [slide, *(Free("", TURN, GLOBAL, axis) for axis in np.eye(3))]


@pytest.fixture(autouse=True)
def tube(monkeypatch):
    monkeypatch.setitem(JOINTS, "tube", Tube)
    monkeypatch.setitem(KINDS, "tube", TubeKind())


def built(**changes):
    """The rod in its tube; in the tree, or with the rod on a floating joint and the tube closed by rows."""
    return Model.from_dict(MODEL | changes)


def in_rows():
    floating = {"air": {"type": "floating", "between": ["ground.O", "rod.p"]}}
    return built(joints={"it": MODEL["joints"]["it"] | {"cut": True}} | floating)


def run(model):
    return kg.simulate(kg.joint(model), "index1", "rk4", t_end=0.2, step=2e-3)


def test_it_moves_alike_in_the_tree_and_closed_by_rows():
    tree, cut = run(built()), run(in_rows())
    assert tree.system.coordinates == ("it.distance", "it.e0", "it.e1", "it.e2", "it.e3")
    assert cut.system.set.tree.cut == ("it",) and cut.system.m == 2 + 1
    assert tree.objectives["reach"] == pytest.approx(cut.objectives["reach"], abs=1e-8)
    assert np.abs(tree.reactions("it")[0] - cut.reactions("it")[0]).max() < 1e-10
    along = tree.reactions("it")[:, :3] @ AXIS
    assert np.abs(along).max() < 1e-10 < np.abs(tree.reactions("it")[:, :3]).max()


def test_it_is_differentiated():
    tree, cut = (kg.gradient(run(model), wrt=["tilt"]).matrix for model in (built(), in_rows()))
    assert tree[0, 0] == pytest.approx(cut[0, 0], rel=1e-6)


def test_its_coordinate_is_measured_where_it_is_cut():
    cut = in_rows().to_dict() | {"degrees_of_freedom": dict(MODEL["degrees_of_freedom"])}
    cut["degrees_of_freedom"].pop("rod.p.x")
    cut["degrees_of_freedom"]["it.distance"] = {"position": 0.3, "velocity": 0.5}
    motion = run(Model.from_dict(cut))
    tree = run(built())
    assert motion.objectives["reach"] == pytest.approx(tree.objectives["reach"], abs=1e-8)


def test_it_is_checked_and_drawn():
    with pytest.raises(ModelError, match=r"joints\.it\.axis is \[0, 0, 0\], which has no direction"):
        built(joints={"it": MODEL["joints"]["it"] | {"axis": [0, 0, 0]}}).check()
    drawn = scene(run(built()))["joints"][0]
    assert drawn["rail"] and drawn["symbols"][0]["solid"] == "sphere" and len(drawn["axes"]) == 2
