"""Position, velocity and acceleration problems at the start, and their derivatives.

With K = [Phi_q; B], B the rows that measure the degrees of freedom (KIN-1 to KIN-3):

    Phi(q) = 0, z(q) = z0          K v = [-Phi_t; zd0]          [M Phi_qᵀ; Phi_q -ε] [a; lam] = [-f; -c]

Rows may be redundant: K is solved by rank-revealing least squares.  The compliance ε is 0 but for penalties (IDX-1).
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

import numpy as np

from kinegrad.coordinates.system import System, Workspace
from kinegrad.errors import AssemblyError, KinegradError, SimulationError
from kinegrad.kernels.products import (
    BIAS,
    EVALUATE,
    EXTENT,
    FREEDOMS,
    LINEARISE,
    OBJECTIVE,
    POSITION,
    PULLBACK,
    TIME,
    WEIGHT,
)
from kinegrad.kernels.status import NOT_FINITE, OK, SINGULAR, WORDS
from kinegrad.kinematics.culprits import culprit, left_table
from kinegrad.kinematics.decoupled import MANY, null_space, solved_by_blocks
from kinegrad.kinematics.facing import changed_sense, turn, turned_over, undecided, wanted_senses
from kinegrad.kinematics.states import check_states

RANK_TOLERANCE = 1e-9
UNLIKE = 1e3  # sizes of rows, or of columns, this far apart are made alike before a rank is counted
NO_SIZE = 1e-13  # part of the largest entry that is rounding
MOST_SUGGESTED = 3  # degrees of freedom, to a model that gives too few
POSITION_TOLERANCE = 1e-13
ACCEPTED = 1e-9  # a residual above this, in a mechanism of size 1, is not assembled
MAX_ITERATIONS = 60
TOO_LARGE = (
    "The constraints have derivatives that are infinite or not numbers; look for lengths, positions or velocities that are too "
    "large or too small, and for expressions outside their domain."
)


def least_squares(A, B):
    """Least-squares solution of least norm, and the rank."""
    if is_unit(A):
        return B.copy(), len(A)
    one = B.ndim == 1
    B = B[:, None] if one else B
    X, rank = solved_by_blocks(_least_squares, A, B) if A.shape[1] >= MANY else _least_squares(A, B)
    return (X[:, 0] if one else X), int(rank)


def is_unit(A) -> bool:
    """Whether A is the unit matrix: that of a tree whose degrees of freedom are its coordinates."""
    n = len(A)
    return n == A.shape[1] and np.count_nonzero(A) == n and bool((A.diagonal() == 1.0).all())


def _least_squares(A, B):
    rows, columns = scales(A)
    X, rank = _solved(A if rows is None else rows[:, None] * A * columns, B if rows is None else rows[:, None] * B)
    return (X if rows is None else columns[:, None] * X), rank


def scales(A) -> tuple[np.ndarray, np.ndarray] | tuple[None, None]:
    """Factors of rows and columns that make the largest entry of each about 1; None where they are alike already (LIN-7).

    The factors of the transpose are the same, exchanged: a solution with it stays the transpose of a solution.
    """
    size = np.abs(A.real)
    if not size.size or not size.any() or not np.isfinite(size).all():
        return None, None
    sides = size.max(axis=1), size.max(axis=0)
    if all(side.max() < UNLIKE * side[side > 0.0].min() for side in sides):
        return None, None
    rows, columns = np.ones(len(A)), np.ones(A.shape[1])
    for _ in range(4):
        now = rows[:, None] * size * columns
        for factors, side in ((rows, now.max(axis=1)), (columns, now.max(axis=0))):
            factors /= np.sqrt(np.where(side > NO_SIZE * now.max(), side, 1.0))
    return rows, columns


def alike(A) -> np.ndarray:
    """A with rows and columns of about one size, if they are not alike already (LIN-7)."""
    rows, columns = scales(A)
    return A if rows is None else rows[:, None] * A * columns


def _solved(A, B):
    if np.iscomplexobj(A) or np.iscomplexobj(B):
        from kinegrad.kernels.linalg import least_squares as solve  # by plain transposes: complex steps pass through

        return solve(np.ascontiguousarray(A), np.ascontiguousarray(B), RANK_TOLERANCE)
    if not np.isfinite(A).all():
        raise AssemblyError(TOO_LARGE)
    try:
        X, _, rank, _ = np.linalg.lstsq(A, B, rcond=RANK_TOLERANCE)
    except np.linalg.LinAlgError:
        raise AssemblyError(TOO_LARGE) from None
    return X, rank


def refined(A, B):
    """Least-squares solution of least norm, refined once."""
    if is_unit(A):
        return B.copy()
    X, _ = least_squares(A, B)
    return X + least_squares(A, B - A @ X)[0]


def start(system: System, work: Workspace, t: float = 0.0, compliance: float = 0.0, guess=None, given=None) -> int:
    """Leaves q, v = vp, a = ap and lam of the start in the workspace; found from `guess`, or from the model's guess.

    `given` are values and rates of the degrees of freedom in the place of those of the model.
    Returns the iterations of the position problem.
    """
    z0, zd0 = (None, None) if given is None else given
    work["par"][:] = 0.0
    work["par"][TIME] = t
    if guess is None:
        place(system, work)
    else:
        work["q"][:] = guess
    check_states(system, work["s"])
    iterations = solve_position(system, work, z0)
    start_from_position(system, work, compliance, zd0)
    return iterations


def start_from_position(system: System, work: Workspace, compliance: float = 0.0, zd0=None) -> None:
    """Leaves v = vp, a = ap and lam of the start in the workspace, which has q and the rows there."""
    work["par"][EXTENT] = extent(work)
    weigh_rows(system, work)
    solve_velocity(system, work, zd0)
    solve_acceleration(system, work, compliance)


def place(system: System, work: Workspace) -> None:
    """Leaves a position near the poses of the bodies in the workspace: the guess from which an assembly is found."""
    q = system.set.guess(system, work["s"].real)
    work["q"][:] = np.concatenate([q, np.zeros(system.n - len(q))])
    bound = [own for own in system.own if own.row >= 0]
    if bound:
        work["flag"][FREEDOMS] = 0
        work.call(POSITION)
        for own in bound:
            work["q"][own.k] = work["Phi"][own.row]  # a row is what markers tell, less the coordinate


def weigh_rows(system: System, work: Workspace) -> None:
    """Leaves in the workspace how easily the rows move, at the position for which it has M and Phi_q."""
    from kinegrad.kinematics.constrained import row_ease

    if system.m and np.isfinite(work["M"]).all() and np.isfinite(work["J"]).all():
        work["ease"][:] = row_ease(work["M"], work["J"][: system.m], system.alike)


def extent(work: Workspace) -> float:
    """The largest coordinate of a marker at the position of the workspace, at least 1: positions are rounded to this."""
    x = work["mk"]["x"].real
    return max(1.0, float(np.abs(x).max())) if x.size else 1.0


def _targets(system: System, work: Workspace, which: str) -> np.ndarray:
    """Values of the degrees of freedom at the start, or their rates; 0 where none is given."""
    slots = [getattr(f, which) for f in system.freedoms]
    return np.array([work["s"][k] if k >= 0 else 0.0 for k in slots], work["s"].dtype)


def of_positions(system: System, J: np.ndarray) -> np.ndarray:
    """Rows J, or derivatives by positions, of which those of velocities are zero."""
    levels = system.levels[: len(J)]
    return np.where(levels[:, None] == 0, J, 0.0) if levels.any() else J


def of_rates(system: System, A: np.ndarray) -> np.ndarray:
    """Rows A, constraints and freedoms, of which those of freedoms without a given rate are zero."""
    found = [system.m + i for i, freedom in enumerate(system.freedoms) if freedom.velocity < 0]
    if not found:
        return A
    A = A.copy()
    A[found] = 0.0
    return A


def evaluate(system: System, work: Workspace, when: str) -> None:
    """EVALUATE at the position and velocities in the workspace; raises where a force has no value."""
    status = work.call(EVALUATE)
    if status != OK:
        who = culprit(system, work, status)
        raise AssemblyError(
            f"The position {when} cannot be evaluated: {WORDS[status]}{who and f' ({who})'}. "
            "Move the poses of the bodies apart."
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
    """(n,) 1 for coordinates, and the size of the mechanism for those that are lengths."""
    x = work["mk"]["x"].real
    size = np.abs(x - x.mean(axis=0)).max() if x.size else 1.0
    return np.where(system.lengths, size or 1.0, 1.0)


def row_sizes(system: System, work: Workspace, rows: int) -> np.ndarray:
    """How much the rows change when coordinates change by their usual moves."""
    sizes = np.abs(work["J"][:rows].real) @ usual_moves(system, work)
    return np.where(sizes > NO_SIZE * sizes.max(initial=0.0), sizes, 1.0)


def _closed(system: System, work: Workspace, z0: np.ndarray | None, when: str) -> int:
    """Newton's method with step halving; residuals are judged by the sizes of their rows (KIN-1)."""
    residual, polished = _residual(system, work, z0), False
    for iteration in range(MAX_ITERATIONS):
        if not np.isfinite(residual).all():
            left = left_table(system, work)
            if left:
                raise AssemblyError(f"The mechanism cannot be assembled {when}: {left}.")
            raise AssemblyError(_not_assembled(system, residual, iteration, when))
        _refuse_infinite(system, work["J"][: len(residual)], when)
        step, _ = least_squares(of_positions(system, work["J"][: len(residual)]), -residual)
        q, sizes = work["q"].copy(), row_sizes(system, work, len(residual))
        size, factor = np.linalg.norm(residual.real / sizes), 1.0
        while True:
            work["q"][:] = q + factor * step
            trial = _residual(system, work, z0)
            if np.linalg.norm(trial.real / sizes) <= max(size, 1e-12) or factor < 1e-3:
                break
            factor *= 0.5
        residual, off = trial, np.abs(trial.real / sizes).max()
        small = np.abs(step).max() < POSITION_TOLERANCE * max(1.0, np.abs(q).max()) or off < 1e-15
        if polished or (small and off < ACCEPTED):
            if polished or not np.iscomplexobj(residual):
                return iteration + 1
            polished = True  # a complex step needs one more round than its real part
        if factor < 1e-3 and off > ACCEPTED:
            break
    if off > ACCEPTED:
        raise AssemblyError(_not_assembled(system, residual, iteration + 1, when))
    return iteration + 1


