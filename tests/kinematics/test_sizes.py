"""Mechanisms of any size start, move and rest as the one of a metre does."""

import numpy as np
import pytest

import kinegrad as kg
from kinegrad.kinematics.start import start

KINDS = ("joint", "reference-point", "natural")
MODEL = """
kinegrad: 1
parameters: {{s: {s!r}, m: {m!r}}}
ground: {{markers: {{A: [0, 0, 0], B: [s, 0, 0]}}}}
bodies:
  l: {{mass: m, inertia: [0.1*m*s**2, 0.1*m*s**2, 0.1*m*s**2], markers: {{A: [0, 0, 0], B: [0, 0, s]}}}}
  r: {{mass: m, inertia: [0.1*m*s**2, 0.1*m*s**2, 0.1*m*s**2], markers: {{A: [0, 0, 0], B: [0, 0, s]}},
       pose: {{origin: [{s!r}, 0, 0]}}}}
  c: {{mass: m, inertia: [0.1*m*s**2, 0.1*m*s**2, 0.1*m*s**2], markers: {{A: [0, 0, 0], B: [s, 0, 0]}},
       pose: {{origin: [0, 0, {s!r}]}}}}
joints:
  p: {{type: revolute, between: [ground.A, l.A], axis: [0, 1, 0]}}
  q: {{type: revolute, between: [l.B, c.A], axis: [0, 1, 0]}}
  v: {{type: revolute, between: [c.B, r.B], axis: [0, 1, 0]}}
  w: {{type: revolute, between: [ground.B, r.A], axis: [0, 1, 0]}}
forces:
  g: {{type: gravity, acceleration: [0, 0, -9.81*s]}}
  hold: {{type: spring, acts_on: p.angle, stiffness: 40*m*s**2, natural_value: 0.2}}
degrees_of_freedom: {{p.angle: {{position: 0.1, velocity: 0.3}}}}
objectives: {{o: {{final: l.B.x}}}}
simulation: {{t_end: 0.05, step: 0.001}}
"""
SIZES = [(1e-12, 1.0), (1e-9, 1e-15), (1e-5, 1.0), (0.3, 1e-15), (2e4, 1e6)]


def four_bar(kind: str, s: float, m: float, **changes):
    document = kg.Model.from_yaml_text(MODEL.format(s=s, m=m)).to_dict() | changes
    return kg.lower(kg.Model.from_dict(document), kind)


def of_start(system, s):
    motion = kg.simulate(system, "ali3p", "newmark", t_end=1e-3, step=1e-3)
    at = motion.marker("c.B")
    return np.array([at.position[0], at.velocity[0], at.acceleration[0]]) / s


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("s", "m"), SIZES)
def test_starts_and_freedoms(kind, s, m):
    system = four_bar(kind, s, m)
    assert kg.mobility(system).dof == 1
    expected = of_start(four_bar(kind, 1.0, 1.0), 1.0)
    np.testing.assert_allclose(of_start(system, s), expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("s", "m"), SIZES)
def test_rest(kind, s, m):
    """The angle at which weight and spring balance, its stiffness, and its derivative by the size of the mechanism: none."""
    found, expected = (kg.equilibrium(four_bar(kind, *sizes)) for sizes in ((s, m), (1.0, 1.0)))
    for name in ("l.B", "c.B"):
        np.testing.assert_allclose(
            found.markers()[name].position / s, expected.markers()[name].position, rtol=1e-11, atol=1e-11
        )
    np.testing.assert_allclose(found.eigenvalues, expected.eigenvalues, rtol=1e-9)
    slopes = [x.gradient(wrt=["s"])["o", "s"] for x in (found, expected)]
    assert slopes[0] == pytest.approx(slopes[1], rel=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("s", "m"), SIZES)
def test_motions_by_drivers(kind, s, m):
    driven = {"drivers": {"turn": {"measure": "p.angle", "value": "0.1 + 2*t"}}, "degrees_of_freedom": {}}
    found, expected = (kg.drive(four_bar(kind, *sizes, **driven)) for sizes in ((s, m), (1.0, 1.0)))
    for level in ("position", "velocity", "acceleration"):
        mine, theirs = getattr(found.marker("c.B"), level) / s, getattr(expected.marker("c.B"), level)
        np.testing.assert_allclose(mine, theirs, rtol=1e-11, atol=1e-11)
    mine, theirs = (
        x.reactions()["w"] / (size * mass * np.repeat([1.0, size], 3))
        for x, size, mass in ((found, s, m), (expected, 1.0, 1.0))
    )
    np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9)
    unique, others = (x.reactions().unique["w"] for x in (found, expected))
    np.testing.assert_array_equal(unique, others)


@pytest.mark.parametrize("length", [-30, 20])
def test_masses_of_natural_coordinates(length):
    """Moments of inertia beside masses are not taken for rounding."""
    s = 2.0**length
    found, expected = (four_bar("natural", size, 1.0) for size in (s, 1.0))
    M = []
    for system in (found, expected):
        work = system.workspace()
        start(system, work)
        M.append(work["unit"][:, None] * work["M"] * work["unit"])
    np.testing.assert_array_equal(M[0] / s**2, M[1])
