"""Accelerations of spatial chains, their derivatives, and steps in time: kinegrad beside Pinocchio, MuJoCo and Exudyn.

    kinegrad bench chain [--repeats N] [--only WORD]          or          python benchmarks/chain.py [--sizes 4 16 64]

In each turn every program is timed once, in one process and one thread, by the CPU time of the thread and with the call from
Python included; the least time of each counts. Beside it stands how far its result is from kinegrad's, of the largest entry.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from kinegrad.bench.chain_peers import (
    CENTRE,
    GRAVITY,
    INERTIA,
    MASS,
    NEXT,
    exudyn_chain,
    mujoco_chain,
    pinocchio_chain,
)  # fmt: skip
from kinegrad.bench.machine import is_installed

SIZES = (4, 16, 64, 256, 1024)
# links up to which a peer takes part: data of N³ numbers (1 GB), a reader that refuses deeper nesting, time that grows faster
LIMIT = {"pinocchio": 256, "mujoco": 256, "exudyn": 64}
PEERS = {"pinocchio": "Pinocchio", "mujoco": "MuJoCo", "exudyn": "Exudyn"}
SLICE = 0.01  # seconds of one timing, at least
STEP, STEPS = 1e-3, 20  # of a run from rest

FORWARD, DERIVATIVES, TIME_STEP = "accelerations", "with derivatives", "step, RK4"


@dataclass(frozen=True)
class ChainRow:
    """Microseconds of one call or one step, in units of kinegrad's, and the largest difference of the result."""

    links: int
    what: str
    program: str
    us: float
    ratio: float | None
    difference: float | None
    target: str


def chain_model(n):
    """The chain as a model of kinegrad, stretched out at rest."""
    from kinegrad.model.model import Model

    link = {"mass": MASS, "com": list(CENTRE), "inertia": list(INERTIA), "markers": {"p": [0, 0, 0], "q": list(NEXT)}}
    joints = {
        f"j{i}": {
            "type": "revolute",
            "between": [f"b{i - 1}.q" if i else "ground.O", f"b{i}.p"],
            "axis": [int(i % 3 == k) for k in range(3)],
        }
        for i in range(n)
    }
    return Model(
        ground={"markers": {"O": [0, 0, 0]}},
        bodies={f"b{i}": link for i in range(n)},
        joints=joints,
        forces={"gravity": {"type": "gravity", "acceleration": list(GRAVITY)}},
        degrees_of_freedom={f"j{i}.angle": {"position": 0} for i in range(n)},
    )


def kinegrad_chain(n):
    """Functions of (q, v, tau) that return q̈, and q̈ with its derivatives by q, v and tau; and a run as the peers have it."""
    from kinegrad.coordinates.joint.recursive import Recursive
    from kinegrad.coordinates.sets import joint
    from kinegrad.simulate import simulate

    system = joint(chain_model(n))
    recursive = Recursive(system)

    def run(steps):
        motion = simulate(system, "recursive", "rk4", step=STEP, t_end=steps * STEP)
        return motion.cpu_s, motion.q[-1]

    return recursive.accelerations, recursive.derivatives, run


def least_times(functions, repeats, *arguments):
    """µs of a call of each function: the least over `repeats` turns, each of which times every function once."""
    calls = {}
    for name, function in functions.items():
        function(*arguments)
        start = time.perf_counter()
        function(*arguments)
        calls[name] = max(1, int(SLICE / (time.perf_counter() - start)))
    best = dict.fromkeys(functions, np.inf)
    for _ in range(repeats):
        for name, function in functions.items():
            start = time.thread_time_ns()
            for _ in range(calls[name]):
                function(*arguments)
            best[name] = min(best[name], (time.thread_time_ns() - start) / calls[name] * 1e-3)
    return best


def least_steps(runs, repeats):
    """µs of a step of each run, the least over `repeats` turns, and where it ended."""
    best, ends = dict.fromkeys(runs, np.inf), {}
    for turn in range(repeats + 1):
        for name, run in runs.items():
            seconds, ends[name] = run(STEPS)
            if turn:  # the first one loads and compiles
                best[name] = min(best[name], seconds / STEPS * 1e6)
    return best, ends


def difference(found, expected):
    """The largest difference, of the largest entry; of several arrays the worst."""
    if isinstance(found, tuple):
        return max(difference(a, b) for a, b in zip(found, expected, strict=True))
    return float(np.abs(found - expected).max() / np.abs(expected).max())


def measure(n: int, repeats: int, peers: Iterable[str], only: str = "") -> list[ChainRow]:
    """Rows of one chain: accelerations, derivatives, steps."""
    state = np.random.default_rng(n).normal(size=(3, n))
    ours = "kinegrad"
    accelerations, derivatives, run = kinegrad_chain(n)
    forward, differentiate, runs = {ours: accelerations}, {ours: derivatives}, {ours: run}
    results = {ours: lambda *_: found}
    targets = {ours: ""}
    if "pinocchio" in peers:
        aba, with_derivatives = "Pinocchio aba", "Pinocchio computeABADerivatives"
        forward[aba], differentiate[with_derivatives], results[with_derivatives] = pinocchio_chain(n)
        targets |= {aba: "at least 1", with_derivatives: "at least 1"}
    if "mujoco" in peers:
        forward["MuJoCo mj_forward"], runs["MuJoCo RK4"] = mujoco_chain(n, STEP)
    if "exudyn" in peers:
        runs["Exudyn kinematic tree, RK44"] = exudyn_chain(n, STEP)

    def kept(functions):
        return {name: f for name, f in functions.items() if only.lower() in name.lower()}

    rows = []

    def add(what, times, differences):
        for name, us in times.items():
            ratio = us / times[ours] if ours in times else None
            rows.append(ChainRow(n, what, name, us, ratio, differences[name], targets.get(name, "")))

    a = accelerations(*state).copy()
    times = least_times(kept(forward), repeats, *state)
    add(FORWARD, times, {name: difference(f(*state), a) for name, f in kept(forward).items()})
    found = tuple(x.copy() for x in derivatives(*state))
    times = least_times(kept(differentiate), repeats, *state)
    add(DERIVATIVES, times, {name: difference(results[name](*state), found) for name in times})
    times, ends = least_steps(kept(runs), repeats)
    add(TIME_STEP, times, {name: difference(ends[name], ends[ours]) if ours in ends else None for name in times})
    return rows


def run(
    repeats: int = 5, only: str = "", progress: Callable[[float], None] | None = None, sizes: Sequence[int] = SIZES
):
    """Rows of all chains; `only` keeps those whose program contains this word.

    A peer that is not installed is told on standard error and left out; so is one whose chain would be too long for it.
    """
    peers = [package for package, who in PEERS.items() if is_installed(package, who)]
    rows = []
    for k, n in enumerate(sizes):
        rows += measure(n, repeats, [peer for peer in peers if n <= LIMIT[peer]], only)
        if progress is not None:
            progress((k + 1) / len(sizes))
    return rows


def table(rows: Iterable[ChainRow]) -> str:
    """The rows as a Markdown table."""
    lines = ["| links | what | program | µs | × ours | difference | asked |", "|---|---|---|---|---|---|---|"]
    for row in rows:
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
        gap = "" if not row.difference else f"{row.difference:.1e}"
        lines.append(f"| {row.links} | {row.what} | {row.program} | {row.us:.2f} | {ratio} | {gap} | {row.target} |")
    return "\n".join(lines)
