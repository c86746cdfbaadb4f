"""Position, velocity and acceleration problems at the start.

With K = [Phi_q; B], B the rows that measure the degrees of freedom (KIN-1 to KIN-3):

    Phi(q) = 0, z(q) = z0          K v = [-Phi_t; zd0]          [M Phi_qᵀ; Phi_q -ε] [a; lam] = [-f; -c]

Rows may be redundant: K is solved by rank-revealing least squares.  The compliance ε is 0 but for penalties (IDX-1).
"""

from __future__ import annotations

import contextlib
import warnings

import numpy as np

from kinegrad.coordinates.system import System
from kinegrad.coordinates.workspace import Workspace
from kinegrad.errors import AccuracyWarning, AssemblyError, SimulationError
from kinegrad.kernels.products import BIAS, DURATION, EVALUATE, EXTENT, FREEDOMS, LENGTH, POSITION, TIME
from kinegrad.kernels.status import NOT_FINITE, OK, SINGULAR
from kinegrad.kinematics import branch, compiled
from kinegrad.kinematics.branch import Way
from kinegrad.kinematics.culprits import culprit, left_table, told
from kinegrad.kinematics.decoupled import null_space
from kinegrad.kinematics.facing import changed_sense, turn, turned_over, undecided, wanted_senses
from kinegrad.kinematics.freedoms import (
    check_freedoms,
    check_rates,
    first_rows,
    of_positions,
    of_rates,
    refuse_infinite,
)
from kinegrad.kinematics.least_squares import RANK_TOLERANCE
from kinegrad.kinematics.states import check_states
from kinegrad.kinematics.units import units_of

MOST_NAMED = 3  # coordinates that move without inertia
POSITION_TOLERANCE = 1e-13
UNSATISFIED = (
    1e-5  # part of a row at acceleration level that may be left at the start, of what it would be with the largest one
)
NO_ACCELERATION = 1e-6  # of a mechanism at rest, in sizes of the model: rounding
ACCEPTED = 1e-9  # a residual above this, of the size of its row, is not assembled
MAX_ITERATIONS = 60
TURN = 2.0 * np.pi
NEAR = 0.05  # gaps in units of what rows change by when the mechanism moves by its size: poses that choose the branch


def start(system: System, work: Workspace, t: float = 0.0, compliance: float = 0.0, guess=None, given=None) -> int:
    """Leaves q, v = vp, a = ap and lam of the start in the workspace; found from `guess`, or from the model's guess.

    `given` are values and rates of the degrees of freedom in the place of those of the model.
    Returns the iterations of the position problem.
    """
    z0, zd0 = (None, None) if given is None else given
    arrays = work.arrays
    arrays["par"][:] = 0.0
    arrays["par"][TIME] = t
    if guess is None:
        place(system, work)
    else:
        arrays["q"][:] = guess
    check_states(system, arrays["s"])
    if compiled.serves(system, compliance):
        far, iterations = compiled_start(system, work, t, compliance, given)
        if far == compiled.DONE:
            return iterations
        if far != compiled.NO_POSITION:
            if far == compiled.NO_VELOCITIES:
                solve_velocity(system, work, zd0)
            solve_acceleration(system, work, compliance)
            return iterations
    with branch.explained(work.way):
        iterations = solve_position(system, work, z0)
    start_from_position(system, work, compliance, zd0)
    return iterations


def compiled_start(system: System, work: Workspace, t: float, compliance: float, given) -> tuple[int, int]:
    """How far compiled code has come, and the iterations of the position; q is the guess where it has found no position."""
    guess = work.arrays["q"].copy()
    far, iterations = compiled.found(system, work, t, compliance, given)
    if far != compiled.NO_POSITION and system.set.mirrored(work):
        work["q"][:] = guess
        work["par"][:] = 0.0
        work["par"][TIME] = t
        work.arrays["M"][:] = 0.0
        return compiled.NO_POSITION, 0
    return far, iterations


def start_from_position(system: System, work: Workspace, compliance: float = 0.0, zd0=None) -> None:
    """Leaves v = vp, a = ap and lam of the start in the workspace, which has q and the rows there."""
    work["par"][EXTENT] = extent(work)
    weigh_rows(system, work)
    solve_velocity(system, work, zd0)
    solve_acceleration(system, work, compliance)


