"""Derivatives by numbers that pull a redundant mechanism apart: there are none, in all sets, formulations and verbs (KIN-9)."""

import re

import numpy as np
import pytest

import kinegrad as kg
from kinegrad.errors import DerivativeWarning, KinegradError

CRANKS = """kinegrad: 1
parameters: {L: SIZE, R: SIZE, x: 0, z: 0, load: 1}
design: [L]
ground: {markers: {A: [0, 0, 0], B: [SIZE, 0, 0], M: [SIZE/2 + x, z, 0]}}
bodies:
  l: {mass: load, inertia: [0.1*SIZE**2, 0.1*SIZE**2, 0.1*SIZE**2], markers: {A: [0, 0, 0], B: [0, 0, R]}}
  r: {mass: load, inertia: [0.1*SIZE**2, 0.1*SIZE**2, 0.1*SIZE**2], markers: {A: [0, 0, 0], B: [0, 0, R]},
      pose: {origin: [SIZE, 0, 0]}}
  m: {mass: load, inertia: [0.1*SIZE**2, 0.1*SIZE**2, 0.1*SIZE**2], markers: {A: [0, 0, 0], B: [0, 0, L]},
      pose: {origin: [SIZE/2, 0, 0]}}
  c: {mass: load, inertia: [0.1*SIZE**2, 0.1*SIZE**2, 0.1*SIZE**2], markers: {A: [0, 0, 0], B: [SIZE, 0, 0], M: [SIZE/2, 0, 0]},
      pose: {origin: [0, 0, SIZE]}}
joints:
  p: {type: revolute, between: [ground.A, l.A], axis: [0, 1, 0]}
  q: {type: revolute, between: [l.B, c.A], axis: [0, 1, 0]}
  s: {type: revolute, between: [c.B, r.B], axis: [0, 1, 0]}
  w: {type: revolute, between: [ground.B, r.A], axis: [0, 1, 0]}
  u: {type: revolute, between: [ground.M, m.A], axis: [0, 1, 0]}
  v: {type: revolute, between: [c.M, m.B], axis: [0, 1, 0]}
forces: {g: {type: gravity, acceleration: [0, 0, -9.81]}}
degrees_of_freedom: {p.angle: {position: START}}
objectives: {o: {final: c.M.x}, a: {integral: c.M.acceleration.z**2}}
simulation: {t_end: 0.05, step: 0.001}
"""
SETS = ["joint", "natural", "reference-point"]
PAIRS = [
    ("ali3p", "newmark"),
    ("index1", "rk4"),
    ("matrix-r", "rk4"),
    ("penalty", "newmark"),
    ("udwadia-kalaba", "rk4"),
]


def model(size="1.0", start="0.5", **changed):
    text = CRANKS.replace("SIZE", size).replace("START", start)
    for name, value in changed.items():
        text = re.sub(rf"\b{name}: [^,\n]*", f"{name}: {value}", text, count=1)
    return kg.Model.from_yaml_text(text)


@pytest.mark.parametrize("coordinates", SETS)
@pytest.mark.parametrize(("formulation", "integrator"), PAIRS)
def test_one_length_of_three_has_no_derivative(coordinates, formulation, integrator):
    system = kg.lower(model(), coordinates)
    motion = kg.simulate(system, formulation, integrator, t_end=0.01)
    for method in ("direct", "discrete-adjoint"):
        with pytest.raises(KinegradError, match="There is no derivative by 'L': the constraints are redundant"):
            kg.gradient(motion, wrt=["load", "L"], method=method)


@pytest.mark.parametrize("size", ["0.01", "1e3"])
@pytest.mark.parametrize("coordinates", SETS)
def test_numbers_that_rows_can_follow_are_not_accused(coordinates, size):
    """All three lengths by one parameter move together; masses move nothing."""
    together = model(size, L="R", design="[R]")
    system = kg.lower(together, coordinates)
    motion = kg.simulate(system, "ali3p", "newmark", t_end=0.01)
    one, other = (
        kg.gradient(motion, wrt=["R", "load"], method=method).matrix for method in ("direct", "discrete-adjoint")
    )
    assert np.abs(one - other).max(axis=1) == pytest.approx(0.0, abs=1e-9 * np.abs(one).max())
    with pytest.raises(KinegradError, match="no derivative by 'z'"):
        kg.gradient(motion, wrt=["R", "z"])


@pytest.mark.parametrize("coordinates", SETS)
def test_where_the_start_does_not_show_it(coordinates):
    """Cranks upright at the start allow the third bearing to be moved along; anywhere else they do not."""
    driven = model(start="0")
    driven.degrees_of_freedom, driven.drivers = {}, {"turn": {"measure": "p.angle", "value": "2*t"}}
    motion = kg.drive(kg.lower(driven, coordinates), t_end=0.5, step=0.01)
    for method in ("direct", "adjoint"):
        with pytest.raises(KinegradError, match=r"no derivative by 'x'.*hold at t = 0\.12 s"):
            kg.gradient(motion, wrt=["x"], method=method)


@pytest.mark.parametrize("coordinates", SETS)
def test_other_verbs_say_the_same(coordinates):
    driven = model()
    driven.degrees_of_freedom, driven.drivers = {}, {"turn": {"measure": "p.angle", "value": "0.5 + 2*t"}}
    moved, still = kg.lower(driven, coordinates), kg.lower(model(), coordinates)
    for find in (
        lambda: kg.gradient(kg.drive(moved, t_end=0.1)),
        lambda: kg.inverse(moved, t_end=0.1).sensitivity(["L"]),
        lambda: kg.assemble(still).gradient(wrt=["L"]),
        lambda: kg.equilibrium(still).gradient(wrt=["L"], method="adjoint"),
        lambda: kg.gradient(still),
        lambda: kg.hessian(kg.simulate(still, t_end=0.01)),
    ):
        with pytest.raises(KinegradError, match="There is no derivative by 'L'"):
            find()


def test_every_number_of_them_is_none_in_all_sets():
    """But for the numbers that natural coordinates hold."""
    lost = []
    for coordinates in SETS:
        system = kg.lower(model(), coordinates)
        motion = kg.simulate(system, "ali3p", "newmark", t_end=0.01)
        with pytest.warns(DerivativeWarning, match="There is no derivative by 'R', 'L', 'z'"):
            found = kg.gradient(motion, wrt=["R", "L", "z", "load"], method=kg.DiscreteAdjoint(every_slot=True))
        assert list(found.no_meaning) == ["R", "L", "z"]
        none = {path for path, x in found.by_number()["o"].items() if np.isnan(x)}
        lost.append(none - set(system.held))
        assert "bodies.l.mass" not in none and "bodies.m.markers.B.z" in none
    joint, natural, reference = lost
    assert joint == reference and natural <= joint
