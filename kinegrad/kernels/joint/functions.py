"""The six functions of the joint set, as C functions of a context."""

from kinegrad.kernels.elements import laws, rows, springs
from kinegrad.kernels.jit import cfunction, kernel, record
from kinegrad.kernels.joint import directions, inertia, markers, motion, pullback
from kinegrad.kernels.joint.records import COORDINATE, MASS, NODE
from kinegrad.kernels.products import FREEDOMS, OBJECTIVE, PRODUCTS, STATUS, TIME, WC, WEIGHT, WK
from kinegrad.kernels.records import COLUMN, LAW, MARKER, ROW, SCALAR, SPLINE, SPRING
from kinegrad.kernels.status import OK
from kinegrad.kernels.vec3 import dot, six, vec_at

RECORDS = {
    "node": NODE, "coord": COORDINATE, "mass": MASS, "mk": MARKER, "col": COLUMN, "sc": SCALAR,
    "spring": SPRING, "row": ROW, "law": LAW, "row_law": LAW, "objective": LAW, "spline": SPLINE,
}  # fmt: skip

# count: constraint rows and expression rows that are constraints (the rest are freedoms), gravity slot
LAYOUT = PRODUCTS.extend(
    [(name, record(fields), 1) for name, fields in RECORDS.items()]
    + [("code", "i8", 2), ("const", "f8", 1), ("outs", "i8", 1), ("ins", "i8", 1), ("slots", "i8", 1)]
    + [("targets", "i8", 1), ("times", "f8", 1), ("count", "i8", 1), ("touch", "i8", 2)]
    + [("reg", "f8", 1), ("pos", "i8", 1), ("idx", "i8", 1), ("val", "f8", 1), ("zero", "f8", 1)]
    + [("U", "f8", 2), ("Ud", "f8", 2), ("Udd", "f8", 2)]
)
N_ROWS, N_LAWS, GRAVITY = range(3)

(node, coord, mass, mk, col, sc, spring, row, law, row_law, objective, spline) = LAYOUT.viewers(*RECORDS)
(code, const, outs, ins, slots, targets, times, count, touch, reg, pos, idx, val, zero, U, Ud, Udd) = LAYOUT.viewers(
    *"code const outs ins slots targets times count touch reg pos idx val zero U Ud Udd".split()
)
(par, flag, s, ds, g, psi_s, out) = LAYOUT.viewers("par", "flag", "s", "ds", "g", "psi_s", "energy")
(q, v, a, vp, ap, dv, da, f, mu, eta_v, eta_a) = LAYOUT.viewers(*"q v a vp ap dv da f mu eta_v eta_a".split())
(lam, sv, sa, Phi, Phi_t, c, yp, yv, ya) = LAYOUT.viewers(*"lam sv sa Phi Phi_t c yp yv ya".split())
(M, K, C, J, R_z, Nv_z, Na_z, Phi_z, Phid_z, Phidd_z, g_z, g_v, g_a) = LAYOUT.viewers(
    *"M K C J R_z Nv_z Na_z Phi_z Phid_z Phidd_z g_z g_v g_a".split()
)


@kernel
def clear(A):
    """A = 0."""
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            A[i, j] = 0.0


@kernel
def clear_covectors(mk):
    """f, fv, fa of the markers = 0."""
    for i in range(mk.shape[0]):
        m = mk[i]
        for j in range(3):
            m["f"][j] = 0.0
            m["fv"][j] = 0.0
            m["fa"][j] = 0.0


@kernel
def base(node, s, gravity, on):
    """The ground accelerates against gravity, for forces; it rests for constraints and objectives."""
    a = node[0]["a"]
    for j in range(3):
        a[j] = -s[gravity + j] if on else 0.0 * s[0]


@kernel
def last_rows(row, row_law, count, flag):
    """How many table rows are wanted: constraints, or freedoms too."""
    if flag[FREEDOMS]:
        return row.shape[0], row_law.shape[0]
    return count[N_ROWS], count[N_LAWS]


@cfunction(what="the joint-coordinate equations")
def evaluate(ctx):
    """M, f, Phi, Phi_t, Phi_q and the approximate tangent at (q, v)."""
    evaluate_kernel(
        node(ctx), coord(ctx), mass(ctx), mk(ctx), col(ctx), sc(ctx), spring(ctx), row(ctx), law(ctx), row_law(ctx),
        ins(ctx), slots(ctx), targets(ctx), code(ctx), const(ctx), outs(ctx), times(ctx), spline(ctx), count(ctx),
        reg(ctx), pos(ctx), idx(ctx), val(ctx), zero(ctx), U(ctx), Ud(ctx), Udd(ctx),
        par(ctx), flag(ctx), s(ctx), q(ctx), v(ctx), M(ctx), f(ctx), Phi(ctx), Phi_t(ctx), J(ctx), K(ctx),
    )  # fmt: skip


