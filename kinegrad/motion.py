"""Motion: what a simulation gave, by time, and what can be read from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from kinegrad.coordinates.system import System
from kinegrad.errors import KinegradError
from kinegrad.kernels.products import BIAS, ENERGY, EVALUATE, OBSERVE


@dataclass(frozen=True)
class MarkerMotion:
    """Position, velocity and acceleration of a marker in global components, (times, 3) each."""

    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray


@dataclass(frozen=True)
class Energies:
    """Kinetic and potential energy, and the work done by all that has no potential, by time [J]."""

    kinetic: np.ndarray
    potential: np.ndarray
    work: np.ndarray

    @property
    def drift(self) -> float:
        """max |E - E0 - work|."""
        total = self.kinetic + self.potential
        return float(np.abs(total - total[0] - self.work).max())


@dataclass
class Motion:
    """States of a system by time.

    Attributes
    ----------
    t : (k,) array
        Times of the states that were kept.
    objectives : dict of name to value
    iterations : (steps,) array
        Newton iterations of each step.
    flags : (steps,) array
        Which projections each step ran (1 velocity, 2 acceleration).
    status : int
        0, or why the run stopped early (`kinegrad.kernels.status`).
    cpu_s : float
        Processor time of the time loop.
    """

    system: System
    formulation: object
    integrator: object
    scheme: object
    t: np.ndarray
    traj: np.ndarray
    ts: np.ndarray
    hs: np.ndarray
    stride: int
    iterations: np.ndarray
    flags: np.ndarray
    objectives: dict
    cpu_s: float
    status: int
    s: np.ndarray
    step: float
    t_end: float
    extra: dict = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Motion of {self.system.model.title or 'a model'!r}: {len(self.hs)} steps to {self.ts[-1]:g} s>"

    @cached_property
    def _states(self) -> dict[str, np.ndarray]:
        return self.scheme.motion(self.traj)

    @property
    def q(self) -> np.ndarray:
        """(k, n) coordinates."""
        return self._states["q"]

    @property
    def qd(self) -> np.ndarray:
        """(k, n) velocities."""
        return self._states["qd"]

    @property
    def qdd(self) -> np.ndarray:
        """(k, n) accelerations."""
        return self._states["qdd"]

    @property
    def lam(self) -> np.ndarray:
        """(k, m) multipliers of the constraint rows."""
        return self._states["lam"]

    @property
    def us_per_step(self) -> float:
        """Microseconds of processor time a step."""
        return 1e6 * self.cpu_s / max(1, len(self.hs))

    @cached_property
    def _replayed(self) -> dict[str, np.ndarray]:
        """Markers, energies and violations at every state kept."""
        return replay(self, range(len(self.t)))

    @cached_property
    def _summary(self) -> dict[str, np.ndarray]:
        """Energies and violations at every state kept, without the markers, which may be many."""
        return self.__dict__.get("_replayed") or replay(self, range(len(self.t)), with_markers=False)

    def marker(self, name: str) -> MarkerMotion:
        """The motion of the marker ``body.marker``."""
        if name not in self.system.markers:
            raise KinegradError(f"There is no marker {name!r}; markers: {', '.join(sorted(self.system.markers))}.")
        x = self._replayed["markers"][:, self.system.markers[name]]
        return MarkerMotion(x[:, 0], x[:, 1], x[:, 2])

    def marker_array(self) -> np.ndarray:
        """(k, markers, 3, 3) position, velocity and acceleration of all markers, in the order of `system.markers`."""
        return self._replayed["markers"][:, list(self.system.markers.values())]

    @property
    def energies(self) -> Energies:
        """Energies at every state kept."""
        energy = self._summary["energy"]
        power = energy[:, 2]
        work = np.concatenate([[0.0], np.cumsum(0.5 * np.diff(self.t) * (power[1:] + power[:-1]))])
        return Energies(energy[:, 0], energy[:, 1], work)

    @property
    def constraint_violation(self) -> np.ndarray:
        """(k, 3) largest `|Phi|`, `|Phid|`, `|Phidd|` at every state kept."""
        return self._summary["violation"]

    def at_end(self) -> dict[str, MarkerMotion]:
        """All markers at the last state, each quantity a vector of three."""
        x = replay(self, [len(self.t) - 1])["markers"][0]
        return {name: MarkerMotion(*x[k]) for name, k in sorted(self.system.markers.items())}

    # --- what is done with it ---

    def save(self, path: str | Path) -> Path:
        """Where the motion was written: HDF5 in netCDF-4 layout, for `kinegrad.load` and for xarray."""
        from kinegrad.results import save

        return save(self, path)

    def to_dataframe(self, *names: str):
        """A pandas DataFrame: a row for each state kept, indexed by time, with a column for each quantity.

        Parameters
        ----------
        names : str
            Markers (``body.marker``) and coordinates (``joint.angle``) to take; by default all coordinates and markers.

        Returns
        -------
        pandas.DataFrame
            Columns such as ``hinge.angle``, ``hinge.angle.velocity``, ``rod.tip.x``, ``rod.tip.x.acceleration``, then
            ``kinetic_energy``, ``potential_energy``, ``work`` and ``violation_position``; ``attrs["units"]`` has their
            units.
        """
        from kinegrad.dataframe import to_dataframe

        return to_dataframe(self, names)

    def _repr_html_(self) -> str:
        """A summary for notebooks, with a picture."""
        from kinegrad.display import motion_html

        return motion_html(self)

    def plot(self, *names: str, path: str | Path | None = None):
        """A matplotlib figure of markers, coordinates, energies and constraint violations.

        Parameters
        ----------
        names : str
            Markers (``body.marker``), coordinates (``joint.angle``), ``energy`` or ``constraints``; by default the
            markers that move, the energies and the constraint violation.
        path : str, optional
            Also write the figure there (png, pdf or svg).
        """
        from kinegrad.plots import plot

        return plot(self, names, path)


def replay(motion: Motion, rows, with_markers: bool = True) -> dict[str, np.ndarray]:
    """Marker quantities (rows, markers, 3, 3), energies (rows, 3) and constraint violations (rows, 3)."""
    from kinegrad.kernels.replay import replay as run

    system, rows = motion.system, list(rows)
    work = system.workspace(s=motion.s, every_marker=with_markers)
    states = motion.scheme.motion(motion.traj)
    q, qd, qdd, lam = (np.ascontiguousarray(states[name][rows]) for name in ("q", "qd", "qdd", "lam"))
    markers = np.zeros((len(rows), len(work["mk"]) if with_markers else 0, 3, 3))
    energy, violation = np.zeros((len(rows), 3)), np.zeros((len(rows), 3))
    fn = work.functions(EVALUATE, ENERGY, BIAS, OBSERVE)
    run(fn, work.pointer, system.m, motion.t[rows], q, qd, qdd, lam, markers, energy, violation)
    return {"markers": markers, "energy": energy, "violation": violation}
