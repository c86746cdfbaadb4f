"""Pictures of constraints, drivers, measures, starts and objectives."""

from __future__ import annotations

from math import cos, pi, sin

from drawing import AXIS, FIRST, LINE, LOAD, MOTION, SECOND, THIRD, Picture


def coincidence() -> Picture:
    p = Picture(at=(0.45, 0.6))
    p.line((0, -1.7, -0.4), (0, 0, 0), width=12, colour=LINE)
    p.line((0, -1.7, -0.4), (0, 0, 0), width=10, colour=FIRST)
    p.line((0, 1.6, 0.6), (0, 0, 0), width=12, colour=LINE)
    p.line((0, 1.6, 0.6), (0, 0, 0), width=10, colour=SECOND)
    p.dot((0, 0, 0), MOTION, 5)
    p.text((0, 0, 0), "two points are one", (-50, 26), MOTION)
    return p


def distance() -> Picture:
    p = Picture(at=(0.45, 0.6))
    p.box((0, -1.3, -0.2), (0.6, 0.7, 0.5), FIRST)
    p.box((0, 1.3, 0.2), (0.6, 0.7, 0.5), SECOND)
    p.line((0.3, -1.1, -0.1), (0.3, 1.1, 0.25), colour=MOTION, width=1.6, dash="5 3")
    p.dot((0.3, -1.1, -0.1))
    p.dot((0.3, 1.1, 0.25))
    p.text((0.3, 0, 0.1), "distance", (-22, -10), MOTION)
    return p


def _two_vectors(value: float, label: str) -> Picture:
    p = Picture(at=(0.36, 0.72))
    p.box((0, 0, -0.2), (0.6, 0.6, 0.3), FIRST)
    p.line((0, 0), (0, 1.6), colour=LINE, width=2, arrow=True)
    p.text((0, 1.6), "first", (-30, 4))
    end = (1.6 * sin(value), 1.6 * cos(value))
    p.line((0, 0), end, colour="#3d7ab8", width=2, arrow=True)
    p.text(end, "second", (6, 4), "#3d7ab8")
    arc = [(0.7 * sin(value * k / 20), 0.7 * cos(value * k / 20)) for k in range(21)]
    p.line(*arc, colour=MOTION, width=1.6)
    p.text((0.85 * sin(value / 2), 0.85 * cos(value / 2)), label, (2, 0), MOTION)
    return p


def dot() -> Picture:
    p = _two_vectors(pi / 2, "")
    p.text((0.3, 0.95), "first · second = value", (-4, 0), MOTION)
    return p


def angle() -> Picture:
    return _two_vectors(pi / 3.2, "value")


def _beside(first: str, second: str, back: bool) -> Picture:
    """Two bodies, each with a vector; `back` shows that the second may point the other way."""
    p = Picture(at=(0.36, 0.6))
    for x, fill, colour, label in ((-0.7, FIRST, LINE, first), (0.9, SECOND, "#3d7ab8", second)):
        p.box((0, x, -0.3), (0.6, 0.7, 0.4), fill)
        p.line((0, x, 0), (0, x, 1.3), colour=colour, width=2, arrow=True)
        p.text((0, x, 1.3), label, (6, 8), colour)
    if back:
        p.line((0, 1.15, 1.0), (0, 1.15, 0.1), colour="#3d7ab8", width=1.4, dash="4 3", arrow=True)
    return p


def parallel() -> Picture:
    p = _beside("first", "second", back=True)
    p.text((0, -0.9, -1.1), "first × second = 0", (-22, 12), MOTION)
    return p


def same_direction() -> Picture:
    p = _beside("first", "second", back=False)
    p.text((0, -0.9, -1.1), "first = second", (-10, 12), MOTION)
    return p