@kernel
def evaluate_kernel(
    node, coord, mass, mk, col, sc, spring, row, law, row_law, ins, slots, targets, code, const, outs, times, spline, count,
    reg, pos, idx, val, zero, U, Ud, Udd, par, flag, s, q, v, M, f, Phi, Phi_t, J, K,
):  # fmt: skip
    n = q.shape[0]
    t = par[TIME]
    flag[STATUS] = OK
    motion.positions(node, coord, s, q)
    base(node, s, count[GRAVITY], True)
    motion.velocities(node, coord, q, v, zero)
    markers.marker_positions(node, mk, s)
    markers.first_columns(coord, mk, col)
    markers.marker_rates(node, mk)
    inertia.body_forces(node, mass, s)
    clear_covectors(mk)
    clear(K)
    clear(J)
    for i in range(n):
        f[i] = 0.0
    for i in range(Phi_t.shape[0]):
        Phi_t[i] = 0.0
    if sc.shape[0] > 0:
        laws.scalar_values(sc, mk, q, v, zero)
    status = springs.forces(mk, spring, s)
    if status != OK:
        flag[STATUS] = status
    if law.shape[0] > 0:
        laws.forces(sc, mk, law, ins, slots, targets, code, const, outs, times, spline, s, t, reg, f)
    markers.wrenches(node, mk)
    inertia.accumulate(node, coord, M, f)
    if par[WK] != 0.0:
        springs.stiffness(mk, col, spring, s, par[WK], par[WC], K, idx, val)
        if law.shape[0] > 0:
            laws.stiffness(
                sc, mk, col, law, ins, slots, targets, code, const, outs, times, spline, s, t, reg, pos, idx, U, Ud, Udd,
                par[WK], par[WC], K,
            )  # fmt: skip
    last, last_law = last_rows(row, row_law, count, flag)
    rows.values(mk, sc, col, row, 0, last, s, q, Phi, J)
    laws.row_values(sc, mk, col, row_law, 0, last_law, ins, slots, code, const, outs, s, t, reg, Phi, Phi_t, J)


@cfunction(what="the joint-coordinate equations")
def bias(ctx):
    """c = Phidd(q, vp, 0) at the q of the last evaluate."""
    bias_kernel(
        node(ctx), coord(ctx), mk(ctx), sc(ctx), row(ctx), row_law(ctx), ins(ctx), slots(ctx), code(ctx), const(ctx),
        outs(ctx), count(ctx), reg(ctx), zero(ctx), par(ctx), flag(ctx), s(ctx), q(ctx), vp(ctx), c(ctx),
    )  # fmt: skip


@kernel
def bias_kernel(
    node, coord, mk, sc, row, row_law, ins, slots, code, const, outs, count, reg, zero, par, flag, s, q, vp, c
):
    base(node, s, count[GRAVITY], False)
    motion.velocities(node, coord, q, vp, zero)
    markers.marker_rates(node, mk)
    if sc.shape[0] > 0:
        laws.scalar_values(sc, mk, q, vp, zero)
    last, last_law = last_rows(row, row_law, count, flag)
    rows.bias(mk, sc, row, 0, last, vp, c)
    laws.row_bias(sc, row_law, 0, last_law, ins, slots, code, const, outs, s, par[TIME], reg, c)


@cfunction(what="the joint-coordinate equations")
def observe(ctx):
    """g of the objectives, and x, xd, xdd of the markers, at the q of the last evaluate."""
    observe_kernel(
        node(ctx), coord(ctx), mk(ctx), sc(ctx), objective(ctx), ins(ctx), slots(ctx), code(ctx), const(ctx), outs(ctx),
        count(ctx), reg(ctx), par(ctx), s(ctx), q(ctx), vp(ctx), ap(ctx), g(ctx),
    )  # fmt: skip


@kernel
def observe_kernel(
    node, coord, mk, sc, objective, ins, slots, code, const, outs, count, reg, par, s, q, vp, ap, g
):
    base(node, s, count[GRAVITY], False)
    motion.velocities(node, coord, q, vp, ap)
    markers.marker_rates(node, mk)
    if sc.shape[0] > 0:
        laws.scalar_values(sc, mk, q, vp, ap)
    laws.objective_values(sc, objective, ins, slots, code, const, outs, s, par[TIME], reg, g)


