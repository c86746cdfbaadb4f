"""Signals: one tape for many numbers, read from markers and coordinates at three levels."""

from helpers import assert_close
from small_mechanisms import two_bodies

import kinegrad as kg

START = "degrees_of_freedom: {ja.angle: {position: 0.3, velocity: 0.5}, jb.angle: {position: 0.4, velocity: 0.8}}\n"


def test_signals_are_what_markers_and_coordinates_tell():
    model = two_bodies(START + "measures: {reach: 'norm(b.q.position)*L'}")
    motion = kg.simulate(kg.joint(model), "index1", "rk4", t_end=3e-3, step=1e-3)
    tip = motion.marker("b.q")
    names = ("b.q.x", "b.q.y.velocity", "b.q.z.acceleration", "jb.angle", "jb.angle.acceleration", "reach")
    found = motion.signals(*names)
    k = motion.system.number_of["jb.angle"]
    length = float(model.parameters["L"])
    for j, expected in enumerate(
        (
            tip.position[:, 0],
            tip.velocity[:, 1],
            tip.acceleration[:, 2],
            motion.q[:, k],
            motion.qdd[:, k],
            length * (tip.position**2).sum(axis=1) ** 0.5,
        )
    ):
        assert_close(found.values[:, j], expected, 1e-13)
