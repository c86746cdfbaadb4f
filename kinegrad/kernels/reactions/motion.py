"""Reactions along states that were kept (REA-2 to REA-6)."""

from typing import NamedTuple

import numpy as np

from kinegrad.kernels.clearing import clear_covectors, clear_flat
from kinegrad.kernels.elements.laws import scalar_values
from kinegrad.kernels.elements.layout import ELEMENTS
from kinegrad.kernels.elements.stages import FORCES, run_stage
from kinegrad.kernels.jit import entry, kernel, real, sqrt
from kinegrad.kernels.products import FREEDOMS, OBSERVE, POSITION, STATUS
from kinegrad.kernels.reactions.balance import beyond, known, more_than_seen, reaction, unknown_side
from kinegrad.kernels.reactions.geometry import place_bodies, place_joints
from kinegrad.kernels.reactions.least_norm import (
    PROBES,
    factor_large,
    factor_small,
    loose_small,
    refine,
    solve_small,
)  # fmt: skip
from kinegrad.kernels.reactions.unknowns import place_unknowns
from kinegrad.kernels.set_functions import put_state
from kinegrad.kernels.solvers.multiply import minus_rows
from kinegrad.kernels.status import OK
from kinegrad.kernels.table import call
from kinegrad.kernels.vec3 import put6, vec

mk_, sc_, flag_, q_, vp_, ap_, f_ = ELEMENTS.viewers(*"mk sc flag q vp ap f".split())


EVERY = 8  # states after which it is looked anew what is not unique; where the rank changes it is so at once


class Topology(NamedTuple):
    """Tables of a model, with scratch of one state (`kinegrad.kernels.reactions.records`)."""

    body: np.ndarray
    joint: np.ndarray
    direction: np.ndarray
    unknown: np.ndarray
    term: np.ndarray
    hit: np.ndarray
    member: np.ndarray
    load: np.ndarray
    angle: np.ndarray
    element: np.ndarray
    wide: np.ndarray  # the pattern of J
    gravity: np.ndarray  # (3,)


class Scratch(NamedTuple):
    """Arrays of one state: m unknowns, n rows of the balance."""

    size: np.ndarray  # (1,) the length of the model
    of_unknowns: np.ndarray  # (m,) units, by which unknowns are alike; those in use are divided by them
    of_rows: np.ndarray  # (n,) by which rows of the balance are multiplied, so that moments are forces
    of_entries: np.ndarray  # like J, the product of both
    of_wrenches: np.ndarray  # (wrenches,) units of the unknowns that wrenches belong to
    rank: np.ndarray  # (1,) of the balance at the state before
    W: np.ndarray  # (wrenches, 6)
    J: np.ndarray  # flat
    B: np.ndarray  # (3, 3)
    six: np.ndarray  # (6,)
    b: np.ndarray  # (n,)
    r: np.ndarray  # (n,)
    y: np.ndarray  # (m,)
    z: np.ndarray  # (m,)
    rates: np.ndarray
    chance: np.ndarray  # (PROBES, m)
    squares: np.ndarray  # (elements, 6)
    loose: np.ndarray  # (m,)


class Results(NamedTuple):
    """What is found; k states, m unknowns."""

    reactions: np.ndarray  # (elements, k, 6)
    y: np.ndarray  # (m, k)
    rates: np.ndarray  # (rates, k)
    residual: np.ndarray  # (k,)
    changes: np.ndarray  # (elements, 6) largest change of a reaction that nothing else feels
    loose: np.ndarray  # (m,) the same of an unknown


