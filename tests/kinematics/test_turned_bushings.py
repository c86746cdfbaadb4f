"""Bushings whose frames are turned far against each other: what resists turns has a limit, what does not has none."""

import numpy as np
import pytest

import kinegrad as kg

SETS = ("joint", "reference-point", "natural")
MODEL = """\
kinegrad: 1
parameters: {{k: 3, c: 0.2, m: 1.5}}
design: [k, c, m]
ground: {{markers: {{F: {{origin: [0, 0, 0]}}}}}}
bodies:
  b: {{mass: m, inertia: [1, 1, 1],
      markers: {{O: [0, 0, 0], F: {{origin: [0.1, 0.2, 0], x_axis: [{x!r}, {y!r}, 0], z_axis: [0, 0, 1]}}}}}}
joints: {{f: {{type: prismatic, between: [ground.F, b.O], axis: [1, 0, 0]}}}}
forces: {{rubber: {{type: bushing, between: [ground.F, b.F], stiffness: [k, 1, 1], damping: [c, 0, 0]{more}}}}}
degrees_of_freedom: {{f.distance: {{position: 0.1}}}}
objectives: {{way: {{integral: f.distance**2}}}}
simulation: {{t_end: 0.5, step: 0.05}}
"""


def system(degrees, kind, more=""):
    turn = np.radians(degrees)
    text = MODEL.format(x=float(np.cos(turn)), y=float(np.sin(turn)), more=more)
    return kg.lower(kg.Model.from_yaml_text(text), kind)


@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("degrees", [171.0, 175.0, 180.0, 190.0])
def test_turns_play_no_part_without_stiffness_against_them(degrees, kind):
    """The frame of the body is turned, and motion and derivatives are those of one that is not."""
    motion, plain = (kg.simulate(system(angle, kind)) for angle in (degrees, 0.0))
    assert np.abs(motion.marker("b.O").position - plain.marker("b.O").position).max() < 1e-14
    for method in ("direct", "discrete-adjoint"):
        found, expected = (kg.gradient(one, method=method).matrix for one in (motion, plain))
        assert np.isfinite(found).all() and np.abs(found - expected).max() < 1e-14


@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("more", [", rotational_stiffness: [0, 0, 1]", ", rotational_damping: [1, 0, 0]"])
def test_the_turn_and_its_limit_are_told(more, kind):
    words = (
        r"bushing 'rubber', whose frames are turned against each other by 175 degrees, is a spring up to 170 degrees; "
        "turn a frame"
    )
    for verb in (kg.assemble, kg.simulate):
        with pytest.raises(kg.AssemblyError, match=words):
            verb(system(175.0, kind, more))
    with pytest.raises(kg.KinegradError, match=words):
        kg.equilibrium(system(175.0, kind, more))
