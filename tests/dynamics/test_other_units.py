"""Mechanisms in other units, powers of two times as large: sets, formulations and integrators give the same digits."""

import numpy as np
import pytest
from soak.units import Units, compare, example

import kinegrad as kg
from kinegrad.coordinates.sets import SETS
from kinegrad.dynamics.schemes import BY_FORMULATION, SCHEMES
from kinegrad.kernels.jit import JIT

pytestmark = pytest.mark.skipif(not JIT, reason="runs need the compiler")
#: micrometres of dust, kilometres of lead, and slow; what is a length, a mass or a time in a threshold shows
FAR = Units(-30, -50, -10), Units(20, 30, 10)
CASES = [(kind, pair) for pair in SCHEMES for kind in SETS if BY_FORMULATION[pair[0]].only in (None, kind)]
PARALLELOGRAM = """
kinegrad: 1
parameters: {s: 1}
ground: {markers: {A: [0, 0, 0], B: [s, 0, 0]}}
bodies:
  l: {mass: 1, inertia: [0.1*s**2, 0.1*s**2, 0.1*s**2], markers: {A: [0, 0, 0], B: [0, 0, s]}}
  r: {mass: 1, inertia: [0.1*s**2, 0.1*s**2, 0.1*s**2], markers: {A: [0, 0, 0], B: [0, 0, s]}, pose: {origin: [SIZE, 0, 0]}}
  c: {mass: 1, inertia: [0.1*s**2, 0.1*s**2, 0.1*s**2], markers: {A: [0, 0, 0], B: [s, 0, 0]}, pose: {origin: [0, 0, SIZE]}}
joints:
  p: {type: revolute, between: [ground.A, l.A], axis: [0, 1, 0]}
  q: {type: revolute, between: [l.B, c.A], axis: [0, 1, 0]}
  v: {type: revolute, between: [c.B, r.B], axis: [0, 1, 0]}
  w: {type: revolute, between: [ground.B, r.A], axis: [0, 1, 0]}
forces: {g: {type: gravity, acceleration: [0, 0, -9.81*s]}}
degrees_of_freedom: {p.angle: {position: 0.1}}
objectives: {o: {final: l.B.x}}
simulation: {t_end: 0.05, step: 0.001}
"""


@pytest.mark.parametrize(("kind", "pair"), CASES, ids=lambda x: x if isinstance(x, str) else "+".join(x))
def test_the_digits_are_the_same(kind, pair):
    for difference in compare(example("slider_crank"), kind, pair, FAR, steps=20):
        assert difference.equal, str(difference)


def test_angles_without_inertia_choose_the_same_coordinates_whatever_the_masses():
    (difference,) = compare(example("windows"), "natural", ("matrix-r", "rk4"), [Units(0, 30, 0)], steps=10, methods=())
    assert difference.equal, str(difference)


@pytest.mark.parametrize(
    "pair", [("index1", "rk4"), ("index1", "newmark"), ("ali3p", "newmark"), ("matrix-r", "rk4")], ids="+".join
)
@pytest.mark.parametrize("kind", SETS)
def test_a_parallelogram_of_a_micrometre_moves_as_one_of_a_metre(kind, pair):
    """Points beside unit vectors: the inertia of these, by the square of the size, was rounding beside that of the points."""

    def ends(size):
        model = kg.Model.from_yaml_text(PARALLELOGRAM.replace("SIZE", repr(size)).replace("s: 1}", f"s: {size!r}}}"))
        return kg.simulate(kg.lower(model, kind), *pair).objectives["o"] / size

    expected = ends(1.0)
    for size in (1e-5, 1e-9, 1e6):
        assert ends(size) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("kind", SETS)
def test_a_light_body_beside_a_heavy_one(kind):
    """What is attached to a bob of a kilogram and weighs 1e-15 kg turns as it would elsewhere."""
    text = """
kinegrad: 1
ground: {markers: {O: [0, 0, 0]}}
bodies:
  bob: {mass: 1, com: [0, 0, -1], inertia: [0.1, 0.1, 0.1], markers: {O: [0, 0, 0], P: [0, 0, -1]}}
  mote: {mass: 1.0e-15, com: [0, 0, -0.5], inertia: [1.0e-17, 1.0e-17, 1.0e-17], markers: {P: [0, 0, 0], Q: [0, 0, -1]},
         pose: {origin: [0, 0, -1]}}
joints:
  a: {type: revolute, between: [ground.O, bob.O], axis: [0, 1, 0]}
  b: {type: revolute, between: [bob.P, mote.P], axis: [0, 1, 0]}
forces: {g: {type: gravity, acceleration: [0, 0, -9.81]}}
degrees_of_freedom: {a.angle: {position: 0.5}, b.angle: {position: 1}}
simulation: {t_end: 0.2, step: 0.001}
"""
    model = kg.Model.from_yaml_text(text)
    expected = kg.simulate(kg.joint(model), "matrix-r", "rk4").marker("mote.Q").position[-1]
    for pair in (("index1", "rk4"), ("ali3p", "newmark")):
        found = kg.simulate(kg.lower(model, kind), *pair).marker("mote.Q").position[-1]
        assert np.abs(found - expected).max() < (1e-8 if pair[1] == "rk4" else 1e-5)
    if kind != "joint":
        with pytest.warns(kg.AccuracyWarning, match="of the largest inertia, and matrix-r"):
            kg.simulate(kg.lower(model, kind), "matrix-r", "rk4", t_end=0.01)
