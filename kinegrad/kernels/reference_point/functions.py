"""The seven functions of the reference-point set, as C functions of a context; what elements contribute comes by stages."""

from kinegrad.kernels import set_functions as common
from kinegrad.kernels.clearing import clear_covectors, clear_flat, clear_products
from kinegrad.kernels.elements.laws import scalar_values
from kinegrad.kernels.elements.layout import ELEMENTS, GRAVITY
from kinegrad.kernels.elements.stages import LINEAR_FORCES, run_stage
from kinegrad.kernels.jit import cfunction, kernel, record
from kinegrad.kernels.products import AT_POSITION, BLOCK
from kinegrad.kernels.reference_point.inertia import (
    body_forces,
    inertia_changes,
    inertia_derivatives,
    kinetic_energy,
    mass_matrix,
)  # fmt: skip
from kinegrad.kernels.reference_point.markers import (
    covectors,
    curvature,
    direction_columns,
    first_columns,
    marker_changes,
    marker_forces,
    marker_positions,
    marker_rates,
    rate_columns,
)  # fmt: skip
from kinegrad.kernels.reference_point.motion import fields, keep, orientations, rates
from kinegrad.kernels.reference_point.pullback import inertia_slots, marker_motions, marker_slots, motions
from kinegrad.kernels.reference_point.records import BODY, BODY_DUAL
from kinegrad.kernels.set_functions import FOUR_ADJOINTS, pullback
from kinegrad.kernels.table import Parts
from kinegrad.kernels.vec3 import dot, vec_at

LAYOUT = ELEMENTS.extend([("body", record(BODY), 1), ("touch", "i8", 2), ("body_dual", record(BODY_DUAL), 1)])
body_, touch_, zero_, body_dual_ = LAYOUT.viewers(*"body touch zero body_dual".split())
mk_, col_, sc_, count_, flag_, s_, ds_, psi4_, dual_ = LAYOUT.viewers(*"mk col sc count flag s ds psi4 dual".split())
q_, v_, a_, vp_, ap_, dv_, da_, f_, mu4_, eta_v4_, eta_a4_ = LAYOUT.viewers(
    *"q v a vp ap dv da f mu4 eta_v4 eta_a4".split()
)
M_, C_, square_ = LAYOUT.viewers(*"M C square".split())
R_q_, Nv_q_, Na_q_, R_s_, Nv_s_, Na_s_ = LAYOUT.viewers(*"R_q Nv_q Na_q R_s Nv_s Na_s".split())

AT_POSITIONS, INERTIA_PRODUCTS, DIRECTION_COLUMNS, DIRECTION_PRODUCTS = range(FOUR_ADJOINTS + 1, FOUR_ADJOINTS + 5)
PARTS = Parts()


@kernel
def place(ctx):
    """Bodies and markers at q, with x_q."""
    body, mk, s, q = body_(ctx), mk_(ctx), s_(ctx), q_(ctx)
    orientations(body, q)
    marker_positions(body, mk, s, q)
    first_columns(body, mk, col_(ctx), s, q)


@kernel
def move(ctx, v, a):
    """Rates of bodies and markers at the velocities v and accelerations a."""
    rates(body_(ctx), q_(ctx), v, a)
    marker_rates(body_(ctx), mk_(ctx), s_(ctx), v, a)


@PARTS.part(AT_POSITIONS)
@cfunction(what="the simulation kernels")
def at_positions(ctx):
    """Positions of bodies and markers, and Phi, Phi_t, Phi_q."""
    place(ctx)
    common.rows(ctx)


@cfunction(what="the simulation kernels")
def position(ctx):
    """Phi, Phi_t, Phi_q at q."""
    common.run_part(ctx, AT_POSITIONS)


@cfunction(what="the simulation kernels")
def evaluate(ctx):
    """M, f, Phi, Phi_t, Phi_q and the approximate tangent at (q, v)."""
    body, mk, s, q, v, f = body_(ctx), mk_(ctx), s_(ctx), q_(ctx), v_(ctx), f_(ctx)
    if not flag_(ctx)[AT_POSITION]:
        common.run_part(ctx, AT_POSITIONS)
    move(ctx, v, zero_(ctx))
    clear_covectors(mk)
    clear_flat(M_(ctx))
    mass_matrix(body, s, q, square_(ctx), M_(ctx))
    for i in range(f.shape[0]):
        f[i] = 0.0
    body_forces(body, s, q, count_(ctx)[GRAVITY], f)
    common.forces(ctx)
    covectors(body, mk, s, False)
    marker_forces(body, q, f)
    common.tangent(ctx)


@cfunction(what="the simulation kernels")
def bias(ctx):
    """c = Phidd(q, vp, 0) at the q of the last evaluate."""
    move(ctx, vp_(ctx), zero_(ctx))
    common.bias_of_rows(ctx)


