"""Masses of frames: moments, the mass matrix against velocities of mass points, weight against a potential."""

import numpy as np
import pytest
from helpers import assert_close
from products_by_complex_step import uncompiled

from kinegrad.kernels.natural.frames import move_frames
from kinegrad.kernels.natural.inertia import (
    add_by_moments,
    add_moments,
    add_weight,
    along,
    by_moments,
    first_moment,
    kinetic_energy,
    mass_matrix,
    six_at,
    weight,
)
from kinegrad.kernels.natural.prepare import prepare_frames
from kinegrad.kernels.natural.records import AT, SIZE, V
from kinegrad.kernels.products import EVALUATE

from .carried import JOINTS, system

pytestmark = uncompiled


def mass_points(rng):
    """Points (5, 3), their masses, and what they are as one body: m, c, J."""
    x, m = rng.normal(size=(5, 3)), rng.uniform(0.5, 2.0, 5)
    c = m @ x / m.sum()
    S = sum(mi * np.outer(d, d) for mi, d in zip(m, x - c, strict=True))
    J = np.trace(S) * np.eye(3) - S
    return x, m, c, J[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]


def test_moments_are_those_of_mass_points(rng):
    x, m, c, J = mass_points(rng)
    Z, ones = np.zeros(16), np.hstack([x, np.ones((5, 1))])
    add_moments(Z, m.sum(), c, J)
    assert_close(Z.reshape(4, 4), ones.T @ (m[:, None] * ones))
    assert six_at(J, 0) == tuple(J)


def test_products_with_moments(rng):
    Z, T, D, g = rng.normal(size=16), rng.normal(size=24), np.zeros(24), rng.normal(size=3)
    F = T[12:].reshape(4, 3).T
    expected = F @ Z.reshape(4, 4).T
    add_by_moments(Z, T, 12, D, 12)
    assert_close(D[12:].reshape(4, 3).T, expected)
    assert_close(by_moments(Z, T, 12, 2), expected[:, 2])
    add_weight(Z, g, D, 12)
    assert_close(D[12:].reshape(4, 3).T, expected - np.outer(g, Z[3::4]))
    assert_close(along(D[12:], T, 12), D[12:] @ T[12:])


@pytest.mark.parametrize("kind", JOINTS)
def test_mass_matrix_and_weight(kind, rng):
    """½ v·M v is the kinetic energy of the bodies; f of weight is the change of -g·∫ x dm."""
    made = system(kind)
    work = made.workspace()
    work["q"][:] = rng.normal(size=made.n)
    work.call(EVALUATE)
    frame, basis, entity, fcol = (work[name] for name in ("frame", "basis", "entity", "fcol"))
    prepare_frames(frame, basis, entity, fcol, work["s"])
    M, f = np.zeros((made.n, made.n)), np.zeros(made.n)
    mass_matrix(frame, basis, entity, fcol, work["square"], M.reshape(-1))
    gravity = made.sizes["gravity"]
    weight(frame, basis, entity, fcol, work["s"], gravity, f)
    v, g = rng.normal(size=made.n), work["s"][gravity : gravity + 3]
    move_frames(frame, basis, entity, v, work["s"], V)
    move_frames(frame, basis, entity, work["q"], work["s"], AT)
    first = sum(np.array(first_moment(B)) for B in frame[1:])
    move_frames(frame, basis, entity, work["q"] + v, work["s"], AT)
    change = sum(np.array(first_moment(B)) for B in frame[1:]) - first
    assert_close(v @ f, -g @ change)
    assert_close(0.5 * v @ M @ v, sum(kinetic_energy(B) for B in frame[1:]))
    assert_close(M, M.T)
    by_hand = 0.0
    for B in frame[1:]:
        F = B["T"][V : V + SIZE].reshape(4, 3).T
        by_hand += 0.5 * np.trace(F @ B["Z"].reshape(4, 4) @ F.T)
    assert_close(0.5 * v @ M @ v, by_hand)