@cfunction(what="the joint-coordinate derivatives")
def linearise(ctx):
    """Every first derivative of a step, by coordinates and directions."""
    linearise_kernel(
        node(ctx), coord(ctx), mass(ctx), mk(ctx), col(ctx), sc(ctx), spring(ctx), row(ctx), law(ctx), row_law(ctx),
        objective(ctx), ins(ctx), slots(ctx), targets(ctx), code(ctx), const(ctx), outs(ctx), times(ctx), spline(ctx),
        count(ctx), touch(ctx), reg(ctx), pos(ctx), idx(ctx), U(ctx), Ud(ctx), Udd(ctx), ds(ctx), par(ctx), flag(ctx),
        s(ctx), q(ctx), v(ctx), a(ctx), lam(ctx), vp(ctx), ap(ctx), dv(ctx), da(ctx), sv(ctx), sa(ctx),
        M(ctx), C(ctx), R_z(ctx), Nv_z(ctx), Na_z(ctx), Phi_z(ctx), Phid_z(ctx), Phidd_z(ctx),
        g(ctx), g_z(ctx), g_v(ctx), g_a(ctx),
    )  # fmt: skip


@kernel
def keep(node, mk, sc):
    """The motion at (v, a), for directions and pullback."""
    for i in range(node.shape[0]):
        B = node[i]
        for j in range(6):
            B["Vs"][j] = B["V"][j]
            B["acs"][j] = B["a"][j]
    for i in range(mk.shape[0]):
        for j in range(3):
            mk[i]["xds"][j] = mk[i]["xd"][j]
    for i in range(sc.shape[0]):
        sc[i]["uds"] = sc[i]["ud"]


@kernel
def linearise_kernel(
    node, coord, mass, mk, col, sc, spring, row, law, row_law, objective, ins, slots, targets, code, const, outs, times,
    spline, count, touch, reg, pos, idx, U, Ud, Udd, ds, par, flag,
    s, q, v, a, lam, vp, ap, dv, da, sv, sa,
    M, C, R_z, Nv_z, Na_z, Phi_z, Phid_z, Phidd_z, g, g_z, g_v, g_a,
):  # fmt: skip
    n = q.shape[0]
    t = par[TIME]
    clear(C)
    clear(R_z)
    clear(Nv_z)
    clear(Na_z)
    clear(Phi_z)
    clear(Phid_z)
    clear(Phidd_z)
    clear(g_z)
    clear(g_v)
    clear(g_a)
    clear_covectors(mk)
    # the residual, at (q, v, a)
    motion.positions(node, coord, s, q)
    base(node, s, count[GRAVITY], True)
    motion.accelerations(node, coord, q, v, a)
    markers.marker_positions(node, mk, s)
    markers.marker_rates(node, mk)
    if sc.shape[0] > 0:
        laws.scalar_values(sc, mk, q, v, a)
    keep(node, mk, sc)
    markers.first_columns(coord, mk, col)
    markers.rate_columns(coord, mk, col, False)
    for p in range(ds.shape[0]):
        directions.twists(node, s, ds[p], touch[p], True)
        directions.direction_columns(node, mk, col, ds[p], n + p, False)
    motion.field(node, coord, q, dv, da)
    inertia.body_terms(node, mass, s)
    inertia.inertia_linear(node, coord, q, M, R_z, C, Nv_z, Na_z)
    springs.linear(mk, col, spring, s, ds, n, R_z, C)
    if law.shape[0] > 0:
        laws.forces_linear(
            sc, mk, col, law, ins, slots, targets, code, const, outs, times, spline, s, ds, t, reg, pos, idx, U, Ud, Udd, n,
            R_z, C,
        )  # fmt: skip
    # constraints and objectives, at (q, vp, ap)
    base(node, s, count[GRAVITY], False)
    motion.accelerations(node, coord, q, vp, ap)
    markers.marker_rates(node, mk)
    if sc.shape[0] > 0:
        laws.scalar_values(sc, mk, q, vp, ap)
    markers.rate_columns(coord, mk, col, True)
    for p in range(ds.shape[0]):
        directions.twists(node, s, ds[p], touch[p], False)
        directions.direction_columns(node, mk, col, ds[p], n + p, True)
    last, last_law = last_rows(row, row_law, count, flag)
    rows.linear(
        mk, sc, col, row, 0, last, s, ds, n, q, vp, ap, lam, sv, sa, Phi_z, Phid_z, Phidd_z, R_z, Nv_z, Na_z
    )
    laws.rows_linear(
        sc, mk, col, row_law, 0, last_law, ins, slots, code, const, outs, s, ds, t, reg, pos, idx, U, Ud, Udd, n,
        lam, sv, sa, Phi_z, Phid_z, Phidd_z, R_z, Nv_z, Na_z,
    )  # fmt: skip
    laws.objectives_linear(
        sc, mk, col, objective, ins, slots, code, const, outs, s, ds, t, reg, pos, idx, U, Ud, Udd, n, g, g_z, g_v, g_a
    )
    markers.curvature(node, coord, mk, q, R_z, Nv_z, Na_z)
    for p in range(ds.shape[0]):
        if touch[p, 0] != 0:
            directions.twists(node, s, ds[p], touch[p], True)
            directions.inertia_changes(node, coord, mass, s, ds[p], touch[p], dv, da, count[GRAVITY])
            directions.marker_changes(node, mk, col, n + p)
            directions.project_changes(node, coord, touch[p], n + p, R_z, Nv_z, Na_z)


