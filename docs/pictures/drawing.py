"""A few strokes in space, written as SVG: what the pictures of the modelling pages are drawn with."""

from __future__ import annotations

from math import cos, hypot, pi, sin

import numpy as np

FIRST, SECOND, THIRD = "#d9d9d9", "#a9c9ea", "#f3c98b"  # fill of the first, the second and a third body
LINE, AXIS, MOTION, LOAD = "#333333", "#777777", "#c0392b", "#1a7f37"  # edges, axes, what moves, what pushes
SCALE = 52.0  # of a unit on the page
#: Seen from (1, 0.58, 0.47): x towards the reader and to the left, y to the right, z up.
VIEW = np.array([[-0.55, 0.95, 0.0], [0.35, 0.20, -1.0]])


class Picture:
    """A drawing of `width` by `height`, whose origin is at `at` (fractions of both)."""

    def __init__(self, width: int = 230, height: int = 170, at=(0.5, 0.6)):
        self.width, self.height = width, height
        self.at = np.array([at[0] * width, at[1] * height])
        self.parts: list[str] = []

    # --- from space to the page ---

    def place(self, point) -> np.ndarray:
        """Where a point of space, or of the page (two numbers, y up), is drawn."""
        point = np.asarray(point, float)
        flat = VIEW @ point if len(point) == 3 else point * [1.0, -1.0]
        return self.at + SCALE * flat

    def _list(self, points) -> str:
        return " ".join(f"{x:.1f},{y:.1f}" for x, y in map(self.place, points))

    # --- strokes ---

    def line(self, *points, colour=LINE, width=1.4, dash="", arrow=False) -> None:
        """A line through points, with an arrow at its end."""
        style = f'fill="none" stroke="{colour}" stroke-width="{width}" stroke-linecap="round" stroke-linejoin="round"'
        dash = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(f'<polyline points="{self._list(points)}" {style}{dash}/>')
        if arrow:
            self._head(self.place(points[-2]), self.place(points[-1]), colour)

    def _head(self, before, end, colour, size=8.0) -> None:
        along = (end - before) / max(hypot(*(end - before)), 1e-9)
        across = np.array([-along[1], along[0]])
        corners = (
            end + 1.0 * along,
            end - size * along + 0.42 * size * across,
            end - size * along - 0.42 * size * across,
        )
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
        self.parts.append(f'<polygon points="{points}" fill="{colour}"/>')

    def area(self, *points, fill, colour=LINE, width=1.0) -> None:
        """A filled polygon."""
        style = f'fill="{fill}" stroke="{colour}" stroke-width="{width}" stroke-linejoin="round"'
        self.parts.append(f'<polygon points="{self._list(points)}" {style}/>')

    def arc(self, centre, axis, radius, start=0.0, end=1.5 * pi, colour=MOTION, arrow=True, width=1.8, dash="") -> None:
        """Part of a circle about an axis; the angle counts right-handed."""
        points = circle(centre, axis, radius, start, end)
        self.line(*points, colour=colour, width=width, arrow=arrow, dash=dash)

    def axis(self, start, end, name="") -> None:
        """An axis: dash and dot."""
        self.line(start, end, colour=AXIS, width=1.1, dash="8 3 1.5 3")
        if name:
            self.text(end, name, shift=(4, -2))

    def dot(self, point, colour=LINE, radius=3.2) -> None:
        """A marker."""
        x, y = self.place(point)
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{colour}"/>')

    def text(self, point, text, shift=(0, 0), colour=LINE, anchor="start", size=12) -> None:
        """A short text beside a point, shifted on the page."""
        x, y = self.place(point) + np.array(shift, float)
        text = text.replace("&", "&amp;").replace("<", "&lt;")
        style = f'font-size="{size}" fill="{colour}" text-anchor="{anchor}"'
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" {style}>{text}</text>')

    # --- bodies ---

    def box(self, centre, size, fill) -> None:
        """A block along the axes; its three faces towards the reader."""
        c, h = np.array(centre, float), 0.5 * np.array(size, float)
        for k, shade in ((2, 1.06), (0, 0.86), (1, 0.95)):
            i, j = [n for n in range(3) if n != k]
            corners = []
            for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
                corner = c.copy()
                corner[k] += h[k]
                corner[i] += a * h[i]
                corner[j] += b * h[j]
                corners.append(corner)
            self.area(*corners, fill=shaded(fill, shade))

    def cylinder(self, start, end, radius, fill) -> None:
        """A round bar; its end towards the reader is a face."""
        start, end = np.array(start, float), np.array(end, float)
        axis = end - start
        near, far = (end, start) if axis @ [1.0, 0.58, 0.47] > 0.0 else (start, end)
        outline = hull([self.place(p) for p in (*circle(near, axis, radius), *circle(far, axis, radius))])
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in outline)
        style = f'stroke="{LINE}" stroke-width="1" stroke-linejoin="round"'
        self.parts.append(f'<polygon points="{points}" fill="{shaded(fill, 0.95)}" {style}/>')
        self.area(*circle(near, axis, radius), fill=shaded(fill, 1.06))

    def ball(self, centre, radius, fill) -> None:
        """A ball."""
        x, y = self.place(centre)
        self.parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius * SCALE:.1f}" fill="{fill}" stroke="{LINE}" stroke-width="1"/>'
        )

    def spring(self, start, end, coils=6, radius=0.13, colour=LOAD) -> None:
        """A zigzag between two points, drawn on the page."""
        a, b = self.place(start), self.place(end)
        along = (b - a) / hypot(*(b - a))
        across = np.array([-along[1], along[0]]) * radius * SCALE
        steps = [a, a + 0.15 * (b - a)]
        steps += [a + (0.15 + 0.7 * (k + 0.5) / (2 * coils)) * (b - a) + (-1) ** k * across for k in range(2 * coils)]
        steps += [a + 0.85 * (b - a), b]
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in steps)
        self.parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>')

    def floor(self, centre, length=1.0) -> None:
        """A hatched line on the page: the ground, below `centre`."""
        x, y = self.place(centre)
        half = 0.5 * length * SCALE
        strokes = [f"M{x - half:.1f},{y:.1f} H{x + half:.1f}"]
        n = int(2 * half // 8)
        strokes += [f"M{x - half + 8 * k + 7:.1f},{y:.1f} l-6,7" for k in range(n + 1) if 8 * k + 7 <= 2 * half + 4]
        self.parts.append(f'<path d="{" ".join(strokes)}" fill="none" stroke="{LINE}" stroke-width="1.2"/>')

    # --- the file ---

    def svg(self, title: str) -> str:
        """The text of the file."""
        size = f'width="{self.width}" height="{self.height}" viewBox="0 0 {self.width} {self.height}"'
        body = "\n".join(self.parts)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" role="img">\n<title>{title}</title>\n'
            f'<rect width="{self.width}" height="{self.height}" fill="#ffffff"/>\n{body}\n</svg>\n'
        )


def circle(centre, axis, radius, start=0.0, end=2 * pi) -> list[np.ndarray]:
    """Points of a circle about an axis, right-handed, from the direction that is seen best."""
    axis = np.array(axis, float) / np.linalg.norm(axis)
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    u = np.cross(axis, helper)
    u /= np.linalg.norm(u)
    v = np.cross(axis, u)
    n = max(8, int(abs(end - start) * 12))
    angles = [start + (end - start) * k / n for k in range(n + 1)]
    return [np.array(centre, float) + radius * (cos(a) * u + sin(a) * v) for a in angles]


def hull(points) -> list[tuple[float, float]]:
    """Corners of the convex hull."""
    points = sorted({(round(float(x), 3), round(float(y), 3)) for x, y in points})

    def half(order):
        kept: list = []
        for p in order:
            while len(kept) > 1 and _turn(kept[-2], kept[-1], p) <= 0:
                kept.pop()
            kept.append(p)
        return kept[:-1]

    return half(points) + half(points[::-1])


def _turn(a, b, c) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def shaded(colour: str, factor: float) -> str:
    """A colour made lighter or darker."""
    rgb = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return "#" + "".join(f"{min(255, round(c * factor)):02x}" for c in rgb)