def _refuse_infinite(system: System, J: np.ndarray, when: str) -> None:
    """Raises when a derivative is no number, by the name of the row."""
    bad = np.flatnonzero(~np.isfinite(J).all(axis=1))
    if len(bad):
        name = [*system.row_names, *(f.name for f in system.freedoms)][bad[0]]
        raise AssemblyError(
            f"The derivatives of {name!r} {when} are infinite or not numbers; look for lengths or positions that are too large "
            "or too small, and for expressions outside their domain."
        )


def _not_assembled(system: System, residual: np.ndarray, iterations: int, when: str) -> str:
    names = [*system.row_names, *(f.name for f in system.freedoms)]
    size = np.abs(np.where(np.isfinite(residual.real), residual.real, np.inf))
    worst = int(size.argmax())
    return (
        f"The mechanism cannot be assembled {when}: {names[worst]!r} is off by {size[worst]:.3g} after {iterations} "
        "iterations. Check the lengths and the values of degrees_of_freedom, or give poses nearer to an assembled position."
    )


def _suggestion(system: System, J: np.ndarray) -> str:
    """A few joint coordinates that may be added to the freedoms given; empty when none are missing or in q."""
    motions, found = null_space(J, RANK_TOLERANCE), []
    for k, name in enumerate(system.coordinates):
        size = np.linalg.norm(motions[k])
        if size > RANK_TOLERANCE and name.part in getattr(system.model.joints.get(name.owner), "coordinates", ()):
            motions -= np.outer(motions @ motions[k], motions[k]) / size**2  # hold this coordinate too
            found.append(name)
            if len(found) == MOST_SUGGESTED:
                break
    return f", such as {', '.join(found)}" if found else ""


