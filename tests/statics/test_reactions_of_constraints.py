"""Reactions of every kind of constraint between markers: force and moment on the second body, at the first marker.

A body that nothing but one constraint and its weight act on tells them by its own motion: the force is the rate of its momentum
less its weight, and the moment about its centre that of its angular momentum.
"""

import numpy as np
import pytest
from body_motions import body_motions
from constraint_force_models import CONSTRAINTS, constrained

import kinegrad as kg

MASS, COM, G = 1.7, np.array([0.1, 0.05, -0.02]), np.array([0.3, -9.81, 1.0])
J = np.array([[0.3, 0.02, -0.03], [0.02, 0.4, 0.05], [-0.03, 0.05, 0.5]])
BETWEEN_POINTS = ("coincidence", "distance", "point-on-line", "point-in-plane")


@pytest.mark.parametrize("coordinates", ["joint", "reference-point", "natural"])
@pytest.mark.parametrize("kind", CONSTRAINTS)
def test_force_and_moment_balance_the_body(kind, coordinates):
    """In the motion, and in objectives."""
    model = constrained(kind)
    motion = kg.simulate(kg.lower(model, coordinates))
    found = motion.reactions()
    states, first = body_motions(motion), model.constraints["it"]
    tool = list(model.bodies).index("tool")
    at = motion.marker(first.between[0] if kind in BETWEEN_POINTS else "tool.P").position
    for k in range(len(motion.t)):
        A, w, alpha = states.A[k, tool], states.V[k, tool, 3:], states.a[k, tool, 3:]
        c = states.r[k, tool] + A @ COM
        acceleration = states.a[k, tool, :3] + np.cross(alpha, c) + np.cross(w, states.V[k, tool, :3] + np.cross(w, c))
        F = MASS * (acceleration - G)
        N = A @ J @ A.T @ alpha + np.cross(w, A @ J @ A.T @ w) + np.cross(c - at[k], F)
        expected, size = np.concatenate([F, N]), np.abs([*F, *N, MASS * G[1]]).max()
        assert np.abs(found["it"][k] - expected).max() < 1e-10 * size, (k, found["it"][k], expected)
    assert found.unique["it"].all()
    last = found["it"][-1, 3:] @ [1.0, 2.0, -1.0]
    assert motion.objectives["moment"] == pytest.approx(last, abs=1e-9 * np.abs(found["it"]).max())
