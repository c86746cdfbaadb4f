"""Cost of gradients beside other programs, and how exact they are.

    kinegrad bench gradient [--repeats N] [--only WORD]          or          python benchmarks/gradient.py

The five-bar, 5 s in steps of 1 ms: three objectives by five parameters, by direct differentiation and by the discrete adjoint,
beside CasADi and differences of MuJoCo and Exudyn; times include what a program simulates for it, errors are those against the
converged gradient. Then derivatives of the accelerations of robots beside Pinocchio (`kinegrad.bench.robots`).

Everything runs in one process and one thread, in turn, and the turns are repeated; the least time of each counts.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from kinegrad.bench.chain import difference, least_times
from kinegrad.bench.five_bar import STEP, T_END, five_bar_system
from kinegrad.bench.gradient_peers import (
    Found,
    by_differences,
    casadi_gradient,
    exudyn_objectives,
    mujoco_objectives,
)
from kinegrad.bench.machine import is_installed
from kinegrad.bench.robots import PEER, ROBOTS, kinegrad_robot, pinocchio_robot, state_of

# d(psi1, psi2, psi3) by L_s1, L_s2, m_A1, r_G, L_A1: converged, all digits
CONVERGED = np.array([
    [-4.2288108552, 3.2116041030, 0.3186566756, 0.4423506782, 3.3598099204],
    [-15.452069070, 50.308784851, 0.9701235491, 0.7456023208, -27.359239952],
    [221.64006823, 2436.6073476, -32.497522711, -85.656718512, -2546.5902029],
])  # fmt: skip
CHANGE = 1e-6  # of a parameter, in differences: larger ones show their own error, smaller ones rounding
FIVE_BAR = "five-bar, 3 x 5"


@dataclass(frozen=True)
class GradientRow:
    """Microseconds of a step with its part of the gradient, or of a call, in units of our simulation or our call; error is that
    of the worst entry against the largest of its row, or the difference from ours."""

    work: str
    program: str
    us: float
    ratio: float | None
    error: float | None
    target: str


@dataclass(frozen=True)
class Contestant:
    """Something that differentiates the five-bar: `prepare(step, t_end)` returns a function that finds a gradient."""

    name: str
    package: str
    who: str
    prepare: Callable[[float, float], Callable[[], Found]]
    target: str = ""


def kinegrad_gradient(formulation: str, integrator: str, method: str, step: float, t_end: float):
    """A function that returns what kinegrad finds in joint coordinates, its forward pass included."""
    import kinegrad as kg

    def run():
        scheme = getattr(kg, formulation)(), getattr(kg, integrator)()
        gradient = kg.gradient(kg.simulate(five_bar_system(True), *scheme, step=step, t_end=t_end), method=method)
        return Found(gradient.cpu_s, np.array(list(gradient.values.values())), gradient.matrix)

    return run


def kinegrad_simulation(step: float, t_end: float) -> float:
    """CPU seconds of a plain simulation by ALI3-P and the trapezoidal rule, which all are compared with."""
    import kinegrad as kg

    return kg.simulate(five_bar_system(True), kg.ALI3P(), kg.Newmark(), step=step, t_end=t_end).cpu_s


def _ours(label, formulation, integrator, method, target):
    def prepare(step, t_end):
        return kinegrad_gradient(formulation, integrator, method, step, t_end)

    return Contestant(f"kinegrad {label}, {method}", "kinegrad", "kinegrad", prepare, target)


CONTESTANTS = [
    *(_ours("ALI3-P, trapezoidal", "ALI3P", "Newmark", method, "at most 3.5") for method in ("direct", "discrete-adjoint")),
    *(_ours("index 1, RK4", "Index1", "RungeKutta4", method, "") for method in ("direct", "discrete-adjoint")),
    Contestant("CasADi RK4, forwards", "casadi", "CasADi", lambda *times: casadi_gradient(*times, backwards=False)),
    Contestant("CasADi RK4, backwards", "casadi", "CasADi", lambda *times: casadi_gradient(*times, backwards=True)),
    *(
        Contestant(
            f"MuJoCo {integrator}, 6 runs",
            "mujoco",
            "MuJoCo",
            lambda *times, integrator=integrator: by_differences(mujoco_objectives(*times, integrator), CHANGE),
        )
        for integrator in ("implicitfast", "RK4")
    ),
    Contestant(
        "Exudyn 2-D, trapezoidal, 6 runs",
        "exudyn",
        "Exudyn",
        lambda *times: by_differences(exudyn_objectives(*times), CHANGE),
    ),
]  # fmt: skip


def error_of(gradient: np.ndarray) -> float:
    """The largest error of an entry, of the largest of its row."""
    return float((np.abs(gradient - CONVERGED) / np.abs(CONVERGED).max(axis=1, keepdims=True)).max())


def five_bar_rows(repeats: int, only: str, progress, step: float = STEP, t_end: float = T_END) -> list[GradientRow]:
    """Rows of the five-bar; errors mean something for runs of 5 s."""
    chosen = [c for c in CONTESTANTS if only.lower() in c.name.lower() and is_installed(c.package, c.name)]
    if not chosen:
        return []
    runs = {c.name: c.prepare(step, t_end) for c in chosen}
    best, simulation = {}, np.inf
    for turn in range(repeats + 1):
        for name, run in runs.items():
            found = run()
            if turn and (name not in best or found.cpu_s < best[name].cpu_s):  # the first one loads and compiles
                best[name] = found
        seconds = kinegrad_simulation(step, t_end)
        simulation = min(simulation, seconds) if turn else np.inf
        progress((turn + 1) / (repeats + 1))
    to_us = 1e6 / round(t_end / step)
    return [
        GradientRow(
            FIVE_BAR, c.name, best[c.name].cpu_s * to_us, best[c.name].cpu_s / simulation, error_of(best[c.name].gradient),
            c.target,
        )
        for c in chosen
    ]  # fmt: skip


def robot_rows(robot: str, floating: bool, repeats: int, only: str, beside: bool) -> list[GradientRow]:
    """Rows of a robot, `beside` Pinocchio or not; errors are differences from what kinegrad finds."""
    ours = "kinegrad"
    state = state_of(robot)
    programs = {ours: kinegrad_robot(robot, floating, state)}
    if beside:
        programs[PEER] = pinocchio_robot(robot, floating, state)
    programs = {name: program for name, program in programs.items() if only.lower() in name.lower()}
    if not programs:
        return []
    times = least_times({name: program.compute for name, program in programs.items()}, repeats)
    expected = (programs.get(ours) or kinegrad_robot(robot, floating, state)).results()
    base = f"{'floating' if floating else 'fixed'}, {len(state.q) + 6 * floating}"

    def gap(name):
        pairs = zip(programs[name].results(), expected, strict=True)
        return None if name == ours else max(difference(a, b) for a, b in pairs if a.size)

    return [
        GradientRow(
            f"{robot}, {base} freedoms", name, us, us / times[ours] if ours in times else None, gap(name),
            "" if name == ours else "at least 1",
        )
        for name, us in times.items()
    ]  # fmt: skip


def run(repeats: int = 5, only: str = "", progress: Callable[[float], None] | None = None) -> list[GradientRow]:
    """Rows of the five-bar, then of the robots; `only` keeps those whose program contains this word.

    A peer that is not installed is told on standard error and left out.
    """
    tell = progress or (lambda done: None)
    rows = five_bar_rows(repeats, only, lambda done: tell(0.5 * done))
    kinds = [(robot, floating) for robot in ROBOTS for floating in (False, True)]
    beside = only.lower() in PEER.lower() and is_installed("pinocchio", PEER)
    for k, (robot, floating) in enumerate(kinds):
        rows += robot_rows(robot, floating, repeats, only, beside)
        tell(0.5 + 0.5 * (k + 1) / len(kinds))
    return rows


def table(rows: Iterable[GradientRow]) -> str:
    """The rows as a Markdown table."""
    lines = ["| work | program | µs | × ours | error | asked |", "|---|---|---|---|---|---|"]
    for row in rows:
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
        error = "" if row.error is None else f"{row.error:.1e}"
        lines.append(f"| {row.work} | {row.program} | {row.us:.2f} | {ratio} | {error} | {row.target} |")
    return "\n".join(lines)
