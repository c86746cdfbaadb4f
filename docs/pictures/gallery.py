"""The gallery: a picture of each example, and the page that shows them, from what the model files say.

``python docs/pictures/gallery.py`` simulates every examples/*/model.yaml and writes docs/pictures/example_NAME.svg and
docs/gallery.md.
"""

from __future__ import annotations

import re
from pathlib import Path

import kinegrad as kg
from kinegrad.sketch import sketch

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LONGEST = 5.0  # seconds that a picture shows, at most

HEAD = """\
# Gallery

The models in `examples/`, each at the end of its motion with the paths of its points. `docs/pictures/gallery.py` draws the
pictures and writes this page. [Natural coordinates in pictures](natural_coordinates.md) has their sizes in all coordinate
sets, those of vehicles and chain beside published counts.
"""


def examples() -> list[Path]:
    """The model files, by name."""
    return sorted((ROOT / "examples").glob("*/model.yaml"))


def summary(path: Path) -> str:
    """The first sentence of the comment at the head of a model file."""
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#") or not line.strip("# "):
            break
        lines.append(line.lstrip("# ").strip())
    return re.split(r"(?<=[.;])\s", " ".join(lines) + " ")[0].rstrip(";. ") + "."


def entry(path: Path) -> str:
    """The part of the page about an example."""
    name = path.parent.name
    model = kg.Model.from_yaml(path)
    counts = f"{len(model.bodies)} bodies, {len(model.joints)} joints."
    return (
        f"## {model.title or name}\n\n![{model.title or name}](pictures/example_{name}.svg)\n\n{summary(path)} {counts}\n"
        f"Model: [examples/{name}/model.yaml](../examples/{name}/model.yaml)\n"
    )


def draw(path: Path) -> str:
    """The picture of an example."""
    model = kg.Model.from_yaml(path)
    end = model.simulation.t_end
    motion = kg.simulate(kg.joint(model), t_end=LONGEST if end is None else min(float(end), LONGEST))
    return sketch(motion, 420, 320) + "\n"


def page() -> str:
    """The text of the page."""
    return "\n".join([HEAD, *map(entry, examples())])


if __name__ == "__main__":
    for model in examples():
        (DOCS / "pictures" / f"example_{model.parent.name}.svg").write_text(draw(model), encoding="utf-8")
    (DOCS / "gallery.md").write_text(page(), encoding="utf-8")