def start_as_found(system: System, work: Workspace, q, v, a, lam) -> None:
    """Leaves in the workspace, which is new, a start that `start` has found before."""
    arrays = work.arrays
    arrays["q"][:] = q
    arrays["flag"][FREEDOMS] = 1
    work.call(POSITION)
    arrays["par"][EXTENT] = extent(work)
    weigh_rows(system, work)
    arrays["v"][:] = arrays["vp"][:] = v
    evaluate(system, work, "at the start")
    work.call(BIAS)
    arrays["a"][:] = arrays["ap"][:] = a
    arrays["lam"][: system.m] = lam


def place(system: System, work: Workspace) -> None:
    """Leaves a position near the poses of the bodies in the workspace: the guess from which an assembly is found.

    Where the poses do not show the start itself, it is followed from the position that they show to what drivers and freedoms
    ask for, in joint coordinates for every set (KIN-10 to KIN-13): how is the `way` of the workspace.  Where poses are far from
    closing the loops, which branch is found depends on the coordinates; so joint coordinates close them first, for every set.
    """
    s, ways = work["s"].real, []
    if system.set.spanning_tree() is not None:
        place_as_given(system, work)
        work.placed = work.arrays["q"].copy()
        work.way = _follow(system, work)
        return

    def follow(joints: System, own: Workspace) -> None:
        own["par"][TIME] = work["par"][TIME].real
        if branch.follows(joints):
            put_driven(joints, own)
            way = _follow(joints, own)
            if way is not None:
                ways.append((way, dict(zip(joints.coordinates, own["q"], strict=True))))

    _put(system, work, system.set.guess(system, s, follow))
    if ways and ways[0][0].reached == 1.0:
        _take_turns(system, work, ways[0][1])
    elif system.m:
        work["flag"][FREEDOMS] = 0
        work.call(POSITION)
        gaps = np.abs(work["Phi"][: system.m].real) / row_sizes(system, work, system.m)
        if not gaps.max() < NEAR:
            _put(system, work, system.set.guess(system, s, _close_loops))
    work.way = ways[0][0] if ways else None


def place_as_given(system: System, work: Workspace) -> None:
    """Leaves the poses of the bodies in the workspace, with what is asked of coordinates put in."""
    _put(system, work, system.set.guess(system, work["s"].real))


def _take_turns(system: System, work: Workspace, angles: dict[str, float]) -> None:
    """Gives angles that markers tell the full turns that they have in joint coordinates."""
    for own in system.own:
        near = angles.get(system.coordinates[own.k])
        if own.row >= 0 and near is not None:
            work["q"][own.k] += TURN * np.round((near - work["q"][own.k].real) / TURN)


def _follow(system: System, work: Workspace) -> Way | None:
    """Follows the start from the poses, where they do not show the start itself; the way, or None without one."""
    if not branch.follows(system) or branch.is_near(system, work):
        return None
    way = branch.reach(system, work)
    if way.reached == 1.0:
        coordinates, slots = _given_coordinates(system)
        work.arrays["q"][coordinates] = work.arrays["s"][slots]
        put_driven(system, work)
    return way


def _put(system: System, work: Workspace, q: np.ndarray) -> None:
    """Leaves in the workspace q, with coordinates of the tree that are freedoms at their starts, and what is driven."""
    arrays, (coordinates, slots) = work.arrays, _given_coordinates(system)
    arrays["q"][: len(q)], arrays["q"][len(q) :] = q, 0.0
    arrays["q"][coordinates] = arrays["s"][slots]
    bound = [own for own in system.own if own.row >= 0]
    if bound:
        work["flag"][FREEDOMS] = 0
        work.call(POSITION)
        for own in bound:
            work["q"][own.k] += work["Phi"][own.row]  # a row is what markers tell, less the coordinate
        arrays["q"][coordinates] = arrays["s"][slots]
    put_driven(system, work)


