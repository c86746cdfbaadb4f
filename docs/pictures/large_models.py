"""Time of a step against the number of bodies, from the rows of ``kinegrad bench large --json``.

``python docs/pictures/large_models.py [FILE]`` reads large_models.json beside this file, or FILE, and writes large_models.svg.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "kinegrad"
import matplotlib.pyplot as plt  # noqa: E402

HERE = Path(__file__).parent
COLOURS = {"joint": "#1f77b4", "reference-point": "#d62728", "natural": "#2ca02c", "planar bodies": "#7f7f7f"}
STYLES = {"dense": ("--", "o"), "fronts": ("-", "s"), "recursive": (":", "^")}
TITLES = {"chain": "chain", "windows": "windows in a row", "tree": "tree, two on each link", "grid": "grid of loops"}


def draw(data: dict) -> plt.Figure:
    """A panel for each family, log against log, with a line of slope 1."""
    rows = data["large"]
    families = [family for family in TITLES if any(row["family"] == family for row in rows)]
    figure, panels = plt.subplots(1, len(families), figsize=(3.4 * len(families), 3.7), sharey=True, squeeze=False)
    known = {}
    for panel, family in zip(panels[0], families, strict=True):
        kinds = dict.fromkeys((row["set"], row["program"]) for row in rows if row["family"] == family)
        for kind in kinds:
            own = [row for row in rows if row["family"] == family and (row["set"], row["program"]) == kind]
            line, marker = STYLES.get(kind[1], ("-.", "x"))
            (known[", ".join(kind)],) = panel.loglog(
                [row["bodies"] for row in own], [row["us"] for row in own], line, marker=marker, ms=3.5, lw=1.3,
                color=COLOURS.get(kind[0], "#7f7f7f"),
            )  # fmt: skip
        ends = panel.get_xlim()
        panel.plot(ends, [10.0 * x / ends[0] for x in ends], color="#bbbbbb", lw=0.8, zorder=0)
        panel.set_xlim(*ends)
        panel.set_title(TITLES[family], fontsize=10)
        panel.set_xlabel("bodies")
        panel.grid(True, which="major", color="#eeeeee", lw=0.6)
    panels[0][0].set_ylabel("µs of a step")
    figure.legend(known.values(), known.keys(), loc="lower center", ncols=4, fontsize=8, frameon=False)
    figure.tight_layout(rect=(0, 0.13, 1, 1))
    return figure


if __name__ == "__main__":
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "large_models.json"
    draw(json.loads(path.read_text())).savefig(HERE / "large_models.svg", metadata={"Date": None})
