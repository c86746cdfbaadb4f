"""The gallery: a picture of each example, and the page that shows them, from what the model files say.

``python docs/pictures/gallery.py [NAME ...]`` simulates every examples/*/model.yaml (or those named) and writes
docs/pictures/example_NAME.svg, signals_NAME.png where `SIGNALS` has it, and docs/gallery.md.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import kinegrad as kg
from kinegrad.sketch import sketch

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LONGEST = 5.0  # seconds that a picture shows, at most

#: What an engineer looks at, as `kinegrad run --signals` and `motion.plot` take it.
SIGNALS = {
    "crank_shaper": "guide.distance; guide.distance.velocity; motor.force; slot.reaction.force.norm",
    "planetary_gear": "sun_mesh.force, ring_mesh1.force, rack_mesh.force; motor.force; sun_axle.angle.velocity, "
    "main.angle.velocity; bed.distance.velocity",
    "quarter_car": "camber, toe; contact.force.z, strut.force; steering.force; chassis.S.acceleration.z",
    "scissor_lift": "motor.force; thread.reaction.force.x; height; height.velocity",
    "six_axis_arm": "motor1.force, motor2.force, motor3.force; motor4.force, motor5.force, motor6.force; "
    "motor1.power, motor2.power, motor3.power; J1.angle, J2.angle, J3.angle",
    "stewart_platform": "hold1.force, hold2.force, hold3.force, hold4.force, hold5.force, hold6.force; roll, pitch",
}

HEAD = """\
# Gallery

The models in `examples/`, each at the end of its motion with the paths of its points. `docs/pictures/gallery.py` draws the
pictures and writes this page. [Natural coordinates in pictures](natural_coordinates.md) has their sizes in all coordinate
sets, those of vehicles and chain beside published counts.
"""

FOOT = """\
Studies of such machines, each one command, have [a gallery of their own](studies.md).
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
    title = model.title or name
    counts = f"{len(model.bodies)} bodies, {len(model.joints)} joints."
    return (
        f"## {title}\n\n![{title}](pictures/example_{name}.svg)\n\n{summary(path)} {counts}\n"
        f"Model: [examples/{name}/model.yaml](../examples/{name}/model.yaml)\n"
    ) + (signals(name, title) if name in SIGNALS else "")


def signals(name: str, title: str) -> str:
    """The figure of an example's signals, and how to draw it."""
    return (
        f"\n![Signals of the {title[0].lower()}{title[1:]}](pictures/signals_{name}.png)\n\n"
        f'```sh\nkinegrad run examples/{name}/model.yaml --signals "{SIGNALS[name]}" --plot {name}.png\n```\n'
    )


def draw(path: Path) -> None:
    """Writes the picture of an example, and the figure of its signals."""
    name = path.parent.name
    model = kg.Model.from_yaml(path)
    end = model.simulation.t_end
    motion = kg.simulate(kg.joint(model), t_end=LONGEST if end is None else min(float(end), LONGEST))
    (DOCS / "pictures" / f"example_{name}.svg").write_text(sketch(motion, 420, 320) + "\n", encoding="utf-8")
    if name in SIGNALS:
        motion.plot(SIGNALS[name], path=DOCS / "pictures" / f"signals_{name}.png")


def page() -> str:
    """The text of the page."""
    return "\n".join([HEAD, *map(entry, examples()), FOOT])


if __name__ == "__main__":
    for model in examples():
        if model.parent.name in (sys.argv[1:] or [model.parent.name]):
            draw(model)
    (DOCS / "gallery.md").write_text(page(), encoding="utf-8")
