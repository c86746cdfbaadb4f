"""Objectives in which forces of constraints occur: three functions in the place of those of a set (OBJ-3).

At a state (q, v) accelerations and multipliers are solved for again, in a context beside (`inner`), and so such an objective
is a function of q and v alone, whatever the formulation is:

    [M Phi_qᵀ; Phi_q 0] [a; lam] = -[f; c],        g = g(q, v, a, lam)
    [M Phi_qᵀ; Phi_q 0] [U; B] = [g_a; g_lam]
    g_q - Uᵀ R_q - Bᵀ Phidd_q,   g_v - Uᵀ C - Bᵀ Phidd_v,   g_s - Uᵀ R_s - Bᵀ Phidd_s

The derivatives in the last line take the places of g_q, g_v, g_s in the context, where g_a = 0: formulations know nothing of
it.  The context beside may have more coordinates than the other, which are held at zero: joints that are opened (OBJ-6).
Where redundant rows share forces that objectives use, these are those of least norm (OBJ-7).  Or its coordinates are scalars of
the other (`linear`), in which the objective is linear, with their derivatives as slots (OBJ-8).
"""

from kinegrad.kernels.elements.layout import ELEMENTS
from kinegrad.kernels.formulations.acceleration_level import RANK
from kinegrad.kernels.formulations.acceleration_level_derivatives import linearised, stage_back4
from kinegrad.kernels.formulations.blocks import add_objectives4, clear4
from kinegrad.kernels.formulations.continuous_adjoint import solved
from kinegrad.kernels.formulations.shared_forces import least_norm, shared_objective
from kinegrad.kernels.jit import JIT, cfunction, kernel
from kinegrad.kernels.products import (
    BLOCK,
    END_COLUMN,
    FIRST_COLUMN,
    LINEARISE,
    NOT_UNIQUE,
    OBJECTIVE,
    OBSERVE,
    POINTER,
    PRODUCTS,
    PULLBACK,
    PULLBACK4,
    ROWS,
    SHARED,
    TIME,
    WEIGHT,
)
from kinegrad.kernels.status import OK
from kinegrad.kernels.table import call

par_, flag_, g_, q_, v_, vp_, mu_, ya_, s_, psi_s_, weights_, weight4_ = PRODUCTS.viewers(
    *"par flag g q v vp mu ya s psi_s weights weight4".split()
)
g_q_, g_s_, g_v_, g_a_, g_lam_, R_s_, E_s_ = PRODUCTS.viewers(*"g_q g_s g_v g_a g_lam R_s E_s".split())
x4_, H4_, E4_, r2_, U4_, B4_ = PRODUCTS.viewers(*"x4 H4 E4 r2 U4 B4".split())
inner_, inner_q_, inner_fn_, inner_opts_, again_, blocks_, units_, linear_ = PRODUCTS.viewers(
    *"inner inner_q inner_fn inner_opts again blocks units linear".split()
)
by_motion_, by_rows_, g_other_ = PRODUCTS.viewers(*"by_motion by_rows g_other".split())
(sc_,) = ELEMENTS.viewers("sc")
UNKNOWN = float("nan")
HELD = -1  # in `inner_q`; below it are scalars

if JIT:

    @kernel
    def beside(ctx):
        """The context in which a state is solved again."""
        return inner_(ctx)[POINTER]

else:

    def beside(ctx):
        """The context in which a state is solved again."""
        return ctx.inner


@kernel
def solve_again(ctx, inner):
    """Status; the inner context has accelerations and multipliers at the q and vp of the other."""
    q, v, s, par, place = q_(inner), v_(inner), s_(inner), par_(inner), inner_q_(ctx)
    for k in range(s.shape[0]):
        s[k] = s_(ctx)[k]
    for i in range(q.shape[0]):
        k = place[i]
        if k >= 0:
            q[i], v[i] = q_(ctx)[k], vp_(ctx)[k]
        elif k == HELD:
            q[i], v[i] = 0.0, 0.0
        else:
            q[i], v[i] = sc_(ctx)[HELD - 1 - k]["u"], sc_(ctx)[HELD - 1 - k]["ud"]
    par[TIME] = par_(ctx)[TIME]
    m, opts = inner_(ctx)[ROWS], inner_opts_(ctx)
    status = solved(inner_fn_(ctx), inner, m, opts)
    if status == OK and inner_(ctx)[SHARED]:
        least_norm(inner, m, int(opts[RANK]), units_(ctx))
    return status


@cfunction(what="objectives of constraint forces")
def observe(ctx):
    """g of all objectives; what cannot be solved for is no number."""
    fn, inner, again, g = inner_fn_(ctx), beside(ctx), again_(ctx), g_(ctx)
    call(fn[OBSERVE], ctx)
    status = solve_again(ctx, inner)
    call(fn[OBSERVE], inner)
    for o in range(again.shape[0]):
        if again[o]:
            g[o] = g_(inner)[o] if status == OK else UNKNOWN
    if status == OK and inner_(ctx)[SHARED]:
        o = shared_objective(inner, fn, inner_(ctx)[ROWS], again, blocks_(ctx), units_(ctx), g_other_(ctx))
        if o >= 0:
            inner_(ctx)[NOT_UNIQUE], g[o] = o + 1, UNKNOWN


