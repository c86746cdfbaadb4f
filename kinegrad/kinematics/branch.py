"""The branch of the poses: a start is reached from the position that poses show by continuation (KIN-10 to KIN-13).

All in joint coordinates, from which the other sets take the position.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from kinegrad.coordinates.joint.initial_guess import branches, initial_guess, poses_of
from kinegrad.coordinates.joint.spanning_tree import GROUND
from kinegrad.coordinates.joints import KINDS
from kinegrad.coordinates.sparse import Rows
from kinegrad.coordinates.system import System
from kinegrad.coordinates.workspace import Workspace
from kinegrad.errors import AssemblyError
from kinegrad.kernels.joint.records import TURN
from kinegrad.kernels.products import FREEDOMS, LENGTH, POSITION
from kinegrad.kinematics import compiled
from kinegrad.kinematics.facing import changed_sense, turned_over, wanted_senses
from kinegrad.kinematics.freedoms import of_positions, without
from kinegrad.kinematics.least_squares import NO_SIZE, nearest, shortest

MOST_NAMED = 5
NEAR = 0.05  # gaps of what rows change by when coordinates change by their units: poses that show the start
ALIKE = 0.3  # units of coordinates that poses tell, between these and the start: the same
MOST = 300  # coordinates
STEP = 0.3  # units of a coordinate at once
BENT = 0.3  # part of a step by which it may differ from what the steps before lead to
LEAST = 2.0**-10  # part of the way
CORRECTIONS, CLOSINGS = 12, 60
ON_PATH = 1e-8  # gaps of a position on the way
HALF = 0.5 * np.pi
TURNS = 2.0 * np.pi
CANDIDATES = (0.0, 2.0, -2.0)  # turns of joints next to bodies without poses
DIFFERENCE = 2.0**-24
PLACED, DAMPED = 40, 12  # rounds of least squares to the poses, and how often one is damped more


class Way(NamedTuple):
    """How a start was reached from the poses.

    Attributes
    ----------
    closed : (n,) array or None
        The position nearest to the poses at which constraints hold, drivers and given freedoms aside; None if none was found.
    reached : float
        Part of the way from there to the start that could be followed: 1 where the start is reached.
    names : tuple of str
        Measures that drivers and freedoms move on that way.
    apart : array
        Their values in `closed`, less those that are asked.
    """

    closed: np.ndarray | None
    reached: float
    names: tuple[str, ...]
    apart: np.ndarray


@contextmanager
def explained(way: Way | None) -> Iterator[None]:
    """Adds to what is raised of an assembly how far the start could be followed from the poses."""
    try:
        yield
    except AssemblyError as error:
        if way is None or way.closed is None or way.reached == 1.0:
            raise
        raise AssemblyError(f"{error.problems[0].sentence} {stopped(way)}") from None


def stopped(way: Way) -> str:
    """How far the start could be followed."""
    names = ", ".join(map(repr, way.names[:MOST_NAMED]))
    return (
        f"From the position that the poses show, {names} can be followed for {100.0 * way.reached:.3g} % of the way to what is "
        "asked: there the linkage ends, or is singular."
    )


class Moved(NamedTuple):
    """Rows that poses may contradict: of drivers and of freedoms, with their coordinates or -1, and names."""

    rows: np.ndarray
    coordinates: np.ndarray
    names: tuple[str, ...]
    turns: np.ndarray  # whether full turns of the coordinate change nothing but itself
    four: tuple[np.ndarray, ...]  # those that are Euler parameters of one joint


def follows(system: System) -> bool:
    """Whether poses and more than the tree decide where joint coordinates start."""
    if "follows" not in system.tables:
        posed = any(body.pose is not None for body in system.model.bodies.values())
        moved = moved_rows(system)
        norms = sum(KINDS[edge.type].n_norms for edge in system.set.spanning_tree().edges)
        drivers = int((moved.rows < system.m).sum())
        rows = system.m - drivers - norms > 0 or bool((moved.coordinates < 0).any())
        system.tables["follows"] = posed and rows and len(moved.rows) > 0 and system.n <= MOST
    return system.tables["follows"]


def moved_rows(system: System) -> Moved:
    """The rows of drivers and freedoms of a system."""
    if "moved_rows" not in system.tables:
        names, found = system.row_names, []
        for name, driver in system.model.drivers.items():
            if name in names:
                found.append((names.index(name), system.number_of.get(driver.measure, -1), driver.measure))
        for i, freedom in enumerate(system.freedoms):
            k = system.coordinate_of(freedom)
            found.append((system.m + i, -1 if k is None else k, freedom.name))
        rows, coordinates, names = zip(*found, strict=True) if found else ((), (), ())
        coordinates = np.array(coordinates, np.int64)
        whole = {node["k"] for node in system.set.nodes if node["type"] == TURN and node["nk"]}
        whole |= {own.k for own in system.own if own.row >= 0}
        four = [np.flatnonzero(np.isin(coordinates, group)) for group in system.alike]
        system.tables["moved_rows"] = Moved(
            np.array(rows, np.int64), coordinates, names, np.isin(coordinates, list(whole)),
            tuple(group for group in four if len(group) == 4),
        )  # fmt: skip
    return system.tables["moved_rows"]


def between_posed(system: System) -> np.ndarray:
    """(n,) the coordinates of joints of the tree whose two bodies have poses."""
    if "between_posed" not in system.tables:
        posed = {name for name, body in system.model.bodies.items() if body.pose is not None} | {GROUND}
        told = np.zeros(system.n, bool)
        for branch in branches(system):
            if branch.edge.parent in posed and branch.edge.child in posed:
                for node in branch.motions:
                    told[node["k"] : node["k"] + node["nk"]] = True
        system.tables["between_posed"] = told
    return system.tables["between_posed"]


def is_near(system: System, work: Workspace) -> bool:
    """Whether rows nearly hold at the position in the workspace, which is that of the poses with what is asked put in."""
    if compiled.serves(system, 0.0) and not np.iscomplexobj(work.arrays["q"]):
        return compiled.gap(work) < NEAR
    rows = _Rows(system, work)
    return rows.gap(rows.at(work["q"].real.copy())) < NEAR


def _apart(system: System, work: Workspace, q: np.ndarray, among: np.ndarray) -> float:
    """The largest difference of a coordinate from what poses tell, in its unit, among some of them; full turns aside."""
    posed, moved = initial_guess(system, work["s"].real), moved_rows(system)
    apart, whole = q - posed, moved.coordinates[moved.turns]
    apart[whole] -= TURNS * np.round(apart[whole] / TURNS)
    for four in system.alike:
        if q[four] @ posed[four] < 0.0:
            apart[four] = q[four] + posed[four]
    return float(np.abs(apart / work["unit"].real)[among].max(initial=0.0))


class _Rows:
    """Rows of a system in a workspace: constraints, and freedoms less what they start with.

    All is judged in the units of the model, which are powers of two: the way is the same in metres and in micrometres.
    """

    def __init__(self, system: System, work: Workspace):
        self.system, self.work, self.unit = system, work, work["unit"].real.copy()
        slots = [freedom.position for freedom in system.freedoms]
        self.z0 = np.array([work["s"][k].real if k >= 0 else 0.0 for k in slots])

    def at(self, q: np.ndarray) -> np.ndarray:
        """(rows,) what the rows lack at q; the workspace is left there."""
        work = self.work
        work["q"][:], work["flag"][FREEDOMS] = q, 1
        work.call(POSITION)
        r = work["Phi"].real.copy()
        r[self.system.m :] -= self.z0
        return np.where(self.system.levels != 0, 0.0, r)

    def J(self):
        """Their derivatives where the workspace is, by coordinates in their units."""
        J = of_positions(self.system, self.work.matrix("J"))
        return J.scaled(np.ones(len(J)), self.unit) if isinstance(J, Rows) else J.real * self.unit

    def sizes(self, J=None) -> np.ndarray:
        """What they change by when coordinates change by their units."""
        J = self.J() if J is None else J
        sizes, told = abs(J) @ np.ones(len(self.unit)), self.work["per_row"].real
        least = np.where(told > 0.0, 1.0 / np.where(told > 0.0, told, 1.0), 1.0)
        return np.where(sizes > NO_SIZE * least, sizes, least)

    def gap(self, r: np.ndarray) -> float:
        """The largest of these lacks by the sizes of the rows."""
        return float(np.abs(r / self.sizes()).max(initial=0.0))

    def step(self, r: np.ndarray, solve: Callable, free: np.ndarray | None = None) -> np.ndarray:
        """The change of q by which the rows get r, but for those that are free."""
        J = self.J()
        scale = np.ldexp(1.0, 1 - np.frexp(self.sizes(J))[1])
        J = J.scaled(scale, np.ones(len(self.unit))) if isinstance(J, Rows) else scale[:, None] * J
        return self.unit * solve(J if free is None else without(J, free), scale * r)


def reach(system: System, work: Workspace) -> Way:
    """Brings q in the workspace from the poses to the start, if that can be followed; otherwise q is as it was."""
    guess, moved, rows = work["q"].copy(), moved_rows(system), _Rows(system, work)
    free = np.zeros(system.m + len(system.freedoms), bool)
    free[moved.rows] = True
    q = _posed(system, work, rows, free, guess)
    if rows.gap(np.where(free, 0.0, rows.at(q))) > NEAR:
        found = _as_asked(system, work, rows, moved, guess.real)
        if found is not None:
            work["q"][:] = found
            return Way(found, 1.0, (), np.zeros(0))
    _turn_nearest(rows, moved, q)
    closed = _closed(system, work, rows, free, q)
    if closed is None:
        work["q"][:] = guess
        return Way(None, 0.0, (), np.zeros(0))
    r = rows.at(closed)[moved.rows]
    far = np.abs(r) > ON_PATH * rows.sizes()[moved.rows]
    names = tuple(name for name, is_far in zip(moved.names, far, strict=True) if is_far)
    best = 0.0
    for begin, way in _ways(closed, moved, r, far):
        found, reached = _followed(rows, moved, begin, way)
        best = max(best, reached)
        if found is not None:
            work["q"][:] = found
            return Way(closed, 1.0, names, r[far])
    work["q"][:] = guess
    return Way(closed, best, names, r[far])


def _as_asked(system: System, work: Workspace, rows: _Rows, moved: Moved, q: np.ndarray) -> np.ndarray | None:
    """The position nearest to q, which has what is asked, if coordinates that are not asked for are near the poses there.

    Poses that do not close by themselves are rough: what is asked is known better.
    """
    found, told = _closed(system, work, rows, np.zeros(len(work["Phi"]), bool), q), between_posed(system)
    asked = np.isin(np.arange(system.n), moved.coordinates)
    limit = ALIKE if _apart(system, work, q, told & asked) > ALIKE else 2.0 * ALIKE
    return found if found is not None and _apart(system, work, found, told & ~asked) < limit else None


# --- the position that poses show ------------------------------------------------------------------------------------------


def _posed(system: System, work: Workspace, rows: _Rows, free: np.ndarray, guess: np.ndarray) -> np.ndarray:
    """q at the poses; bodies without one are where those beside them and their joints have them (KIN-13)."""
    s = work["s"].real
    q, poses = initial_guess(system, s), poses_of(system)
    kept = ~between_posed(system)
    others = [own.k for own in system.own if own.row < 0]
    q[others] = guess[others].real
    if all(pose is not None for pose in poses.values()):
        return _bound(system, rows, q)
    names = list(poses)
    known = [i for i, name in enumerate(names) if poses[name] is not None]
    r0 = np.array([poses[names[i]][0] for i in known])
    A0 = np.array([poses[names[i]][1] for i in known])
    size = float(work["size"][LENGTH].real)

    def lack(q: np.ndarray) -> np.ndarray:
        r = np.where(free, 0.0, rows.at(q) / rows.sizes())
        A, x, *_ = system.set.bodies(system, work)
        return np.concatenate([((x.real[known] - r0) / size).ravel(), (A.real[known] - A0).ravel(), r])

    turning = np.array([c.unit == "rad" for c in system.coordinates]) & kept
    begins = [_bound(system, rows, q + turn * turning) for turn in CANDIDATES] + [guess.real.copy()]
    found = [_least(lack, begin, rows.unit) for begin in begins]
    return min(found, key=lambda one: one[1])[0]


def _bound(system: System, rows: _Rows, q: np.ndarray) -> np.ndarray:
    """q with the coordinates that are bound to markers where these are."""
    bound = [own for own in system.own if own.row >= 0]
    if bound:
        q[[own.k for own in bound]] = 0.0
        r = rows.at(q)
        for own in bound:
            q[own.k] = r[own.row]
    return q


def _least(lack: Callable, q: np.ndarray, unit: np.ndarray) -> tuple[np.ndarray, float]:
    """q with the least sum of squares, by the method of Levenberg and Marquardt, and that sum."""
    now, damping = lack(q), 1e-3
    for _ in range(PLACED):
        J = np.empty((len(now), len(q)))
        for k in range(len(q)):
            trial = q.copy()
            trial[k] += DIFFERENCE * unit[k]
            J[:, k] = (lack(trial) - now) / DIFFERENCE
        slope, square = J.T @ now, J.T @ J
        for _ in range(DAMPED):
            step = np.linalg.solve(square + damping * np.eye(len(q)), -slope)
            then = lack(q + step * unit)
            if then @ then < now @ now:
                break
            damping *= 4.0
        else:
            break
        less = now @ now - then @ then
        q, now, damping = q + step * unit, then, max(1e-8, 0.1 * damping)
        if less <= 1e-10 * (then @ then) or np.abs(step).max() < 1e-8:
            break
    return q, float(now @ now)


def _turn_nearest(rows: _Rows, moved: Moved, q: np.ndarray) -> None:
    """Angles get the full turns, and Euler parameters the sign, nearest to what is asked: poses do not tell them."""
    r = rows.at(q)[moved.rows]
    for i in np.flatnonzero(moved.turns):
        q[moved.coordinates[i]] -= TURNS * np.round(r[i] / TURNS)
    for four in moved.four:
        k = moved.coordinates[four]
        if q[k] @ (q[k] - r[four]) < 0.0:
            q[k] = -q[k]


def _closed(system: System, work: Workspace, rows: _Rows, free: np.ndarray, q: np.ndarray) -> np.ndarray | None:
    """The position nearest to q at which the rows hold but for those that are `free`; None where none is found."""
    r, starts = np.where(free, 0.0, rows.at(q)), not free.any()
    solve, senses = (nearest if starts else shortest), wanted_senses(system, work, starts)
    for _ in range(CLOSINGS):
        if not np.isfinite(r).all():
            return None
        sizes, part = rows.sizes(), 1.0
        if np.abs(r / sizes).max(initial=0.0) < ON_PATH:
            break
        step, size = rows.step(-r, solve, free), np.linalg.norm(r / sizes)
        while True:
            then = np.where(free, 0.0, rows.at(q + part * step))
            if np.linalg.norm(then / sizes) <= size or part < 1e-3:
                break
            part *= 0.5
        if part < 1e-3:
            return None
        q, r = q + part * step, then
    else:
        return None
    if len(senses) and (turned_over(system, work, starts) or changed_sense(system, work, senses)):
        return None
    return q


# --- from there to the start ------------------------------------------------------------------------------------------------


def _ways(q: np.ndarray, moved: Moved, r: np.ndarray, far: np.ndarray) -> Iterator[tuple[np.ndarray, Callable]]:
    """Ways to try, the straight one first: where each begins, and `way(part)`, what the moved rows lack on it (KIN-10)."""
    yield q, _straight(q, moved, r)
    places = np.flatnonzero(far)
    angles = [i for i in places if moved.turns[i] and abs(r[i]) > HALF]
    if angles:  # the other way round
        i = max(angles, key=lambda i: abs(r[i]))
        round_, begin = r.copy(), q.copy()
        shift = -TURNS * np.sign(r[i])
        round_[i] += shift
        begin[moved.coordinates[i]] += shift
        yield begin, _straight(begin, moved, round_)
    if len(places) > 1:
        yield q, _in_turn(q, moved, r, list(places))
        yield q, _in_turn(q, moved, r, list(places[::-1]))


def _straight(q: np.ndarray, moved: Moved, r: np.ndarray):
    return lambda part: _lack(q, moved, r, np.full(len(r), part))


def _in_turn(q: np.ndarray, moved: Moved, r: np.ndarray, places: list[int]):
    """One after another; the four of a rotation go together."""
    groups: list[list[int]] = []
    for i in places:
        four = next((list(four) for four in moved.four if i in four), [i])
        if four not in groups:
            groups.append(four)

    def way(part: float) -> np.ndarray:
        parts = np.ones(len(r))
        for j, group in enumerate(groups):
            parts[group] = np.clip(part * len(groups) - j, 0.0, 1.0)
        return _lack(q, moved, r, parts)

    return way


def _lack(q: np.ndarray, moved: Moved, r: np.ndarray, parts: np.ndarray) -> np.ndarray:
    """(moved,) what rows lack where they have gone these parts of the way; rotations on the shortest arc."""
    lack = (1.0 - parts) * r
    for four in moved.four:
        p = q[moved.coordinates[four]]
        asked, here = p - r[four], p - parts[four] * r[four]
        lack[four] = here / np.linalg.norm(here) - asked
    return lack


def _followed(rows: _Rows, moved: Moved, q: np.ndarray, way: Callable) -> tuple[np.ndarray | None, float]:
    """The position at the end of a way, or None, and the part of it that was followed (KIN-10)."""
    unit, done, step, before = rows.unit, 0.0, 1.0, None

    def lack(q: np.ndarray, part: float) -> np.ndarray:
        r = rows.at(q)
        r[moved.rows] -= way(part)
        return r

    lack(q, 0.0)
    sense = _Sense(rows)
    sign = sense(rows.J())
    while done < 1.0:
        ahead = rows.step(-lack(q, LEAST), nearest) / LEAST if before is None else (q - before[1]) / (done - before[0])
        fast = float((np.abs(ahead) / unit).max())
        step = min(step, 1.0 - done, STEP / max(fast, 1e-300))
        while True:
            there = 1.0 if done + step > 1.0 - 0.5 * LEAST else done + step
            expected = q + (there - done) * ahead
            found = _corrected(lack, rows, expected, there)
            if found is not None:
                went = (np.abs(found - q) / unit).max()
                bent = (np.abs(found - expected) / unit).max()
                new = sense(rows.J())
                if went <= 2.0 * STEP and bent <= BENT * went + ON_PATH and (new * sign >= 0.0 or step <= 4.0 * LEAST):
                    break
            step *= 0.5
            if step < LEAST:
                return None, done
        before, sign = (done, q), new or sign
        done, q, step = there, found, 2.0 * step
    return q, 1.0


def _corrected(lack: Callable, rows: _Rows, q: np.ndarray, part: float) -> np.ndarray | None:
    """The position by Newton's method from q, or None where it does not converge at once."""
    r, last = lack(q, part), np.inf
    for _ in range(CORRECTIONS):
        if not np.isfinite(r).all():
            return None
        off = rows.gap(r)
        if off < ON_PATH:
            return q
        if off > 2.0 * last:
            return None
        q = q + rows.step(-r, nearest)
        r, last = lack(q, part), off
    return None


class _Sense:
    """The sign of the determinant of rows that are independent where a way begins: it changes at singular positions only."""

    def __init__(self, rows: _Rows):
        J = rows.J()
        self.rows = None if isinstance(J, Rows) else _independent(J / rows.sizes()[:, None])

    def __call__(self, J) -> float:
        return 0.0 if self.rows is None else float(np.linalg.slogdet(J[self.rows])[0])


def _independent(A: np.ndarray) -> list[int] | None:
    """n rows of A, the least dependent ones first; None where there are not as many."""
    A, chosen = A.copy(), []
    for _ in range(A.shape[1]):
        sizes = np.linalg.norm(A, axis=1)
        k = int(sizes.argmax()) if len(sizes) else 0
        if not len(sizes) or not sizes[k] > 1e-6:
            return None
        chosen.append(k)
        row = A[k] / sizes[k]
        A -= np.outer(A @ row, row)
    return chosen