def check_freedoms(system: System, work: Workspace) -> None:
    """Raises when degrees_of_freedom are too few, too many or dependent at the assembled position."""
    m = system.m
    J = work["J"]
    _refuse_infinite(system, J, "at the start")
    rank = least_squares(of_positions(system, J[:m]), np.zeros((m, 1)))[1] if m else 0
    dof = system.n - len(system.states) - rank
    given = [f for f in system.freedoms if f.independent and not f.state]
    names = ", ".join(f.name for f in given) or "none"
    if len(given) != dof:
        raise AssemblyError(
            f"The mechanism has {dof} degrees of freedom and degrees_of_freedom gives {len(given)} ({names}); "
            f"{'add' if len(given) < dof else 'remove'} {abs(dof - len(given))}{_suggestion(system, J)}."
        )
    if dof and least_squares(of_positions(system, J), np.zeros((len(J), 1)))[1] < system.n:
        raise AssemblyError(
            f"The degrees of freedom {names} depend on each other at the start; choose others, such as joint coordinates "
            "that can move independently."
        )


def check_rates(system: System, work: Workspace) -> None:
    """Raises when the rates given at the start are not as many as there are freedoms of velocity, or depend on each other."""
    m, J = system.m, work["J"]
    if not system.levels.any():
        return
    dof = system.n - len(system.states) - (least_squares(J[:m], np.zeros((m, 1)))[1] if m else 0)
    given = [f for f in system.freedoms if f.independent and not f.state and f.velocity >= 0]
    names = ", ".join(f.name for f in given) or "none"
    if len(given) != dof:
        positions = sum(f.independent and not f.state for f in system.freedoms)
        raise AssemblyError(
            f"The mechanism has {positions} freedoms of position and {dof} of velocity, and degrees_of_freedom gives the "
            f"velocity of {len(given)} ({names}); {'add' if len(given) < dof else 'remove'} {abs(dof - len(given))}."
        )
    if least_squares(of_rates(system, J), np.zeros((len(J), 1)))[1] < system.n:
        raise AssemblyError(f"The velocities given at the start ({names}) depend on each other; give others.")


