"""The seven functions of the joint set, as C functions of a context; what elements contribute comes through parts.

Motions are taken about the global origin; `com` has another EVALUATE.
"""

from kinegrad.kernels.elements import expression_rows, laws, objectives  # noqa: F401 (their parts)
from kinegrad.kernels.elements.laws import scalar_values
from kinegrad.kernels.elements.layout import (
    AT_POSITIONS,
    DIRECTION_COLUMNS,
    DIRECTION_PRODUCTS,
    ELEMENTS,
    GRAVITY,
    INERTIA_PRODUCTS,
    LAW_FORCES,
    LAW_LINEAR,
    LAW_POWER,
    LAW_PULL,
    LAW_STIFFNESS,
    OBJECTIVE_LINEAR,
    OBJECTIVE_PULL,
    OBJECTIVE_VALUES,
    ROW_LAW_BIAS,
    ROW_LAW_LINEAR,
    ROW_LAW_PULL,
    ROW_LAW_VALUES,
    ROW_LINEAR,
    ROW_PULL,
    SPRING_LINEAR,
    SPRING_PULL,
    link,
    part,
)  # fmt: skip
from kinegrad.kernels.elements.rows import bias as row_bias
from kinegrad.kernels.elements.rows import values as row_values
from kinegrad.kernels.elements.rows import wanted
from kinegrad.kernels.elements.springs import energy as spring_energy
from kinegrad.kernels.elements.springs import forces as spring_forces
from kinegrad.kernels.elements.springs import stiffness as spring_stiffness
from kinegrad.kernels.jit import cfunction, kernel, record
from kinegrad.kernels.joint.directions import (
    direction_columns,
    inertia_changes,
    marker_changes,
    project_changes,
    twists,
)  # fmt: skip
from kinegrad.kernels.joint.inertia import (
    accumulate,
    body_forces,
    body_terms,
    centre,
    inertia_linear,
    moving_bodies,
    tensor,
)  # fmt: skip
from kinegrad.kernels.joint.markers import (
    curvature,
    first_columns,
    marker_positions,
    marker_rates,
    rate_columns,
    wrenches,
)  # fmt: skip
from kinegrad.kernels.joint.motion import accelerations, field, positions, velocities
from kinegrad.kernels.joint.pullback import marker_motions, marker_slots, motions, node_slots
from kinegrad.kernels.joint.records import CENTRED, CENTRED_SCREW, COORDINATE, GEOMETRY, MARKERS, MASS, NODE
from kinegrad.kernels.products import AT_POSITION, FREEDOMS, OBJECTIVE, STATUS, WC, WK
from kinegrad.kernels.vec3 import add, cross, dot, mat, mv, six, vec_at, vm

