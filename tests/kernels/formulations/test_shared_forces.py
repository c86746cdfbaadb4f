"""Forces that redundant rows share: least norm beside the pseudo-inverse, a plane beside its closed form, what is refused."""

import numpy as np
import pytest
from helpers import assert_close

import kinegrad as kg
from kinegrad.errors import KinegradError
from kinegrad.kernels.formulations.shared_forces import column_dot, is_loaded, take_column
from kinegrad.kernels.jit import JIT, entry
from kinegrad.kernels.products import OBSERVE
from kinegrad.kinematics.start import start

NUMBERS = ["f8"] if JIT else ["f8", "c16"]


@entry
def _range(Q, m, n, rank):
    for k in range(rank):
        take_column(Q, k, m, n)
    return 0


@entry
def _dots(Q, x, out, m):
    for k in range(out.shape[0]):
        out[k] = column_dot(Q, k, x, m)
    return 0


@entry
def _loaded(lam, loose, blocks, units, part, m, least):
    return 1 if is_loaded(lam, loose, blocks, units, part, m, least) else 0


@pytest.mark.parametrize("number", NUMBERS)
def test_columns_are_a_basis_of_the_range(rng, number):
    J = rng.normal(size=(7, 3)) @ (rng.normal(size=(3, 5)) * 10.0 ** rng.integers(-3, 4, 5))
    lam, Q, along = rng.normal(size=7).astype(number), J.astype(number), np.zeros(3, number)
    _range(Q, 7, 5, 3)
    assert_close(Q[:, :3].T @ Q[:, :3], np.eye(3), 1e-13)
    _dots(Q, lam, along, 7)
    least = np.linalg.pinv(J.T) @ (J.T @ lam.real)
    assert_close((Q[:, :3] @ along).real, least, 1e-10)


def test_blocks_are_looked_at_apart():
    """Two blocks whose parts along the loose direction add up to nothing are loaded; rows of one block are summed."""
    lam, loose, part = np.array([1.0, 1.0, 1.0, -1.0]), np.array([1.0, 1.0, -1.0, 1.0]), np.zeros(4)
    assert _loaded(lam, loose, np.array([0, 0, 2, 2]), np.ones(4), part, 4, 1e-9) == 1
    assert _loaded(lam, loose, np.array([0, 0, 0, 0]), np.ones(4), part, 4, 1e-9) == 0
    assert _loaded(lam, loose, np.array([0, 1, 0, 1]), np.ones(4), part, 4, 1e-9) == 0
    assert _loaded(lam, loose, np.array([0, 1, 0, 1]), np.array([1.0, 1.0, 2.0, 1.0]), part, 4, 1e-9) == 1


#: A rhombus of four rods that hangs from a pin, in a plane that is turned out of those of the axes.
ROD = "mass: m, com: [0.5, 0, 0], inertia: [0, 0.2, 0.2], markers: {A: [0, 0, 0], B: [1, 0, 0]}"
RHOMBUS = f"""
kinegrad: 1
parameters: {{m: 2.0, side: 0.0}}
ground: {{markers: {{O: [0, 0, 0], Q: [0, 0.8, -0.6]}}}}
bodies:
  a: {{{ROD}, pose: {{x_axis: [1, 0, 0], z_axis: [0, 0.6, 0.8]}}}}
  b: {{{ROD}, pose: {{x_axis: [0, 0.8, -0.6], z_axis: [0, 0.6, 0.8]}}}}
  c: {{{ROD}, pose: {{origin: [0, 0.8, -0.6], x_axis: [1, 0, 0], z_axis: [0, 0.6, 0.8]}}}}
joints:
  p: {{type: revolute, between: [ground.O, a.A], axis: [[0, 0.6, 0.8], [0, 0, 1]]}}
  q: {{type: revolute, between: [ground.Q, c.A], axis: [[0, 0.6, 0.8], [0, 0, 1]]}}
  r: {{type: revolute, between: [a.B, b.A], axis: [0, 0, 1]}}
  s: {{type: revolute, between: [b.B, c.B], axis: [0, 0, 1]}}
forces: {{gravity: {{type: gravity, acceleration: ["5 + 0.6*side", "0.6*side", "0.8*side"]}}}}
degrees_of_freedom: {{a.B.y: {{position: 0, velocity: 0}}}}
objectives: {{size: {{final: p.reaction.force.norm}}, sum: {{final: norm(p.reaction.force + q.reaction.force)}}}}
"""


@pytest.mark.skipif(not JIT, reason="the workspace beside is for compiled runs")
@pytest.mark.parametrize("lower", [kg.joint, kg.reference_point])
def test_a_plane_that_no_axis_is_in(lower):
    """What the pins bear is along x, and half of the weight each; with a load across the plane nobody knows."""
    model = kg.Model.from_yaml_text(RHOMBUS)
    system = lower(model)
    work = system.workspace()
    start(system, work)
    work.call(OBSERVE)
    assert_close(work["g"], [15.0, 30.0], 1e-10)
    across = system.with_parameters({"side": 1e-3})
    work = across.workspace()
    start(across, work)
    with pytest.raises(KinegradError, match="'size' uses a force that is not unique"):
        work.call(OBSERVE)
