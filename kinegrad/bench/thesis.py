"""The experiments of a thesis on semi-recursive sensitivities beside kinegrad: a line for each of its tables and figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from kinegrad.bench.thesis_lines import GRADIENTS, LINES, Cost, Line

DATA = Path(__file__).parents[1] / "data"
STEP = 1e-3  # of costs and of the published gradients [s]
FINE = 2.5e-4  # of what is called converged, by matrix-r with rk4 [s]
SPAN, SPAN_OF_GRADIENTS = 2.0, 0.5  # of motion, that are timed [s]
T_END = 5.0
TIMES = (1.0, 2.0, 3.0, 4.0, 5.0)


@dataclass(frozen=True)
class ThesisRow:
    """A line with what kinegrad gives; `ours` is empty where there is nothing to compare."""

    number: str
    about: str
    published: str
    ours: str
    note: str


def run(repeats: int = 5, only: str = "", progress: Callable | None = None) -> list[ThesisRow]:
    """A row for each line whose number or subject contains the word `only`; costs are the least of so many turns."""
    chosen = [line for line in LINES if only.lower() in f"{line.number} {line.about}".lower()]
    rows = []
    for k, line in enumerate(chosen):
        rows.append(ThesisRow(line.number, line.about, line.published, ours(line, repeats), line.note))
        if progress is not None:
            progress((k + 1) / len(chosen))
    return rows


def ours(line: Line, repeats: int) -> str:
    """What kinegrad gives for a line, as text."""
    if not line.computed:
        return ""
    if line.computed == "ratios":
        return ratios(line.of, repeats)
    return COMPUTED[line.computed](line.of)


def table(rows: Sequence[ThesisRow]) -> str:
    """The rows as a Markdown table, ready for `docs/thesis.md`."""
    lines = ["| | what | published | kinegrad | |", "|---|---|---|---|---|"]
    return "\n".join(
        [*lines, *(f"| {row.number} | {row.about} | {row.published} | {row.ours} | {row.note} |" for row in rows)]
    )


# --- costs, which differ from run to run ---


def ratios(costs: Sequence[Cost], repeats: int) -> str:
    """Ratios of processor times, each pair in turns in this process."""
    return ", ".join(f"{cost.name} {ratio(cost, repeats):.2f}" for cost in costs)


def ratio(cost: Cost, repeats: int) -> float:
    """Time in natural coordinates by that in joint ones, or of one formulation by that of another."""
    there = ("joint" if cost.beside else "natural", cost.body_point if cost.beside else "", cost.formulation)
    plain = ("joint", cost.body_point, cost.beside or cost.formulation)
    best = {there: np.inf, plain: np.inf}
    for turn in range(repeats + 1):
        for way in best:
            seconds = _seconds(cost, *way)
            if turn:  # the first loads and compiles
                best[way] = min(best[way], seconds)
    return best[there] / best[plain]


def _seconds(cost: Cost, coordinates: str, body_point: str, formulation: str) -> float:
    import kinegrad as kg

    system, method = _system(cost.model, cost.variant, coordinates, body_point), cost.method
    own = system.model.simulation.formulation
    chosen = own if own.type == formulation else formulation
    span = cost.span or (SPAN_OF_GRADIENTS if method else SPAN)
    motion = kg.simulate(system, chosen, "newmark", step=STEP, t_end=span)
    return kg.gradient(motion, method=method).cpu_s if method else motion.cpu_s


@cache
def _system(name: str, variant: str = "", coordinates: str = "joint", body_point: str = ""):
    import kinegrad as kg

    model = kg.Model.from_yaml(DATA / f"{name}.yaml")
    model = model.with_variant(variant) if variant else model
    return kg.lower(model, coordinates, **({"body_point": body_point} if body_point else {}))


# --- numbers, which are the same on every machine ---


@cache
def _five_bar():
    """The gradient of the five-bar with the data as printed, by the scheme of the tables."""
    import kinegrad as kg

    return kg.gradient(kg.simulate(_system("five_bar", "printed"), "ali3p", "newmark", step=STEP, t_end=T_END))


@cache
def _slider(variant: str = ""):
    """The slider-crank with a step at which five digits no longer change."""
    import kinegrad as kg

    return kg.simulate(_system("slider_crank", variant), "matrix-r", "rk4", step=FINE, t_end=T_END, output_step=1.0)


@cache
def _slider_gradient():
    import kinegrad as kg

    return kg.gradient(_slider())


def five_bar_end(_) -> str:
    """Point 2 of the five-bar at the end."""
    import kinegrad as kg

    motion = kg.simulate(_system("five_bar"), "ali3p", "newmark", step=STEP, t_end=T_END, output_step=T_END)
    x = motion.at_end()[_point_2(motion)].position
    return f"({x[0]:.4f}, {x[1]:.4f})"


def _point_2(motion) -> str:
    return next(name for name in motion.system.markers if name.endswith(".P2"))


def five_bar_objectives(_) -> str:
    """The objectives of the five-bar."""
    return ", ".join(f"{value:.5g}" for value in _five_bar().values.values())


def gradient(objective: str) -> str:
    """A row of the gradient, and how many of its entries round to those published."""
    found = _five_bar()
    row = found.matrix[list(found.values).index(objective)]
    met = sum(float(f"{x:.4g}") == float(text) for x, text in zip(row, GRADIENTS[objective], strict=True))
    return f"{', '.join(f'{x:.4g}' for x in row)} ({met} of {len(row)} to 4 digits)"


def cuts(published: dict[str, tuple[int, int]]) -> str:
    """Coordinates and rows with each joint cut."""
    import kinegrad as kg

    model = _system("slider_crank").model
    systems = {name: kg.joint(model, cut=[name]) for name in published}
    return ", ".join(f"{name} {system.n}/{system.m}" for name, system in systems.items())


def parameters(names: Sequence[str]) -> str:
    """Values of parameters of the slider-crank."""
    system = _system("slider_crank")
    values = dict(zip(system.parameters.independent, system.rho, strict=True))
    return ", ".join(f"{values[name]:g}" for name in names)


def settings(names: Sequence[str]) -> str:
    """Options of the formulation of the slider-crank."""
    return ", ".join(f"{getattr(_system('slider_crank').model.simulation.formulation, name):g}" for name in names)


def benchmark_curve(_) -> str:
    """The slider in free motion at some times."""
    return _curve("benchmark")


def spring_curve(_) -> str:
    """The slider with its spring at some times."""
    return _curve("")


def _curve(variant: str) -> str:
    motion = _slider(variant)
    x = motion.marker("slider.D").position[:, 0]
    return ", ".join(f"{np.interp(t, motion.t, x):.5f}" for t in TIMES)


def slider_objectives(_) -> str:
    """The objectives of the slider-crank."""
    return ", ".join(f"{value:.5g}" for value in _slider().objectives.values())


def slider_gradient(objective: str) -> str:
    """A row of the gradient of the slider-crank."""
    found = _slider_gradient()
    return ", ".join(f"{x:.4g}" for x in found.matrix[list(found.values).index(objective)])


_FUNCTIONS = (
    five_bar_end, five_bar_objectives, gradient, cuts, parameters, settings, benchmark_curve, spring_curve,
    slider_objectives, slider_gradient,
)  # fmt: skip
COMPUTED = {function.__name__: function for function in _FUNCTIONS}