def solve_velocity(system: System, work: Workspace, zd0: np.ndarray | None = None) -> None:
    """v of the start, at the assembled q."""
    check_freedoms(system, work)
    check_rates(system, work)
    right = -work["Phi_t"]
    right[system.m :] += _targets(system, work, "velocity") if zd0 is None else zd0
    J, right = of_rates(system, work["J"]), of_rates(system, right)
    v = refined(J, right)
    residual = J @ v - right
    sizes = np.maximum(row_sizes(system, work, len(residual)), np.abs(J.real) @ np.abs(v.real))
    worst = int(np.abs(residual.real / sizes).argmax()) if len(residual) else 0
    if len(residual) and np.abs(residual[worst].real) > 1e-8 * sizes[worst]:
        names = [*system.row_names, *(f.name for f in system.freedoms)]
        raise AssemblyError(
            f"No starting velocities satisfy all constraints: {names[worst]!r} is off by {abs(residual[worst]):.3g}. "
            "A driver or guidance contradicts the other constraints; check its rate at the start."
        )
    work["v"][:] = v
    work["vp"][:] = v


def _idle(system: System, work: Workspace) -> str:
    """The coordinates that move most in the allowed motion of least inertia."""
    motions = null_space(work["J"][: system.m].real, RANK_TOLERANCE)
    if not motions.shape[1]:
        return "something"
    _, vectors = np.linalg.eigh(motions.T @ work["M"].real @ motions)
    size = np.abs(motions @ vectors[:, 0])
    return " and ".join(repr(system.coordinates[k]) for k in np.flatnonzero(size > 0.5 * size.max())[:MOST_SUGGESTED])


def solve_acceleration(system: System, work: Workspace, compliance: float = 0.0) -> None:
    """a and lam of the start, at q and v."""
    from kinegrad.kinematics.constrained import solve_constrained

    m = system.m
    work["flag"][FREEDOMS] = 1
    evaluate(system, work, "at the start")
    work.call(BIAS)
    right = -work["f"][:, None], -work["c"][:m, None]
    status, a, lam = solve_constrained(work["M"], work["J"][:m].copy(), compliance, *right, system.alike)
    if status == SINGULAR:
        raise SimulationError(
            f"The mass matrix is singular on the motions that the constraints allow: {_idle(system, work)} moves without "
            "inertia. "
            "Give mass or inertia to bodies that can turn or slide freely (a slender bar must not spin about its axis)."
        )
    if status != OK or not np.isfinite(a).all():
        who = left_table(system, work) or culprit(system, work, NOT_FINITE)
        raise SimulationError(
            f"The accelerations at the start are not finite numbers; check {who or 'forces and expressions'} at t = 0."
        )
    work["a"][:] = a[:, 0]
    work["ap"][:] = a[:, 0]
    work["lam"][:] = 0.0
    work["lam"][:m] = lam[:, 0]
    work["sv"][:] = 0.0
    work["sa"][:] = 0.0


