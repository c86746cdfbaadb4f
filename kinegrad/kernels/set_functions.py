"""Stages of elements as the functions of every set run them: what is emptied, and which scalars are up to date, before; what
follows.

A set places and moves its markers, calls these, and adds what its bodies give.
"""

from kinegrad.kernels.clearing import clear_duals, clear_flat
from kinegrad.kernels.elements import stages
from kinegrad.kernels.elements.laws import scalar_motions, scalar_values
from kinegrad.kernels.elements.layout import ELEMENTS
from kinegrad.kernels.elements.stages import reads_scalars, run_stage
from kinegrad.kernels.four_adjoints import collect_one, one_of_four
from kinegrad.kernels.jit import cfunction, kernel
from kinegrad.kernels.pattern import ROWS, end_of
from kinegrad.kernels.products import FREEDOMS, OBJECTIVE, STATUS, TIME, WK
from kinegrad.kernels.status import OK
from kinegrad.kernels.table import call
from kinegrad.kernels.vec3 import put, vec

mk_, sc_, par_, flag_, energy_, zero_, links_, level_, wide_ = ELEMENTS.viewers(
    *"mk sc par flag energy zero links level wide".split()
)
q_, v_, a_, vp_, ap_, dual_, mu4_, eta_v4_, eta_a4_ = ELEMENTS.viewers(*"q v a vp ap dual mu4 eta_v4 eta_a4".split())
lam_, Phi_t_, K_, J_, Phi_q_, Phid_q_, Phidd_v_ = ELEMENTS.viewers(*"lam Phi_t K J Phi_q Phid_q Phidd_v".split())

FOUR_ADJOINTS = 0  # the part of every set that is its PULLBACK4; its other ones follow


@kernel
def run_part(ctx, k):
    """Run a part of the set."""
    call(links_(ctx)[k], ctx)


@kernel
def put_state(ctx, t, q, qd, qdd):
    """Put a state that was kept into the context, for all functions of a set: v = vp = qd, a = ap = qdd."""
    par_(ctx)[TIME] = t
    for i in range(q.shape[0]):
        q_(ctx)[i] = q[i]
        v_(ctx)[i] = qd[i]
        vp_(ctx)[i] = qd[i]
        a_(ctx)[i] = qdd[i]
        ap_(ctx)[i] = qdd[i]


@kernel
def rows(ctx):
    """Phi, Phi_t, Phi_q at the positions of the markers."""
    Phi_t = Phi_t_(ctx)
    clear_flat(J_(ctx))
    for i in range(Phi_t.shape[0]):
        Phi_t[i] = 0.0
    if reads_scalars(ctx, stages.ROWS) or flag_(ctx)[FREEDOMS]:
        scalar_values(sc_(ctx), mk_(ctx), q_(ctx), zero_(ctx), zero_(ctx))
    run_stage(ctx, stages.ROWS)


@kernel
def forces(ctx):
    """Covectors of the markers, what elements give to f, and their status, at (q, v)."""
    flag_(ctx)[STATUS] = OK
    if reads_scalars(ctx, stages.FORCES):
        scalar_values(sc_(ctx), mk_(ctx), q_(ctx), v_(ctx), zero_(ctx))
    run_stage(ctx, stages.FORCES)


@kernel
def tangent(ctx):
    """K, if it is wanted."""
    if par_(ctx)[WK] != 0.0:
        clear_flat(K_(ctx))
        run_stage(ctx, stages.STIFFNESS)


@kernel
def bias_of_rows(ctx):
    """c, with the markers at (q, vp) and zero accelerations."""
    if reads_scalars(ctx, stages.BIAS):
        scalar_values(sc_(ctx), mk_(ctx), q_(ctx), vp_(ctx), zero_(ctx))
    run_stage(ctx, stages.BIAS)


@kernel
def objectives(ctx):
    """g, with the markers at (q, vp, ap)."""
    if reads_scalars(ctx, stages.OBJECTIVES):
        scalar_values(sc_(ctx), mk_(ctx), q_(ctx), vp_(ctx), ap_(ctx))
    run_stage(ctx, stages.OBJECTIVES)


@kernel
def keep_rates(ctx):
    """The velocities of markers and scalars at v, for the pullback."""
    mk, sc = mk_(ctx), sc_(ctx)
    for i in range(mk.shape[0]):
        put(mk[i]["xds"], vec(mk[i]["xd"]))
    for i in range(sc.shape[0]):
        sc[i]["uds"] = sc[i]["ud"]


@kernel
def linear_rows_and_objectives(ctx):
    """Derivatives of rows and objectives, with markers, their columns and scalars at (q, vp, ap).

    For rows of positions J = Phi_q and Phidd_v = 2 Phid_q; rows of velocities fill theirs.
    """
    level, P, Phi_q, Phid_q = level_(ctx), wide_(ctx), Phi_q_(ctx), Phid_q_(ctx)
    J, Phidd_v = J_(ctx), Phidd_v_(ctx)
    run_stage(ctx, stages.LINEAR_ROWS)
    for r in range(P[ROWS]):
        if level[r] == 0:
            for i in range(end_of(P, r), end_of(P, r + 1)):
                J[i] = Phi_q[i]
                Phidd_v[i] = 2.0 * Phid_q[i]
    run_stage(ctx, stages.LINEAR_OBJECTIVES)


@kernel
def pull(ctx):
    """Duals and covectors of the markers, which move by mu, eta_v, eta_a, and own slots of elements in psi_s."""
    dual = dual_(ctx)
    scalar_motions(sc_(ctx), dual, mu4_(ctx), eta_v4_(ctx), eta_a4_(ctx))
    clear_duals(mk_(ctx), dual)
    run_stage(ctx, stages.PULL)


@cfunction(what="the adjoint kernels")
def pullback(ctx):
    """PULLBACK of every set: adds to psi_s of one objective, after linearise at the same point."""
    one_of_four(ctx)
    run_part(ctx, FOUR_ADJOINTS)
    collect_one(ctx, flag_(ctx)[OBJECTIVE])


@kernel
def energies(ctx, kinetic, potential):
    """Energies of the bodies with what elements store, and the power of moving constraints and of what has no potential."""
    lam, Phi_t, out = lam_(ctx), Phi_t_(ctx), energy_(ctx)
    power = 0.0 * kinetic
    for i in range(Phi_t.shape[0]):
        power += lam[i] * Phi_t[i]
    out[0] = kinetic
    out[1] = potential
    out[2] = power
    run_stage(ctx, stages.ENERGY)
