"""Cost and accuracy of the five-bar, 5 s in steps of 1 ms: kinegrad beside Exudyn and MuJoCo, and its gradients.

    kinegrad bench five-bar [--repeats N] [--only WORD]          or          python benchmarks/five_bar.py

Everything runs in one process and one thread, in turn, and the turns are repeated: what slows the machine for a while
slows all alike. The least time of each counts. `docs/benchmarks.md` says what the numbers mean.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass

from kinegrad.bench.machine import PACKAGE, is_installed
from kinegrad.bench.peers import Result, exudyn_five_bar, mujoco_five_bar

MODEL = PACKAGE / "data" / "five_bar.yaml"
STEP, T_END = 1e-3, 5.0

TRAPEZOIDAL = "kinegrad ALI3-P, trapezoidal"
EXPLICIT = "kinegrad index 1, RK4"


@dataclass(frozen=True)
class Row:
    """One line of the table.

    `ratio` is the cost in units of the kinegrad simulation it is compared with: a peer should be far above 1, a
    gradient not far above. `error` is None where no position is compared, `ratio` where kinegrad did not run.
    """

    name: str
    us_per_step: float
    error: float | None
    ratio: float | None
    target: str


@dataclass(frozen=True)
class Contestant:
    """Something that simulates the five-bar: its package, how it runs, whom it is compared with, what is asked."""

    name: str
    package: str
    simulate: Callable[[], Result]
    against: str
    target: str


def kinegrad_five_bar(formulation, integrator, step, t_end):
    """Result of kinegrad in joint coordinates; the two choices by the names of their classes. Loop only."""
    import kinegrad as kg

    system = five_bar_system(False)
    motion = kg.simulate(system, getattr(kg, formulation)(), getattr(kg, integrator)(), step=step, t_end=t_end)
    x, y, _ = motion.marker("bar_12.P2").position[-1]
    return Result(motion.us_per_step * round(t_end / step) * 1e-6, motion.us_per_step, (float(x), float(y)))


def kinegrad_gradient(method, step, t_end):
    """CPU seconds of the gradient (3 objectives by 5 parameters, forward pass included) and of a plain simulation."""
    import kinegrad as kg

    motion = kg.simulate(five_bar_system(True), kg.ALI3P(), kg.Newmark(), step=step, t_end=t_end)
    gradient = kg.gradient(motion, method=method)
    return gradient.cpu_s, gradient.simulation_cpu_s


@functools.cache
def five_bar_system(objectives):
    """The five-bar, with its objectives or, as the peers have it, without."""
    import kinegrad as kg

    model = kg.Model.from_yaml(MODEL)
    if not objectives:
        model.objectives.clear()
    return kg.joint(model)


CONTESTANTS = [
    Contestant(
        name=TRAPEZOIDAL,
        package="kinegrad",
        simulate=lambda: kinegrad_five_bar("ALI3P", "Newmark", STEP, T_END),
        against=TRAPEZOIDAL,
        target="error at most 3e-5 m",
    ),
    Contestant(
        name="Exudyn 2-D, trapezoidal",
        package="exudyn",
        simulate=lambda: exudyn_five_bar(STEP, T_END),
        against=TRAPEZOIDAL,
        target="at least 8",
    ),
    Contestant(
        name="MuJoCo implicitfast",
        package="mujoco",
        simulate=lambda: mujoco_five_bar(STEP, T_END),
        against=TRAPEZOIDAL,
        target="at least 1.43",
    ),
    Contestant(
        name=EXPLICIT,
        package="kinegrad",
        simulate=lambda: kinegrad_five_bar("Index1", "RungeKutta4", STEP, T_END),
        against=EXPLICIT,
        target="error at most 1e-9 m",
    ),
    *(
        Contestant(
            name=f"kinegrad {name}, RK4",
            package="kinegrad",
            simulate=lambda formulation=formulation: kinegrad_five_bar(formulation, "RungeKutta4", STEP, T_END),
            against=EXPLICIT,
            target="error at most 1e-9 m",
        )
        for name, formulation in (("Matrix-R", "MatrixR"), ("recursive", "Recursive"))
    ),
    Contestant(
        name="MuJoCo RK4",
        package="mujoco",
        simulate=lambda: mujoco_five_bar(STEP, T_END, "RK4"),
        against=EXPLICIT,
        target="at least 2",
    ),
]
GRADIENTS = ["direct", "discrete-adjoint"]


def run(repeats=5, only="", progress=None):
    """Rows of simulations, then of gradients; `only` keeps those whose name contains this word.

    A peer that is not installed is told on standard error and left out.
    """
    chosen = [c for c in CONTESTANTS if only.lower() in c.name.lower() and is_installed(c.package, c.name)]
    methods = [m for m in GRADIENTS if only.lower() in _gradient_name(m).lower()]
    results = {c.name: [] for c in chosen}
    gradient_costs = {m: [] for m in methods}
    for turn in range(repeats + 1):
        for contestant in chosen:
            results[contestant.name].append(contestant.simulate())
        for method in methods:
            gradient_costs[method].append(kinegrad_gradient(method, STEP, T_END))
        if turn == 0:  # it loaded, compiled and warmed up, so it does not count
            for costs in [*results.values(), *gradient_costs.values()]:
                costs.clear()
        if progress is not None:
            progress((turn + 1) / (repeats + 1))
    best = {name: min(several, key=lambda result: result.cpu_s) for name, several in results.items()}
    return [_row(c, best) for c in chosen] + [_gradient_row(m, gradient_costs[m]) for m in methods]


def _row(contestant, best):
    mine, ours = best[contestant.name], best.get(contestant.against)
    ratio = mine.us_per_step / ours.us_per_step if ours else None
    return Row(contestant.name, mine.us_per_step, mine.error, ratio, contestant.target)


def _gradient_name(method):
    return f"kinegrad gradient 3 x 5, {method}"


def _gradient_row(method, costs):
    everything, simulation = (min(column) for column in zip(*costs, strict=True))
    steps = round(T_END / STEP)
    return Row(_gradient_name(method), everything / steps * 1e6, None, everything / simulation, "at most 5")


def table(rows):
    """The rows as a Markdown table, ready for `docs/benchmarks.md`."""
    lines = ["| | µs/step | error [m] | × ours | asked |", "|---|---|---|---|---|"]
    for row in rows:
        error = "" if row.error is None else f"{row.error:.1e}"
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
        lines.append(f"| {row.name} | {row.us_per_step:.2f} | {error} | {ratio} | {row.target} |")
    return "\n".join(lines)