def _given_coordinates(system: System) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates of the tree that are freedoms, and the slots of their starts."""
    if "given_coordinates" not in system.tables:
        both = [(system.coordinate_of(freedom), freedom.position) for freedom in system.freedoms]
        both = [(k, slot) for k, slot in both if k is not None and slot >= 0]
        system.tables["given_coordinates"] = tuple(np.array(both, np.int64).reshape(-1, 2).T)
    return system.tables["given_coordinates"]


def put_driven(system: System, work: Workspace) -> None:
    """Gives coordinates that are driven their values at once, with all turns; the others follow from them."""
    if not system.model.drivers:
        return
    names = system.row_names
    driven = [(system.number_of.get(driver.measure), name) for name, driver in system.model.drivers.items()]
    driven = [(k, names.index(name)) for k, name in driven if k is not None and name in names]
    if driven:
        work["flag"][FREEDOMS] = 0
        work.call(POSITION)
        for k, row in driven:
            work["q"][k] -= work["Phi"][row]  # a row is the coordinate, less its value


def _close_loops(system: System, work: Workspace) -> None:
    """Closes the loops of joint coordinates in the workspace, with the starts of the freedoms if they can be kept."""
    place_as_given(system, work)
    guess = work["q"].copy()
    for solve in (solve_position, lambda *both: close_position(*both, "at the start")):
        with contextlib.suppress(AssemblyError):
            solve(system, work)
            return
        work["q"][:] = guess


def weigh_rows(system: System, work: Workspace) -> None:
    """Leaves in the workspace how easily the rows move, at the position for which it has M and Phi_q."""
    if not work.arrays["M"].any():
        work["ease"][:] = 1.0
    elif system.m and all(np.isfinite(work.arrays[name]).all() for name in ("M", "J")):
        J = first_rows(work, "J", system.m)
        work["ease"][:] = units_of(work, J).row_ease(work.matrix("M"), J, system.alike)


def extent(work: Workspace) -> float:
    """The largest coordinate of a point at the position of the workspace, in lengths of the model, at least 1: positions are
    rounded to this."""
    markers, length = work.arrays["mk"], work.arrays["size"][LENGTH]
    return float(np.abs(markers["x"][markers["point"] != 0].real).max(initial=length)) / length


def _targets(system: System, work: Workspace, which: str) -> np.ndarray:
    """Values of the degrees of freedom at the start, or their rates; 0 where none is given."""
    slots = [getattr(f, which) for f in system.freedoms]
    return np.array([work["s"][k] if k >= 0 else 0.0 for k in slots], work["s"].dtype)


def evaluate(system: System, work: Workspace, when: str) -> None:
    """EVALUATE at the position and velocities in the workspace; raises where a force has no value."""
    status = work.call(EVALUATE)
    if status != OK:
        who = culprit(system, work, status)
        raise AssemblyError(
            f"The position {when} cannot be evaluated: {told(work, status, who, 'Move the poses of the bodies apart.')}"
        )


def _residual(system: System, work: Workspace, z0: np.ndarray | None) -> np.ndarray:
    """Phi, and what the degrees of freedom lack of z0 unless that is None."""
    work["flag"][FREEDOMS] = 1
    work.call(POSITION)
    if z0 is None:
        return work["Phi"][: system.m].copy()
    r = work["Phi"].copy()
    r[system.m :] -= z0
    return r


def solve_position(system: System, work: Workspace, z0: np.ndarray | None = None) -> int:
    """Newton's method with step halving from q in the workspace; returns the number of iterations."""
    z0 = _targets(system, work, "position") if z0 is None else z0
    for freedom, z in zip(system.freedoms, z0, strict=True):
        k = system.coordinate_of(freedom)
        if k is not None:
            work["q"][k] = z
    return _assembled(system, work, z0, "at the start")


def close_position(system: System, work: Workspace, when: str) -> int:
    """The position nearest to q in the workspace at which the constraints hold; returns the number of iterations."""
    return _assembled(system, work, None, when)


def close_driven(system: System, work: Workspace, when: str) -> int:
    """The same at t = 0 where drivers prescribe the motion, so that no other position is near."""
    if system.m >= system.n and compiled.serves(system, 0.0) and not np.iscomplexobj(work["q"]):
        guess = work["q"].copy()
        iterations = compiled.closed(system, work)
        if iterations and not system.set.mirrored(work):
            return iterations
        work["q"][:] = guess
    return close_position(system, work, when)


