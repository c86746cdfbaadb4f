"""The seven functions of the joint set, as C functions of a context; what elements contribute comes by stages.

Motions are taken about the global origin; `com` has another EVALUATE.
"""

from kinegrad.kernels import set_functions as common
from kinegrad.kernels.clearing import clear_covectors, clear_products
from kinegrad.kernels.elements.laws import scalar_values
from kinegrad.kernels.elements.layout import ELEMENTS, GRAVITY
from kinegrad.kernels.elements.stages import LINEAR_FORCES, run_stage
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
from kinegrad.kernels.joint.records import CENTRED, CENTRED_SCREW, COORDINATE, GEOMETRY, MARKERS, MASS, NODE, NODE_DUAL
from kinegrad.kernels.products import AT_POSITION, BLOCK
from kinegrad.kernels.set_functions import FOUR_ADJOINTS, pullback
from kinegrad.kernels.table import Parts
from kinegrad.kernels.vec3 import add, cross, dot, mat, mv, six, vec_at, vm

LAYOUT = ELEMENTS.extend(
    [("node", record(NODE), 1), ("coord", record(COORDINATE), 1), ("mass", record(MASS), 1)]
    + [("touch", "i8", 2), ("ends", "i8", 1), ("want", "i8", 1), ("star", "i8", 1)]
    + [("centred", record(CENTRED), 1), ("centred_b", record(CENTRED_SCREW), 1)]
    + [("node_dual", record(NODE_DUAL), 1)]
)
node_, coord_, mass_, touch_, ends_, want_, zero_, star_ = LAYOUT.viewers(
    *"node coord mass touch ends want zero star".split()
)
mk_, col_, sc_, count_, flag_, s_, ds_, dual_, node_dual_, psi4_ = LAYOUT.viewers(
    *"mk col sc count flag s ds dual node_dual psi4".split()
)
(square_,) = LAYOUT.viewers("square")
q_, v_, a_, vp_, ap_, dv_, da_, f_, mu4_, eta_v4_, eta_a4_ = LAYOUT.viewers(
    *"q v a vp ap dv da f mu4 eta_v4 eta_a4".split()
)
M_, C_ = LAYOUT.viewers(*"M C".split())
R_q_, Nv_q_, Na_q_, R_s_, Nv_s_, Na_s_ = LAYOUT.viewers(*"R_q Nv_q Na_q R_s Nv_s Na_s".split())

AT_POSITIONS, INERTIA_PRODUCTS, DIRECTION_COLUMNS, DIRECTION_PRODUCTS = range(FOUR_ADJOINTS + 1, FOUR_ADJOINTS + 5)
PARTS = Parts()


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
    common.run_part(ctx, AT_POSITIONS)


@PARTS.part(AT_POSITIONS)
@cfunction(what="the simulation kernels")
def at_positions(ctx):
    """Positions of markers with their columns, and Phi, Phi_t, Phi_q, at the positions of the nodes."""
    marker_positions(node_(ctx), mk_(ctx), s_(ctx))
    first_columns(coord_(ctx), mk_(ctx), col_(ctx))
    common.rows(ctx)


@cfunction(what="the simulation kernels")
def evaluate(ctx):
    """M, f, Phi, Phi_t, Phi_q and the approximate tangent at (q, v)."""
    node, coord, mk, s, q, v = node_(ctx), coord_(ctx), mk_(ctx), s_(ctx), q_(ctx), v_(ctx)
    flag, f = flag_(ctx), f_(ctx)
    base(node, s, count_(ctx)[GRAVITY], True)
    if flag[AT_POSITION]:
        velocities(node, coord, q, v, zero_(ctx))
        body_forces(node, mass_(ctx), s)
    else:
        moving_bodies(node, coord, mass_(ctx), s, q, v, zero_(ctx))
        common.run_part(ctx, AT_POSITIONS)
    marker_rates(node, mk)
    clear_covectors(mk)
    for i in range(f.shape[0]):
        f[i] = 0.0
    common.forces(ctx)
    wrenches(node, mk)
    accumulate(node, coord, square_(ctx), M_(ctx), f)
    common.tangent(ctx)


@cfunction(what="the simulation kernels")
def bias(ctx):
    """c = Phidd(q, vp, 0) at the q of the last evaluate."""
    node, mk, vp = node_(ctx), mk_(ctx), vp_(ctx)
    base(node, s_(ctx), count_(ctx)[GRAVITY], False)
    velocities(node, coord_(ctx), q_(ctx), vp, zero_(ctx))
    marker_rates(node, mk)
    common.bias_of_rows(ctx)


@cfunction(what="the simulation kernels")
def observe(ctx):
    """g of the objectives, and x, xd, xdd of the markers, at the q of the last evaluate."""
    node, mk = node_(ctx), mk_(ctx)
    base(node, s_(ctx), count_(ctx)[GRAVITY], False)
    velocities(node, coord_(ctx), q_(ctx), vp_(ctx), ap_(ctx))
    marker_rates(node, mk)
    common.objectives(ctx)


