"""The position, velocity and acceleration problems at the start, their derivatives, and what they refuse."""

import numpy as np
import pytest
from small_models import FOUR_BAR, SLIDER, coupler_point, system

import kinegrad as kg
from kinegrad.errors import AssemblyError, SimulationError
from kinegrad.kernels.products import FREEDOMS
from kinegrad.kinematics.start import start
from kinegrad.sensitivity.gradient import gradient
from kinegrad.simulate import simulate


def started(sys):
    """A workspace at the start."""
    work = sys.workspace()
    start(sys, work)
    return work


def test_assembly_of_a_four_bar():
    work = started(system(FOUR_BAR))
    motion = simulate(system(FOUR_BAR), t_end=1e-6, step=1e-6)
    found = motion.marker("b.C").position[0, :2]
    assert np.abs(found - coupler_point(0.3, 0.9, 0.6, 0.8, np.pi / 2)).max() < 1e-13
    assert motion.constraint_violation[0].max() < 1e-12
    assert np.abs(work["Phi"][: motion.system.m]).max() < 1e-14


def test_poses_choose_the_branch():
    mirrored = [
        ("[1, 0.4, 0]", "[1, -0.9, 0]"),
        ("origin: [0.9, 0.6, 0], x_axis: [-0.1, -1, 0]", "origin: [0.7, -0.5, 0], x_axis: [0.1, 1, 0]"),
    ]
    motion = simulate(system(FOUR_BAR, mirrored), t_end=1e-6, step=1e-6)
    expected = coupler_point(0.3, 0.9, 0.6, 0.8, np.pi / 2, side=-1.0)
    assert np.abs(motion.marker("b.C").position[0, :2] - expected).max() < 1e-13


def test_the_degree_of_freedom_may_be_a_marker_component():
    x, y = coupler_point(0.3, 0.9, 0.6, 0.8, np.pi / 2)
    sys = system(FOUR_BAR, [("JA.angle: {position: pi/2, velocity: 1}", f"b.C.y: {{position: {y}, velocity: 0.2}}")])
    motion = simulate(sys, t_end=1e-6, step=1e-6)
    point = motion.marker("b.C")
    assert np.abs(point.position[0, :2] - [x, y]).max() < 1e-12
    assert point.velocity[0, 1] == pytest.approx(0.2, abs=1e-12)


@pytest.mark.parametrize("turns", [-3, 0, 2])
def test_angles_keep_their_turns(turns):
    sys = system(FOUR_BAR, [("position: pi/2", f"position: pi/2 + {turns}*2*pi")])
    work = started(sys)
    assert work["q"][sys.set.index["JA", "angle"]] == pytest.approx(np.pi / 2 + 2 * np.pi * turns, abs=1e-13)


@pytest.mark.parametrize("cut", ["JA", "JB", "JC", "JD"])
def test_every_cut_starts_alike(cut):
    sys = system(FOUR_BAR, cut=(cut,))
    motion = simulate(sys, t_end=1e-6, step=1e-6)
    reference = simulate(system(FOUR_BAR), t_end=1e-6, step=1e-6)
    for quantity, tolerance in (("position", 1e-13), ("velocity", 1e-12), ("acceleration", 1e-10)):
        a, b = (getattr(m.marker("b.C"), quantity)[0] for m in (motion, reference))
        assert np.abs(a - b).max() < tolerance


def test_accelerations_and_multipliers_satisfy_the_equations():
    sys = system(FOUR_BAR)
    work = started(sys)
    m = sys.m
    residual = work["M"] @ work["a"] + work["f"] + work["J"][:m].T @ work["lam"][:m]
    assert np.abs(residual).max() < 1e-11
    assert np.abs(work["J"][:m] @ work["a"] + work["c"][:m]).max() < 1e-11
    assert work["flag"][FREEDOMS] == 1


def test_derivatives_of_the_start_include_the_assembly():
    """The final value of a run of no length to speak of: the derivative of the assembled position by the lengths."""
    sys = system(FOUR_BAR, [("integral: norm2(b.C.position)", "final: b.C.position.x")])
    names = ["crank", "coupler", "rocker", "span"]
    values = np.array([0.3, 0.9, 0.6, 0.8])
    motion = simulate(sys, "matrix-r", "rk4", t_end=1e-9, step=1e-9)
    h = 1e-6
    expected = [
        (coupler_point(*(values + h * e), np.pi / 2)[0] - coupler_point(*(values - h * e), np.pi / 2)[0]) / (2 * h)
        for e in np.eye(4)
    ]
    for method in ("direct", "discrete-adjoint"):
        found = gradient(motion, wrt=names, method=method).matrix[0]
        assert np.abs(found - expected).max() < 1e-7


