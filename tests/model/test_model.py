"""The container: what is put in, copied, looked up, compared."""

import copy
import pickle

import numpy as np
import pytest
from bad_models import SOUND

from kinegrad.errors import ModelError
from kinegrad.expressions.syntax import Expression
from kinegrad.model.bodies import Body, Ground, PointMarker, VectorMarker
from kinegrad.model.constraints import Driver, FloatingStart, Freedom, Objective, SphericalStart
from kinegrad.model.forces import Gravity, Spring
from kinegrad.model.joints import JOINTS, Cardan, Revolute
from kinegrad.model.model import Model
from kinegrad.model.names import Reference
from kinegrad.model.simulation import ALI3P, JointCoordinates, Newmark, Simulation


@pytest.fixture
def model():
    return Model.from_yaml_text(SOUND)


def test_python_and_file_give_equal_models():
    text = """
kinegrad: 1
title: Pendulum
parameters: {m: 2, L: sqrt(2)}
ground: {markers: {O: [0, 0, 0]}}
bodies: {bar: {mass: m, com: [L/2, 0, 0], inertia: [0, 1/6, 1/6], markers: {A: [0, 0, 0]}, pose: global}}
joints: {hinge: {type: revolute, between: [ground.O, bar.A], axis: [0, 0, 1]}}
forces: {weight: {type: gravity, acceleration: [0, -9.81, 0]}}
degrees_of_freedom: {hinge.angle: {position: -pi/2, velocity: 1}}
objectives: {swing: {final: hinge.angle}}
simulation: {t_end: 2, formulation: {type: ali3p, penalty: 1.0e+8}}
"""
    built = Model(title="Pendulum", ground=Ground(markers={"O": (0, 0, 0)}))
    built.parameters["m"] = 2
    built.parameters["L"] = "sqrt(2)"
    built.bodies["bar"] = Body(
        mass="m",
        com=("L/2", 0, 0),
        inertia=(0, "1/6", "1/6"),
        markers={"A": PointMarker(position=(0, 0, 0))},
        pose="global",
    )
    built.joints["hinge"] = Revolute(between=("ground.O", "bar.A"), axis=(0, 0, 1))
    built.forces["weight"] = Gravity(acceleration=np.array([0, -9.81, 0]))
    built.degrees_of_freedom["hinge.angle"] = Freedom(position="-pi/2", velocity=1)
    built.objectives["swing"] = Objective(final="hinge.angle")
    built.simulation = Simulation(t_end=2, formulation=ALI3P(penalty=1e8))
    assert built.check() == Model.from_yaml_text(text)


def test_models_differ_when_one_number_does(model):
    other = model.copy()
    assert other == model
    other.bodies["arm"] = other.bodies["arm"].with_(mass="m + 1")
    assert other != model
    assert model.bodies["arm"].mass == Expression.parse("m")


def test_copies_are_independent(model):
    for clone in (model.copy(), copy.deepcopy(model), copy.copy(model).copy(), pickle.loads(pickle.dumps(model))):
        assert clone == model
        clone.bodies["new"] = {"mass": 1}
        clone.design.append("u")
        assert "new" not in model.bodies and model.design == ["m", "L"]


def test_entries_are_validated_when_they_are_put_in(model):
    for section, value in {
        "bodies": 5,
        "joints": {"type": "glue"},
        "forces": Driver(measure="q", value=1),
        "measures": 3,
    }.items():
        with pytest.raises(ModelError) as error:
            getattr(model, section)["new"] = value
        assert f"{section}.new" in str(error.value)
    with pytest.raises(ModelError, match="bodies has the key 3"):
        model.bodies[3] = Body(mass=1)
    with pytest.raises(ModelError, match="joints"):
        model.joints = [1]
    with pytest.raises(AttributeError, match="did you mean 'joints'"):
        model.jonts = {}
    with pytest.raises(ModelError, match="'jonts'"):
        Model(jonts={})


