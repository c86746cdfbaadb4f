"""The seven functions of the natural set, as C functions of a context; what elements contribute comes by stages."""

from kinegrad.kernels import set_functions as common
from kinegrad.kernels.clearing import clear_covectors, clear_products
from kinegrad.kernels.elements.laws import scalar_values
from kinegrad.kernels.elements.layout import ELEMENTS, GRAVITY
from kinegrad.kernels.elements.stages import LINEAR_FORCES, run_stage
from kinegrad.kernels.jit import cfunction, kernel, record
from kinegrad.kernels.natural.directions import dual_changes, force_changes, frame_changes
from kinegrad.kernels.natural.frames import move_frames
from kinegrad.kernels.natural.inertia import (
    add_by_moments,
    add_weight,
    all_moments,
    clear_field,
    compose,
    first_moment,
    kinetic_energy,
    mass_matrix,
    scatter,
    weight,
)  # fmt: skip
from kinegrad.kernels.natural.markers import (
    covectors,
    direction_columns,
    entity_forces,
    marker_accelerations,
    marker_positions,
    marker_rates,
)  # fmt: skip
from kinegrad.kernels.natural.prepare import has_changed, prepare_frames, prepare_markers
from kinegrad.kernels.natural.pullback import (
    frame_slots,
    inertia_slots,
    marker_motions,
    marker_slots,
    move_by_adjoint,
)  # fmt: skip
from kinegrad.kernels.natural.records import (
    AC,
    AS,
    AT,
    BASIS,
    DA,
    DV,
    EA,
    ENTITY,
    EV,
    FRAME,
    FRAME_COLUMN,
    FRAME_DUAL,
    LOCAL,
    MASS,
    MU,
    PLACE,
    VS,
    V,
)  # fmt: skip
from kinegrad.kernels.products import AT_POSITION, BLOCK
from kinegrad.kernels.set_functions import FOUR_ADJOINTS, pullback
from kinegrad.kernels.table import Parts
from kinegrad.kernels.vec3 import dot, vec_at

LAYOUT = ELEMENTS.extend(
    [("entity", record(ENTITY), 1), ("basis", record(BASIS), 1), ("frame", record(FRAME), 1)]
    + [("fcol", record(FRAME_COLUMN), 1), ("place", record(PLACE), 1), ("here", record(LOCAL), 1)]
    + [("mass", record(MASS), 1), ("watch", "i8", 1), ("seen", "f8", 1), ("touch", "i8", 2)]
    + [("M0", "f8", 1), ("f0", "f8", 1), ("dZ", "f8", 1), ("star", "i8", 1), ("frame_dual", record(FRAME_DUAL), 1)]
)
entity_, basis_, frame_, fcol_, place_, here_, mass_ = LAYOUT.viewers(
    *"entity basis frame fcol place here mass".split()
)
watch_, seen_, touch_, M0_, f0_, dZ_, star_, frame_dual_ = LAYOUT.viewers(
    *"watch seen touch M0 f0 dZ star frame_dual".split()
)
mk_, col_, sc_, count_, flag_, s_, ds_, psi4_, dual_ = LAYOUT.viewers(*"mk col sc count flag s ds psi4 dual".split())
q_, v_, a_, vp_, ap_, dv_, da_, f_, mu4_, eta_v4_, eta_a4_ = LAYOUT.viewers(
    *"q v a vp ap dv da f mu4 eta_v4 eta_a4".split()
)
M_, square_ = LAYOUT.viewers(*"M square".split())
R_s_, Nv_s_, Na_s_ = LAYOUT.viewers(*"R_s Nv_s Na_s".split())

PREPARE, AT_POSITIONS, DIRECTION_COLUMNS, DIRECTION_PRODUCTS = range(FOUR_ADJOINTS + 1, FOUR_ADJOINTS + 5)
PARTS = Parts()


@kernel
def copy(A, B):
    """A = B, of one pattern."""
    for i in range(A.shape[0]):
        A[i] = B[i]


@PARTS.part(PREPARE)
@cfunction(what="the simulation kernels")
def prepare(ctx):
    """All that slots alone decide: frames by coordinates, columns of markers, M, and f of weight."""
    frame, basis, entity, fcol, s = frame_(ctx), basis_(ctx), entity_(ctx), fcol_(ctx), s_(ctx)
    prepare_frames(frame, basis, entity, fcol, s)
    prepare_markers(frame, basis, fcol, place_(ctx), mk_(ctx), here_(ctx), col_(ctx), s)
    all_moments(frame, mass_(ctx), s)
    mass_matrix(frame, basis, entity, fcol, square_(ctx), M0_(ctx))
    weight(frame, basis, entity, fcol, s, count_(ctx)[GRAVITY], f0_(ctx))


