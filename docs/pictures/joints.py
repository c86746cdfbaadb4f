"""Pictures of the joints: the first body grey, the second blue, what may move red."""

from __future__ import annotations

from math import pi

from drawing import FIRST, LINE, MOTION, SECOND, Picture


def revolute() -> Picture:
    p = Picture()
    p.box((0, 0, -0.75), (0.9, 0.9, 0.25), FIRST)
    p.cylinder((0, 0, -0.62), (0, 0, 0.0), 0.2, FIRST)
    p.box((0, 0.75, 0.12), (0.36, 1.9, 0.24), SECOND)
    p.axis((0, 0, 0.24), (0, 0, 1.15), "axis")
    p.dot((0, 0, 0.24))
    p.arc((0, 0, 0.7), (0, 0, 1), 0.45, -0.3, 1.45 * pi)
    p.text((0, 0.5, 0.7), "angle", (8, 4), MOTION)
    return p


def prismatic() -> Picture:
    p = Picture(at=(0.42, 0.62))
    p.box((0, 0.3, -0.35), (0.5, 3.0, 0.3), FIRST)
    p.box((0, 0.75, 0.1), (0.8, 0.8, 0.6), SECOND)
    p.dot((0.25, -1.0, -0.2))
    p.line((0.45, -1.0, 0.75), (0.45, 0.75, 0.75), colour=MOTION, width=1.8, arrow=True)
    p.text((0.45, -0.6, 0.75), "distance", (0, -7), MOTION)
    p.axis((0, 1.15, 0.1), (0, 2.0, 0.1))
    p.text((0, 1.8, 0.1), "axis", (-2, -8))
    return p


def cylindrical() -> Picture:
    p = Picture(at=(0.42, 0.6))
    p.axis((0, -1.6, 0), (0, 2.2, 0), "")
    p.cylinder((0, -1.4, 0), (0, 1.7, 0), 0.16, FIRST)
    p.cylinder((0, 0.2, 0), (0, 1.1, 0), 0.36, SECOND)
    p.line((0.3, -1.0, 0.55), (0.3, 0.6, 0.55), colour=MOTION, width=1.8, arrow=True)
    p.text((0.3, -0.8, 0.55), "distance", (0, -7), MOTION)
    p.arc((0, 1.45, 0), (0, 1, 0), 0.5, -0.4, 1.2 * pi)
    p.text((0, 1.5, -0.55), "angle", (4, 14), MOTION)
    return p


def screw() -> Picture:
    p = Picture(at=(0.42, 0.6))
    p.cylinder((0, -1.4, 0), (0, 1.7, 0), 0.16, FIRST)
    for k in range(15):
        y = -1.3 + 0.2 * k
        p.line((0.14, y, -0.14), (0.14, y + 0.1, 0.14), width=1.0)
    p.cylinder((0, 0.2, 0), (0, 0.9, 0), 0.38, SECOND)
    p.arc((0, 1.3, 0), (0, 1, 0), 0.5, -0.4, 1.2 * pi)
    p.text((0, 1.4, -0.55), "angle", (4, 14), MOTION)
    p.line((0.3, -0.6, 0.55), (0.3, 0.6, 0.55), colour=MOTION, width=1.8, arrow=True)
    p.text((0.3, -1.2, 0.55), "pitch × angle", (0, -7), MOTION)
    return p


def cardan() -> Picture:
    p = Picture(at=(0.5, 0.55))
    p.cylinder((0, -1.9, 0), (0, -0.75, 0), 0.17, FIRST)
    p.line((0.55, -0.75, 0), (0.55, 0, 0), width=5, colour="#9a9a9a")
    p.line((-0.55, -0.75, 0), (-0.55, 0, 0), width=5, colour="#9a9a9a")
    p.line((0.55, -0.75, 0), (-0.55, -0.75, 0), width=5, colour="#9a9a9a")
    p.line((0.6, 0, 0), (-0.6, 0, 0), width=4)
    p.line((0, 0, 0.6), (0, 0, -0.6), width=4)
    for z in (0.55, -0.55):
        p.line((0, 0.75, z), (0, 0, z), width=5, colour="#6f9fd0")
    p.line((0, 0.75, 0.55), (0, 0.75, -0.55), width=5, colour="#6f9fd0")
    p.cylinder((0, 0.75, 0), (0, 1.9, 0), 0.17, SECOND)
    p.arc((0.95, 0, 0), (1, 0, 0), 0.26, 0, 1.5 * pi)
    p.text((0.95, 0, -0.3), "angle1", (-36, 14), MOTION)
    p.arc((0, 0, 0.9), (0, 0, 1), 0.3, 0, 1.5 * pi)
    p.text((0, 0, 0.9), "angle2", (22, 2), MOTION)
    return p


