"""Rotations and directions, by plain NumPy."""

import numpy as np


def unit(x):
    return np.asarray(x, float) / np.linalg.norm(x)


def cross(a, b):
    """a × b, of two vectors."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def skew(x):
    """The matrix of x × ."""
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


def turn(axis, angle):
    """The rotation by an angle about an axis."""
    u = unit(axis)
    return np.cos(angle) * np.eye(3) + np.sin(angle) * skew(u) + (1.0 - np.cos(angle)) * np.outer(u, u)


def rotation_vector(R):
    """The rotation vector of R, of a length below pi."""
    c = (np.trace(R) - 1.0) / 2.0
    w = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2.0
    s = np.linalg.norm(w)
    return w if s < 1e-12 else w / s * np.arctan2(s, c)


def random_rotation(rng):
    q = unit(rng.normal(size=4))
    return np.eye(3) + 2.0 * q[0] * skew(q[1:]) + 2.0 * skew(q[1:]) @ skew(q[1:])


def across(x, axis):
    """The unit vector of the part of x across an axis of length 1."""
    return unit(x - axis * (axis @ x))


def frame(x_axis, z_axis):
    """The rotation whose x axis is x_axis and whose z axis is z_axis made perpendicular to it."""
    x = unit(x_axis)
    z = across(np.asarray(z_axis, float), x)
    return np.column_stack([x, cross(z, x), z])
