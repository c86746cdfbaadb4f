"""The topology of a model as a picture: bodies below each other by their distance from the ground, joints of the tree between
them, joints that were cut dashed, rows and springs thin."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kinegrad.coordinates.joint.spanning_tree import SpanningTree, spanning_tree
from kinegrad.plots.figure import draw

GROUND = "ground"
LOOKS = {
    "tree": {"color": "#39424f", "lw": 1.8},
    "added": {"color": "#9aa3b0", "lw": 1.4, "ls": ":"},
    "cut": {"color": "#d43d3d", "lw": 1.6, "ls": "--"},
    "row": {"color": "#8544c2", "lw": 1.2, "ls": "-."},
    "spring": {"color": "#e0821f", "lw": 1.0, "ls": ":"},
}
WORDS = {
    "tree": "joint of the tree",
    "added": "added: floats freely",
    "cut": "cut joint",
    "row": "constraint",
    "spring": "spring, bushing",
}


@dataclass(frozen=True)
class Line:
    """An edge of the picture between two bodies; `kind` is a key of `WORDS`."""

    name: str
    type: str
    kind: str
    between: tuple[str, str]


@dataclass(frozen=True)
class Topology:
    """Places of bodies, x to the right and depth downwards in steps of one, and the lines between them."""

    places: dict[str, tuple[float, int]]
    lines: tuple[Line, ...]

    def document(self) -> dict:
        """As the page reads it."""
        return {
            "bodies": [[name, x, depth] for name, (x, depth) in self.places.items()],
            "lines": [[line.name, line.type, line.kind, *line.between] for line in self.lines],
        }


def topology(model, tree: SpanningTree | None = None) -> Topology:
    """Where bodies and joints of a model are drawn; by the tree of the joint set unless another is given."""
    tree = tree or spanning_tree(model)
    children: dict[str, list[str]] = {}
    for edge in tree.edges:
        children.setdefault(edge.parent, []).append(edge.child)
    places: dict[str, tuple[float, int]] = {}
    width = 0.0
    stack = [(GROUND, 0, False)]
    while stack:  # leaves side by side, what carries them over their middle
        name, depth, done = stack.pop()
        below = children.get(name, [])
        if below and not done:
            stack += [(name, depth, True), *((child, depth + 1, False) for child in reversed(below))]
        elif below:
            xs = [places[child][0] for child in below]
            places[name] = (min(xs) + max(xs)) / 2.0, depth
        else:
            places[name] = width, depth
            width += 1.0
    return Topology(places, tuple(_lines(model, tree)))


def _lines(model, tree: SpanningTree):
    kinds = {edge.joint: "added" if edge.joint in tree.free else "tree" for edge in tree.edges}
    for edge in tree.edges:
        yield Line(edge.joint, edge.type, kinds[edge.joint], (edge.parent, edge.child))
    for name, joint in model.joints.items():
        if name not in kinds:
            yield Line(name, joint.type, "cut" if name in tree.cut else "row", _bodies(joint.between))
    for kind, section in (("row", model.constraints), ("spring", model.forces)):
        for name, element in section.items():
            between = getattr(element, "between", None)
            if between:
                yield Line(name, element.type, kind, _bodies(between))


def _bodies(between) -> tuple[str, str]:
    first, second = (marker.partition(".")[0] for marker in between)
    return first, second


def plot_topology(model, path: str | Path | None = None, tree: SpanningTree | None = None):
    """A matplotlib figure of the topology, also written to `path` when one is given."""
    found = topology(model, tree)

    def panel(figure, place):
        axes = figure.add_subplot(*place)
        wide = 1.0 + max(x for x, _ in found.places.values())
        deep = 1.0 + max(depth for _, depth in found.places.values())
        figure.set_size_inches(max(6.0, min(30.0, 1.5 * wide)), max(3.5, min(40.0, 1.5 * deep)))
        size = 9 if wide <= 14 else 7
        told = set()
        count: dict[tuple[str, str], int] = {}
        for line in found.lines:
            _draw_line(axes, found, line, count, size)
            told.add(line.kind)
        for name, (x, depth) in found.places.items():
            ground = name == GROUND
            look = {"boxstyle": "round,pad=0.35", "fc": "#d5d9df" if ground else "#e6eff9", "ec": "#39424f", "lw": 1.0}
            axes.text(x, -depth, name, ha="center", va="center", fontsize=size, bbox=look, zorder=3, parse_math=False)
        for kind in (kind for kind in WORDS if kind in told):
            axes.plot([], [], label=WORDS[kind], **LOOKS[kind])
        axes.legend(fontsize="small", loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=3, frameon=False)
        axes.set_aspect("equal")
        axes.set_xlim(-0.8, wide - 0.2)
        axes.set_ylim(-deep + 0.4, 0.6)
        axes.axis("off")

    return draw(model.title or "Topology", [panel], path)


def _draw_line(axes, found: Topology, line: Line, count: dict, size: int) -> None:
    """A line with its name; lines between the same two bodies, and lines that close loops, are bent apart."""
    a, b = line.between
    if a == b:
        return
    (xa, ya), (xb, yb) = found.places[a], found.places[b]
    key = (min(a, b), max(a, b))
    number = count.get(key, 0)
    count[key] = number + 1
    plain = line.kind in ("tree", "added")
    bend = (-1) ** number * ((0.0 if plain else 0.2) + 0.16 * (number // 2))
    look = dict(LOOKS[line.kind])
    style = look.pop("ls", "-")
    arrow = {"arrowstyle": "-", "connectionstyle": f"arc3,rad={bend}", "linestyle": style, **look}
    axes.annotate("", (xb, -yb), (xa, -ya), arrowprops=arrow, zorder=1)
    part = 0.66 if plain else 0.5  # names stand nearer to the child, where lines are farther apart
    push = 2.0 * part * (1.0 - part) * bend
    middle = xa + part * (xb - xa) + push * (ya - yb), -ya - part * (yb - ya) - push * (xb - xa)
    look = {"boxstyle": "square,pad=0.08", "fc": "white", "ec": "none", "alpha": 0.85}
    text = {
        "fontsize": size - 2,
        "color": LOOKS[line.kind]["color"],
        "ha": "center",
        "va": "center",
        "bbox": look,
        "zorder": 2,
    }
    axes.text(*middle, f"{line.name}\n{line.type}", parse_math=False, **text)
