"""Between natural coordinates and the motion of bodies: entities from poses, poses and motions from frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinegrad.kernels.natural.records import AC, AT, CROSS, SIZE, V

if TYPE_CHECKING:
    from kinegrad.coordinates.natural.natural_set import NaturalSet


def coordinates_of(natural: NaturalSet, bodies: list[str], s: np.ndarray, A, r, V, a) -> np.ndarray:
    """q, v, a (3, n) of the entities for bodies that move as `CoordinateSet.bodies` tells it.

    Where bodies disagree about an entity, it is the mean of what they say, brought to length 1 if it is a vector.
    """
    said: list[list] = [[] for _ in natural.entities]
    number = {body: k for k, body in enumerate(bodies)}
    for i, frame in enumerate(natural.frames[1:], 1):
        head = natural.heads[i]
        k, place = number[head], natural.places[head]
        axes = A[k] @ _rotation(place, s).T
        origin = r[k] - axes @ s[place["off"] : place["off"] + 3]
        for b in natural.basis[frame["b0"] : frame["b1"]]:
            if b["type"] != CROSS:
                point = natural.entities[b["e"]]["point"]
                x = axes @ s[b["loc"] : b["loc"] + 3] if frame["lead"] == i else np.zeros(3)
                said[b["e"]].append(_motion(x + origin, V[k], a[k]) if point else _motion(x, V[k], a[k], 0.0))
    found = np.zeros((3, 1 + max((k for entity in natural.entities for k in entity["k"]), default=-1)))
    for entity, values in zip(natural.entities, said, strict=True):
        if values:
            x = np.mean(values, axis=0)
            size = np.linalg.norm(x[0])
            if not entity["point"]:
                x = x / size if size > 0.5 else values[0]
            for k, column in zip(entity["k"], x.T, strict=True):
                if k >= 0:
                    found[:, k] = column
    return found


def _motion(x: np.ndarray, V: np.ndarray, a: np.ndarray, along: float = 1.0) -> np.ndarray:
    """x, ẋ, ẍ of what moves with a body; `along` is 0 for a vector, which only turns."""
    xd = along * V[:3] + _cross(V[3:], x)
    return np.array([x, xd, along * a[:3] + _cross(a[3:], x) + _cross(V[3:], xd)])


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a × b of two vectors, for many of which NumPy's own is slow."""
    (a0, a1, a2), (b0, b1, b2) = a.tolist(), b.tolist()
    return np.array([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0])


def motion_of_bodies(natural: NaturalSet, bodies: list[str], work) -> tuple[np.ndarray, ...]:
    """A (b, 3, 3), r (b, 3), V (b, 6), a (b, 6) of the bodies after OBSERVE, motions about the global origin."""
    s, frame = work["s"], work["frame"]
    places = [natural.places[body] for body in bodies]
    R = np.array([_rotation(place, s) for place in places]).reshape(-1, 3, 3)
    off = np.array([s[place["off"] : place["off"] + 3] for place in places]).reshape(-1, 3)
    at = [place["frame"] for place in places]
    axes, origins = [], []
    for field in (AT, V, AC):
        F = frame["T"][at][:, field : field + SIZE].reshape(-1, 4, 3)  # columns of F, one after the other
        turned = F[:, :3].transpose(0, 2, 1)
        axes.append(turned @ R)
        origins.append(F[:, 3] + np.einsum("bij,bj->bi", turned, off))
    (A, Ad, Add), (r, v, a) = axes, origins
    back = A.transpose(0, 2, 1)
    w, wd = _axial(Ad @ back), _axial(Add @ back)
    return A, r, np.hstack([v - np.cross(w, r), w]), np.hstack([a - np.cross(wd, r) - np.cross(w, v), wd])


def _rotation(place: dict, s: np.ndarray) -> np.ndarray:
    """The rotation of a body in its frame."""
    return s[place["rot"] : place["rot"] + 9].reshape(3, 3) if place["rot"] else np.eye(3)


def _axial(W: np.ndarray) -> np.ndarray:
    """The vectors (b, 3) of the skew parts of matrices."""
    return 0.5 * np.stack([W[:, 2, 1] - W[:, 1, 2], W[:, 0, 2] - W[:, 2, 0], W[:, 1, 0] - W[:, 0, 1]], axis=1)