@cfunction(what="the simulation kernels")
def observe(ctx):
    """g of the objectives, and x, xd, xdd of the markers, at the q of the last evaluate."""
    move(ctx, vp_(ctx), ap_(ctx))
    common.objectives(ctx)


@cfunction(what="the sensitivity kernels")
def linearise(ctx):
    """Every first derivative of a step, by coordinates and directions."""
    body, mk, col, sc, s, q = body_(ctx), mk_(ctx), col_(ctx), sc_(ctx), s_(ctx), q_(ctx)
    clear_flat(M_(ctx))
    clear_products(ctx)
    clear_covectors(mk)
    place(ctx)
    for context in range(2):  # the residual at (q, v, a), then constraints and objectives at (q, vp, ap)
        v = v_(ctx) if context == 0 else vp_(ctx)
        a = a_(ctx) if context == 0 else ap_(ctx)
        move(ctx, v, a)
        scalar_values(sc, mk, q, v, a)
        rate_columns(body, mk, col, s, v, a, context == 1)
        if ds_(ctx).shape[0] > 0:
            common.run_part(ctx, DIRECTION_COLUMNS)
        if context == 0:
            keep(body)
            common.keep_rates(ctx)
            common.run_part(ctx, INERTIA_PRODUCTS)
            run_stage(ctx, LINEAR_FORCES)
    common.linear_rows_and_objectives(ctx)
    covectors(body, mk, s, True)
    curvature(body, square_(ctx), R_q_(ctx), Nv_q_(ctx), Na_q_(ctx))
    if ds_(ctx).shape[0] > 0:
        common.run_part(ctx, DIRECTION_PRODUCTS)


@PARTS.part(INERTIA_PRODUCTS)
@cfunction(what="the sensitivity kernels")
def inertia_products(ctx):
    """What the bodies give to M, R_q, C, Nv_q, Na_q."""
    body, s, q, v, a, dv, da = body_(ctx), s_(ctx), q_(ctx), v_(ctx), a_(ctx), dv_(ctx), da_(ctx)
    fields(body, q, dv, da)
    mass_matrix(body, s, q, square_(ctx), M_(ctx))
    inertia_derivatives(body, s, q, v, a, dv, da, square_(ctx), R_q_(ctx), C_(ctx), Nv_q_(ctx), Na_q_(ctx))


@PARTS.part(DIRECTION_COLUMNS)
@cfunction(what="the sensitivity kernels")
def columns_of_directions(ctx):
    """Columns of the markers under every direction, at the rates at hand."""
    direction_columns(body_(ctx), mk_(ctx), col_(ctx), ds_(ctx), q_(ctx).shape[0])


@PARTS.part(DIRECTION_PRODUCTS)
@cfunction(what="the sensitivity kernels")
def products_of_directions(ctx):
    """R_s, Nv_s, Na_s of every direction, beyond what elements gave."""
    body, s, ds, q, R, Nv, Na = body_(ctx), s_(ctx), ds_(ctx), q_(ctx), R_s_(ctx), Nv_s_(ctx), Na_s_(ctx)
    gravity = count_(ctx)[GRAVITY]
    inertia_changes(body, s, ds, touch_(ctx), q, a_(ctx), dv_(ctx), da_(ctx), gravity, R, Nv, Na)
    marker_changes(body, mk_(ctx), col_(ctx), ds, q, R, Nv, Na)


@PARTS.part(FOUR_ADJOINTS)
@cfunction(what="the adjoint kernels")
def pullback4(ctx):
    """Adds to psi4 of the objectives of a block, after linearise at the same point."""
    body, dual, mk, of_marker, s = body_(ctx), body_dual_(ctx), mk_(ctx), dual_(ctx), s_(ctx)
    mu, eta_v, eta_a, psi = mu4_(ctx), eta_v4_(ctx), eta_a4_(ctx), psi4_(ctx)[flag_(ctx)[BLOCK]]
    motions(body, dual, q_(ctx), mu, eta_v, eta_a)
    marker_motions(body, dual, mk, of_marker, s, mu, eta_v, eta_a)
    common.pull(ctx)
    marker_slots(body, dual, mk, of_marker, psi)
    inertia_slots(body, dual, s, a_(ctx), dv_(ctx), da_(ctx), mu, eta_v, eta_a, count_(ctx)[GRAVITY], psi)


@cfunction(what="the simulation kernels")
def energy(ctx):
    """Kinetic energy, potential of weight and elements, and the power of all else, after evaluate."""
    body, s, q, v = body_(ctx), s_(ctx), q_(ctx), v_(ctx)
    kinetic, potential = 0.0 * s[0], 0.0 * s[0]
    g = vec_at(s, count_(ctx)[GRAVITY])
    for i in range(1, body.shape[0]):
        B = body[i]
        kinetic += kinetic_energy(B, s, q, v)
        potential -= s[B["m"]] * dot(g, vec_at(q, B["k"]))
    common.energies(ctx, kinetic, potential)


FUNCTIONS = (evaluate, bias, observe, linearise, pullback, energy, position, pullback4)