def point_on_line() -> Picture:
    p = Picture(at=(0.45, 0.6))
    p.box((0, -1.2, -0.3), (0.6, 0.7, 0.5), FIRST)
    p.line((0, -1.2, 0.0), (0, 1.7, 0.5), colour=AXIS, width=1.4, dash="8 3 1.5 3")
    p.line((0, -1.2, 0.0), (0, -0.4, 0.14), colour=LINE, width=2, arrow=True)
    p.dot((0, -1.2, 0.0))
    p.text((0, -0.5, 0.14), "along", (-8, -8))
    p.line((0, 0.8, 0.345), (0, 1.3, -0.7), width=12)
    p.line((0, 0.8, 0.345), (0, 1.3, -0.7), width=10, colour=SECOND)
    p.dot((0, 0.8, 0.345), MOTION, 5)
    p.text((0, 0.8, 0.345), "point", (-4, -12), MOTION)
    return p


def point_in_plane() -> Picture:
    p = Picture(at=(0.45, 0.6))
    p.area((-0.9, -1.5, -0.2), (0.9, -1.5, -0.2), (0.9, 1.5, -0.2), (-0.9, 1.5, -0.2), fill=FIRST)
    p.line((0.2, -0.9, -0.2), (0.2, -0.9, 0.7), colour=LINE, width=2, arrow=True)
    p.dot((0.2, -0.9, -0.2))
    p.text((0.2, -0.9, 0.7), "normal", (6, 6))
    p.line((0, 0.6, -0.2), (-0.3, 0.9, 0.9), width=12)
    p.line((0, 0.6, -0.2), (-0.3, 0.9, 0.9), width=10, colour=SECOND)
    p.dot((0, 0.6, -0.2), MOTION, 5)
    p.text((0, 0.6, -0.2), "point", (10, 6), MOTION)
    return p


def linear() -> Picture:
    p = Picture(at=(0.36, 0.5))
    for centre, radius, fill, direction in (((0, 0), 0.95, FIRST, 1), ((1.5, 0), 0.55, SECOND, -1)):
        teeth = round(radius * 20)
        outline = []
        for k in range(4 * teeth):
            r = radius + (0.05 if k % 4 < 2 else -0.05)
            a = 2 * pi * (k + 0.5) / (4 * teeth)
            outline.append((centre[0] + r * cos(a), centre[1] + r * sin(a)))
        p.area(*outline, fill=fill)
        arc = [(centre[0] + 0.6 * radius * cos(a), centre[1] + 0.6 * radius * sin(a)) for a in _angles(direction)]
        p.line(*arc, colour=MOTION, width=1.8, arrow=True)
        p.dot(centre)
    p.text((-1.0, -1.25), "2·first.angle + second.angle = value", (-22, 4), MOTION, size=11)
    return p


def _angles(direction: int) -> list[float]:
    return [direction * (0.3 + 1.3 * pi * k / 40) for k in range(41)]


def guidance() -> Picture:
    p = Picture(at=(0.4, 0.62))
    p.box((0, 0.3, -0.35), (0.5, 3.0, 0.3), FIRST)
    p.box((0, 0.45, 0.1), (0.8, 0.8, 0.6), SECOND)
    p.line((0.45, -0.4, 0.75), (0.45, 1.3, 0.75), colour=MOTION, width=1.8, arrow=True)
    p.line((0.45, 1.0, 0.75), (0.45, -0.4, 0.75), colour=MOTION, width=1.8, arrow=True)
    p.text((0.45, -0.6, 0.75), "measure = value(t)", (-8, -10), MOTION)
    return p


def path() -> Picture:
    p = Picture(at=(0.45, 0.6))
    points = [(0, 1.5 * cos(a), 0.55 * sin(2 * a) + 0.2) for a in (2 * pi * k / 80 for k in range(81))]
    p.line(*points, colour=MOTION, width=1.5, dash="5 3")
    p.ball(points[8], 0.26, SECOND)
    p.dot(points[8])
    p.text((0, -1.4, -0.6), "marker = (x(t), y(t), z(t))", (-20, 18), MOTION)
    return p


def driver() -> Picture:
    p = Picture()
    p.box((0, 0, -0.75), (0.9, 0.9, 0.25), FIRST)
    p.cylinder((0, 0, -0.62), (0, 0, -0.1), 0.34, THIRD)
    p.cylinder((0, 0, -0.1), (0, 0, 0.02), 0.14, FIRST)
    p.box((0, 0.75, 0.12), (0.36, 1.9, 0.24), SECOND)
    p.axis((0, 0, 0.24), (0, 0, 1.15))
    p.arc((0, 0, 0.7), (0, 0, 1), 0.45, -0.3, 1.45 * pi)
    p.text((0, 0.5, 0.7), "angle = 6 t", (8, 4), MOTION)
    return p


