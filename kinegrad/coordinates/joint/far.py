"""Mechanisms far from the global origin: what moments of inertia about it keep of their digits."""

from __future__ import annotations

import numpy as np

from kinegrad.coordinates.system import System
from kinegrad.coordinates.workspace import Workspace

DIGITS = 1e-9  # part of a moment of inertia that rounding may take


def _masses(system: System, work: Workspace) -> tuple[np.ndarray, ...]:
    """Nodes, and slots of the masses and of the three moments of inertia (3, k), of bodies whose moments have slots; none where
    they are not taken about the origin."""
    if "masses_about_origin" not in system.tables:
        mass = work["mass"]
        mass = mass[(mass["J"] > 0) & (system.set.body_point == "origin")]
        J = mass["J"] + np.arange(3)[:, None]
        system.tables["masses_about_origin"] = mass["node"].copy(), mass["m"].copy(), J
    return system.tables["masses_about_origin"]


def remark(system: System, work: Workspace) -> str:
    """A sentence if moments of inertia about the global origin lose digits that others would keep; else empty."""
    nodes, m, J = _masses(system, work)
    if not len(nodes):
        return ""
    s, r = work.arrays["s"].real, np.abs(work.arrays["node"]["r"].real[nodes])
    masses, own = s[m], s[J].sum(axis=0)
    if 2.0**-52 * masses.max() * r.max() ** 2 <= DIGITS * own.min():
        return ""
    away = r.max(axis=1)
    some, lost = own > 0.0, 2.0**-52 * masses * away**2
    if not (some & (lost > DIGITS * own)).any():
        return ""
    left = max(0.0, -np.log10(max((lost[some] / own[some]).max(), 1e-16)))
    return (
        f"Bodies are {away.max():.3g} m from the origin, and moments of inertia taken there keep "
        f"{left:.0f} digits; take the motion of each body at its centre of mass: body_point: com (--body-point com)."
    )