# --- what is refused ---


def refused(error, text, replace=(), **options):
    with pytest.raises(error) as caught:
        simulate(system(text, replace), t_end=0.1, step=1e-3, **options)
    assert len(caught.value.problems) == 1
    return str(caught.value)


def test_no_position():
    sentence = refused(AssemblyError, FOUR_BAR, [("coupler: 0.9", "coupler: 0.1")])
    assert "cannot be assembled at the start" in sentence
    assert "J" in sentence and "is off by" in sentence and "Check the lengths" in sentence


def test_too_few_degrees_of_freedom():
    sentence = refused(
        AssemblyError, FOUR_BAR, [("degrees_of_freedom: {JA.angle: {position: pi/2, velocity: 1}}\n", "")]
    )
    assert "has 1 degrees of freedom and degrees_of_freedom gives 0 (none); add 1, such as " in sentence


def test_too_many_degrees_of_freedom():
    more = "degrees_of_freedom: {JB.angle: {position: -1}, JA.angle: {position: pi/2, velocity: 1}}"
    position = coupler_point(0.3, 0.9, 0.6, 0.8, np.pi / 2)
    angle = np.arctan2(position[1] - 0.3, position[0]) - np.pi / 2
    old = "degrees_of_freedom: {JA.angle: {position: pi/2, velocity: 1}}"
    sentence = refused(AssemblyError, FOUR_BAR, [(old, more.replace("-1", repr(float(angle))))])
    assert "has 1 degrees of freedom and degrees_of_freedom gives 2 (JB.angle, JA.angle); remove 1." in sentence


def test_contradicting_degrees_of_freedom():
    more = "degrees_of_freedom: {JB.angle: {position: 0.3}, JA.angle: {position: pi/2, velocity: 1}}"
    sentence = refused(
        AssemblyError, FOUR_BAR, [("degrees_of_freedom: {JA.angle: {position: pi/2, velocity: 1}}", more)]
    )
    assert "cannot be assembled at the start" in sentence


def test_dependent_degrees_of_freedom():
    """Two coordinates of one body that turns: x and y of its end depend on each other."""
    text = """
ground: {markers: {O: [0, 0, 0]}}
bodies:
  arm: {mass: 1, com: [0.5, 0, 0], inertia: [0, 0.1, 0.1], markers: {O: [0, 0, 0], E: [1, 0, 0]}}
  block: {mass: 1, com: [0, 0, 0], inertia: [1, 1, 1], markers: {P: [0, 0, 0]}}
joints:
  hinge: {type: revolute, between: [ground.O, arm.O], axis: [0, 0, 1]}
  rail: {type: prismatic, between: [ground.O, block.P], axis: [1, 0, 0]}
degrees_of_freedom: {arm.E.x: {position: 0.8}, arm.E.y: {position: 0.6}}
"""
    sentence = refused(AssemblyError, text)
    assert "arm.E.x, arm.E.y depend on each other at the start; choose others" in sentence


def test_a_driver_against_a_constraint():
    text = SLIDER.replace("degrees_of_freedom: {rail.distance: {position: x0, velocity: v0}}", "")
    text += "drivers: {push: {measure: rail.distance, value: 0.2 + t}}\n"
    text += "constraints: {stop: {type: linear, terms: {rail.distance: 1}, value: 0.2}}\n"
    sentence = refused(AssemblyError, text)
    assert "No starting velocities satisfy all constraints" in sentence
    assert "A driver or guidance contradicts" in sentence


def test_motion_without_inertia():
    text = SLIDER.replace("prismatic", "cylindrical").replace("inertia: [1, 1, 1]", "inertia: [0, 1, 1]")
    sentence = refused(SimulationError, text.replace("{rail.distance:", "{rail.angle: {position: 0}, rail.distance:"))
    assert "mass matrix is singular on the motions that the constraints allow" in sentence
    assert "Give mass or inertia" in sentence


def test_an_expression_that_is_not_a_number_at_the_start():
    text = SLIDER + "forces: {odd: {type: force, acts_on: rail.distance, value: sqrt(rail.distance - 1)}}\n"
    sentence = refused(SimulationError, text)
    assert sentence == "The accelerations at the start are not finite numbers; check force 'odd' at t = 0."