def test_several_problems_in_one_call():
    with pytest.raises(ModelError) as error:
        Model(bodies={"a": {"mass": True, "com": [1]}, "b": 3}, title=7)
    assert [problem.where for problem in error.value.problems] == ["title", "bodies.a.mass", "bodies.a.com", "bodies.b"]
    with pytest.raises(ModelError) as error:
        Body(mass="x y", colour=1)
    assert [problem.where for problem in error.value.problems] == ["Body.mass", "Body.colour"]


def test_section_methods_validate(model):
    model.measures.update(height="arm.B.y")
    model.measures |= {"width": "arm.B.x"}
    assert model.measures.setdefault("height", "1 +") == Expression.parse("arm.B.y")
    assert model.measures["width"] == Expression.parse("arm.B.x")
    with pytest.raises(ModelError):
        model.measures |= {"depth": "1 +"}


def test_elements_do_not_change(model):
    arm = model.bodies["arm"]
    with pytest.raises(Exception, match="frozen"):
        arm.mass = 3
    with pytest.raises(TypeError, match="with_"):
        arm.markers["C"] = (0, 0, 0)
    assert hash(arm) == hash(Model.from_yaml_text(SOUND).bodies["arm"])


def test_with_(model):
    spring = model.forces["spring"]
    changed = spring.with_(stiffness="2*m")
    assert changed == Spring(between=spring.between, stiffness="2*m", natural_length=1)
    with pytest.raises(ModelError, match=r"Spring\.stiffness"):
        spring.with_(stiffness=None)


def test_variants_and_values(model):
    assert model.with_variant("heavy").parameters["m"] == 20.0
    assert model.parameters["m"] == 2.0
    assert model.with_values(m="1/4", L=3).parameters["m"] == Expression.parse("1/4")
    assert model.with_values(u=[4, 3, 2, 1]).parameters["u"] == (4.0, 3.0, 2.0, 1.0)
    assert model.with_values(**{"u[2]": 7}).parameters["u"] == (0.0, 1.0, 7.0, 3.0)
    assert model.with_values() == model


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"J": 1}, ("J", "derived", "m")),
        ({"M": 1}, ("'M'", "m, L, J, u")),
        ({"m": "2*L"}, ("m", "mentions L", "constants")),
        ({"m": float("nan")}, ("m", "finite")),
        ({"m": True}, ("m", "is true")),
        ({"m": "1/0"}, ("m", "1/0")),
        ({"u": [1, 2]}, ("list of 4", "found 2")),
        ({"m": [1, 2]}, ("m",)),
        ({"u[9]": 1}, ("u[9]",)),
        ({"u[x]": 1}, ("u[x]",)),
        ({"": 1}, ("''",)),
    ],
)
def test_values_that_cannot_be_set(model, values, words):
    with pytest.raises(ModelError) as error:
        model.with_values(**values)
    for word in words:
        assert word in str(error.value)


def test_all_wrong_values_are_told_at_once(model):
    with pytest.raises(ModelError) as error:
        model.with_values(J=1, M=1, m="x")
    assert len(error.value.problems) == 3


def test_unknown_variant(model):
    with pytest.raises(ModelError, match=r"'heavi' does not exist \(did you mean 'heavy'"):
        model.with_variant("heavi")


def test_markers_by_name(model):
    assert model.marker("arm.B") == ("arm", PointMarker(position=("L", 0, 0)))
    assert model.marker("ground.up") == ("ground", VectorMarker(vector=(0, 0, 1)))
    for name in ("arm.Z", "leg.B", "arm", "", "arm.B.x"):
        with pytest.raises(ModelError):
            model.marker(name)
    assert model.bodies_in_order == ("arm", "ball")


