"""The end of a run against the integration in absolute coordinates."""

import numpy as np

import kinegrad as kg
from soak.absolute import Instant
from soak.findings import compared
from soak.pairs import end
from soak.paths import follow
from soak.starts import markers_of

STEPS = 10
FACTOR, FLOOR = 3.0, 1e-8


def check_path(mechanism):
    """Findings on positions and velocities at the end, by matrix-r with rk4, against absolute coordinates."""
    coarse, fine = (end_of(mechanism, STEPS * k) for k in (1, 2))
    error = float(np.abs(fine - coarse).max()) / 15.0
    system = kg.joint(kg.Model.from_dict(mechanism.document))
    rough, seen = (end(mechanism, system, kg.MatrixR(), kg.RungeKutta4(), mechanism.step / k) for k in (1, 2))
    error += float(np.abs(seen - rough).max()) / 15.0
    difference = float(np.abs(seen - fine).max())
    return compared("path", "matrix-r + rk4", "end against absolute coordinates", difference, FACTOR * error + FLOOR)


def end_of(mechanism, steps):
    """(2, markers, 3) positions and velocities in units of the mechanism, after so many steps."""
    path = follow(mechanism, steps)
    instant = Instant(mechanism.document, path.poses, path.motion, mechanism.t_end, mechanism.size)
    jets = [instant.marker(name) for name in markers_of(mechanism.document)]
    x = np.array([[jet.v for jet in jets], [jet.d[:, -1] for jet in jets]])
    size, speed = mechanism.size, mechanism.size / mechanism.time
    scale = np.array([max(size, float(np.abs(x[0]).max())), max(speed, float(np.abs(x[1]).max()))])
    return x / scale[:, None, None]