def test_a_spring_of_no_length_at_the_start():
    text = SLIDER.replace("x0: 0.5", "x0: 0") + (
        "forces: {coil: {type: spring, between: [ground.O, block.P], stiffness: 1, natural_length: 0.2}}\n"
    )
    sentence = refused(AssemblyError, text)
    assert sentence == (
        "The position at the start cannot be evaluated: spring 'coil', of a natural length above zero, reached length zero and "
        "lost its direction; move its markers apart or set natural_length to 0."
    )


BAR = """\
kinegrad: 1
ground: {markers: {O: [1, 2, 3], F: [-1, 4, 3]}}
bodies:
  bar: {mass: 1, inertia: [0.04, 0.1, 0.1], markers: {C: [0, 0, 0], P: [2, 0, 0]}}
joints:
  free: {type: floating, between: [ground.F, bar.C]}
constraints:
  tie: {type: distance, between: [ground.O, bar.P], distance: 2}
degrees_of_freedom:
  free: {position: [0, 0, 0], rotation: [0, 0, 0]}
"""


@pytest.mark.parametrize("coordinates", ["joint", "reference-point", "natural"])
def test_measures_in_the_place_of_a_floating_joint(coordinates):
    """The sentence names what can be given, with which the model is right."""
    model = kg.Model.from_yaml_text(BAR)
    with pytest.raises(AssemblyError) as caught:
        kg.assemble(kg.lower(model, coordinates))
    sentence = str(caught.value)
    words = "remove the entry 'free', which stands for 6, and give 5 components of markers in its place, such as "
    listed, _, added = sentence.partition(words)[2].rstrip(".").partition(", with ")
    assert added == "bar.ey: {vector: [0, 1, 0]}"
    assert len(listed.split(", ")) == 5
    values = {"bar.C.x": -1, "bar.C.y": 4, "bar.C.z": 3}
    start = ", ".join(
        f"{name}: {{position: {values.get(name, 0 if 'ey' in name else 3)}}}" for name in listed.split(", ")
    )
    text = BAR.replace("P: [2, 0, 0]", "P: [2, 0, 0], ey: {vector: [0, 1, 0]}").partition("degrees_of_freedom")[0]
    found = kg.assemble(kg.lower(kg.Model.from_yaml_text(f"{text}degrees_of_freedom: {{{start}}}\n"), coordinates))
    assert np.abs(found.markers()["bar.C"].position - [-1.0, 4.0, 3.0]).max() < 1e-12
    assert abs(np.linalg.norm(found.markers()["bar.P"].position - [1.0, 2.0, 3.0]) - 2.0) < 1e-12


@pytest.mark.parametrize("coordinates", ["joint", "reference-point", "natural"])
@pytest.mark.parametrize("joint", ["spherical", "floating"])
def test_starts_without_a_rotation_have_none(joint, coordinates):
    """What is not given of the start of a spherical or floating joint is zero, even all of it."""
    text = f"""\
kinegrad: 1
ground: {{markers: {{O: [0.1, 0.2, 0.3]}}}}
bodies: {{hub: {{mass: 1, inertia: [1, 2, 3], markers: {{O: [0, 0, 0], P: [1, 2, 3]}}}}}}
joints: {{free: {{type: {joint}, between: [ground.O, hub.O]}}}}
degrees_of_freedom: {{free: START}}
simulation: {{t_end: 0.1, step: 0.05}}
"""
    for given in ({"angular_velocity": [0, 0, 2]}, {}):
        system = kg.lower(kg.Model.from_yaml_text(text.replace("START", str(given))), coordinates)
        P, centre = (kg.assemble(system).markers()[f"hub.{name}"] for name in "PO")
        assert (
            np.abs(P.position - [1.1, 2.2, 3.3]).max() < 1e-14
            and np.abs(centre.position - [0.1, 0.2, 0.3]).max() < 1e-14
        )
        assert np.abs(P.velocity - (np.array([-4.0, 2.0, 0.0]) if given else 0.0)).max() < 1e-14
        again = kg.Model.from_yaml_text(kg.Model.from_yaml_text(text.replace("START", str(given))).to_yaml())
        assert kg.assemble(kg.lower(again, coordinates)).q == pytest.approx(kg.assemble(system).q, abs=1e-15)
        assert kg.simulate(system).t[-1] == 0.1
