"""Derivatives of equilibria with directions that nothing holds: what does not depend on them has derivatives, and only that."""

import numpy as np
import pytest
from helpers import assert_close

import kinegrad as kg
from kinegrad.coordinates.sets import joint
from kinegrad.errors import KinegradError
from kinegrad.model.model import Model

# A rod on a torsion spring with a wheel that spins freely at its end, and a sledge nothing holds at all; a load that follows
# the rod makes the stiffness unsymmetric.
TEXT = """
kinegrad: 1
parameters: {m: 2, L: 0.8, k: 30, mw: 1.5, e: 0, tilt: 0, F: 3}
design: [m, L, k, mw, F]
ground: {markers: {O: [0, 0, 0], S: [1, 2, 0.5]}}
bodies:
  rod: {mass: m, com: [L/2, 0, 0], inertia: [0.01, 0.1, 0.1], markers: {O: [0, 0, 0], T: [L, 0, 0]}}
  wheel: {mass: mw, com: [e, 0, 0], inertia: [0.02, 0.02, 0.04], markers: {C: [0, 0, 0], R: [0.2, 0.1, 0]}}
  sledge: {mass: 3, inertia: [0.2, 0.2, 0.2], markers: {C: [0.1, 0, 0]}}
joints:
  hinge: {type: revolute, between: [ground.O, rod.O], axis: [0, 0, 1]}
  axle: {type: revolute, between: [rod.T, wheel.C], axis: [0, 0, 1]}
  rail: {type: prismatic, between: [ground.S, sledge.C], axis: [1, 0, 2]}
forces:
  weight: {type: gravity, acceleration: ['tilt', -9.81, 0]}
  lift: {type: force, at: wheel.C, value: [0, 0.3, 0]}
  jet: {type: force, at: rod.T, frame: body, value: [0, F, 0]}
  coil: {type: spring, acts_on: hinge.angle, stiffness: k, damping: 0.1}
  HOLD
objectives:
  height: {final: rod.T.y}
  place: {final: wheel.C.x + hinge.angle}
  OBJECTIVE
degrees_of_freedom:
  hinge.angle: {position: 0.1}
  axle.angle: {position: 0.7}
  rail.distance: {position: 0.2}
"""
BAR = """bodies:
  bar:
    {mass: 0.7, com: [0.5, 0, 0], inertia: [0.01, 0.1, 0.1], pose: {origin: [0.8, 0, 0], x_axis: [0.6, -0.1, 0]},
     markers: {A: [0, 0, 0], B: [1, 0, 0]}}"""
TIES = """joints:
  tie: {type: spherical, between: [rod.T, bar.A]}
  foot: {type: cylindrical, between: [ground.O, bar.B], axis: [1, 0, 0]}"""
LOOP = TEXT.replace("bodies:", BAR).replace("joints:", TIES)


def built(text=TEXT, hold="", objective=""):
    return joint(Model.from_yaml_text(text.replace("HOLD", hold).replace("OBJECTIVE", objective)))


HELD = """grip: {type: spring, acts_on: axle.angle, stiffness: 7, natural_value: 0.7}
  buffer: {type: spring, acts_on: rail.distance, stiffness: 9, natural_value: 0.2}"""


def test_what_spins_freely_is_no_hindrance():
    """The same derivatives as with springs that hold what is free, and do nothing."""
    free, held = kg.equilibrium(built()), kg.equilibrium(built(hold=HELD))
    assert set(free.free) == {"axle.angle", "rail.distance"} and held.stable
    assert abs(free.coordinates["hinge.angle"] - held.coordinates["hinge.angle"]) < 1e-12
    expected = held.gradient().matrix
    assert np.abs(expected).min() > 1e-4
    for method in ("direct", "adjoint"):
        assert_close(free.gradient(method=method).matrix, expected, 1e-12)
    a = free.coordinates["hinge.angle"]
    g, m, L, k, mw, F = 9.81, 2.0, 0.8, 30.0, 1.5, 3.0
    assert abs(k * a + (m / 2 + mw - 0.3 / g) * g * L * np.cos(a) - F * L) < 1e-12
    slope = -g * L * np.cos(a) / (k - (m / 2 + mw - 0.3 / g) * g * L * np.sin(a))
    assert free.gradient(wrt=["mw"])["height", "mw"] == pytest.approx(L * np.cos(a) * slope, rel=1e-11)


