"""The workspace beside a workspace, in which accelerations and multipliers are solved again for objectives (OBJ-3)."""

from __future__ import annotations

import re

import numpy as np

from kinegrad.coordinates.coordinate_set import RADIAN
from kinegrad.errors import KinegradError
from kinegrad.kernels.products import (
    AGAIN,
    BIAS,
    EVALUATE,
    FREEDOMS,
    LENGTH,
    LINEARISE,
    NOT_UNIQUE,
    OBSERVE,
    PULLBACK,
    PULLBACK4,
    SHARING,
    TIME,
)
from kinegrad.kernels.records import DISTANCE, DOT, MEASURE

#: what takes the place of functions of a set, and the functions of the set that it runs on the workspace beside
RUNS = {
    OBSERVE: (EVALUATE, BIAS, OBSERVE),
    LINEARISE: (EVALUATE, BIAS, LINEARISE),
    PULLBACK: (PULLBACK,),
    PULLBACK4: (PULLBACK, PULLBACK4),
}
INDEPENDENT = 1e-7  # singular value, of the largest, of unit rows above which a direction counts
LIGHT = 1e-12  # of the largest inertia, below which there is none
NOTHING = 1e-6  # of the longest row, below which another counts as it does, and is no direction where it is rounding
INSIDE = 1e-4  # weight of multipliers inside of bodies, beside those between them
OWNER = re.compile(r"\w+")  # the element that a row is named after
UNIQUE = 1e-7  # of an objective: what multipliers that add up to nothing may change of one that is unique
MOVED, MOVES = 1e-9, 8  # of the size of a mechanism, of multipliers, and in radians: by chance, so many times


def replaced(which: int):
    """The compiled function in the place of function `which` of a set."""
    from kinegrad.kernels.formulations import constraint_forces

    return {
        OBSERVE: constraint_forces.observe,
        LINEARISE: constraint_forces.linearise,
        PULLBACK: constraint_forces.pullback,
        PULLBACK4: constraint_forces.pullback4,
    }[which]


def set_up(work, inner) -> bool:
    """Whether `inner` could be made the workspace beside `work`, which has a state of the motion; if not, joints have to be
    opened that share forces of objectives."""
    from kinegrad.kernels.table import addresses

    system, arrays = work.system, work.arrays
    place = _put(work, inner)
    inner["par"][TIME], inner["flag"][FREEDOMS] = work["par"][TIME], 0
    known = inner.system.tables.setdefault("rank", {})
    if not known:
        known |= _rank(inner)
    if known["shared"] and not (inner.system.tables["complete"] and inner["apart"].size):
        if inner.system is system.all_beside:
            raise _not_unique(known["shared"][0])
        return False
    for name in ("row_scale", "scale"):
        inner[name][:] = known[name]
    shared = np.array([name in known["shared"] for name in system.objectives])
    arrays["inner"][:] = inner.pointer if isinstance(inner.pointer, int) else 0, inner.system.m, shared.any(), 0
    arrays["inner_q"][: len(place)] = place
    arrays["linear"][:] = system.tables["linear"]
    arrays["inner_opts"][:] = 0.0, 0.0, 0.0, 0.0, -1.0, known["rank"]
    arrays["again"][:] = np.where(shared, SHARING, AGAIN * np.array(system.tables["again"]))
    for name in ("blocks", "units"):
        arrays[name][: inner.system.m] = known[name]
    arrays["inner_fn"][:] = addresses([None] * len(arrays["inner_fn"]))
    inner.link_solver()
    work.context.inner = inner.context
    return True


def _put(work, inner) -> np.ndarray:
    """Puts the state of a workspace into the one beside; (n,) the coordinate, or -2 - the scalar, that each one there is."""
    system, beside = work.system, inner.system
    scalars = system.tables["coordinates_beside"]
    if not scalars:
        place = np.array([system.number_of.get(name, -1) for name in beside.coordinates], np.int64)
        for name, own in (("q", "q"), ("v", "vp")):
            inner[name][:] = 0.0
            inner[name][place >= 0] = work[own][place[place >= 0]]
        return place
    work.call(EVALUATE)
    work.call(BIAS)
    places, markers = [system.tables["scalars"][k] for k in scalars], work["mk"]
    for name, own, part in (("q", "q", "x"), ("v", "vp", "xd")):
        inner[name][:] = [markers[part][i, k] if i >= 0 else work[own][k] for i, k in places]
    return -2 - np.array(scalars, np.int64)