@kernel
def settle(ctx):
    """Frames and markers at q."""
    if has_changed(watch_(ctx), seen_(ctx), s_(ctx)):
        common.run_part(ctx, PREPARE)
    move_frames(frame_(ctx), basis_(ctx), entity_(ctx), q_(ctx), s_(ctx), AT)
    marker_positions(frame_(ctx), place_(ctx), entity_(ctx), mk_(ctx), here_(ctx), s_(ctx), q_(ctx))


@kernel
def move(ctx, v, field):
    """Velocities of frames and markers."""
    move_frames(frame_(ctx), basis_(ctx), entity_(ctx), v, s_(ctx), field)
    marker_rates(frame_(ctx), place_(ctx), entity_(ctx), mk_(ctx), here_(ctx), s_(ctx), v, field)


@kernel
def accelerate(ctx, a, field):
    """Accelerations of frames and markers."""
    move_frames(frame_(ctx), basis_(ctx), entity_(ctx), a, s_(ctx), field)
    marker_accelerations(frame_(ctx), place_(ctx), entity_(ctx), mk_(ctx), here_(ctx), s_(ctx), a, field)


@PARTS.part(AT_POSITIONS)
@cfunction(what="the simulation kernels")
def at_positions(ctx):
    """Positions of frames and markers, and Phi, Phi_t, Phi_q."""
    settle(ctx)
    common.rows(ctx)


@cfunction(what="the simulation kernels")
def position(ctx):
    """Phi, Phi_t, Phi_q at q."""
    common.run_part(ctx, AT_POSITIONS)


@cfunction(what="the simulation kernels")
def evaluate(ctx):
    """M, f, Phi, Phi_t, Phi_q and the approximate tangent at (q, v)."""
    frame, mk, v, f, f0 = frame_(ctx), mk_(ctx), v_(ctx), f_(ctx), f0_(ctx)
    if not flag_(ctx)[AT_POSITION]:
        common.run_part(ctx, AT_POSITIONS)
    move(ctx, v, V)
    clear_covectors(mk)
    copy(M_(ctx), M0_(ctx))
    for i in range(f.shape[0]):
        f[i] = f0[i]
    common.forces(ctx)
    clear_field(frame, MU)
    covectors(frame, place_(ctx), mk, here_(ctx), MU, 0)
    compose(frame, MU)
    scatter(frame, basis_(ctx), entity_(ctx), fcol_(ctx), MU, f)
    entity_forces(entity_(ctx), mk, f)
    common.tangent(ctx)


@cfunction(what="the simulation kernels")
def bias(ctx):
    """c = Phidd(q, vp, 0) at the q of the last evaluate."""
    move(ctx, vp_(ctx), V)
    common.bias_of_rows(ctx)


@cfunction(what="the simulation kernels")
def observe(ctx):
    """g of the objectives, and x, xd, xdd of the markers, at the q of the last evaluate."""
    move(ctx, vp_(ctx), V)
    accelerate(ctx, ap_(ctx), AC)
    common.objectives(ctx)


@cfunction(what="the sensitivity kernels")
def linearise(ctx):
    """Every first derivative of a step, by coordinates and directions; the columns of coordinates have no rates."""
    mk, sc, q = mk_(ctx), sc_(ctx), q_(ctx)
    clear_products(ctx)
    clear_covectors(mk)
    settle(ctx)
    copy(M_(ctx), M0_(ctx))
    for context in range(2):  # the residual at (q, v, a), then constraints and objectives at (q, vp, ap)
        v = v_(ctx) if context == 0 else vp_(ctx)
        a = a_(ctx) if context == 0 else ap_(ctx)
        move(ctx, v, VS if context == 0 else V)
        accelerate(ctx, a, AS if context == 0 else AC)
        scalar_values(sc, mk, q, v, a)
        if ds_(ctx).shape[0] > 0:
            star_(ctx)[0] = 1 - context
            common.run_part(ctx, DIRECTION_COLUMNS)
        if context == 0:
            common.keep_rates(ctx)
            run_stage(ctx, LINEAR_FORCES)
    common.linear_rows_and_objectives(ctx)
    move_frames(frame_(ctx), basis_(ctx), entity_(ctx), dv_(ctx), s_(ctx), DV)
    move_frames(frame_(ctx), basis_(ctx), entity_(ctx), da_(ctx), s_(ctx), DA)
    if ds_(ctx).shape[0] > 0:
        common.run_part(ctx, DIRECTION_PRODUCTS)