@kernel
def keep(node):
    """The motion at (v, a), for directions and pullback."""
    for i in range(node.shape[0]):
        B = node[i]
        for j in range(6):
            B["Vs"][j] = B["V"][j]
            B["acs"][j] = B["a"][j]


@cfunction(what="the sensitivity kernels")
def linearise(ctx):
    """Every first derivative of a step, by coordinates and directions."""
    node, coord, mk, col, sc, s, q = node_(ctx), coord_(ctx), mk_(ctx), col_(ctx), sc_(ctx), s_(ctx), q_(ctx)
    gravity, star = count_(ctx)[GRAVITY], star_(ctx)
    clear_products(ctx)
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
            keep(node)
            common.keep_rates(ctx)
        rate_columns(coord, mk, col, context == 1)
        if ds_(ctx).shape[0] > 0:
            common.run_part(ctx, DIRECTION_COLUMNS)
        if context == 0:
            common.run_part(ctx, INERTIA_PRODUCTS)
            run_stage(ctx, LINEAR_FORCES)
    common.linear_rows_and_objectives(ctx)
    curvature(node, coord, mk, q, square_(ctx), R_q_(ctx), Nv_q_(ctx), Na_q_(ctx))
    if ds_(ctx).shape[0] > 0:
        common.run_part(ctx, DIRECTION_PRODUCTS)


@PARTS.part(INERTIA_PRODUCTS)
@cfunction(what="the sensitivity kernels")
def inertia_products(ctx):
    """What the bodies give to M, R_q, C, Nv_q, Na_q."""
    node, coord, q = node_(ctx), coord_(ctx), q_(ctx)
    field(node, coord, q, dv_(ctx), da_(ctx))
    body_terms(node, mass_(ctx), s_(ctx))
    inertia_linear(node, coord, q, square_(ctx), M_(ctx), R_q_(ctx), C_(ctx), Nv_q_(ctx), Na_q_(ctx))


@PARTS.part(DIRECTION_COLUMNS)
@cfunction(what="the sensitivity kernels")
def columns_of_directions(ctx):
    """Columns of the markers under every direction, in the context at hand."""
    node, s, ds, touch, star = node_(ctx), s_(ctx), ds_(ctx), touch_(ctx), star_(ctx)[0]
    for p in range(ds.shape[0]):
        if touch[p, 0] & GEOMETRY:
            twists(node, s, ds[p], touch[p], ends_(ctx)[p], star, q_(ctx))
        if touch[p, 0] & (GEOMETRY | MARKERS):
            direction_columns(node, mk_(ctx), col_(ctx), ds[p], touch[p], q_(ctx).shape[0] + p, star == 0)


@PARTS.part(DIRECTION_PRODUCTS)
@cfunction(what="the sensitivity kernels")
def products_of_directions(ctx):
    """R_s, Nv_s, Na_s of every direction, beyond what elements gave."""
    node, coord, s, ds, touch, gravity = node_(ctx), coord_(ctx), s_(ctx), ds_(ctx), touch_(ctx), count_(ctx)[GRAVITY]
    for p in range(ds.shape[0]):
        if touch[p, 0]:
            end = ends_(ctx)[p]
            if touch[p, 0] & GEOMETRY:
                twists(node, s, ds[p], touch[p], end, 1, q_(ctx))
            inertia_changes(node, coord, mass_(ctx), s, ds[p], touch[p], end, dv_(ctx), da_(ctx), gravity)
            if touch[p, 0] & (GEOMETRY | MARKERS):
                marker_changes(node, mk_(ctx), col_(ctx), q_(ctx).shape[0] + p)
            project_changes(node, coord, ds[p], touch[p], end, p, R_s_(ctx), Nv_s_(ctx), Na_s_(ctx))


@PARTS.part(FOUR_ADJOINTS)
@cfunction(what="the adjoint kernels")
def pullback4(ctx):
    """Adds to psi4 of the objectives of a block, after linearise at the same point."""
    node, dual, mk, of_marker, psi = node_(ctx), node_dual_(ctx), mk_(ctx), dual_(ctx), psi4_(ctx)[flag_(ctx)[BLOCK]]
    motions(node, dual, coord_(ctx), want_(ctx), mu4_(ctx), eta_v4_(ctx), eta_a4_(ctx))
    marker_motions(dual, mk, of_marker)
    common.pull(ctx)
    marker_slots(node, dual, mk, of_marker, want_(ctx), psi)
    node_slots(node, dual, mass_(ctx), s_(ctx), q_(ctx), want_(ctx), count_(ctx)[GRAVITY], psi)


@cfunction(what="the simulation kernels")
def energy(ctx):
    """Kinetic energy, potential of weight and elements, and the power of all else, after evaluate."""
    node, mass, s = node_(ctx), mass_(ctx), s_(ctx)
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
    common.energies(ctx, kinetic, potential)


FUNCTIONS = (evaluate, bias, observe, linearise, pullback, energy, position, pullback4)
