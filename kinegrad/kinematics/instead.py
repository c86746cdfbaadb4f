"""Measures of markers in the place of a start that stands for all freedoms of a joint, where constraints leave fewer."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kinegrad.coordinates.sparse import Rows
from kinegrad.coordinates.system import System
from kinegrad.coordinates.workspace import Workspace
from kinegrad.errors import KinegradError
from kinegrad.kernels.products import FREEDOMS, POSITION
from kinegrad.kinematics.least_squares import rank
from kinegrad.kinematics.units import units_of
from kinegrad.model.bodies import VectorMarker
from kinegrad.model.constraints import FloatingStart, Freedom, SphericalStart
from kinegrad.model.names import COMPONENTS, GROUND

VECTORS = {"ex": (1.0, 0.0, 0.0), "ey": (0.0, 1.0, 0.0)}  # that a body without enough markers may be given


def measures_instead(system: System, work: Workspace, dof: int) -> str:
    """Words for the entries of spherical and floating joints that have to go, and for what takes their place; else empty."""
    model = system.model
    whole = [name for name, start in model.degrees_of_freedom.items() if isinstance(start, SphericalStart)]
    if not whole:
        return ""
    entry, stands, its = ("entry", "stands", "its") if len(whole) == 1 else ("entries", "stand", "their")
    count = sum(6 if issubclass(model.joints[name].start, FloatingStart) else 3 for name in whole)
    others = sum(f.independent and not f.state for f in system.freedoms) - count
    wanted = max(dof - others, 0)
    names = " and ".join(map(repr, whole))
    words = f"remove the {entry} {names}, which {stands} for {count}"
    if not wanted:
        return words
    found = _measures(system, work, whole, wanted) if not isinstance(work.matrix("J"), Rows) else None
    if found is None:
        return f"{words}, and give {wanted} components of markers that can move independently in {its} place"
    measures, added = found
    where = ", with " + " and ".join(added) if added else ""
    return f"{words}, and give {wanted} components of markers in {its} place, such as {', '.join(measures)}{where}"


def _measures(system: System, work: Workspace, whole: list[str], wanted: int) -> tuple[list[str], list[str]] | None:
    """So many components of markers that can move independently at the position in the workspace, and the vectors that bodies
    need for it; None where they are not found."""
    model = system.model.copy()
    for name in whole:
        del model.degrees_of_freedom[name]
    model.objectives = {}
    bodies = {end.partition(".")[0] for name in whole for end in model.joints[name].between} - {GROUND}
    own, added = [], {}
    for body in bodies:
        markers = model.bodies[body].markers
        more = {f"{body}.{name}": name for name in VECTORS if name not in markers}
        own += [f"{body}.{name}" for name in markers]
        added |= {place: f"{place}: {{vector: {list(map(int, VECTORS[name]))}}}" for place, name in more.items()}
        vectors = {name: VectorMarker(vector=VECTORS[name]) for name in more.values()}
        model.bodies[body] = model.bodies[body].with_(markers={**markers, **vectors})
    candidates = [f"{marker}.{c}" for marker in (*own, *added) for c in COMPONENTS]
    candidates = [name for name in candidates if name not in model.degrees_of_freedom]
    first = len(model.degrees_of_freedom)
    for name in candidates:
        model.degrees_of_freedom[name] = Freedom(position=0.0)
    try:
        there = type(system.set).lower(model, None, **system.set.options).with_parameters(system.rho)
    except KinegradError:
        return None
    if there.coordinates != system.coordinates:
        return None
    rows = there.workspace()
    rows["q"][:], rows["flag"][FREEDOMS] = work["q"], 1
    rows.call(POSITION)
    J = units_of(rows, rows.matrix("J")).of(rows.matrix("J"))
    found = list(_independent(J, np.arange(there.m + first), len(J) - len(candidates)))[:wanted]
    if len(found) < wanted:
        return None
    measures = [candidates[k] for k in found]
    return measures, [text for place, text in added.items() if any(name.startswith(f"{place}.") for name in measures)]


def _independent(J: np.ndarray, kept: np.ndarray, first: int) -> Iterator[int]:
    """Which of the rows from `first` on are independent of those kept and of each other."""
    rows = list(kept)
    count = rank(J[rows])
    for k in range(first, len(J)):
        if rank(J[[*rows, k]]) > count:
            rows, count = [*rows, k], count + 1
            yield k - first
