"""Where a mechanism is at the end of a run, how well that is known, and whether two ends are one."""

from dataclasses import dataclass

import numpy as np

import kinegrad as kg
from soak.starts import markers_of

FACTOR, FLOOR = 3.0, 1e-9
LEAST_TOLERANCE = 2  # level at which error control is near rounding
HALVINGS = 2  # further ones before two ends are called different: the order may show at small steps only


@dataclass
class End:
    """(2, markers, 3) positions and velocities in units of the mechanism, and the error that half the step showed."""

    x: np.ndarray
    error: float


def end(mechanism, system, formulation, integrator, h):
    """Positions and velocities of one run."""
    motion = kg.simulate(system, formulation, integrator, step=h, t_end=mechanism.t_end)
    markers = motion.at_end()
    names = markers_of(mechanism.document)
    return in_units(mechanism, [markers[n].position for n in names], [markers[n].velocity for n in names])


def in_units(mechanism, positions, velocities):
    """Positions and velocities divided by size and speed of the mechanism, or by their own where these are larger."""
    x = np.array([positions, velocities])
    size, speed = mechanism.size, mechanism.size / mechanism.time
    scale = [max(size, float(np.abs(x[0]).max())), max(speed, float(np.abs(x[1]).max()))]
    return x / np.array(scale)[:, None, None]


class Runs:
    """Ends of one mechanism by one formulation and integrator, the finer the more often they are asked for."""

    def __init__(self, mechanism, system, formulation, integrator):
        self.mechanism, self.system = mechanism, system
        self.formulation, self.integrator = formulation, integrator
        self.found, self.first = {}, 1  # and the first level at which steps are short enough

    def at(self, level, penalty=1.0):
        """The end with 2^-level of the step; of the tolerance to that power of the order, with error control."""
        key = level, penalty
        if key not in self.found:
            formulation, integrator, h = self.formulation, self.integrator, self.mechanism.step
            if integrator.type == "rk54":
                integrator = integrator.with_(tolerance=1e-9 / 2.0 ** (5 * level))
            else:
                h = h / 2.0**level
            if penalty != 1.0:
                formulation = formulation.with_(penalty=penalty * formulation.penalty)
            self.found[key] = end(self.mechanism, self.system, formulation, integrator, h)
        return self.found[key]

    def end(self, level=1):
        """The end at a level, with its error by the order of the method and, where there is a penalty, by twice that."""
        if self.integrator.type == "rk54":
            level = min(level, LEAST_TOLERANCE)
        x = self.at(level)
        error = float(np.abs(x - self.at(level - 1)).max()) / (2.0**self.integrator.order - 1.0)
        if hasattr(self.formulation, "penalty"):
            error += 2.0 * float(np.abs(x - self.at(level, 2.0)).max())
        return End(x, error)


def too_long(formulation, failure):
    """Whether a run failed since substitution needs shorter steps, which the message says."""
    return formulation == "recursive" and "try a smaller step" in str(failure)


def apart(a, b, floor=FLOOR):
    """Difference of two Runs, and what is allowed; both with finer steps as long as they differ by more than that."""
    for level in range(max(a.first, b.first), HALVINGS + 2):
        one, other = a.end(level), b.end(level)
        difference = float(np.abs(one.x - other.x).max())
        allowed = FACTOR * (one.error + other.error) + floor
        if difference <= allowed:
            break
    return difference, allowed