def measure() -> Picture:
    p = Picture(at=(0.2, 0.75))
    p.floor((0, 0), 1.0)
    p.line((0, 0), (1.1, 1.4), width=12)
    p.line((0, 0), (1.1, 1.4), width=10, colour=SECOND)
    p.line((1.1, 1.4), (2.5, 1.0), width=12)
    p.line((1.1, 1.4), (2.5, 1.0), width=10, colour=THIRD)
    p.line((0, 0), (2.5, 1.0), colour=MOTION, width=1.6, dash="5 3")
    p.text((1.6, 0.55), "reach", (0, 16), MOTION)
    p.line((0.6, 0), (0.9, 0), colour=AXIS)
    arc = [(0.75 * cos(a), 0.75 * sin(a)) for a in (k * 0.38 / 10 for k in range(11))]
    p.line(*arc, colour=MOTION)
    p.text((0.9, 0.05), "lean", (4, 0), MOTION)
    for point in ((0, 0), (1.1, 1.4), (2.5, 1.0)):
        p.dot(point)
    return p


def freedom() -> Picture:
    p = Picture(at=(0.36, 0.3))
    p.floor((0, 0), 0.8)
    end = (1.5 * sin(0.7), -1.5 * cos(0.7))
    p.line((0, 0), (0, -1.8), colour=AXIS, dash="8 3 1.5 3")
    p.line((0, 0), end, width=12)
    p.line((0, 0), end, width=10, colour=SECOND)
    p.dot((0, 0))
    arc = [(0.8 * sin(a), -0.8 * cos(a)) for a in (0.7 * k / 20 for k in range(21))]
    p.line(*arc, colour=MOTION, width=1.6)
    p.text((0.1, -0.9), "position", (-62, 4), MOTION)
    arc = [(1.75 * sin(a), -1.75 * cos(a)) for a in (0.7 + 0.45 * k / 20 for k in range(21))]
    p.line(*arc, colour=MOTION, width=1.8, arrow=True)
    p.text((1.75, -0.9), "velocity", (2, 6), MOTION)
    return p


def _curve(shade: bool) -> Picture:
    p = Picture(at=(0.14, 0.78))
    curve = [(3.0 * k / 60, 1.0 + 0.6 * sin(1.9 * 3.0 * k / 60)) for k in range(61)]
    if shade:
        p.area((0, 0), *curve, (3.0, 0), fill="#d5ead9", colour="#d5ead9")
    p.line((0, 0), (3.4, 0), colour=AXIS, arrow=True)
    p.line((0, 0), (0, 2.2), colour=AXIS, arrow=True)
    p.line(*curve, colour=LOAD, width=2)
    p.text((3.3, 0), "t", (0, 16))
    p.text((3.0, 0), "t_end", (-22, 16))
    return p


def integral() -> Picture:
    p = _curve(True)
    p.text((1.2, 0.6), "∫ g dt", (0, 4), LOAD, size=15)
    p.text((0.1, 1.9), "g, an expression", (6, 0), LOAD)
    return p


def final() -> Picture:
    p = _curve(False)
    end = (3.0, 1.0 + 0.6 * sin(5.7))
    p.line((3.0, 0), end, colour=AXIS, dash="4 3")
    p.dot(end, LOAD, 5)
    p.text(end, "g at t_end", (-40, -12), LOAD)
    return p


PICTURES = {
    "constraint_coincidence": coincidence,
    "constraint_distance": distance,
    "constraint_dot": dot,
    "constraint_angle": angle,
    "constraint_parallel": parallel,
    "constraint_same_direction": same_direction,
    "constraint_point_on_line": point_on_line,
    "constraint_point_in_plane": point_in_plane,
    "constraint_linear": linear,
    "constraint_guidance": guidance,
    "constraint_path": path,
    "driver": driver,
    "measure": measure,
    "freedom": freedom,
    "objective_integral": integral,
    "objective_final": final,
}
