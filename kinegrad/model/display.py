"""The summary of a model for notebooks: what it is made of, and the graph of its bodies and joints."""

from __future__ import annotations

from html import escape
from math import cos, pi, sin

from kinegrad.markup import frame, listed, svg, table

MOST_BODIES = 30  # that a graph of the bodies shows


def model_html(model) -> str:
    """What a model is made of, and the graph of its bodies and joints."""
    rows = [
        (key.replace("_", " "), listed(getattr(model, key)))
        for key in ("bodies", "joints", "forces", "constraints", "drivers", "degrees_of_freedom", "objectives")
        if getattr(model, key)
    ]
    rows.append(("parameters", listed(model.parameters)))
    picture = graph(model) if len(model.bodies) <= MOST_BODIES else ""
    return frame(model.title or "Model", table(rows), picture)


def graph(model, width: int = 340, height: int = 260) -> str:
    """SVG of the bodies on a ring, the ground below, and the joints between them."""
    names = ["ground", *model.bodies]
    places = {
        name: (
            width / 2 + (width / 2 - 50) * sin(2 * pi * k / len(names)),
            height / 2 + (height / 2 - 26) * cos(2 * pi * k / len(names)),
        )
        for k, name in enumerate(names)
    }
    parts = []
    between: dict[frozenset, int] = {}
    for name, joint in model.joints.items():
        first, second = (marker.partition(".")[0] for marker in joint.between)
        if first in places and second in places:
            pair = frozenset((first, second))
            parts.append(_edge(places[first], places[second], between.get(pair, 0), name, joint.type))
            between[pair] = between.get(pair, 0) + 1
    for name, (x, y) in places.items():
        half = 3.3 * len(name) + 8
        fill = "#dddddd" if name == "ground" else "#dbe9f6"
        parts.append(
            f'<rect x="{x - half:.1f}" y="{y - 10:.1f}" width="{2 * half:.1f}" height="20" rx="5" fill="{fill}" stroke="#555"/>'
            f'<text x="{x:.1f}" y="{y + 4:.1f}" text-anchor="middle" font-size="11">{escape(name)}</text>'
        )
    return svg(width, height, parts, f"bodies and joints of {model.title or 'a model'}")


def _edge(a, b, bend: int, name: str, kind: str) -> str:
    """A joint: a line, bent when there are several between two bodies, with its name."""
    x, y = 0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])
    u, v = b[1] - a[1], a[0] - b[0]
    size = (u * u + v * v) ** 0.5 or 1.0
    x, y = x + 22 * bend * u / size, y + 22 * bend * v / size
    cx, cy = 2 * x - 0.5 * (a[0] + b[0]), 2 * y - 0.5 * (a[1] + b[1])
    return (
        f'<path d="M{a[0]:.1f},{a[1]:.1f} Q{cx:.1f},{cy:.1f} {b[0]:.1f},{b[1]:.1f}" fill="none" stroke="#555" '
        f'stroke-width="1.2"><title>{escape(name)}: {escape(kind)}</title></path>'
        f'<text x="{x:.1f}" y="{y + 3:.1f}" text-anchor="middle" font-size="10" fill="#a03" stroke="#fff" stroke-width="3" '
        f'paint-order="stroke">{escape(name)}</text>'
    )
