"""A mechanism with the paths of its points as a small SVG picture, drawn without a plotting library."""

from __future__ import annotations

from html import escape

import numpy as np

from kinegrad.markup import svg

COLOURS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf")
FLAT = 1e-3  # what is thinner, relative to its length, is drawn in a plane
MOST_POINTS = 240  # of a path
#: Directions of the two axes of a drawing in space: x to the lower left, y to the right, z up.
IN_SPACE = np.array([[-0.55, 0.95, 0.0], [-0.35, -0.20, 1.0]])


def sketch(motion, width: int = 340, height: int = 260, at: int = -1) -> str:
    """SVG of the mechanism at one of the states kept, the last by default, with the paths of its points.

    A body is drawn through its points in the order of the file; a point that stands alone is a disc. The ground is grey.
    """
    bodies = _points(motion.system)
    if not bodies:
        return ""
    x = motion.marker_array()[:, :, 0]
    used = [k for numbers in bodies.values() for k in numbers]
    flat, axes = _flatten(x[:, used])
    position = dict(zip(used, range(len(used)), strict=True))
    draw = _Scale(flat, width, height)
    parts = [draw.axes_names(axes)]
    stride = max(1, len(x) // MOST_POINTS)
    for c, (body, numbers) in enumerate(bodies.items()):
        colour = _colour(body, c)
        columns = [position[k] for k in numbers]
        if body != "ground":
            parts += [draw.path(flat[::stride, k], colour) for k in columns]
    for c, (body, numbers) in enumerate(bodies.items()):
        parts.append(draw.body(flat[at, [position[k] for k in numbers]], _colour(body, c), body))
    return draw.document(parts, motion.system.model.title or "mechanism")


def _colour(body: str, number: int) -> str:
    return "#888888" if body == "ground" else COLOURS[(number - 1) % len(COLOURS)]


def _points(system) -> dict[str, list[int]]:
    """Numbers of the points, not of the directions, by body, in the order of the file."""
    from kinegrad.model.bodies import VectorMarker

    model = system.model
    order = {name: k for k, name in enumerate(system.markers)}
    found = {}
    for body, element in {"ground": model.ground, **model.bodies}.items():
        numbers = [
            order[f"{body}.{name}"]
            for name, marker in element.markers.items()
            if not isinstance(marker, VectorMarker) and f"{body}.{name}" in order
        ]
        if numbers:
            found[body] = numbers
    return found


def _flatten(x: np.ndarray) -> tuple[np.ndarray, str]:
    """(k, points, 2) coordinates in the picture, and the names of its axes: a global plane, or a view in space."""
    extent = np.ptp(x.reshape(-1, 3), axis=0)
    shown = [c for c in range(3) if extent[c] > FLAT * extent.max()]
    if len(shown) == 3:
        return x @ IN_SPACE.T, ""
    shown = sorted(np.argsort(-extent, kind="stable")[:2])
    return x[:, :, shown], "".join("xyz"[c] for c in shown)


class _Scale:
    """From coordinates to places on the page, both axes alike; the strip at the left is for the names of the axes."""

    STRIP = 50.0

    def __init__(self, points: np.ndarray, width: int, height: int, margin: float = 14.0):
        low, high = points.reshape(-1, 2).min(axis=0), points.reshape(-1, 2).max(axis=0)
        size = np.maximum(high - low, 1e-9 * (np.abs(points).max() or 1.0))
        self.factor = float(min((width - self.STRIP - 2 * margin) / size[0], (height - 2 * margin) / size[1]))
        self.centre = 0.5 * (low + high)
        self.width, self.height = width, height

    def place(self, point) -> tuple[float, float]:
        """Place on the page, y downwards."""
        x, y = self.factor * (np.asarray(point) - self.centre)
        return (self.width + self.STRIP) / 2 + x, self.height / 2 - y

    def _list(self, points) -> str:
        return " ".join(f"{x:.1f},{y:.1f}" for x, y in map(self.place, points))

    def path(self, points, colour: str) -> str:
        """The way of a point, thin."""
        style = f'fill="none" stroke="{colour}" stroke-width="0.8" stroke-opacity="0.55"'
        return f'<polyline points="{self._list(points)}" {style}/>'

    def body(self, points, colour: str, name: str) -> str:
        """A body through its points; the ground is squares, larger than what turns about them."""
        if name == "ground":
            squares = (
                f'<rect x="{x - 5:.1f}" y="{y - 5:.1f}" width="10" height="10"/>' for x, y in map(self.place, points)
            )
            return f'<g fill="{colour}"><title>{escape(name)}</title>{"".join(squares)}</g>'
        dots = "".join(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{7 if len(points) == 1 else 3}" fill="{colour}"/>'
            for x, y in map(self.place, points)
        )
        kind = "polygon" if len(points) > 2 else "polyline"
        style = f'fill="{colour}" fill-opacity="0.15" stroke="{colour}" stroke-width="3" stroke-linejoin="round"'
        line = "" if len(points) == 1 else f'<{kind} points="{self._list(points)}" {style}/>'
        return f"<g><title>{escape(name)}</title>{line}{dots}</g>"

    def axes_names(self, axes: str) -> str:
        """Small arrows that tell what is right and what is up, or the three axes in space."""
        x, y, length = 12.0, self.height - 12.0, 20.0
        ends = (
            [((1.0, 0.0), axes[0]), ((0.0, 1.0), axes[1])]
            if axes
            else [(IN_SPACE[:, c] / np.linalg.norm(IN_SPACE[:, c]), "xyz"[c]) for c in range(3)]
        )
        x += 0.0 if axes else 14.0
        y -= 0.0 if axes else 10.0
        return "".join(
            f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{x + length * u:.1f}" y2="{y - length * v:.1f}" stroke="#555"/>'
            f'<text x="{x + 1.35 * length * u:.1f}" y="{y - 1.35 * length * v + 3:.1f}" text-anchor="middle" '
            f'font-size="10" fill="#555">{name}</text>'
            for (u, v), name in ends
        )

    def document(self, parts: list[str], title: str) -> str:
        """The whole picture."""
        return svg(self.width, self.height, parts, title)
