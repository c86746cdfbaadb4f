"""Draws all pictures of the modelling pages: ``python docs/pictures/elements.py`` writes them beside this file."""

from __future__ import annotations

from pathlib import Path

import constraints
import forces
import joints

PICTURES = {**joints.PICTURES, **forces.PICTURES, **constraints.PICTURES}


def write(folder: Path) -> None:
    """Write every picture to `folder`."""
    for name, draw in PICTURES.items():
        title = name.replace("_", " ")
        (folder / f"{name}.svg").write_text(draw().svg(title), encoding="utf-8")


if __name__ == "__main__":
    write(Path(__file__).parent)