@cfunction(what="objectives of constraint forces")
def linearise(ctx):
    """All products of a set, with the derivatives of objectives through accelerations and multipliers."""
    fn, inner, again, m, opts = inner_fn_(ctx), beside(ctx), again_(ctx), inner_(ctx)[ROWS], inner_opts_(ctx)
    Q, V, A, r2, U, B, weights = x4_(inner), H4_(inner), E4_(inner), r2_(inner), U4_(inner), B4_(inner), weights_(inner)
    g, g_q, g_s, g_v, g_a, g_lam = g_(ctx), g_q_(ctx), g_s_(ctx), g_v_(ctx), g_a_(ctx), g_lam_(inner)
    R_s, E_s, by_motion, by_rows, place = R_s_(inner), E_s_(inner), by_motion_(ctx), by_rows_(ctx), inner_q_(ctx)
    linear = linear_(ctx)
    no, n = g.shape[0], Q.shape[0]
    call(fn[LINEARISE], ctx)
    status = solve_again(ctx, inner)
    for o in range(no):
        for l in range(m):
            g_lam[o, l] = 0.0
    if status == OK:
        status = linearised(fn, inner, m, 0.0, 0.0, opts)
    for first in range(0, no, 4):
        used = min(4, no - first)
        for c in range(used):
            weights[first + c] = 1.0
        clear4(Q)
        clear4(V)
        clear4(A)
        clear4(r2)
        if status == OK:
            add_objectives4(first, used, n, g_q_(inner), g_v_(inner), g_a_(inner), weights, Q, V, A)
            for c in range(used):
                for l in range(m):
                    r2[l, c] = g_lam[first + c, l]
            stage_back4(fn, inner, m, 0.0, 0.0, 0.0, Q, V, A)
        for c in range(used):
            o = first + c
            if not again[o]:
                continue
            g[o] = g_(inner)[o] if status == OK else UNKNOWN
            for i in range(n):
                by_motion[o, i] = U[i, c]
                k = place[i]
                if k >= 0 and linear[o] < 0:
                    g_q[o, k], g_v[o, k], g_a[o, k] = Q[i, c], V[i, c], 0.0
                elif linear[o] >= 0:
                    s_(ctx)[linear[o] + i], s_(ctx)[linear[o] + n + i] = Q[i, c], V[i, c]
            for l in range(m):
                by_rows[o, l] = B[l, c]
            for p in range(g_s.shape[1]):
                x = g_s_(inner)[o, p]
                for i in range(n):
                    x -= U[i, c] * R_s[i, p]
                for l in range(m):
                    x -= B[l, c] * E_s[l, p]
                g_s[o, p] = g_s_(inner)[o, p] = x
    add_linear(ctx, inner)


@kernel
def add_linear(ctx, inner):
    """Derivatives of objectives that are linear in the coordinates beside, which their slots have now (OBJ-8)."""
    linear, g, g_s, some = linear_(ctx), g_(ctx), g_s_(ctx), False
    for o in range(linear.shape[0]):
        some = some or linear[o] >= 0
    if not some:
        return
    call(inner_fn_(ctx)[LINEARISE], ctx)
    for o in range(linear.shape[0]):
        if linear[o] >= 0:
            g[o] = g_(inner)[o]
            for p in range(g_s.shape[1]):
                g_s[o, p] += g_s_(inner)[o, p]


@cfunction(what="objectives of constraint forces")
def pullback(ctx):
    """psi_s of one objective, as that of a set, through accelerations and multipliers."""
    fn, inner, par, o = inner_fn_(ctx), beside(ctx), par_(ctx), flag_(ctx)[OBJECTIVE]
    weight = par[WEIGHT]
    if again_(ctx).shape[0] == 0 or not again_(ctx)[o] or weight == 0.0:
        call(fn[PULLBACK], ctx)
        return
    if linear_(ctx)[o] < 0:
        par[WEIGHT] = 0.0
    call(fn[PULLBACK], ctx)
    par[WEIGHT] = weight
    pull_beside(ctx, inner, o, weight)


@cfunction(what="objectives of constraint forces")
def pullback4(ctx):
    """The same for the objectives of a block."""
    fn, inner, flag, weights, again = inner_fn_(ctx), beside(ctx), flag_(ctx), weight4_(ctx), again_(ctx)
    first = 4 * flag[BLOCK]
    kept = (weights[0], weights[1], weights[2], weights[3])
    for c in range(flag[FIRST_COLUMN], flag[END_COLUMN]):
        if again[first + c] and linear_(ctx)[first + c] < 0:
            weights[c] = 0.0
    call(fn[PULLBACK4], ctx)
    for c in range(flag[FIRST_COLUMN], flag[END_COLUMN]):
        weights[c] = kept[c]
        if again[first + c] and kept[c] != 0.0:
            pull_beside(ctx, inner, first + c, kept[c])


@kernel
def pull_beside(ctx, inner, o, weight):
    """psi_s of one objective gains `weight` times what comes through accelerations and multipliers."""
    fn, mu, ya = inner_fn_(ctx), mu_(inner), ya_(inner)
    for i in range(mu.shape[0]):
        mu[i] = -weight * by_motion_(ctx)[o, i]
    for l in range(inner_(ctx)[ROWS]):
        ya[l] = -weight * by_rows_(ctx)[o, l]
    flag_(inner)[OBJECTIVE] = o
    par_(inner)[WEIGHT] = weight
    call(fn[PULLBACK], inner)
    gained, psi_s = psi_s_(inner), psi_s_(ctx)
    for k in range(gained.shape[1]):
        psi_s[o, k] += gained[o, k]
        gained[o, k] = 0.0
