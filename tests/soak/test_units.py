"""A short piece of the harness of units: examples and random mechanisms in other units are equal bit by bit."""

import numpy as np
import pytest

import kinegrad as kg
from kinegrad.coordinates.sets import SETS
from kinegrad.dynamics.schemes import BY_FORMULATION
from kinegrad.kinematics.start import start
from soak.mechanisms import generate
from soak.units import Units, compare, example, rewritten

EXAMPLES = ("slider_crank", "five_bar", "windows", "cart_pole", "planetary_gear")
SEEDS = (2, 3)
PAIRS = ("ali3p+newmark", "matrix-r+rk4", "index1+rk4", "penalty+hht", "udwadia-kalaba+rk54", "recursive+rk4")
UNITS = {"small": Units(-30), "large": Units(20), "masses": Units(0, -50), "times": Units(0, 0, -20)}


def document(name):
    if name in EXAMPLES:
        return example(name)
    mechanism = generate(int(name))
    return mechanism.document | {"simulation": {"step": mechanism.step}}


def cases():
    for name in (*EXAMPLES, *map(str, SEEDS)):
        for kind in SETS:
            for pair in PAIRS:
                if BY_FORMULATION[pair.partition("+")[0]].only in (None, kind):
                    yield f"{name} {kind} {pair}"


@pytest.mark.parametrize("case", list(cases()))
def test_other_units(case):
    name, kind, pair = case.split()
    found = compare(document(name), kind, tuple(pair.split("+")), UNITS.values(), steps=10)
    different = [which for which, difference in zip(UNITS, found, strict=True) if not difference.equal]
    assert different == [], "\n".join(map(str, found))


def test_numbers_by_their_units():
    """Masses, lengths, times; formulas by what they take in and by their value; parameters as they are."""
    text = """
    kinegrad: 1
    parameters: {L: 0.5, k: 100}
    tables: {course: {x: [0, 1, 2], y: [0, 0.1, 0.2]}}
    ground: {markers: {O: [0, 0, 1]}}
    bodies:
      arm: {mass: 2, com: [L/2, 0, 0], inertia: [0.1, 0.2, 0.3], markers: {A: [0, 0, 0], B: [L, 0, 0]}}
    joints: {hinge: {type: revolute, between: [ground.O, arm.A], axis: [0, 0, 1]}}
    forces:
      coil: {type: spring, between: [ground.O, arm.B], stiffness: k, damping: 3, natural_length: L}
      wind: {type: spring, acts_on: hinge.angle, stiffness: 7}
      motor: {type: torque, acts_on: hinge.angle, value: "k*table(t, course) - 2*hinge.angle.velocity"}
    degrees_of_freedom: {hinge.angle: {position: 0.5, velocity: 8}}
    objectives: {reach: {integral: arm.B.x}}
    simulation: {step: 0.25, formulation: {type: penalty, penalty: 4, frequency: 8}}
    """
    found = rewritten(kg.Model.from_yaml_text(text).to_dict(), Units(length=-2, mass=3, time=1))
    arm, forces = found["bodies"]["arm"], found["forces"]
    assert (arm["mass"], arm["com"][0], arm["inertia"]) == (16.0, "((L*1)/2)*0.25", [0.05, 0.1, 0.15])
    assert found["ground"]["markers"]["O"] == [0.0, 0.0, 0.25]
    assert forces["coil"]["stiffness"] == "(k*1)*2"
    assert forces["coil"]["damping"] == 12.0 and forces["wind"]["stiffness"] == 7.0 * 8 / 16 / 4
    assert found["tables"]["course"] == {"x": [0.0, 2.0, 4.0], "y": [0.0, 0.025, 0.05]}
    assert forces["motor"]["value"] == ("((k*1)*(table((t*0.5)*2, course)*4) - 2*(hinge.angle.velocity*2))*0.125")
    assert found["degrees_of_freedom"]["hinge.angle"] == {"position": 0.5, "velocity": 4.0}
    assert found["objectives"]["reach"] == {"integral": "arm.B.x"}
    assert found["simulation"]["step"] == 0.5
    assert found["simulation"]["formulation"] == {"type": "penalty", "penalty": 32.0, "frequency": 4.0}


# --- what is not simulated ---

BOTH = (Units(-30, -50, -10), Units(20, 30, 10))
SPEEDS = "({}) + 0.3*t"


def lowered(document, to, kind):
    system = kg.lower(kg.Model.from_dict(rewritten(document, to)), kind)
    return system, system.workspace()["unit"]


@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("name", ["slider_crank", "stewart_platform", "quarter_car"])
def test_equilibria(name, kind):
    found = []
    for to in (Units(), *BOTH):
        system, unit = lowered(example(name), to, kind)
        rest = kg.equilibrium(system)
        values = np.ldexp(rest.eigenvalues, 2 * to.time)
        found.append(((rest.q / unit).tolist(), rest.iterations, values.tolist(), rest.stable, rest.free))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("name", ["slider_crank", "five_bar", "crank_shaper"])
def test_motions_by_drivers_and_reactions(name, kind):
    document = example(name)
    starts = document.pop("degrees_of_freedom")
    document["drivers"] = {
        f"d{k}": {"measure": measure, "value": SPEEDS.format(start["position"])}
        for k, (measure, start) in enumerate(starts.items())
    }
    document |= {"simulation": {"t_end": 0.03, "step": 0.001}, "objectives": {}}
    found = []
    for to in (Units(), *BOTH):
        system, unit = lowered(document, to, kind)
        motion = kg.drive(system)
        force = to.mass + to.length - 2 * to.time
        exponents = -np.repeat([force, force + to.length], 3)
        reactions = motion.reactions()
        wrenches = [np.ldexp(reactions[joint], exponents).tolist() for joint in reactions]
        unique = [reactions.unique[joint].tolist() for joint in reactions]
        rates = motion.qd / unit * 2.0**to.time
        found.append(((motion.q / unit).tolist(), rates.tolist(), motion.iterations.tolist(), wrenches, unique))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("name", [*EXAMPLES, *map(str, SEEDS), "4", "9"])
def test_starts_and_freedoms(name, kind):
    """Positions and velocities of the start, its iterations, and what is told of freedoms and redundant rows."""
    found = []
    for to in (Units(), *BOTH):
        system, unit = lowered(document(name), to, kind)
        work = system.workspace()
        iterations = start(system, work)
        mobility = vars(kg.mobility(system))
        distances = mobility.pop("distances")
        ways = [(way / distances.length, turn) for way, turn in distances.bodies.values()]
        rates = work["v"] / unit * 2.0**to.time
        found.append(((work["q"] / unit).tolist(), rates.tolist(), iterations, mobility, ways))
    assert found[0] == found[1] == found[2]