def test_every_number_but_those_that_push():
    """Numbers that would set the wheel or the sledge in motion have no derivative; all others have theirs."""
    free, held = kg.equilibrium(built()), kg.equilibrium(built(hold=HELD))
    found, expected = (x.gradient(method="adjoint", every_slot=True).by_number() for x in (free, held))
    push = {
        "parameters.e", "parameters.tilt", "bodies.wheel.com.x", "bodies.wheel.com.y", "forces.weight.acceleration.x",
        "forces.weight.acceleration.z", "joints.rail.axis.y", "bodies.wheel.markers.C.x",
        "bodies.wheel.markers.C.y",
    }  # fmt: skip
    for name, values in found.items():
        assert {path for path, value in values.items() if np.isnan(value)} == push & set(values)
        scale = max(map(abs, expected[name].values()))
        for path, value in values.items():
            assert path in push or abs(value - expected[name][path]) < 1e-12 * scale


def test_objectives_and_parameters_that_use_a_free_direction_are_refused_by_name():
    found = kg.equilibrium(built(objective="turned: {final: wheel.R.x}"))
    for method in ("direct", "adjoint"):
        with pytest.raises(
            KinegradError, match=r"Objective 'turned' .* nothing holds axle\.angle, on which it depends"
        ):
            found.gradient(wrt=["m"], method=method)
    found = kg.equilibrium(built(objective="gone: {final: sledge.C.z}\n  spun: {final: axle.angle**2}"))
    with pytest.raises(KinegradError, match=r"(?s)'gone' .* rail\.distance, .*'spun' .* axle\.angle"):
        found.gradient(wrt=["m"])
    found = kg.equilibrium(built())
    for method in ("direct", "adjoint"):
        with pytest.raises(KinegradError, match=r"Parameter 'e' pushes along axle\.angle, which nothing holds"):
            found.gradient(wrt=["m", "e"], method=method)
        with pytest.raises(KinegradError, match=r"Parameter 'tilt' pushes along rail\.distance"):
            found.gradient(wrt=["tilt"], method=method)


def test_a_loop_with_a_wheel():
    """Constraints, a bar that may spin about its own axis, and a wheel: still the derivatives of the held mechanism."""
    free, held = kg.equilibrium(built(LOOP)), kg.equilibrium(built(LOOP, HELD))
    assert "axle.angle" in free.free and "axle.angle" not in held.free
    assert_close(free.gradient().matrix, held.gradient().matrix, 1e-10)
    assert_close(free.gradient(method="adjoint").matrix, free.gradient().matrix, 1e-10)


def test_the_potential_energy_is_stationary_along_what_spins_freely():
    """A bar that hangs on another one and on a spring may spin about itself: of the slopes of the energy by coordinates nothing
    is left but rounding, and its derivative by a mass is the height of that mass."""
    text = """
kinegrad: 1
parameters: {m: 2, L: 0.7}
design: [m]
ground: {markers: {O: [0, 0, 0], Q: [1.0, 0.3, -0.2]}}
bodies:
  a: {mass: m, com: [L/2, 0, 0], inertia: [0.01, 0.2, 0.2], markers: {A: [0, 0, 0], B: [L, 0, 0]}}
  b: {mass: m, com: [L/2, 0, 0], inertia: [0.01, 0.2, 0.2], markers: {A: [0, 0, 0], B: [L, 0, 0], side: [0, 1, 0]}}
joints:
  hook: {type: cardan, between: [ground.O, a.A], axes: [[0, 1, 0], [0, 0, 1]]}
  knee: {type: spherical, between: [a.B, b.A]}
forces:
  gravity: {type: gravity, acceleration: [0, 0, -9.81]}
  coil: {type: spring, between: [ground.Q, b.B], stiffness: 300, natural_length: 0.3}
objectives: {energy: {final: potential_energy}}
degrees_of_freedom: {hook.angle1: {position: 0.3}, hook.angle2: {position: 0.1}, knee: {rotation: [0.3, -0.2, 0.5]}}
"""
    rest = kg.equilibrium(joint(Model.from_yaml_text(text)))
    height = rest["a.com.z"] + rest["b.com.z"]
    np.testing.assert_allclose(rest.gradient().matrix, [[9.81 * height]], rtol=1e-11)
    dependent = text.replace("final: potential_energy", "final: potential_energy + 1.0e-9*b.side.x")
    with pytest.raises(KinegradError, match="Objective 'energy' has no derivative at this equilibrium"):
        kg.equilibrium(joint(Model.from_yaml_text(dependent))).gradient()
