"""Unit solids put into place, and small geometry of points."""

from __future__ import annotations

import numpy as np

SAME = 1e-9  # points nearer than this, of the size of the body, are one


def unit(v: np.ndarray) -> np.ndarray:
    v = v / np.abs(v).max()  # whose squares neither vanish nor overflow
    return v / np.linalg.norm(v)


def frame(x: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Axes of a frame with its x axis along `x`, and z near `z`."""
    x = unit(x)
    y = unit(np.cross(z, x))
    return x, y, np.cross(x, y)


def solid(kind: str, x, y, z, origin) -> dict:
    """A solid whose unit axes become x, y, z."""
    return {"kind": kind, "matrix": [float(v) for v in np.concatenate([x, y, z, origin])]}


def cylinder(a: np.ndarray, b: np.ndarray, radius: float) -> dict:
    d = b - a
    z, x, y = frame(d, np.eye(3)[np.abs(d).argmin()])
    return solid("cylinder", radius * x, radius * y, d, (a + b) / 2.0)


def ball(at: np.ndarray, radius: float) -> dict:
    return solid("sphere", *(radius * np.eye(3)), at)


def rod(a: np.ndarray, b: np.ndarray, radius: float) -> list[dict]:
    return [cylinder(a, b, radius), ball(a, radius), ball(b, radius)]


def different(points: list[np.ndarray]) -> list[np.ndarray]:
    """The points, each place once."""
    size = max((float(np.abs(p).max()) for p in points), default=0.0)
    kept: list[np.ndarray] = []
    for p in points:
        if all(np.abs(p - q).max() > SAME * size for q in kept):
            kept.append(p)
    return kept


def tree(points: list[np.ndarray]) -> list[tuple[int, int]]:
    """Pairs of points that join all of them by the shortest rods."""
    joined, edges = [0], []
    rest = list(range(1, len(points)))
    while rest:
        i, j = min(((i, j) for i in joined for j in rest), key=lambda e: np.linalg.norm(points[e[0]] - points[e[1]]))
        edges.append((i, j))
        joined.append(j)
        rest.remove(j)
    return edges


def neighbours(points: list[np.ndarray]) -> list[tuple[int, int]]:
    """Pairs of points to which no third one is nearer than they are to each other: a frame through all of them."""
    x = np.array(points)
    d = np.linalg.norm(x[:, None] - x[None], axis=2)
    pairs = [(i, j) for i in range(len(x)) for j in range(i + 1, len(x))]
    return [(i, j) for i, j in pairs if not (np.maximum(d[i], d[j]) < d[i, j] * (1.0 - 1e-6)).any()]


def hull(points: np.ndarray) -> list[int]:
    """Numbers of the corners of the convex hull of (k, 2) points, counter-clockwise."""
    order = sorted(range(len(points)), key=lambda k: tuple(points[k]))

    def chain(numbers) -> list[int]:
        kept: list[int] = []
        for k in numbers:
            while len(kept) > 1 and _turn(*points[[kept[-2], kept[-1], k]]) <= 0.0:
                kept.pop()
            kept.append(k)
        return kept[:-1]

    return chain(order) + chain(reversed(order))


def _turn(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def plate(corners: list[np.ndarray], normal: np.ndarray, thickness: float) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and triangles of a plate over a convex polygon."""
    n = len(corners)
    shift = 0.5 * thickness * normal
    vertices = np.array([c + shift for c in corners] + [c - shift for c in corners])
    top = [(0, k, k + 1) for k in range(1, n - 1)]
    below = [(n, n + k + 1, n + k) for k in range(1, n - 1)]
    sides = [t for k in range(n) for t in ((k, n + k, (k + 1) % n), ((k + 1) % n, n + k, n + (k + 1) % n))]
    return vertices, np.array(top + below + sides)
