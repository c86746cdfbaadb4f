"""Arrays as texts: base64 of their bytes, which the page reads without parsing numbers."""

from __future__ import annotations

import base64

import numpy as np


def packed(values, kind: str = "<f4") -> str:
    """Base64 of the entries in row order, as little-endian numbers of `kind` (single precision by default)."""
    with np.errstate(over="ignore", invalid="ignore"):
        return base64.b64encode(np.ascontiguousarray(values, kind).tobytes()).decode("ascii")


def unpacked(text: str, kind: str = "<f4") -> np.ndarray:
    """The numbers in such a text."""
    return np.frombuffer(base64.b64decode(text), kind).astype(float)


def brief(values: np.ndarray) -> dict | None:
    """Numbers to five digits of the largest, ``{scale, y}`` with 16 bits each; None where all are zero or none is finite.

    Numbers that are not finite become zero.
    """
    values = np.where(np.isfinite(values), values, 0.0)
    scale = float(np.abs(values).max(initial=0.0))
    if not scale > 0.0:
        return None
    return {"scale": scale / 32767.0, "y": packed(np.rint(values / scale * 32767.0), "<i2")}