@dataclass
class StartDerivatives:
    """What the derivatives of the start need, at the start.

    Attributes
    ----------
    held : bool
        The degrees of freedom and their rates are constants, not slots.
    rest : RestDerivatives or None
        How the position moves with the slots, where it does not follow from degrees of freedom.
    """

    system: System
    work: Workspace
    compliance: float = 0.0
    held: bool = False
    rest: object | None = None

    def __post_init__(self):
        for name in ("dv", "da", "sv", "sa"):
            self.work[name][:] = 0.0
        self.work["flag"][FREEDOMS] = 1
        self.work.call(EVALUATE)
        weigh_rows(self.system, self.work)
        self.work.call(LINEARISE)

    def _constrained(self, R1, R2):
        from kinegrad.kinematics.constrained import solve_constrained

        m = self.system.m
        J = self.work["J"][:m].copy()
        right = np.ascontiguousarray(R1), np.ascontiguousarray(R2)
        status, X, Y = solve_constrained(self.work["M"], J, self.compliance, *right, self.system.alike)
        if status != OK:
            raise KinegradError(f"The derivatives of the start cannot be solved: {WORDS[status]}.")
        return X, Y

    def direct(self):
        """q', v', a' (n, p) by the directions of the workspace (KIN-4)."""
        w, m = self.work, self.system.m
        K = w["Phi_q"].copy()
        right = -w["Phi_s"]
        right_v = -w["Phid_s"]
        for i, freedom in enumerate(() if self.held else self.system.freedoms):
            right[m + i] += w["ds"][:, freedom.position]
            right_v[m + i] += w["ds"][:, freedom.velocity] if freedom.velocity >= 0 else 0.0
        q = refined(K, right) if self.rest is None else self.rest.position()
        v = refined(of_rates(self.system, w["J"]), of_rates(self.system, right_v - w["Phid_q"] @ q))
        R1 = -(w["R_q"] @ q + w["C"] @ v + w["R_s"])
        R2 = -(w["Phidd_q"][:m] @ q + w["Phidd_v"][:m] @ v + w["Phidd_s"][:m])
        return q, v, self._constrained(R1, R2)[0]

    def adjoint(self, Q, V, A, rows, weights) -> None:
        """Adds to psi_s what adjoints at the start give (KIN-5, SRT-4): Q, V, A (n, o) of q, v, a, and `rows` (3, r, o) of
        Phi_s, Phid_s, Phidd_s."""
        w, m = self.work, self.system.m
        for o, weight in enumerate(weights):
            Q[:, o] += weight * w["g_q"][o]
            V[:, o] += weight * w["g_v"][o]
            A[:, o] += weight * w["g_a"][o]
        U, B = self._constrained(A, np.zeros((m, A.shape[1]), A.dtype))
        V = V - w["C"].T @ U - w["Phidd_v"][:m].T @ B
        Q = Q - w["R_q"].T @ U - w["Phidd_q"][:m].T @ B
        KT = np.ascontiguousarray(w["Phi_q"].T)
        D = refined(np.ascontiguousarray(of_rates(self.system, w["J"]).T), V)
        Q = Q - w["Phid_q"].T @ D
        P = refined(KT, Q) if self.rest is None else np.zeros((len(w["Phi"]), Q.shape[1]))
        if self.rest is not None:
            w["psi_s"][: Q.shape[1]] += self.rest.pulled_back(Q)[: Q.shape[1]]
        w["eta_v"][:] = 0.0
        w["eta_a"][:] = 0.0
        w["ya"][:] = 0.0
        w["ys"][:] = 0.0
        for o, weight in enumerate(weights):
            w["mu"][:] = -U[:, o]
            w["yp"][:] = rows[0][:, o] - P[:, o]
            w["yv"][:] = rows[1][:, o] - D[:, o]
            w["ya"][:] = rows[2][:, o]
            w["ya"][:m] -= B[:, o]
            w["flag"][OBJECTIVE] = o
            w["par"][WEIGHT] = weight
            w.call(PULLBACK)
            for i, freedom in enumerate(() if self.held else self.system.freedoms):
                w["psi_s"][o, freedom.position] += P[m + i, o]
                if freedom.velocity >= 0:
                    w["psi_s"][o, freedom.velocity] += D[m + i, o]
