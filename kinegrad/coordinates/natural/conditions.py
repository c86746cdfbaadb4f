"""Bases that parameters have spoilt: points that have become collinear, frames turned into their mirror images (NAT-10)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinegrad.kernels.natural.records import AT, CROSS, POINT

if TYPE_CHECKING:
    from kinegrad.coordinates.natural.natural_set import NaturalSet

WORST = 1e4  # the largest condition of the local directions of a basis, in units of the body's size


def spoilt(natural: NaturalSet, s: np.ndarray) -> tuple[str, list[str], float] | None:
    """The body whose basis has lost most of its directions, with the columns and their condition, if that is too large."""
    leaders = [(i, f) for i, f in enumerate(natural.frames) if i and f["lead"] == i]
    if not leaders:
        return None
    D = np.array([local_directions(natural, frame, s) for _, frame in leaders])
    bad = ~np.isfinite(D).all(axis=(1, 2))
    condition = np.full(len(D), np.inf)
    condition[~bad] = np.linalg.cond(D[~bad])
    worst = int(condition.argmax())
    if condition[worst] <= WORST:
        return None
    i, frame = leaders[worst]
    columns = [b for b in natural.basis[frame["b0"] : frame["b1"]] if b["type"] != CROSS]
    return natural.heads[i], [natural.names[b["e"]] for b in columns], float(condition[worst])


def local_directions(natural: NaturalSet, frame: dict, s: np.ndarray) -> np.ndarray:
    """(3, 3) columns of a basis from its origin on, ways to points in units of the longest."""
    first, *others = natural.basis[frame["b0"] : frame["b1"]]
    found = {}
    for k, b in enumerate(others, frame["b0"] + 1):
        if b["type"] == CROSS:
            found[k] = np.cross(found[b["n"]], found[b["d"]])
        else:
            found[k] = s[b["loc"] : b["loc"] + 3] - (s[first["loc"] : first["loc"] + 3] if b["type"] == POINT else 0.0)
    ways = [k for k, b in enumerate(others, frame["b0"] + 1) if b["type"] == POINT]
    size = max((np.linalg.norm(found[k]) for k in ways), default=1.0) or 1.0
    scaled = set(ways) | {k for k, b in enumerate(others, frame["b0"] + 1) if b["type"] == CROSS and b["d"] in ways}
    return np.array([x / size if k in scaled else x for k, x in found.items()]).T


def mirrored(natural: NaturalSet, work) -> str:
    """A body whose axes have become left-handed at the position in the workspace; empty if there is none."""
    axes = work["frame"]["T"][:, AT : AT + 9].real.reshape(-1, 3, 3)
    return next((natural.heads[i] for i in np.flatnonzero(np.linalg.det(axes) < 0.0)), "")