@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("t", Reference("time")),
        ("m", Reference("parameter", "m")),
        ("reach", Reference("measure", "reach")),
        ("reach.velocity", Reference("measure", "reach", rate=1)),
        ("hinge.angle", Reference("coordinate", "hinge", "angle")),
        ("hinge.angle.acceleration", Reference("coordinate", "hinge", "angle", rate=2)),
        ("arm.B.x", Reference("marker", "arm", "B", component=0)),
        ("arm.B.z.velocity", Reference("marker", "arm", "B", rate=1, component=2)),
        ("arm.B.position", Reference("marker", "arm", "B")),
        ("ground.up.position.y", Reference("marker", "ground", "up", component=1)),
        ("arm.tool.acceleration.z", Reference("marker", "arm", "tool", rate=2, component=2)),
    ],
)
def test_references(model, name, reference):
    found = model.resolve(name)
    assert found == reference
    assert found.is_vector == (name == "arm.B.position")
    assert found.is_measure == (name in ("reach", "hinge.angle", "arm.B.x", "ground.up.position.y"))


@pytest.mark.parametrize(
    "name", ["x", "m.x", "arm", "arm.B", "arm.B.w", "hinge", "hinge.x", "cup.angle", "reach.x", "t.x", ""]
)
def test_names_that_stand_for_nothing(model, name):
    with pytest.raises(ModelError, match=f"^'{name}' names"):
        model.resolve(name)


def test_joints_in_use(model):
    assert model.used_joints == {"hinge", "cup"}
    del model.degrees_of_freedom["cup"]
    assert model.used_joints == {"hinge"}
    model.degrees_of_freedom.clear()
    model.forces.clear()
    assert model.used_joints == frozenset()
    model.constraints["gear"] = {"type": "linear", "terms": {"hinge.angle": 2}}
    assert model.used_joints == {"hinge"}


def test_coordinates_of_joints():
    counts = {kind: (joint.coordinates, joint.n_coordinates) for kind, joint in JOINTS.items()}
    assert counts == {
        "revolute": (("angle",), 1),
        "prismatic": (("distance",), 1),
        "cylindrical": (("distance", "angle"), 2),
        "screw": (("angle",), 1),
        "cardan": (("angle1", "angle2"), 2),
        "spherical": ((), 4),
        "floating": ((), 7),
        "planar": (("x", "y", "angle"), 3),
        "fixed": ((), 0),
        "link": ((), 0),
    }
    single = Revolute(between=("a.A", "b.B"), axis=(0, 0, 1))
    pair = Revolute(between=("a.A", "b.B"), axis=((0, 0, 1), (0, 1, 0)))
    assert single.axis_pair == ((0.0, 0.0, 1.0), (0.0, 0.0, 1.0)) and single.angle_is_defined
    assert pair.axis_pair == ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0)) and not pair.angle_is_defined
    assert Cardan(between=("a.A", "b.B"), axes=np.eye(3)[:2]).axes == ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))


def test_shapes_choose_the_class():
    model = Model(
        degrees_of_freedom={
            "a": {"position": 1},
            "b": {"rotation": [0, 0, 0]},
            "c": {"position": [0, 0, 0], "euler_parameters": [1, 0, 0, 0]},
        }
    )
    assert [type(start) for start in model.degrees_of_freedom.values()] == [Freedom, SphericalStart, FloatingStart]


def test_defaults():
    simulation = Model().simulation
    assert simulation.coordinates == Simulation(coordinates="joint").coordinates == JointCoordinates()
    assert (simulation.coordinates.type, simulation.coordinates.body_point, simulation.t_end) == (
        "joint",
        "origin",
        None,
    )
    assert simulation.formulation == ALI3P() and simulation.integrator == Newmark()
    body = Body(mass=1)
    assert (body.com, body.inertia, body.markers, body.pose) == ((0, 0, 0), (0, 0, 0), {}, None)


@pytest.mark.parametrize(
    "value", [1, 1.0, np.float64(1), np.int32(1), "1", " 1.0 ", "+1", "(1)", Expression.parse("1")]
)
def test_plain_numbers_become_floats(value):
    mass = Body(mass=value).mass
    assert type(mass) is float and mass == 1.0
