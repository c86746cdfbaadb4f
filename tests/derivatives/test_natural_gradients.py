"""Gradients of short runs in natural coordinates against complex step: by parameters, and by every number of a model."""

import warnings

import numpy as np
import pytest
from kernels.formulations.short_runs import assert_gradients
from products_by_complex_step import uncompiled
from whole_runs import (
    CHAIN_WRT,
    DRIVEN_WRT,
    FIVE_BAR,
    SLIDER_CRANK,
    SPATIAL_WRT,
    Case,
    H,
    driven_crank,
    five_bar,
    open_chain,
    slider_crank,
    spatial_loop,
)

import kinegrad as kg
from kinegrad.model.simulation import ALI3P, Index1, MatrixR, Newmark, RungeKutta4

pytestmark = uncompiled
STIFF, LIGHT = ALI3P(penalty=1e8), ALI3P(penalty=1e8, projection_scale=1e-4)
RUNS = {
    "five-bar, ali3p": (five_bar, STIFF, Newmark(), FIVE_BAR, 3, 0.0085),
    "slider-crank, ali3p": (slider_crank, LIGHT, Newmark(), SLIDER_CRANK, 3, 0.005),
    "slider-crank, matrix-r": (slider_crank, MatrixR(), RungeKutta4(), SLIDER_CRANK[::2], 2, 0.005),
    "loop, index1": (spatial_loop, Index1(), RungeKutta4(), SPATIAL_WRT, 2, 0.005),
    "driven, ali3p": (driven_crank, STIFF, Newmark(), DRIVEN_WRT[::4], 1, 0.005),
    "open chain, ali3p": (open_chain, STIFF, Newmark(), CHAIN_WRT[1::4], 1, 0.0045),
}


@pytest.mark.parametrize("name", RUNS)
def test_gradients(name):
    model, formulation, integrator, wrt, steps, h = RUNS[name]
    assert_gradients(Case(model, formulation, integrator, wrt, steps * h, h, coordinates="natural"), 1e-9)


# Bodies carried by shared entities, by n × d, as followers with frames askew, and welded.
GROUPS = """
kinegrad: 1
ground: {markers: {O: [0.1, -0.2, 0.3], S: [0.5, 0.4, -0.2]}}
bodies:
  a: {mass: 1.3, com: [0.1, 0.2, -0.2], inertia: [0.3, 0.4, 0.5, 0.02, -0.03, 0.05],
      markers: {p: [0.05, 0.7, 0.1], q: [0.3, 0.2, 0.7], w: [0.4, 0, 0.1]}}
  b: {mass: 0.8, com: [0, 0.1, 0.2], inertia: [0.1, 0.2, 0.2], markers: {p: [-0.1, 0.2, 0.1], q: [0.7, 0.3, -0.2]}}
  c: {mass: 0.5, com: [0.2, 0.1, 0], inertia: [0.1, 0.1, 0.1], markers: {p: [0, 0.1, 0], q: [0.3, 0.1, 0.2]}}
  d: {mass: 0.6, com: [0.1, 0.1, 0.1], inertia: [0.1, 0.12, 0.1], markers: {p: [0.2, 0, 0], q: [0.1, 0.5, 0.2]}}
joints:
  hinge: {type: revolute, between: [ground.O, a.p], axis: [1, 0.3, 0.4]}
  slide: {type: prismatic, between: [a.q, b.p], axis: [[0, 1, 0.3], [1, 0.3, 0.2]], zero: [[1, 0, 0], [0, 0.7, 1]]}
  weld: {type: fixed, between: [b.q, c.p]}
  pin: {type: revolute, between: [c.q, d.p], axis: [0.2, 0.1, 1]}
forces:
  weight: {type: gravity, acceleration: [0.3, -9.81, 1]}
  coil: {type: spring, between: [ground.S, d.q], stiffness: 30, damping: 0.8, natural_length: 0.4}
degrees_of_freedom:
  hinge.angle: {position: 0.3, velocity: 1}
  slide.distance: {position: 0.2, velocity: -0.4}
  pin.angle: {position: 0.5, velocity: 2}
objectives: {o: {integral: "norm2(d.q.acceleration) + a.w.velocity.x*c.q.y"}, e: {final: "norm2(d.q.velocity)"}}
"""


def test_every_number_of_groups_of_bodies():
    """Basis points, fixed points, axes, frames of followers, welds, masses: the adjoint of a run by all of them."""
    system = kg.natural(kg.Model.from_yaml_text(GROUPS))
    assert system.held == () and {f["lead"] for f in system.set.frames} != set(range(len(system.set.frames)))
    run = {"t_end": 0.005, "step": 0.005}
    motion = kg.simulate(system, "index1", "rk4", **run)
    found = kg.gradient(motion, wrt=[], method=kg.DiscreteAdjoint(every_slot=True)).by_number()
    J = system.slots.field_jacobian(system.rho).dense()
    paths = system.slots.field_paths
    expected = np.empty((2, len(paths)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k in range(len(paths)):
            there = kg.simulate(system, "index1", "rk4", s=system.s + H * 1j * J[:, k], **run)
            expected[:, k] = [value.imag / H for value in there.objectives.values()]
    for row, name in zip(expected, found, strict=True):
        values = np.array([found[name][path] for path in paths])
        size = np.maximum(np.abs(row), 1e-3 * np.abs(row).max())
        assert (np.abs(values - row) / size).max() < 1e-9
        assert np.count_nonzero(np.abs(row) > 1e-6 * np.abs(row).max()) > 60