LAYOUT = ELEMENTS.extend(
    [("node", record(NODE), 1), ("coord", record(COORDINATE), 1), ("mass", record(MASS), 1)]
    + [("touch", "i8", 2), ("want", "i8", 1), ("zero", "f8", 1), ("star", "i8", 1)]
    + [("centred", record(CENTRED), 1), ("centred_b", record(CENTRED_SCREW), 1)]
)
node_, coord_, mass_, touch_, want_, zero_, star_ = LAYOUT.viewers(
    "node", "coord", "mass", "touch", "want", "zero", "star"
)
mk_, col_, sc_, spring_, row_, law_, row_law_ = LAYOUT.viewers("mk", "col", "sc", "spring", "row", "law", "row_law")
objective_, count_, idx_, val_, par_, flag_, s_, ds_, psi_s_, energy_ = LAYOUT.viewers(
    *"objective count idx val par flag s ds psi_s energy".split()
)
q_, v_, a_, vp_, ap_, dv_, da_, f_, mu_, eta_v_, eta_a_ = LAYOUT.viewers(*"q v a vp ap dv da f mu eta_v eta_a".split())
lam_, Phi_, Phi_t_, c_, M_, K_, C_, J_ = LAYOUT.viewers(*"lam Phi Phi_t c M K C J".split())
R_z_, Nv_z_, Na_z_, Phi_z_, Phid_z_, Phidd_z_, g_z_, g_v_, g_a_ = LAYOUT.viewers(
    *"R_z Nv_z Na_z Phi_z Phid_z Phidd_z g_z g_v g_a".split()
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


@cfunction(what="the simulation kernels")
def position(ctx):
    """Positions of nodes and markers with their columns, and Phi, Phi_t, Phi_q."""
    positions(node_(ctx), coord_(ctx), s_(ctx), q_(ctx))
    link(ctx, AT_POSITIONS)


@part(AT_POSITIONS)
@cfunction(what="the simulation kernels")
def at_positions(ctx):
    """Positions of markers with their columns, and Phi, Phi_t, Phi_q, at the positions of the nodes."""
    node, coord, mk, col, sc, s, q = node_(ctx), coord_(ctx), mk_(ctx), col_(ctx), sc_(ctx), s_(ctx), q_(ctx)
    flag, row, J, Phi_t = flag_(ctx), row_(ctx), J_(ctx), Phi_t_(ctx)
    marker_positions(node, mk, s)
    first_columns(coord, mk, col)
    clear(J)
    for i in range(Phi_t.shape[0]):
        Phi_t[i] = 0.0
    with_laws = row_law_(ctx).shape[0] > 0
    if with_laws or flag[FREEDOMS]:
        scalar_values(sc, mk, q, zero_(ctx), zero_(ctx))
    row_values(mk, sc, col, row, wanted(row, count_(ctx), flag), s, q, Phi_(ctx), J)
    if with_laws:
        link(ctx, ROW_LAW_VALUES)


@cfunction(what="the simulation kernels")
def evaluate(ctx):
    """M, f, Phi, Phi_t, Phi_q and the approximate tangent at (q, v)."""
    node, coord, mk, s, q, v = node_(ctx), coord_(ctx), mk_(ctx), s_(ctx), q_(ctx), v_(ctx)
    par, flag, spring, f, K = par_(ctx), flag_(ctx), spring_(ctx), f_(ctx), K_(ctx)
    base(node, s, count_(ctx)[GRAVITY], True)
    if flag[AT_POSITION]:
        velocities(node, coord, q, v, zero_(ctx))
        body_forces(node, mass_(ctx), s)
    else:
        moving_bodies(node, coord, mass_(ctx), s, q, v, zero_(ctx))
        link(ctx, AT_POSITIONS)
    marker_rates(node, mk)
    clear_covectors(mk)
    for i in range(f.shape[0]):
        f[i] = 0.0
    flag[STATUS] = spring_forces(mk, spring, s)
    with_laws = law_(ctx).shape[0] > 0
    if with_laws:
        scalar_values(sc_(ctx), mk, q, v, zero_(ctx))
        link(ctx, LAW_FORCES)
    wrenches(node, mk)
    accumulate(node, coord, M_(ctx), f)
    if par[WK] != 0.0:
        clear(K)
        spring_stiffness(mk, col_(ctx), spring, s, par[WK], par[WC], K, idx_(ctx), val_(ctx))
        if with_laws:
            link(ctx, LAW_STIFFNESS)


@cfunction(what="the simulation kernels")
def bias(ctx):
    """c = Phidd(q, vp, 0) at the q of the last evaluate."""
    node, mk, sc, row, vp = node_(ctx), mk_(ctx), sc_(ctx), row_(ctx), vp_(ctx)
    base(node, s_(ctx), count_(ctx)[GRAVITY], False)
    velocities(node, coord_(ctx), q_(ctx), vp, zero_(ctx))
    marker_rates(node, mk)
    row_bias(mk, sc, row, wanted(row, count_(ctx), flag_(ctx)), vp, c_(ctx))
    if row_law_(ctx).shape[0] > 0:
        scalar_values(sc, mk, q_(ctx), vp, zero_(ctx))
        link(ctx, ROW_LAW_BIAS)


@cfunction(what="the simulation kernels")
def observe(ctx):
    """g of the objectives, and x, xd, xdd of the markers, at the q of the last evaluate."""
    node, mk = node_(ctx), mk_(ctx)
    base(node, s_(ctx), count_(ctx)[GRAVITY], False)
    velocities(node, coord_(ctx), q_(ctx), vp_(ctx), ap_(ctx))
    marker_rates(node, mk)
    if objective_(ctx).shape[0] > 0:
        scalar_values(sc_(ctx), mk, q_(ctx), vp_(ctx), ap_(ctx))
        link(ctx, OBJECTIVE_VALUES)


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


@cfunction(what="the sensitivity kernels")
def linearise(ctx):
    """Every first derivative of a step, by coordinates and directions."""
    node, coord, mk, col, sc, s, q = node_(ctx), coord_(ctx), mk_(ctx), col_(ctx), sc_(ctx), s_(ctx), q_(ctx)
    gravity, star = count_(ctx)[GRAVITY], star_(ctx)
    clear(C_(ctx))
    clear(R_z_(ctx))
    clear(Nv_z_(ctx))
    clear(Na_z_(ctx))
    clear(Phi_z_(ctx))
    clear(Phid_z_(ctx))
    clear(Phidd_z_(ctx))
    clear(g_z_(ctx))
    clear(g_v_(ctx))
    clear(g_a_(ctx))
    clear_covectors(mk)
    positions(node, coord, s, q)
    marker_positions(node, mk, s)
    first_columns(coord, mk, col)
    for context in range(2):  # the residual at (q, v, a), then constraints and objectives at (q, vp, ap)
        v = v_(ctx) if context == 0 else vp_(ctx)
        a = a_(ctx) if context == 0 else ap_(ctx)
        star[0] = 1 - context
        base(node, s, gravity, context == 0)
        accelerations(node, coord, q, v, a)
        marker_rates(node, mk)
        scalar_values(sc, mk, q, v, a)
        if context == 0:
            keep(node, mk, sc)
        rate_columns(coord, mk, col, context == 1)
        if ds_(ctx).shape[0] > 0:
            link(ctx, DIRECTION_COLUMNS)
        if context == 0:
            link(ctx, INERTIA_PRODUCTS)
            if spring_(ctx).shape[0] > 0:
                link(ctx, SPRING_LINEAR)
            if law_(ctx).shape[0] > 0:
                link(ctx, LAW_LINEAR)
    if row_(ctx).shape[0] > 0:
        link(ctx, ROW_LINEAR)
    if row_law_(ctx).shape[0] > 0:
        link(ctx, ROW_LAW_LINEAR)
    if objective_(ctx).shape[0] > 0:
        link(ctx, OBJECTIVE_LINEAR)
    curvature(node, coord, mk, q, R_z_(ctx), Nv_z_(ctx), Na_z_(ctx))
    if ds_(ctx).shape[0] > 0:
        link(ctx, DIRECTION_PRODUCTS)


@part(INERTIA_PRODUCTS)
@cfunction(what="the sensitivity kernels")
def inertia_products(ctx):
    """What the bodies give to M, R_z, C, Nv_z, Na_z."""
    node, coord, q = node_(ctx), coord_(ctx), q_(ctx)
    field(node, coord, q, dv_(ctx), da_(ctx))
    body_terms(node, mass_(ctx), s_(ctx))
    inertia_linear(node, coord, q, M_(ctx), R_z_(ctx), C_(ctx), Nv_z_(ctx), Na_z_(ctx))


@part(DIRECTION_COLUMNS)
@cfunction(what="the sensitivity kernels")
def columns_of_directions(ctx):
    """Columns of the markers under every direction, in the context at hand."""
    node, s, ds, touch, star = node_(ctx), s_(ctx), ds_(ctx), touch_(ctx), star_(ctx)[0]
    for p in range(ds.shape[0]):
        if touch[p, 0] & GEOMETRY:
            twists(node, s, ds[p], touch[p], star, q_(ctx))
        if touch[p, 0] & (GEOMETRY | MARKERS):
            direction_columns(node, mk_(ctx), col_(ctx), ds[p], touch[p], q_(ctx).shape[0] + p, star == 0)


@part(DIRECTION_PRODUCTS)
@cfunction(what="the sensitivity kernels")
def products_of_directions(ctx):
    """Columns of R_z, Nv_z, Na_z under every direction, beyond what elements gave."""
    node, coord, s, ds, touch = node_(ctx), coord_(ctx), s_(ctx), ds_(ctx), touch_(ctx)
    for p in range(ds.shape[0]):
        if touch[p, 0]:
            k = q_(ctx).shape[0] + p
            if touch[p, 0] & GEOMETRY:
                twists(node, s, ds[p], touch[p], 1, q_(ctx))
            inertia_changes(node, coord, mass_(ctx), s, ds[p], touch[p], dv_(ctx), da_(ctx), count_(ctx)[GRAVITY])
            if touch[p, 0] & (GEOMETRY | MARKERS):
                marker_changes(node, mk_(ctx), col_(ctx), k)
            project_changes(node, coord, ds[p], touch[p], k, R_z_(ctx), Nv_z_(ctx), Na_z_(ctx))


@cfunction(what="the adjoint kernels")
def pullback(ctx):
    """Adds to psi_s of one objective, after linearise at the same point."""
    node, mk, sc, mu, eta_v, eta_a = node_(ctx), mk_(ctx), sc_(ctx), mu_(ctx), eta_v_(ctx), eta_a_(ctx)
    psi_s = psi_s_(ctx)[flag_(ctx)[OBJECTIVE]]
    motions(node, coord_(ctx), want_(ctx), mu, eta_v, eta_a)
    marker_motions(node, mk, sc, mu, eta_v, eta_a)
    if spring_(ctx).shape[0] > 0:
        link(ctx, SPRING_PULL)
    if law_(ctx).shape[0] > 0:
        link(ctx, LAW_PULL)
    if row_(ctx).shape[0] > 0:
        link(ctx, ROW_PULL)
    if row_law_(ctx).shape[0] > 0:
        link(ctx, ROW_LAW_PULL)
    if objective_(ctx).shape[0] > 0:
        link(ctx, OBJECTIVE_PULL)
    marker_slots(node, mk, want_(ctx), psi_s)
    node_slots(node, mass_(ctx), s_(ctx), q_(ctx), want_(ctx), count_(ctx)[GRAVITY], psi_s)


@cfunction(what="the simulation kernels")
def energy(ctx):
    """Kinetic energy, potential of weight and springs, and the power of all else, after evaluate."""
    node, mass, s, out = node_(ctx), mass_(ctx), s_(ctx), energy_(ctx)
    lam, Phi_t = lam_(ctx), Phi_t_(ctx)
    kinetic, potential = 0.0 * s[0], 0.0 * s[0]
    g = vec_at(s, count_(ctx)[GRAVITY])
    for i in range(1, node.shape[0]):
        B = node[i]
        v, o = six(B["V"])
        w = vm(o, mat(B["A"]))
        for k in range(B["m0"], B["m1"]):
            M = mass[k]
            c = centre(B, M, s)
            d = add(v, cross(o, c))
            kinetic += 0.5 * (s[M["m"]] * dot(d, d) + dot(w, mv(tensor(s, M["J"]), w)))
            potential -= s[M["m"]] * dot(g, c)
    stored, power = spring_energy(mk_(ctx), spring_(ctx), s)
    for i in range(Phi_t.shape[0]):
        power += lam[i] * Phi_t[i]
    out[0] = kinetic
    out[1] = potential + stored
    out[2] = power
    if law_(ctx).shape[0] > 0:
        link(ctx, LAW_POWER)


FUNCTIONS = (evaluate, bias, observe, linearise, pullback, energy, position)