def _assembled(system: System, work: Workspace, z0: np.ndarray | None, when: str) -> int:
    """The number of iterations; q then satisfies the rows, with directions that face each other as they should."""
    if not len(_residual(system, work, z0)):
        return 0
    starts = z0 is not None
    guess, senses = work["q"].copy(), wanted_senses(system, work, starts)
    if len(senses):
        with contextlib.suppress(AssemblyError):
            iterations = _closed(system, work, z0, when)
            if not turned_over(system, work, starts) and not changed_sense(system, work, senses):
                return iterations
        work["q"][:] = guess
        turn(system, work, senses, starts, lambda: _residual(system, work, z0))
    try:
        iterations = _closed(system, work, z0, when)
    except AssemblyError as error:
        raise _of_no_sense(undecided(system, senses, starts), when) or error from None
    element = turned_over(system, work, starts)
    if element:
        wrong = (
            f"joint {element!r} closes with its axis turned over. Check its axes"
            if element in system.model.joints
            else f"constraint {element!r} holds with its vectors opposite to each other. Check the vectors"
        )
        raise AssemblyError(
            f"The mechanism cannot be assembled {when}: {wrong}, or give poses nearer to an assembled position."
        )
    body = system.set.mirrored(work)
    if body:
        raise AssemblyError(
            f"The mechanism cannot be assembled {when}: only the mirror image of body {body!r} was found to fit. Give poses "
            "nearer to an assembled position."
        )
    return iterations


def _of_no_sense(constraint: str, when: str) -> AssemblyError | None:
    """What to say of parallel vectors that are perpendicular to begin with; None without any."""
    if not constraint:
        return None
    return AssemblyError(
        f"The mechanism cannot be assembled {when}: the vectors of constraint {constraint!r} are perpendicular in the position "
        "it is sought from, so that neither sense is nearer. Turn the pose of a body, or give the type same-direction."
    )


def usual_moves(system: System, work: Workspace) -> np.ndarray:
    """(n,) the units of coordinates: the length of the model for lengths, and 1."""
    return work["unit"].real.copy()


def row_sizes(system: System, work: Workspace, rows: int) -> np.ndarray:
    """How much the rows change when coordinates change by their units, where these are not known yet."""
    J = first_rows(work, "J", rows)
    units = units_of(work, J)
    return units.sizes(J) / units.rows


def _closed(system: System, work: Workspace, z0: np.ndarray | None, when: str) -> int:
    """Newton's method with step halving; residuals are judged by the sizes of their rows (KIN-1)."""
    residual, polished = _residual(system, work, z0), False
    for iteration in range(MAX_ITERATIONS):
        if not np.isfinite(residual).all():
            left = left_table(system, work)
            if left:
                raise AssemblyError(f"The mechanism cannot be assembled {when}: {left}.")
            raise AssemblyError(_not_assembled(system, residual, iteration, when))
        J = first_rows(work, "J", len(residual))
        refuse_infinite(system, J, when)
        units = units_of(work, J)
        step = (units.shortest if z0 is None else units.nearest)(of_positions(system, J), -residual)
        q, sizes = work["q"].copy(), row_sizes(system, work, len(residual))
        size, factor = np.linalg.norm(residual.real / sizes), 1.0
        while True:
            work["q"][:] = q + factor * step
            trial = _residual(system, work, z0)
            if np.linalg.norm(trial.real / sizes) <= max(size, 1e-12) or factor < 1e-3:
                break
            factor *= 0.5
        residual, off = trial, np.abs(trial.real / sizes).max()
        most = np.abs(q / units.columns).max(initial=1.0)
        small = np.abs(step / units.columns).max() < POSITION_TOLERANCE * most or off < 1e-15
        if polished or (small and off < ACCEPTED):
            if polished or not np.iscomplexobj(residual):
                return iteration + 1
            polished = True  # a complex step needs one more round than its real part
        if factor < 1e-3 and off > ACCEPTED:
            break
    if off > ACCEPTED:
        raise AssemblyError(_not_assembled(system, residual, iteration + 1, when))
    return iteration + 1


def _not_assembled(system: System, residual: np.ndarray, iterations: int, when: str) -> str:
    names = [*system.row_names, *(f.name for f in system.freedoms)]
    size = np.abs(np.where(np.isfinite(residual.real), residual.real, np.inf))
    worst = int(size.argmax())
    return (
        f"The mechanism cannot be assembled {when}: {names[worst]!r} is off by {size[worst]:.3g} after {iterations} "
        "iterations. Check the lengths and the values of degrees_of_freedom, or give poses nearer to an assembled position."
    )