@entry(what="the reactions")
def reactions_along(fn, ctx, T, S, small, large, t, q, qd, qdd, first, out):
    """Status, and how many states are done; they are those from `first` on in the results."""
    flag, mk = flag_(ctx), mk_(ctx)
    flag[FREEDOMS] = 0
    for k in range(t.shape[0]):
        put_state(ctx, t[k], q[k], qd[k], qdd[k])
        call(fn[POSITION], ctx)
        call(fn[OBSERVE], ctx)
        scalar_values(sc_(ctx), mk, q_(ctx), vp_(ctx), ap_(ctx))
        clear_covectors(mk)
        clear_flat(f_(ctx))
        flag[STATUS] = OK
        run_stage(ctx, FORCES)
        if flag[STATUS] != OK:
            return flag[STATUS], k
        place_bodies(T.body, mk)
        place_joints(T.body, T.joint, T.direction)
        status = balance(ctx, T, S, small, large, first + k, out)
        if status != OK:
            return status, k
    return OK, t.shape[0]


@kernel
def balance(ctx, T, S, small, large, k, out):
    """Status; all results of state k, whose bodies and joints are in their places."""
    b, r, y, m = S.b, S.r, S.y, S.y.shape[0]
    known(T, mk_(ctx), f_(ctx), vec(T.gravity), b)
    clear_flat(y)
    rank = 0
    if m > 0:
        clear_flat(S.J)
        place_unknowns(ctx, T, S.size[0], S.W, S.J, S.B, S.rates)
        unknown_side(T, S.W, S.J)
        multiply(S.of_entries, S.J)
        multiply(S.of_rows, b)
        more = more_than_seen(S.W, S.J, S.size[0], S.of_wrenches)
        if large.T.shape[0] > 0:
            status = factor_large(large, T.wide, S.J, more)
            if status != OK:
                return status
            refine(large, T.wide, S.J, b, y)
        else:
            rank, left = factor_small(small, more)
            solve_small(small, rank, left, b, y)
    else:
        multiply(S.of_rows, b)
    copy(b, r)
    minus_rows(T.wide, S.J, m, y, r)
    for i in range(r.shape[0]):
        out.residual[k] = max(out.residual[k], abs(real(r[i])) / S.of_rows[i])
    multiply(S.of_unknowns, y)
    beyond(T, S.W, y)
    for i in range(T.element.shape[0]):
        F, N = reaction(T, S.W, y, i, True)
        put6(out.reactions[i, k], F, N)
    for l in range(m):
        out.y[l, k] = y[l]
    for l in range(S.rates.shape[0]):
        out.rates[l, k] = S.rates[l]
    if rank < m and (k % EVERY == 0 or S.rank[0] != rank):
        look_for_changes(T, S, small, large, rank, out)
    S.rank[0] = rank
    return OK


@kernel
def multiply(units, x):
    """x times units, number by number."""
    for i in range(x.shape[0]):
        x[i] *= units[i]


@kernel
def copy(a, b):
    """b = a."""
    for i in range(a.shape[0]):
        b[i] = a[i]


@kernel
def look_for_changes(T, S, small, large, rank, out):
    """Largest changes so far of reactions and unknowns by what may be added to the unknowns (REA-5, REA-6)."""
    z, m, squares = S.z, S.z.shape[0], S.squares
    clear_flat(S.loose)
    for i in range(squares.shape[0]):
        for c in range(6):
            squares[i, c] = 0.0
    for p in range(min(PROBES, m - rank)):
        if large.T.shape[0] > 0:
            copy(S.chance[p], z)
            clear_flat(S.r)
            refine(large, T.wide, S.J, S.r, z)
        else:
            loose_small(small, rank, S.chance, p, z)
        for l in range(m):
            S.loose[l] += real(z[l]) ** 2
        multiply(S.of_unknowns, z)
        beyond(T, S.W, z)
        for i in range(squares.shape[0]):
            F, N = reaction(T, S.W, z, i, False)
            put6(S.six, F, N)
            for c in range(6):
                squares[i, c] += real(S.six[c]) ** 2
    for l in range(m):
        out.loose[l] = max(out.loose[l], sqrt(S.loose[l]))
    for i in range(squares.shape[0]):
        for c in range(6):
            out.changes[i, c] = max(out.changes[i, c], sqrt(squares[i, c]))
