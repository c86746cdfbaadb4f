"""The figure of a comparison: error against cost, a dot for each combination."""

from __future__ import annotations

from pathlib import Path

from kinegrad.plots.figure import draw, finish

COLOURS = {"joint": "C0", "reference-point": "C1", "natural": "C2"}
MARKERS = {"ali3p": "o", "matrix-r": "s", "index1": "^", "penalty": "v", "recursive": "D", "udwadia-kalaba": "P"}
LEAST = 1e-16  # an error that is smaller is drawn here


def plot_comparison(found, path: str | Path | None = None):
    """A matplotlib figure of error against processor time: colours are sets, shapes formulations; open dots disagree.

    A ring marks what is recommended, and a line the largest error for that.
    """
    return draw(f"{found.title or 'Comparison'}: error and cost", [lambda figure, at: _dots(found, figure, at)], path)


def _dots(found, figure, place) -> None:
    from matplotlib.lines import Line2D

    axes = figure.add_subplot(*place)
    there = [row for row in found.rows if row.error is not None]
    sets = dict.fromkeys(row.coordinates for row in there)
    formulations = dict.fromkeys(row.formulation for row in there)
    for row in there:
        colour = COLOURS.get(row.coordinates, "C7")
        axes.plot(
            row.cpu_s, max(row.error, LEAST), MARKERS.get(row.formulation, "x"), ms=6, mec=colour, alpha=0.8,
            mfc=colour if row.agrees else "none",
        )  # fmt: skip
    if there:
        axes.axhline(found.bound, color="k", lw=0.8, ls=":")
        axes.set(xscale="log", yscale="log")
        axes.margins(0.08)
    handles = [Line2D([], [], ls="", marker="o", color=COLOURS.get(name, "C7"), label=name) for name in sets]
    handles += [
        Line2D([], [], ls="", marker=MARKERS.get(name, "x"), color="0.4", mfc="none", label=name)
        for name in formulations
    ]
    chosen = found.recommended
    if chosen is not None:
        axes.plot(chosen.cpu_s, max(chosen.error, LEAST), "o", ms=14, mfc="none", mec="C3", mew=1.6)
        handles.append(Line2D([], [], ls="", marker="o", ms=11, color="C3", mfc="none", label="recommended"))
    handles.append(Line2D([], [], color="k", lw=0.8, ls=":", label="largest error for that"))
    unit = f" [{found.unit}]" if found.unit else ", relative"
    axes.set(xlabel="processor time of the run [s]", ylabel=f"error of the {found.quantity}{unit}")
    finish(axes, legend=False)
    axes.legend(handles=handles, fontsize="small", loc="upper left", bbox_to_anchor=(1.02, 1.0))
    if not there:
        axes.text(0.5, 0.5, "no run came to its end", ha="center", va="center", transform=axes.transAxes)
