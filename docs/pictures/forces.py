"""Pictures of the forces: what acts is green."""

from __future__ import annotations

from math import exp, pi, sin

from drawing import AXIS, FIRST, LOAD, MOTION, SECOND, THIRD, Picture


def gravity() -> Picture:
    p = Picture(at=(0.42, 0.45))
    p.box((0, -0.6, 0.2), (0.6, 0.8, 0.5), SECOND)
    p.ball((0, 1.0, 0.3), 0.3, THIRD)
    for y, z in ((-0.6, -0.15), (1.0, 0.0)):
        p.line((0, y, z), (0, y, z - 0.95), colour=LOAD, width=2, arrow=True)
    p.text((0, -0.6, -0.7), "m g", (8, 4), LOAD)
    p.text((0, 1.0, -0.6), "m g", (8, 4), LOAD)
    return p


def spring() -> Picture:
    p = Picture(at=(0.45, 0.55))
    p.box((0, -1.4, -0.25), (0.6, 0.6, 0.5), FIRST)
    p.box((0, 1.4, 0.35), (0.6, 0.6, 0.5), SECOND)
    p.spring((0.3, -1.15, -0.1), (0.3, 1.15, 0.4))
    p.dot((0.3, -1.15, -0.1))
    p.dot((0.3, 1.15, 0.4))
    p.text((0.3, -0.3, 0.5), "stiffness, damping", (-30, -16), LOAD)
    p.text((0.3, 0, -0.3), "natural_length", (-28, 18), LOAD)
    return p


def bushing() -> Picture:
    p = Picture(at=(0.45, 0.55))
    p.box((0, -1.5, -0.25), (0.6, 0.6, 0.5), FIRST)
    p.box((0, 1.5, 0.35), (0.6, 0.6, 0.5), SECOND)
    first, second = (0.3, -1.0, -0.2), (0.3, 1.0, 0.3)
    p.spring(first, second)
    for x, y, z in (first, second):
        for axis in ((0.6, 0, 0), (0, 0.45, 0), (0, 0, 0.55)):
            p.line((x, y, z), (x + axis[0], y + axis[1], z + axis[2]), colour=AXIS, arrow=True)
        p.dot((x, y, z))
    p.arc((0.3, 1.0, 0.65), (0, 0, 1), 0.22, -0.3, 1.5 * pi, colour=LOAD, width=1.8)
    p.text((0.3, 0, -0.3), "stiffness, damping", (-40, 20), LOAD)
    p.text((0.3, 1.0, 0.75), "rotational_stiffness", (-90, -14), LOAD)
    return p


def spring_on_measure() -> Picture:
    p = Picture()
    p.box((0, 0, -0.75), (0.9, 0.9, 0.25), FIRST)
    p.cylinder((0, 0, -0.62), (0, 0, 0.0), 0.2, FIRST)
    p.box((0, 0.75, 0.12), (0.36, 1.9, 0.24), SECOND)
    p.axis((0, 0, 0.24), (0, 0, 1.15))
    points = []
    for k in range(61):
        a = 4 * pi * k / 60
        r = 0.15 + 0.4 * k / 60
        points.append((r * sin(a + 1.2), -r * sin(a + 1.2 - pi / 2), 0.3 + 0.004 * k))
    p.line(*points, colour=LOAD, width=1.6)
    p.text((0, 0.4, 0.75), "stiffness × (angle − natural_value)", (-92, -32), LOAD, size=11)
    return p


def force() -> Picture:
    p = Picture(at=(0.42, 0.62))
    p.box((0, 0.2, 0), (0.7, 1.5, 0.5), SECOND)
    p.dot((0.35, 0.7, 0.1))
    p.line((0.35, 0.7, 0.1), (0.35, 1.7, 0.8), colour=LOAD, width=2.2, arrow=True)
    p.text((0.35, 1.7, 0.8), "value", (-8, -8), LOAD)
    p.text((0.35, 0.7, 0.1), "at", (-18, 4))
    return p


def torque() -> Picture:
    p = Picture(at=(0.42, 0.62))
    p.box((0, 0.2, 0), (0.7, 1.5, 0.5), SECOND)
    p.axis((0, 0.2, 0.25), (0, 0.2, 1.4))
    p.arc((0, 0.2, 0.8), (0, 0, 1), 0.5, -0.3, 1.5 * pi, colour=LOAD, width=2.2)
    p.text((0, 0.8, 0.8), "value", (10, 4), LOAD)
    return p


def on_measure() -> Picture:
    p = Picture(at=(0.42, 0.62))
    p.box((0, 0.3, -0.35), (0.5, 3.0, 0.3), FIRST)
    p.box((0, 0.45, 0.1), (0.8, 0.8, 0.6), SECOND)
    p.line((0, 0.9, 0.2), (0, 1.9, 0.2), colour=LOAD, width=2.2, arrow=True)
    p.text((0, 1.2, 0.2), "value", (-2, -10), LOAD)
    p.line((0.45, -1.0, 0.75), (0.45, 0.45, 0.75), colour=MOTION, width=1.4, arrow=True)
    p.text((0.45, -0.9, 0.75), "acts_on: a measure", (-14, -8), MOTION)
    return p


def actuator() -> Picture:
    p = Picture(at=(0.14, 0.78))
    p.line((0, 0), (3.3, 0), colour=AXIS, arrow=True)
    p.line((0, 0), (0, 2.2), colour=AXIS, arrow=True)
    p.text((3.2, 0), "t", (0, 16))
    p.text((0, 2.2), "force", (8, 4), LOAD)
    p.line((0, 1.7), (3.1, 1.7), colour=MOTION, width=1.4)
    p.text((1.9, 1.7), "value", (0, -8), MOTION)
    p.line(*((3.1 * k / 60, 1.7 - 1.4 * exp(-3.1 * k / 60 / 0.8)) for k in range(61)), colour=LOAD, width=2)
    p.line((0.8, 0), (0.8, 1.7 - 1.4 * exp(-1.0)), colour=AXIS)
    p.text((0.4, 0), "time_constant", (-24, 16))
    p.dot((0, 0.3))
    p.text((0, 0.3), "start", (8, 4))
    return p


def spline() -> Picture:
    p = Picture(at=(0.14, 0.78))
    p.line((0, 0), (3.3, 0), colour=AXIS, arrow=True)
    p.line((0, 0), (0, 2.2), colour=AXIS, arrow=True)
    p.text((3.2, 0), "t", (0, 16))
    p.text((0, 2.2), "force", (8, 4), LOAD)
    times, values = (0.0, 1.0, 2.0, 3.0), (0.3, 1.6, 0.7, 1.3)
    curve = []
    for k in range(61):
        t = 3.0 * k / 60
        value = sum(v * _lagrange(times, i, t) for i, v in enumerate(values))
        curve.append((t, value))
    p.line(*curve, colour=LOAD, width=2)
    for t, v in zip(times, values, strict=True):
        p.dot((t, v))
        p.line((t, 0), (t, -0.07), colour=AXIS)
    p.text((1.0, 1.6), "(times, values)", (4, -10))
    return p


def _lagrange(times, i: int, t: float) -> float:
    out = 1.0
    for j, other in enumerate(times):
        if j != i:
            out *= (t - other) / (times[i] - other)
    return out


PICTURES = {
    "force_gravity": gravity,
    "force_spring": spring,
    "force_bushing": bushing,
    "force_actuator": actuator,
    "force_spring_on_measure": spring_on_measure,
    "force_force": force,
    "force_torque": torque,
    "force_on_measure": on_measure,
    "force_spline": spline,
}
