"""Mechanisms far from the global origin: what moments of inertia about it keep of their digits."""

from __future__ import annotations

import numpy as np

from kinegrad.coordinates.system import System
from kinegrad.coordinates.workspace import Workspace

DIGITS = 1e-9  # part of a moment of inertia that rounding may take


def remark(system: System, work: Workspace) -> str:
    """A sentence if moments of inertia about the global origin lose digits that others would keep; else empty."""
    if system.set.body_point != "origin" or not len(work["mass"]):
        return ""
    s, mass = work["s"].real, work["mass"]
    away = np.abs(work["node"]["r"].real[mass["node"]]).max(axis=1)
    J = mass["J"]
    own = np.where(J > 0, s[J] + s[J + 1] + s[J + 2], 0.0)
    lost = 2.0**-52 * s[mass["m"]] * away**2
    some = own > 0.0
    if not some.any() or (lost[some] <= DIGITS * own[some]).all():
        return ""
    left = max(0.0, -np.log10(max((lost[some] / own[some]).max(), 1e-16)))
    return (
        f"Bodies are {away.max():.3g} m from the origin, and moments of inertia taken there keep "
        f"{left:.0f} digits; take the motion of each body at its centre of mass: body_point: com (--body-point com)."
    )
