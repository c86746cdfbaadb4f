"""The gallery of studies: what each finds, before and after, and the page that shows them.

``python docs/pictures/study_gallery.py [NAME ...]`` runs the studies of examples/ (or those named), and writes
docs/pictures/study_NAME.png and study_NAME.json for each, and docs/studies.md.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import kinegrad as kg

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

#: Files of studies below examples/, with what an engineer looks at: signals over time, or one over another.
STUDIES: dict[str, tuple[str, list]] = {
    "slide": ("slide/study.yaml", ["push.force", "mass.O.x"]),
    "absorber": ("absorber/study.yaml", ["first.distance"]),
    "cart_pole": ("cart_pole/study.yaml", ["push.force", "hinge.angle"]),
    "crane_control": ("studies/crane_control/study.yaml", ["motor.force", "rope_.angle"]),
    "four_bar_synthesis": ("studies/four_bar_synthesis/study.yaml", [("coupler.P.x", "coupler.P.y")]),
    "slider_crank_smoothing": ("studies/slider_crank_smoothing/study.yaml", ["rail.distance", "rail.distance.acceleration"]),
    "stewart_stiffness": ("studies/stewart_stiffness/study.yaml", []),
    "quarter_car_comfort": ("studies/quarter_car_comfort/study.yaml", ["chassis.S.z.acceleration", "contact.force.z"]),
    "buggy_comfort": ("studies/buggy_comfort/study.yaml", ["chassis.P1.z.acceleration"]),
    "five_bar_identification": (
        "studies/five_bar_identification/study.yaml", [("bar_12.P2.x", "bar_12.P2.y"), "bar_12.P2.y"],
    ),
    "lift_tolerances": ("studies/lift_tolerances/study.yaml", []),
}  # fmt: skip

HEAD = """\
# Gallery of studies

Each is one command. Figures have the start of the study dashed and its optimum drawn, and the course of the search;
`docs/pictures/study_gallery.py` runs the studies, draws the figures and writes this page. How studies are written is told under
[optimisation](optimisation.md).
"""


def comment(path: Path) -> str:
    """What the head of a study says."""
    lines = path.read_text(encoding="utf-8").splitlines()
    count = next(k for k, line in enumerate(lines) if not line.strip("# ") or not line.startswith("#"))
    return " ".join(line.lstrip("# ").strip() for line in lines[:count])


def draw(name: str) -> None:
    """Runs a study, and writes its figure and its numbers."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    file, signals = STUDIES[name]
    study = kg.Study.from_yaml(ROOT / "examples" / file)
    panels = 1 + len(signals)
    figure, axes = plt.subplots(1, panels, figsize=(3.6 * panels, 2.9), layout="constrained", squeeze=False)
    if study.description.sweep is not None:
        found = study.sweep()
        goal, row = next(iter(found.statistics.items()))
        axes[0, 0].hist(found.goals[:, 0], bins=24, color="C0")
        axes[0, 0].set(xlabel=study.description.minimise.value.text, ylabel="designs")
        said = (
            f"{len(found.values)} designs; mean {row['mean']:.5g}, deviation {row['deviation']:.3g}, "
            f"by first order {found.first_order[goal]:.3g}"
        )
    else:
        result = study.optimize()
        _course(axes[0, 0], result)
        for place, what in zip(axes[0, 1:], signals, strict=True):
            _signals(place, result, what)
        before, after = result.values_before["minimise"], result.values["minimise"]
        said = (
            f"{result.status} after {result.evaluations} designs by `{result.outcome.solver}`: what is minimised goes from "
            f"{before:.4g} to {after:.4g}"
        )
    figure.savefig(DOCS / "pictures" / f"study_{name}.png", dpi=110)
    (DOCS / "pictures" / f"study_{name}.json").write_text(json.dumps({"said": said}) + "\n", encoding="utf-8")


def _course(axes, result) -> None:
    number, value, _ = result.history.T
    axes.plot(number, value, "o-", ms=3, lw=0.8)
    if value[value == value].min() > 0.0:
        axes.set_yscale("log")
    axes.set(xlabel="design", ylabel="what is minimised")
    axes.grid(alpha=0.3)


def _signals(axes, result, what) -> None:
    across, up = what if isinstance(what, tuple) else (None, what)
    for motion, style in zip(result.motions(), ("--", "-"), strict=True):
        x = motion.t if across is None else motion[across]
        axes.plot(x, motion[up], style, color="0.5" if style == "--" else "C0", lw=1.2)
    for one in result.plan.residuals:
        other = next((r for r in result.plan.residuals if r.signal == across), None)
        if one.signal == up and (across is None or other is not None):
            axes.plot(one.t if across is None else other.values, one.values, ".", color="C3", ms=4)
    catalogue = motion.catalogue
    axes.set(xlabel="t [s]" if across is None else catalogue[across].label, ylabel=catalogue[up].label)
    axes.grid(alpha=0.3)


def entry(name: str) -> str:
    """The part of the page about a study."""
    file, _ = STUDIES[name]
    path = ROOT / "examples" / file
    title = kg.Study.from_yaml(path).plan.title
    said = json.loads((DOCS / "pictures" / f"study_{name}.json").read_text(encoding="utf-8"))["said"]
    return (
        f"## {title}\n\n![{title}](pictures/study_{name}.png)\n\n{comment(path)}\n\n"
        f"`kinegrad optimize examples/{file}`: {said}.\n"
    )


def page() -> str:
    """The text of the page."""
    return "\n".join([HEAD, *map(entry, STUDIES)])


if __name__ == "__main__":
    for one in sys.argv[1:] or STUDIES:
        draw(one)
        print(one, flush=True)
    (DOCS / "studies.md").write_text(page(), encoding="utf-8")
