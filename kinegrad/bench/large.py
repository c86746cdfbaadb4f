"""Cost of large mechanisms against their size: chains, windows, trees and grids of loops in every coordinate set.

    kinegrad bench large [--largest N] [--repeats N] [--only WORD]

Steps are those of ALI3-P with the trapezoidal rule and 1 ms, by full matrices and by fronts, and in joint coordinates without
loops also those of `recursive` with RK4. Times are CPU times of the thread that steps, and the least of some turns counts; what
runs on the machine beside it still tells, so slopes and ratios say more than times.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kinegrad.bench import iftomm_exudyn
from kinegrad.bench.chain_peers import exudyn_chain
from kinegrad.bench.large_models import FAMILIES
from kinegrad.bench.machine import is_installed

SIZES = (8, 16, 32, 64, 128, 256, 512, 1024)
SETS = ("joint", "reference-point", "natural")
STEP = 1e-3
FULL = 600  # coordinates up to which full matrices take part
GRADIENTS = {"direct": "direct", "adjoint": "discrete-adjoint"}
SPAN = 0.05  # seconds of one timing, about
FEWEST, MOST = 5, 200  # steps of a run
PART = 5  # of the steps of a run, in one that is differentiated
EXUDYN = {"windows": 512, "chain": 64}  # bodies up to which it takes part
LINEAR_FROM = 32  # bodies from which on slopes are told


@dataclass(frozen=True)
class LargeRow:
    """What one mechanism costs in one set, by one solver.

    Attributes
    ----------
    us : float
        Microseconds of a step.
    slope : float or None
        Of log time against log coordinates, from the size before.
    direct, adjoint : float or None
        Microseconds of a step of the gradient of one objective by one parameter, forward pass included: by two runs, so that
        what their starts take does not count.
    start, rank : float or None
        Seconds of the start of a run, and of the mobility with the names of redundant rows.
    memory : float or None
        Largest memory of a short run and of its adjoint, workspace included [MB].
    """

    family: str
    bodies: int
    set: str
    n: int
    m: int
    program: str
    us: float
    slope: float | None = None
    direct: float | None = None
    adjoint: float | None = None
    start: float | None = None
    rank: float | None = None
    memory: float | None = None

    @property
    def name(self) -> str:
        """What `--only` looks at."""
        return f"{self.family} {self.set} {self.program}".lower()


def run(
    repeats: int = 3,
    only: str = "",
    progress: Callable[[float], None] | None = None,
    largest: int = SIZES[-1],
    sizes: Sequence[int] = SIZES,
) -> list[LargeRow]:
    """Rows of all mechanisms of at most `largest` bodies; `only` keeps those whose family, set or program has this word.

    Exudyn is told on standard error, and left out, where it is not installed.
    """
    sizes = [size for size in sizes if size <= largest]
    exudyn = _wanted(only, "exudyn") and is_installed("exudyn", "Exudyn")
    rows: list[LargeRow] = []
    for k, (family, size) in enumerate((family, size) for family in FAMILIES for size in sizes):
        found = measure(family, size, repeats, only)
        if exudyn and size <= EXUDYN.get(family, 0):
            found += [row for row in [peer(family, size, repeats)] if only.lower() in row.name]
        rows += [replace(row, slope=_slope(row, rows)) for row in found]
        if progress is not None:
            progress((k + 1) / (len(FAMILIES) * len(sizes)))
    return rows


def _wanted(only: str, word: str) -> bool:
    return only.lower() in word or any(only.lower() in f"{family} {word}" for family in FAMILIES)


def measure(family: str, size: int, repeats: int, only: str = "") -> list[LargeRow]:
    """Rows of one mechanism: every set, every solver that suits it."""
    from kinegrad.coordinates.sets import lower

    rows, model = [], None
    for kind in SETS:
        names = [
            program
            for program in ("dense", "fronts", "recursive")
            if only.lower() in f"{family} {kind} {program}" and (program != "recursive" or kind == "joint")
        ]
        if not names:
            continue
        model = FAMILIES[family](size) if model is None else model
        system = lower(model, kind)
        blank = LargeRow(family, len(model.bodies), kind, system.n, system.m, "", np.inf)
        rows += [_timed(system, replace(blank, program=name), repeats) for name in names if _suits(system, name)]
    return rows


def _suits(system, program: str) -> bool:
    """Whether a solver is worth a run: full matrices of few coordinates, fronts of those that do not all meet, open trees."""
    if program == "recursive":
        return system.m == 0
    if program == "dense":
        return system.n <= FULL
    return max(len(list(group)) for group in system.set.coupled(system)) < system.n


def _timed(system, row: LargeRow, repeats: int) -> LargeRow:
    """The row with its times."""
    steps, best = FEWEST, {}
    for turn in range(repeats + 1):
        few = max(FEWEST, steps // PART)
        taken = {"us": _run(system, row.program, steps).cpu_s / steps}
        if row.program != "recursive" or system.n <= FULL:
            for count in (few, 3 * few):
                motion = _run(system, row.program, count)
                taken |= {(name, count): _gradient(motion, method).cpu_s for name, method in GRADIENTS.items()}
        if turn:  # the first one loads and compiles, and tells how many steps fill the time
            best = {key: min(best.get(key, np.inf), seconds) for key, seconds in taken.items()}
        else:
            steps = int(np.clip(SPAN / max(_run(system, row.program, steps).cpu_s / steps, 1e-9), FEWEST, MOST))
    times = {"us": 1e6 * best["us"]}
    for name in (name for name in GRADIENTS if (name, few) in best):
        times[name] = 1e6 * max(best[name, 3 * few] - best[name, few], 0.0) / (2 * few) or None
    start, rank = (None, None) if row.program == "recursive" else (_start(system, row.program), _rank(system))
    return replace(row, **times, start=start, rank=rank, memory=_memory(system, row.program))


def _run(system, program: str, steps: int):
    from kinegrad.simulate import simulate

    if program == "recursive":
        return simulate(system, "recursive", "rk4", step=STEP, t_end=steps * STEP)
    return simulate(system, "ali3p", "newmark", step=STEP, t_end=steps * STEP, solver=program)


def _gradient(motion, method: str):
    from kinegrad.sensitivity.gradient import gradient

    return gradient(motion, method=method)


def _start(system, program: str) -> float:
    """Seconds of the start, tables of the solver and memory included."""
    from dataclasses import replace as changed

    from kinegrad.kinematics.start import start

    begin = time.thread_time()
    fresh = changed(system, tables=system.tables | {"known": {}}).with_solver(program)
    start(fresh, fresh.workspace())
    return time.thread_time() - begin


def _rank(system) -> float:
    """Seconds of the mobility."""
    from kinegrad.kinematics.mobility import mobility

    begin = time.thread_time()
    mobility(system)
    return time.thread_time() - begin


def _memory(system, program: str) -> float:
    """Largest memory of a run of a few steps and of its adjoint [MB]."""
    tracemalloc.start()
    try:
        _gradient(_run(system, program, FEWEST), GRADIENTS["adjoint"])
        return tracemalloc.get_traced_memory()[1] * 1e-6
    finally:
        tracemalloc.stop()


def peer(family: str, size: int, repeats: int) -> LargeRow:
    """Exudyn: windows of planar bodies with sparse factors and the trapezoidal rule, chains as a kinematic tree with RK4."""
    best = np.inf
    for turn in range(repeats + 1):
        if family == "chain":
            seconds = exudyn_chain(size, STEP)(MOST)[0]
        else:
            settings = iftomm_exudyn.Settings(linear="EigenSparse")
            n = max(1, size // 2)
            seconds = iftomm_exudyn.seconds(lambda: iftomm_exudyn.windows(n), settings, STEP, MOST * STEP)  # noqa: B023
        if turn:
            best = min(best, seconds / MOST * 1e6)
    bodies, n, m = (
        (size, size, 0) if family == "chain" else (2 * (size // 2) + 1, 6 * (size // 2) + 3, 6 * (size // 2) + 2)
    )
    kind, program = (
        ("joint", "Exudyn, RK44") if family == "chain" else ("planar bodies", "Exudyn, index 2, EigenSparse")
    )
    return LargeRow(family, bodies, kind, n, m, program, best)


def _slope(row: LargeRow, before: Iterable[LargeRow]) -> float | None:
    """Of log time against log bodies, from the last row of the same kind."""
    last = [other for other in before if other.name == row.name]
    return float(np.log(row.us / last[-1].us) / np.log(row.bodies / last[-1].bodies)) if last else None


def slopes(rows: Iterable[LargeRow]) -> list[tuple[str, int, int, float, float | None, float | None]]:
    """Of each kind of rows: name, least and most bodies, and slopes of log time against log bodies of a step, direct, adjoint.

    By least squares over all sizes from `LINEAR_FROM` bodies on, of which there are two at least.
    """
    kinds: dict[str, list[LargeRow]] = {}
    for row in rows:
        if row.bodies >= LINEAR_FROM:
            kinds.setdefault(row.name, []).append(row)
    return [
        (name, own[0].bodies, own[-1].bodies, *(_fit(own, what) for what in ("us", *GRADIENTS)))
        for name, own in kinds.items()
        if len(own) > 1
    ]


def _fit(rows: Sequence[LargeRow], what: str) -> float | None:
    known = [(np.log(row.bodies), np.log(getattr(row, what))) for row in rows if getattr(row, what)]
    return float(np.polyfit(*np.transpose(known), 1)[0]) if len(known) > 1 else None


def table(rows: Sequence[LargeRow]) -> str:
    """The rows, and their slopes, as two Markdown tables."""

    def cell(value, digits: str) -> str:
        return "" if value is None else format(value, digits)

    lines = [
        "| family | bodies | set | n, m | solver | µs/step | slope | direct | adjoint | start s | rank s | MB |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        cells = (
            row.family, str(row.bodies), row.set, f"{row.n}, {row.m}", row.program, cell(row.us, ".4g"), cell(row.slope, ".2f"),
            cell(row.direct, ".4g"), cell(row.adjoint, ".4g"), cell(row.start, ".2f"), cell(row.rank, ".2f"),
            cell(row.memory, ".1f"),
        )  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", "| slopes | bodies | step | direct | adjoint |", "|---|---|---|---|---|"]
    for name, first, last, *found in slopes(rows):
        lines.append(f"| {name} | {first} to {last} | {' | '.join(cell(value, '.2f') for value in found)} |")
    return "\n".join(lines)
