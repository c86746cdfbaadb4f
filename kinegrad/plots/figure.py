"""What all figures share: a frame of panels, legends beside them, and the file they are written to."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

from kinegrad.errors import KinegradError
from kinegrad.files import complete, reason

SUFFIXES = (".png", ".pdf", ".svg")
PANEL = (7.2, 4.2)  # inches

#: Draws into a place ``(rows, columns, number)`` of a figure and returns the axes.
Panel = Callable


def check_suffix(path: str | Path) -> Path:
    """`path`; raises when its suffix is no format of figures."""
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise KinegradError(
            f"{str(path)!r} is no name of a figure; end it with {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}."
        )
    return path


def library():
    """matplotlib; raises where it refuses the backend of the environment, which figures in files do not need."""
    try:
        import matplotlib
    except ValueError as error:
        given = os.environ.get("MPLBACKEND")
        if given is None:
            raise
        raise KinegradError(
            f"matplotlib refuses MPLBACKEND={given} of the environment ({reason(error)}); unset it, or set it to agg."
        ) from None
    return matplotlib


def draw(title: str, panels: Sequence[Panel], path: str | Path | None = None, columns: int | None = None, size=PANEL):
    """A matplotlib figure with these panels of a size in inches, also written to `path` when one is given."""
    if path is not None:
        path = check_suffix(path)
    library()
    from matplotlib.figure import Figure

    columns = columns or (1 if len(panels) == 1 else 2)
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(size[0] * columns, size[1] * rows), layout="constrained")
    for k, panel in enumerate(panels, 1):
        panel(figure, (rows, columns, k))
    figure.suptitle(title, parse_math=False)
    if path is not None:
        drawn = io.BytesIO()  # not the file: what writes PDF does not recover from a full disk
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Attempting to set identical")  # what hardly moves is drawn all the same
            figure.savefig(drawn, dpi=150, format=path.suffix[1:].lower())
        with complete(path) as part:
            part.write_bytes(drawn.getbuffer())
    return figure


def finish(axes, legend: bool = True) -> None:
    """A light grid, and the legend to the right of the panel, where it hides nothing."""
    axes.set_axisbelow(True)
    axes.grid(True, alpha=0.3)
    if legend:
        axes.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.02, 1.0))