def solve_velocity(system: System, work: Workspace, zd0: np.ndarray | None = None) -> None:
    """v of the start, at the assembled q."""
    check_freedoms(system, work)
    check_rates(system, work)
    right = -work["Phi_t"]
    right[system.m :] += _targets(system, work, "velocity") if zd0 is None else zd0
    J, right = of_rates(system, work.matrix("J")), of_rates(system, right)
    v = units_of(work, work.matrix("J")).refined(J, right)
    residual = J @ v - right
    sizes = row_sizes(system, work, len(residual)) / work["size"][DURATION].real
    sizes = np.maximum(sizes, abs(J.real) @ np.abs(v.real))
    worst = int(np.abs(residual.real / sizes).argmax()) if len(residual) else 0
    if len(residual) and np.abs(residual[worst].real) > 1e-8 * sizes[worst]:
        names = [*system.row_names, *(f.name for f in system.freedoms)]
        raise AssemblyError(
            f"No starting velocities satisfy all constraints: {names[worst]!r} is off by {abs(residual[worst]):.3g}. "
            "A driver or guidance contradicts the other constraints; check its rate at the start."
        )
    work["v"][:] = v
    work["vp"][:] = v


def _idle(system: System, work: Workspace, where: int) -> str:
    """The coordinates that move most in the allowed motion of least inertia, or the one that a factorisation stopped at."""
    if where >= 0:
        return repr(system.coordinates[where])
    J = work["J"][: system.m].real
    units = units_of(work, J)
    motions = null_space(units.of(J), RANK_TOLERANCE)
    if not motions.shape[1]:
        return "something"
    _, vectors = np.linalg.eigh(motions.T @ units.square(work["M"].real) @ motions)
    size = np.abs(motions @ vectors[:, 0])
    return " and ".join(repr(system.coordinates[k]) for k in np.flatnonzero(size > 0.5 * size.max())[:MOST_NAMED])


def _tell_unsatisfied(system: System, work: Workspace, J, a: np.ndarray, c: np.ndarray) -> None:
    """Warns where rows at acceleration level are left unsatisfied: their inertias are too far apart, or they contradict."""
    off, unit = np.abs(J.real @ a + c), work["unit"].real
    largest = max(np.abs(a / unit).max(initial=0.0), NO_ACCELERATION / work["size"][DURATION].real ** 2)
    whole = abs(J.real) @ (largest * unit) + np.abs(c)
    part = np.divide(off, whole, out=np.zeros_like(off), where=whole > 0.0)
    worst = int(part.argmax())
    if part[worst] > UNSATISFIED:
        warnings.warn(
            f"The accelerations at the start leave {system.row_names[worst]!r} off by {off[worst]:.3g}: constraints contradict "
            "each other there, or inertias that they move are too far apart; compare with another set of coordinates.",
            AccuracyWarning,
            stacklevel=2,
        )


def solve_acceleration(system: System, work: Workspace, compliance: float = 0.0) -> None:
    """a and lam of the start, at q and v."""
    m = system.m
    work["flag"][FREEDOMS] = 1
    evaluate(system, work, "at the start")
    work.call(BIAS)
    right = -work["f"][:, None], -work["c"][:m, None]
    J = first_rows(work, "J", m).copy()
    solve = units_of(work, J).solve_constrained
    status, a, lam = solve(work.matrix("M"), J, compliance, *right, system.alike)
    if status == SINGULAR:
        raise SimulationError(
            f"The mass matrix is singular on the motions that the constraints allow: {_idle(system, work, a)} moves without "
            "inertia. "
            "Give mass or inertia to bodies that can turn or slide freely (a slender bar must not spin about its axis)."
        )
    if status != OK or not np.isfinite(a).all():
        who = left_table(system, work) or culprit(system, work, NOT_FINITE)
        raise SimulationError(
            f"The accelerations at the start are not finite numbers; check {who or 'forces and expressions'} at t = 0."
        )
    if m and not compliance:
        _tell_unsatisfied(system, work, J, a[:, 0].real, work["c"][:m].real)
    work["a"][:] = a[:, 0]
    work["ap"][:] = a[:, 0]
    work["lam"][:] = 0.0
    work["lam"][:m] = lam[:, 0]
    work["sv"][:] = 0.0
    work["sa"][:] = 0.0
