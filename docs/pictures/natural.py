"""Pictures of natural coordinates: which points and vectors carry a mechanism.

What moves, three coordinates each (two in a plane), is red; what is fixed in the ground is black.
``python docs/pictures/natural.py`` writes them beside this file.
"""

from __future__ import annotations

from math import cos, sin
from pathlib import Path

import numpy as np
from drawing import AXIS, FIRST, LINE, MOTION, SECOND, THIRD, Picture

BAR = 7.0  # width of a bar on the page


def bar(p: Picture, start, end, fill) -> None:
    """A bar between two points."""
    p.line(start, end, colour=LINE, width=BAR + 2.0)
    p.line(start, end, colour=fill, width=BAR)


def moving(p: Picture, point, name, shift) -> None:
    """A point that moves."""
    p.dot(point, MOTION, 4.5)
    p.text(point, name, shift, MOTION)


def fixed(p: Picture, point, name, shift) -> None:
    """A point of the ground."""
    p.dot(point, LINE, 4.5)
    p.text(point, name, shift)


def vector(p: Picture, start, direction, name, shift, colour=MOTION, length=0.8) -> None:
    """A unit vector, drawn from a point."""
    start, direction = np.array(start, float), np.array(direction, float)
    end = start + length * direction / np.linalg.norm(direction)
    p.line(start, end, colour=colour, width=2.2, arrow=True)
    p.text(end, name, shift, colour)


def natural_five_bar() -> Picture:
    """Three points move; the axes are one, the ground's, across the page."""
    p = Picture(360, 230, at=(0.35, 0.2))
    A, P1, P2, P3, B = (0, 0), (-1.3, -1.3), (0.65, -2.6), (2.6, -1.3), (1.3, 0)
    p.floor((0, 0), 0.7)
    p.floor((1.3, 0), 0.7)
    for ends in ((A, P1), (P1, P2), (P2, P3), (P3, B)):
        bar(p, *ends, SECOND)
    fixed(p, A, "A", (-16, -6))
    fixed(p, B, "B", (9, -6))
    moving(p, P1, "P1", (-24, 4))
    moving(p, P2, "P2", (-7, 20))
    moving(p, P3, "P3", (9, 4))
    z = (2.35, 0.1)
    p.dot(z, LINE, 2.6)
    p.parts.append(
        f'<circle cx="{p.place(z)[0]:.1f}" cy="{p.place(z)[1]:.1f}" r="7" fill="none" stroke="{LINE}" stroke-width="1.4"/>'
    )
    p.text(z, "z", (12, 4))
    return p


def natural_slider_crank() -> Picture:
    """Two points and two vectors move: the crank is one point, the slider one, the rod has both and two vectors."""
    p = Picture(400, 270, at=(0.5, 0.62))
    s = 11.0
    A, B, C, O = (s * np.array(x) for x in ((0, 0.1, 0.12), (0, 0.1, 0.2), (0.2, 0, 0), (0, 0, 0)))
    p.axis(O - [0.4, 0, 0], O + [3.4, 0, 0])
    p.cylinder(A - [0.7, 0, 0], A - [0.1, 0, 0], 0.22, FIRST)
    bar(p, A, B, SECOND)
    bar(p, B, C, THIRD)
    p.box(C - [0, 0, 0.0], (0.75, 0.4, 0.4), SECOND)
    vector(p, A, (1, 0, 0), "x", (4, 14), LINE, 0.9)
    for k, (name, shift) in enumerate((("x", (-4, 16)), ("y", (6, 6)), ("z", (-4, -6)))):
        vector(p, O, np.eye(3)[k], name, shift, LINE, 0.7)
    fixed(p, A, "A", (12, 10))
    fixed(p, O, "O", (8, 18))
    moving(p, B, "B", (10, -4))
    moving(p, C, "C", (-34, -6))
    vector(p, C, (0, 2, -1), "u", (6, 6), length=0.95)
    middle = 0.5 * (B + C)
    vector(p, middle, (1, 0, 0), "e", (-14, 2), length=0.8)
    return p


def natural_follower() -> Picture:
    """A block on a turning arm: it has one point, and the orientation of the arm."""
    p = Picture(330, 170, at=(0.12, 0.82))
    angle = 0.42
    along, across = np.array([cos(angle), sin(angle)]), np.array([-sin(angle), cos(angle)])
    O, E, S = np.zeros(2), 4.6 * along, 2.5 * along
    p.floor((0, -0.12), 0.9)
    bar(p, O, E, FIRST)
    corners = [S + a * 0.5 * along + b * 0.32 * across for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    p.area(*corners, fill=SECOND)
    fixed(p, O, "O", (-20, 4))
    moving(p, E, "E", (9, 4))
    moving(p, S, "S", (-6, -22))
    p.line(S + 0.75 * along - 0.55 * across, S + 1.6 * along - 0.55 * across, colour=AXIS, width=1.6, arrow=True)
    return p


PICTURES = {draw.__name__: draw for draw in (natural_five_bar, natural_slider_crank, natural_follower)}


def write(folder: Path) -> None:
    """Write every picture to `folder`."""
    for name, draw in PICTURES.items():
        (folder / f"{name}.svg").write_text(draw().svg(name.replace("_", " ")), encoding="utf-8")


if __name__ == "__main__":
    write(Path(__file__).parent)
