"""Triangles from mesh files: Wavefront OBJ, and STL as text or binary."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kinegrad.errors import KinegradError
from kinegrad.files import read_bytes, reason

MOST_TRIANGLES = 200_000
MOST_BYTES = 100_000_000


def read_mesh(path: Path, what: str) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3) and triangles (k, 3) of a file; `what` names the shape in the sentences of errors."""
    try:
        content = read_bytes(path, MOST_BYTES)
    except (OSError, ValueError) as error:
        raise KinegradError(
            f"{what} is {str(path)!r}, which cannot be read: {reason(error)}; the path is seen from the folder of "
            "the model, or from the one named as folder."
        ) from None
    try:
        vertices, triangles = (_obj if path.suffix.lower() == ".obj" else _stl)(content)
    except (ValueError, IndexError, UnicodeDecodeError) as error:
        raise KinegradError(f"{what} is {str(path)!r}, which is no mesh: {error}.") from None
    if not 0 < len(triangles) <= MOST_TRIANGLES:
        raise KinegradError(
            f"{what} is {str(path)!r} with {len(triangles)} triangles; a mesh has from 1 to {MOST_TRIANGLES} of them."
        )
    if not np.isfinite(vertices).all():
        raise KinegradError(f"{what} is {str(path)!r}, which has vertices that are not finite; repair the file.")
    return vertices, triangles


def triangulated(faces) -> np.ndarray:
    """(k, 3) triangles of faces with three or more corners, as fans."""
    return np.array([(f[0], f[i], f[i + 1]) for f in faces for i in range(1, len(f) - 1)], np.int64).reshape(-1, 3)


def _obj(content: bytes) -> tuple[np.ndarray, np.ndarray]:
    vertices, faces = [], []
    for number, line in enumerate(content.decode().splitlines(), 1):
        word, *rest = line.split() or [""]
        if word == "v":
            vertices.append([float(x) for x in rest[:3]])
            if len(vertices[-1]) != 3:
                raise ValueError(f"line {number} has a vertex with {len(rest)} numbers")
        elif word == "f":
            corners = [int(text.split("/")[0]) for text in rest]
            face = [
                c - 1 if c > 0 else len(vertices) + c for c in corners
            ]  # negative numbers count from the last vertex
            if len(face) < 3 or not all(0 <= c < len(vertices) for c in face):
                raise ValueError(f"line {number} has a face without three vertices that stand before it")
            faces.append(face)
    return np.array(vertices, float).reshape(-1, 3), triangulated(faces)


def _stl(content: bytes) -> tuple[np.ndarray, np.ndarray]:
    if content[:5] == b"solid" and b"facet" in content[:1000]:
        words = content.decode("latin-1").split()
        starts = [k for k, word in enumerate(words) if word == "vertex"]
        points = np.array([[float(x) for x in words[k + 1 : k + 4]] for k in starts], float).reshape(-1, 3)
        if len(points) % 3:
            raise ValueError(f"it has {len(points)} corners, which is no multiple of three")
    else:
        count = int.from_bytes(content[80:84], "little")
        if len(content) != 84 + 50 * count:
            raise ValueError(f"it has {len(content)} bytes, and {count} triangles would need {84 + 50 * count}")
        record = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
        points = np.frombuffer(content, record, offset=84)["corners"].reshape(-1, 3).astype(float)
    vertices, number = np.unique(points, axis=0, return_inverse=True)
    return vertices, number.reshape(-1, 3)