@PARTS.part(DIRECTION_COLUMNS)
@cfunction(what="the sensitivity kernels")
def columns_of_directions(ctx):
    """Columns of the markers under every direction, in the context at hand."""
    frame, basis, entity, s, ds, touch = frame_(ctx), basis_(ctx), entity_(ctx), s_(ctx), ds_(ctx), touch_(ctx)
    second = star_(ctx)[0] == 0
    fv = V if second else VS
    for p in range(ds.shape[0]):
        frame_changes(frame, basis, entity, s, ds[p], touch[p], AT)
        frame_changes(frame, basis, entity, s, ds[p], touch[p], fv)
        if second:
            frame_changes(frame, basis, entity, s, ds[p], touch[p], AC)
        k = q_(ctx).shape[0] + p
        direction_columns(frame, place_(ctx), entity, mk_(ctx), here_(ctx), col_(ctx), s, ds[p], k, fv, second)


@kernel
def all_duals(ctx):
    """D of the fields mu, eta_v, eta_a: covectors of markers, weight and inertia, composed."""
    frame, place, mk, here, s, gravity = frame_(ctx), place_(ctx), mk_(ctx), here_(ctx), s_(ctx), count_(ctx)[GRAVITY]
    for which in range(3):
        field = MU if which == 0 else (EV if which == 1 else EA)
        motion = AS if which == 0 else (DV if which == 1 else DA)
        clear_field(frame, field)
        covectors(frame, place, mk, here, field, which)
        for i in range(1, frame.shape[0]):
            add_by_moments(frame[i]["Z"], frame[i]["T"], motion, frame[i]["D"], field)
            if which == 0 and gravity > 0:
                add_weight(frame[i]["Z"], vec_at(s, gravity), frame[i]["D"], field)
        compose(frame, field)


@PARTS.part(DIRECTION_PRODUCTS)
@cfunction(what="the sensitivity kernels")
def products_of_directions(ctx):
    """R_s, Nv_s, Na_s of every direction, beyond what elements gave."""
    frame, basis, entity, s, ds, touch = frame_(ctx), basis_(ctx), entity_(ctx), s_(ctx), ds_(ctx), touch_(ctx)
    gravity = count_(ctx)[GRAVITY]
    all_duals(ctx)
    for p in range(ds.shape[0]):
        frame_changes(frame, basis, entity, s, ds[p], touch[p], AS)
        frame_changes(frame, basis, entity, s, ds[p], touch[p], DV)
        frame_changes(frame, basis, entity, s, ds[p], touch[p], DA)
        dual_changes(frame, place_(ctx), mass_(ctx), mk_(ctx), here_(ctx), s, ds[p], touch[p], gravity, dZ_(ctx))
        force_changes(frame, basis, entity, fcol_(ctx), s, ds[p], touch[p], p, R_s_(ctx), Nv_s_(ctx), Na_s_(ctx))


@PARTS.part(FOUR_ADJOINTS)
@cfunction(what="the adjoint kernels")
def pullback4(ctx):
    """Adds to psi4 of the objectives of a block, after linearise at the same point."""
    frame, dual, basis, entity, place = frame_(ctx), frame_dual_(ctx), basis_(ctx), entity_(ctx), place_(ctx)
    s, mk, of_marker, here, psi = s_(ctx), mk_(ctx), dual_(ctx), here_(ctx), psi4_(ctx)[flag_(ctx)[BLOCK]]
    mu, eta_v, eta_a = mu4_(ctx), eta_v4_(ctx), eta_a4_(ctx)
    move_by_adjoint(frame, dual, basis, entity, mu, s, MU)
    move_by_adjoint(frame, dual, basis, entity, eta_v, s, EV)
    move_by_adjoint(frame, dual, basis, entity, eta_a, s, EA)
    marker_motions(dual, place, entity, mk, of_marker, here, mu, eta_v, eta_a)
    common.pull(ctx)
    marker_slots(frame, dual, place, entity, mk, of_marker, here, s, psi)
    inertia_slots(frame, dual, mass_(ctx), s, count_(ctx)[GRAVITY], psi)
    frame_slots(frame, dual, basis, entity, s, psi)


@cfunction(what="the simulation kernels")
def energy(ctx):
    """Kinetic energy, potential of weight and elements, and the power of all else, after evaluate."""
    frame, s = frame_(ctx), s_(ctx)
    kinetic, potential = 0.0 * s[0], 0.0 * s[0]
    g = vec_at(s, count_(ctx)[GRAVITY])
    for i in range(frame.shape[0]):
        kinetic += kinetic_energy(frame[i])
        potential -= dot(g, first_moment(frame[i]))
    common.energies(ctx, kinetic, potential)


FUNCTIONS = (evaluate, bias, observe, linearise, pullback, energy, position, pullback4)