@cfunction(what="the joint-coordinate adjoints")
def pullback_all(ctx):
    """Adds to psi_s, after linearise at the same point."""
    pullback_kernel(
        node(ctx), coord(ctx), mass(ctx), mk(ctx), sc(ctx), spring(ctx), row(ctx), law(ctx), row_law(ctx), objective(ctx),
        ins(ctx), slots(ctx), targets(ctx), code(ctx), const(ctx), outs(ctx), times(ctx), spline(ctx), count(ctx),
        reg(ctx), par(ctx), flag(ctx), s(ctx), lam(ctx), sv(ctx), sa(ctx), mu(ctx), eta_v(ctx), eta_a(ctx),
        yp(ctx), yv(ctx), ya(ctx), psi_s(ctx)[flag(ctx)[OBJECTIVE]],
    )  # fmt: skip


@kernel
def pullback_kernel(
    node, coord, mass, mk, sc, spring, row, law, row_law, objective, ins, slots, targets, code, const, outs, times, spline,
    count, reg, par, flag, s, lam, sv, sa, mu, eta_v, eta_a, yp, yv, ya, psi_s,
):  # fmt: skip
    t = par[TIME]
    pullback.motions(node, coord, mu, eta_v, eta_a)
    pullback.marker_motions(node, mk, sc, mu, eta_v, eta_a)
    springs.pull(mk, spring, s, psi_s)
    if law.shape[0] > 0:
        laws.forces_pull(sc, mk, law, ins, slots, targets, code, const, outs, times, spline, s, t, reg, psi_s)
    last, last_law = last_rows(row, row_law, count, flag)
    rows.pull(mk, sc, row, 0, last, s, lam, sv, sa, yp, yv, ya, psi_s)
    laws.rows_pull(
        sc, mk, row_law, 0, last_law, ins, slots, code, const, outs, s, t, reg, lam, sv, sa, yp, yv, ya, psi_s
    )
    if objective.shape[0] > 0:
        laws.objective_pull(
            sc, mk, objective, flag[OBJECTIVE], ins, slots, code, const, outs, s, t, reg, par[WEIGHT], psi_s
        )
    pullback.marker_slots(node, mk, psi_s)
    pullback.node_slots(node, mass, s, count[GRAVITY], psi_s)


@cfunction(what="energies")
def energy(ctx):
    """Kinetic energy, potential of weight and springs, and the power of all else, after evaluate."""
    energy_kernel(
        node(ctx), mass(ctx), mk(ctx), sc(ctx), spring(ctx), law(ctx), ins(ctx), slots(ctx), targets(ctx), code(ctx),
        const(ctx), outs(ctx), times(ctx), spline(ctx), count(ctx), reg(ctx), par(ctx), s(ctx), lam(ctx), Phi_t(ctx),
        out(ctx),
    )  # fmt: skip


@kernel
def energy_kernel(
    node, mass, mk, sc, spring, law, ins, slots, targets, code, const, outs, times, spline, count, reg, par, s, lam, Phi_t, out
):
    T = 0.0 * s[0]
    U = 0.0 * s[0]
    g = vec_at(s, count[GRAVITY])
    for i in range(1, node.shape[0]):
        B = node[i]
        if B["m1"] > B["m0"]:
            inertia.body_moments(B, mass, s, B["Ib"])
            v, o = six(B["V"])
            h, L = inertia.momentum(B["Ib"], v, o)
            T += 0.5 * (dot(h, v) + dot(L, o))
            U -= dot(g, vec_at(B["Ib"], 1))
    stored, lost = springs.energy(mk, spring, s)
    power = lost
    if law.shape[0] > 0:
        power += laws.power(sc, law, ins, slots, targets, code, const, outs, times, spline, s, par[TIME], reg)
    for i in range(Phi_t.shape[0]):
        power += lam[i] * Phi_t[i]
    out[0] = T
    out[1] = U + stored
    out[2] = power


FUNCTIONS = (evaluate, bias, observe, linearise, pullback_all, energy)