def spherical() -> Picture:
    p = Picture(at=(0.46, 0.62))
    p.box((0, 0, -0.75), (0.9, 0.9, 0.25), FIRST)
    p.cylinder((0, 0, -0.62), (0, 0, -0.2), 0.3, FIRST)
    p.line((0, 0.1, 0.1), (0, 1.35, 0.95), width=10, colour=LINE)
    p.line((0, 0.1, 0.1), (0, 1.35, 0.95), width=8, colour=SECOND)
    p.ball((0, 0, 0), 0.3, SECOND)
    p.dot((0, 0, 0))
    p.arc((0, 0.8, 0.58), (0, 1.25, 0.85), 0.34, 0.2, 1.6 * pi)
    p.arc((0, 0, 0), (1, 0, 0), 0.9, 0.75 * pi, 1.1 * pi)
    p.arc((0, 0, 0.15), (0, 0, 1), 0.75, 0.55 * pi, 1.1 * pi)
    return p


def planar() -> Picture:
    p = Picture(at=(0.46, 0.6))
    p.area((1.2, -1.4, -0.2), (1.2, 1.4, -0.2), (-1.2, 1.4, -0.2), (-1.2, -1.4, -0.2), fill=FIRST)
    p.box((0, 0.25, 0.0), (0.8, 0.8, 0.36), SECOND)
    p.line((0, -1.1, -0.2), (0.85, -1.1, -0.2), colour=MOTION, width=1.8, arrow=True)
    p.text((0.85, -1.1, -0.2), "x", (-12, 6), MOTION)
    p.line((0, -1.1, -0.2), (0, -0.35, -0.2), colour=MOTION, width=1.8, arrow=True)
    p.text((0, -0.7, -0.2), "y", (-2, -8), MOTION)
    p.axis((0, 0.25, 0.18), (0, 0.25, 1.25), "axis")
    p.arc((0, 0.25, 0.7), (0, 0, 1), 0.4, -0.3, 1.45 * pi)
    p.text((0, 0.7, 0.7), "angle", (8, 4), MOTION)
    return p


def floating() -> Picture:
    p = Picture(at=(0.3, 0.75))
    for end, name in (((0.9, 0, 0), "x"), ((0, 0.9, 0), "y"), ((0, 0, 0.9), "z")):
        p.line((0, 0, 0), end, colour=LINE, arrow=True)
        p.text(end, name, (-12, 8) if name == "x" else (4, 2))
    p.line((0, 0, 0), (-0.4, 1.6, 0.7), colour=MOTION, width=1.8, arrow=True)
    p.text((-0.2, 1.15, 0.35), "position", (8, 22), MOTION)
    p.box((-0.4, 2.0, 0.95), (0.6, 0.7, 0.5), SECOND)
    p.arc((-0.4, 2.0, 1.0), (0, 0, 1), 0.75, 0, 1.3 * pi)
    p.text((-0.4, 1.4, 1.7), "rotation", (-6, -2), MOTION)
    return p


def fixed() -> Picture:
    p = Picture(at=(0.45, 0.6))
    p.box((0, -0.45, 0), (0.6, 1.3, 0.5), FIRST)
    p.box((0, 0.85, 0), (0.6, 1.3, 0.5), SECOND)
    for k in range(5):
        p.line((0.3, 0.13, -0.2 + 0.1 * k), (0.3, 0.27, -0.15 + 0.1 * k), width=1.6)
    return p


def link() -> Picture:
    p = Picture(at=(0.45, 0.6))
    p.box((0, -1.3, -0.3), (0.6, 0.7, 0.5), FIRST)
    p.box((0, 1.3, 0.3), (0.6, 0.7, 0.5), SECOND)
    p.line((0.3, -1.1, -0.2), (0.3, 1.1, 0.35), width=4, colour="#8a8a8a")
    p.dot((0.3, -1.1, -0.2))
    p.dot((0.3, 1.1, 0.35))
    p.text((0.3, 0, 0.1), "length", (-16, -10))
    return p


PICTURES = {
    "joint_revolute": revolute,
    "joint_prismatic": prismatic,
    "joint_cylindrical": cylindrical,
    "joint_screw": screw,
    "joint_cardan": cardan,
    "joint_spherical": spherical,
    "joint_planar": planar,
    "joint_floating": floating,
    "joint_fixed": fixed,
    "joint_link": link,
}
