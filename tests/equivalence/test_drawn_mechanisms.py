"""Small mechanisms by points and vectors: the joints found, one motion with all written out, one start in two sets."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from same_start import assert_same_start

import kinegrad as kg

X, Y, Z = [1, 0, 0], [0, 1, 0], [0, 0, 1]


@dataclass
class Drawn:
    """Who lists what, where it is, what the joints shall be, and the coordinates that start, with their positions."""

    lists: dict[str, str]
    points: dict[str, list]
    vectors: dict[str, list]
    joints: dict[str, str]
    start: dict[str, float] = field(default_factory=dict)
    balls: tuple[str, ...] = ()
    written: dict[str, dict] = field(default_factory=dict)

    def model(self):
        holders = {
            name: {
                "points": [x for x in listed.split() if x in self.points],
                "vectors": [x for x in listed.split() if x in self.vectors],
            }
            for name, listed in self.lists.items()
        }
        ground = holders.pop("ground")
        bodies = {}
        for k, (name, own) in enumerate(holders.items(), 1):
            com = np.mean([self.points[p] for p in own["points"]], axis=0) + [0.03 * k, -0.02, 0.05]
            bodies[name] = {"mass": 1 + 0.3 * k, "com": com.tolist(), "inertia": [0.1, 0.12 + 0.01 * k, 0.09]} | own
        start = {name: {"position": x, "velocity": 0.4 + 0.3 * k} for k, (name, x) in enumerate(self.start.items())}
        start |= {name: {"rotation": [0, 0, 0], "angular_velocity": [0.3, -0.5, 0.8]} for name in self.balls}
        document = {"kinegrad": 1, "points": self.points, "vectors": self.vectors, "ground": ground, "bodies": bodies}
        document |= {"joints": self.written, "degrees_of_freedom": start}
        document["forces"] = {"gravity": {"type": "gravity", "acceleration": [0.3, -9.81, 0.7]}}
        return kg.Model.from_dict(document).check()


MECHANISMS = {
    "planar chain": Drawn(
        {"ground": "A z", "a": "A B z", "b": "B C z", "c": "C D z"},
        {"A": [0, 0, 0], "B": [1, 0, 0], "C": [1, 1, 0], "D": [2, 1, 0]}, {"z": Z},
        {"ground_a": "revolute", "a_b": "revolute", "b_c": "revolute"},
        {"ground_a.angle": 0, "a_b.angle": 0, "b_c.angle": 0},
    ),
    "parallel vectors by two names": Drawn(
        {"ground": "A z n", "a": "A B z n m", "b": "B C m"},
        {"A": [0, 0, 0], "B": [1, 0, 0], "C": [1, 1, 0]}, {"z": Z, "n": [0, 0, -2], "m": [0, 0, 3]},
        {"ground_a": "revolute", "a_b": "revolute"}, {"ground_a.angle": 0, "a_b.angle": 0},
    ),
    "a door on two points": Drawn(
        {"ground": "A B", "door": "A B C"}, {"A": [0, 0, 0], "B": [1, 0.2, 0], "C": [0.3, 1, 0.4]}, {},
        {"ground_door": "revolute"}, {"ground_door.angle": 0},
    ),
    "a door on three points of a line": Drawn(
        {"ground": "A B C", "door": "A B C D"}, {"A": [0, 0, 0], "B": [1, 1, 0], "C": [2, 2, 0], "D": [1, 0, 0.5]}, {},
        {"ground_door": "revolute"}, {"ground_door.angle": 0},
    ),
    "three points are a weld": Drawn(
        {"ground": "A", "a": "A B C D", "b": "B C D E"},
        {"A": [0, 0, 0], "B": [1, 0.2, 0], "C": [0.3, 1, 0.4], "D": [1, 1, 1], "E": [2, 2, 2]}, {},
        {"ground_a": "spherical", "a_b": "fixed"}, balls=("ground_a",),
    ),
    "so are a point and two vectors": Drawn(
        {"ground": "A z", "a": "A B z x y", "b": "B C x y"},
        {"A": [0, 0, 0], "B": [1, 0.2, 0], "C": [0.3, 1, 0.4]}, {"x": X, "y": Y, "z": Z},
        {"ground_a": "revolute", "a_b": "fixed"}, {"ground_a.angle": 0},
    ),
    "a sleeve along a tilted vector": Drawn(
        {"ground": "A u", "a": "B C u"}, {"A": [0.1, 0.2, 0.3], "B": [1.1, 2.2, -1.7], "C": [1, 1, 0.4]},
        {"u": [1, 2, -2]}, {"ground_a": "cylindrical"}, {"ground_a.distance": 3, "ground_a.angle": 0},
    ),
    "left-handed vectors, against the slide": Drawn(
        {"ground": "A z", "a": "B C z x y", "b": "C D y x z"},
        {"A": [0, 0, -1], "B": [0, 0, 0.5], "C": [1, 0, 0], "D": [1, 0, -3]},
        {"x": [0, -1, 0], "y": X, "z": [0, 0, -1]},
        {"ground_a": "cylindrical", "a_b": "fixed"}, {"ground_a.distance": -1.5, "ground_a.angle": 0},
    ),
    "slides on slides": Drawn(
        {"ground": "O x y z", "a": "A B x y z", "b": "C D x y z", "c": "E F x y z"},
        {"O": [0, 0, 0], "A": [1, 0, 0], "B": [1, 0, 1], "C": [1, 2, 1], "D": [1.5, 2, 1], "E": [1.5, 2, 3], "F": [2, 2, 4]},
        {"x": X, "y": Y, "z": Z}, {"ground_a": "prismatic", "a_b": "prismatic", "b_c": "prismatic"},
        {"ground_a.distance": 1, "a_b.distance": 2, "b_c.distance": 2},
    ),
    "a puck": Drawn(
        {"ground": "A z", "a": "B z"}, {"A": [0, 0, 0], "B": [1, 2, 0]}, {"z": Z},
        {"ground_a": "planar"}, {"ground_a.angle": 0, "ground_a.x": 2, "ground_a.y": -1},
    ),
    "a drive shaft": Drawn(
        {"ground": "A D x", "i": "A B x u", "shaft": "B C w", "o": "C D x v"},
        {"A": [0, 0, 0], "B": [1, 0, 0], "C": [2, 0, 0], "D": [3, 0, 0]}, {"x": X, "u": Y, "w": Z, "v": Y},
        {"ground_i": "revolute", "ground_o": "revolute", "i_shaft": "cardan", "shaft_o": "cardan"}, {"ground_i.angle": 0},
    ),
    "a top": Drawn({"ground": "A", "a": "A"}, {"A": [0.1, 0, 0]}, {}, {"ground_a": "spherical"}, balls=("ground_a",)),
    "four bodies at one point": Drawn(
        {"ground": "A z", "a": "A B z", "b": "A C z", "c": "A D z"},
        {"A": [0, 0, 0], "B": [1, 0, 0], "C": [0, 1, 0], "D": [-1, 0, 0]}, {"z": Z},
        {"ground_a": "revolute", "a_b": "revolute", "b_c": "revolute"},
        {"ground_a.angle": 0, "a_b.angle": 0, "b_c.angle": 0},
    ),
    "a piston that swings": Drawn(
        {"ground": "A D z", "cylinder": "A B z u", "rod": "C E z u", "arm": "D E z"},
        {"A": [0, 0, 0], "B": [1, 1, 0], "C": [0.5, 0.5, 0], "E": [2, 2, 0], "D": [3, 0, 0]}, {"z": Z, "u": [1, 1, 0]},
        {"ground_cylinder": "revolute", "ground_arm": "revolute", "cylinder_rod": "prismatic", "rod_arm": "revolute"},
        {"ground_cylinder.angle": 0},
    ),
    "a slider-crank in the plane": Drawn(
        {"ground": "O z x", "crank": "O B z", "rod": "B C z", "slider": "C z x"},
        {"O": [0, 0, 0], "B": [0.3, 0.4, 0], "C": [1.3, 0, 0]}, {"z": Z, "x": X},
        {"ground_crank": "revolute", "ground_slider": "prismatic", "crank_rod": "revolute", "rod_slider": "revolute"},
        {"ground_crank.angle": 0},
    ),
    "millimetres": Drawn(
        {"ground": "A z", "a": "A B z", "b": "B C z"},
        {"A": [0, 0, 0], "B": [1e-3, 0, 0], "C": [1e-3, 1e-3, 0]}, {"z": Z},
        {"ground_a": "revolute", "a_b": "revolute"}, {"ground_a.angle": 0, "a_b.angle": 0},
    ),
    "a screw, written out": Drawn(
        {"ground": "A x", "a": "B C x"}, {"A": [0, 0, 0], "B": [1, 0, 0], "C": [1, 1, 0.4]}, {"x": X}, {}, {"nut.angle": 0},
        written={"nut": {"type": "screw", "between": ["ground.A", "a.B"], "axis": X, "pitch": 0.01}},
    ),
    "a ball, written over a hinge": Drawn(
        {"ground": "A z", "a": "A B z", "b": "B C z"}, {"A": [0, 0, 0], "B": [1, 0, 0], "C": [1, 1, 0]}, {"z": Z},
        {"ground_a": "revolute", "ground_b": "planar"}, {"ground_a.angle": 0, "ground_b.angle": 0},
        written={"ball": {"type": "spherical", "between": ["a.B", "b.B"]}},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MECHANISMS)
def test_drawn_and_written_out(name):
    drawn = MECHANISMS[name]
    model = drawn.model()
    assert {joint.name: joint.type for joint in model.found_joints} == drawn.joints
    explicit = kg.Model.from_yaml_text(model.to_yaml())
    assert not explicit.found_joints
    assert_same_start(kg.joint(model), kg.natural(model))
    for made in (kg.joint, kg.natural):
        one, other = (kg.simulate(made(x), t_end=0.01, step=1e-3) for x in (model, explicit))
        for rate in ("q", "qd", "qdd"):
            expected = getattr(one, rate)
            assert np.abs(getattr(other, rate) - expected).max() <= 1e-12 * max(1.0, np.abs(expected).max())