def _rank(inner) -> dict:
    """The rank of the rows at the state of a workspace, and scales of rows and coordinates (IDX-7)."""
    system = inner.system
    inner.call(EVALUATE)
    J, inertia = np.array(inner["J"][: system.m]).real, np.abs(np.diag(np.array(inner["M"])).real).copy()
    for group in system.alike:
        inertia[group] = inertia[group].mean()
    unit, per_row = inner["unit"].real, inner["per_row"][: system.m].real
    inertia *= unit**2
    heaviest = float(inertia.max(initial=0.0)) or 1.0
    columns = unit * np.where(inertia > LIGHT * heaviest, inertia / heaviest, 1.0) ** -0.5
    size, told = np.linalg.norm(J * columns, axis=1), per_row > 0.0
    longest = (size * per_row).max(initial=0.0) or 1.0
    least = np.where(told, NOTHING * longest / np.where(told, per_row, 1.0), 0.0)
    size = np.maximum(size, least)
    rows = 1.0 / np.where(size > 0.0, size, 1.0)
    left, values, _ = np.linalg.svd(rows[:, None] * J * columns)
    rank = int((values > INDEPENDENT * values.max(initial=0.0)).sum())
    shared = _sharing(inner, rows, left[:, rank:]) if rank < system.m else []
    blocks, units = _blocks(inner)
    return {
        "rank": float(rank), "row_scale": rows, "scale": columns, "shared": shared, "blocks": blocks, "units": units
    }  # fmt: skip


def _sharing(inner, rows: np.ndarray, free: np.ndarray) -> list[str]:
    """The objectives that change with multipliers to which the columns of `free`, times `rows`, may be added.

    What is zero whatever they are, as a moment about a ball, is compared with its slope along motions, or what rounding makes
    of that.
    """
    system, rng = inner.system, np.random.default_rng(0)
    again, lam = np.array(system.tables["again"], bool), rows * rng.normal(size=system.m)
    inner["ap"][:] = rng.normal(size=system.n)

    def values(lam):
        inner["lam"][: system.m] = lam
        inner.call(OBSERVE)
        return inner["g"].real.copy()

    first, q, slope = values(lam), inner["q"].copy(), np.zeros(len(again))
    sizes = inner["unit"].real.copy()
    for _ in range(MOVES):
        inner["q"][:] = q + MOVED * sizes * rng.normal(size=system.n)
        inner.call(EVALUATE)
        slope = np.maximum(slope, np.abs(values(lam * (1.0 + MOVED * rng.normal(size=system.m))) - first) / MOVED)
    inner["q"][:] = q
    inner.call(EVALUATE)
    changed = np.zeros(len(again), bool)
    for column in free.T:
        other = values(lam + rows * column)
        changed |= again & ~(np.abs(other - first) <= UNIQUE * (np.abs(other) + np.abs(first) + slope))
    return [name for name, found in zip(system.objectives, changed, strict=True) if found]


def _blocks(inner) -> tuple[np.ndarray, np.ndarray]:
    """(m,) the first row of the block that each row belongs to, those of one element that exert forces, or moments; and what
    multipliers are multiplied by to be compared: 1, the size of the mechanism for those of squared lengths, one over it for
    moments; hardly anything for those of rows that keep bodies rigid."""
    system = inner.system
    elements, scalars = system.tables["elements"], system.tables["scalars"]
    moments, units, size = np.zeros(system.m, bool), np.ones(system.m), float(inner["size"][LENGTH].real)
    for row in elements["row"]:
        turned = row["type"] == MEASURE and system.coordinates[scalars[row["n"]][1]].unit == RADIAN
        if row["row"] < system.m:
            moments[row["row"]] = turned or (row["type"] == DOT and row["k"] < 0)
            units[row["row"]] = size if row["type"] == DISTANCE else 1.0
    units[moments] = 1.0 / size
    units[: system.tables["rigid"]] *= INSIDE
    alone = {row["row"] for row in elements["row_law"]}
    first: dict[tuple, int] = {}
    keys = [(OWNER.match(name)[0], moments[k], k if k in alone else -1) for k, name in enumerate(system.row_names)]
    blocks = [first.setdefault(key, k) for k, key in enumerate(keys)]
    return np.array(blocks, np.int64), units


def refuse_shared(work) -> None:
    """Raises where an objective was found that asks how redundant constraints share a force (OBJ-7)."""
    first = work.arrays["inner"][NOT_UNIQUE] - 1
    if first >= 0:
        raise _not_unique(list(work.system.objectives)[first])


def _not_unique(name: str) -> KinegradError:
    return KinegradError(
        f"The objective {name!r} uses a force that is not unique: constraints are redundant and share it in many ways. "
        "Remove what holds the same twice, or use another component."
    )
