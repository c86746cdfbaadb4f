"""The workspace beside a workspace, in which accelerations and multipliers are solved again for objectives (OBJ-3)."""

from __future__ import annotations

import numpy as np

from kinegrad.errors import KinegradError
from kinegrad.kernels.products import BIAS, EVALUATE, FREEDOMS, LINEARISE, OBSERVE, PULLBACK, PULLBACK4, TIME

#: what takes the place of functions of a set, and the functions of the set that it runs on the workspace beside
RUNS = {
    OBSERVE: (EVALUATE, BIAS, OBSERVE),
    LINEARISE: (EVALUATE, BIAS, LINEARISE),
    PULLBACK: (PULLBACK,),
    PULLBACK4: (PULLBACK, PULLBACK4),
}
INDEPENDENT = 1e-7  # singular value, of the largest, of unit rows above which a direction counts
UNIQUE = 1e-7  # of an objective: what multipliers that add up to nothing may change of one that is unique


def replaced(which: int):
    """The compiled function in the place of function `which` of a set."""
    from kinegrad.kernels.formulations import constraint_forces

    return {
        OBSERVE: constraint_forces.observe,
        LINEARISE: constraint_forces.linearise,
        PULLBACK: constraint_forces.pullback,
        PULLBACK4: constraint_forces.pullback4,
    }[which]


def set_up(work, inner) -> None:
    """Make `inner` the workspace beside `work`, which has a state of the motion."""
    from kinegrad.kernels.table import addresses

    system, arrays = work.system, work.arrays
    place = np.array([system.number_of.get(name, -1) for name in inner.system.coordinates], np.int64)
    for name in ("q", "v"):
        inner[name][:] = np.where(place >= 0, work[name if name == "q" else "vp"][place], 0.0)
    inner["par"][TIME], inner["flag"][FREEDOMS] = work["par"][TIME], 0
    known = system.tables.setdefault("rank", {})
    if not known:
        known |= _rank(inner)
    for name in ("row_scale", "scale"):
        inner[name][:] = known[name]
    arrays["inner"][:] = inner.pointer if isinstance(inner.pointer, int) else 0, inner.system.m
    arrays["inner_q"][:] = place
    arrays["inner_opts"][:] = 0.0, 0.0, 0.0, 0.0, -1.0, known["rank"]
    arrays["again"][:] = system.tables["again"]
    arrays["inner_fn"][:] = addresses([None] * len(arrays["inner_fn"]))
    inner.link_solver()
    work.context.inner = inner.context


def _rank(inner) -> dict:
    """The rank of the rows at the state of a workspace, and scales of rows and coordinates (IDX-7)."""
    system = inner.system
    inner.call(EVALUATE)
    J, inertia = np.array(inner["J"][: system.m]).real, np.abs(np.diag(np.array(inner["M"])).real).copy()
    for group in system.alike:
        inertia[group] = inertia[group].mean()
    heaviest = max(inertia.max(initial=0.0), 1e-300)
    columns = np.where(inertia > 1e-12 * heaviest, inertia, heaviest) ** -0.5
    size = np.linalg.norm(J * columns, axis=1)
    rows = 1.0 / np.where(size > 0.0, size, 1.0)
    left, values, _ = np.linalg.svd(rows[:, None] * J * columns)
    rank = int((values > INDEPENDENT * values.max(initial=0.0)).sum())
    if rank < system.m:
        _refuse_shared(inner, rows[:, None] * left[:, rank:])
    return {"rank": float(rank), "row_scale": rows, "scale": columns}


def _refuse_shared(inner, free: np.ndarray) -> None:
    """Raise where an objective changes with multipliers to which the columns of `free` may be added: it is not unique."""
    system, rng = inner.system, np.random.default_rng(0)
    again, lam = np.array(system.tables["again"], bool), rng.normal(size=system.m)
    inner["ap"][:] = rng.normal(size=system.n)

    def values(lam):
        inner["lam"][: system.m] = lam
        inner.call(OBSERVE)
        return inner["g"].real[again].copy()

    first = values(lam)
    for column in free.T:
        other = values(lam + column / np.abs(column).max())
        changed = ~(np.abs(other - first) <= UNIQUE * (np.abs(other) + np.abs(first)))
        if changed.any():
            name = [name for name, used in zip(system.objectives, again, strict=True) if used][int(changed.argmax())]
            raise KinegradError(
                f"The objective {name!r} uses a force that is not unique: constraints are redundant and share it in many ways. "
                "Remove what holds the same twice, or use another component."
            )
