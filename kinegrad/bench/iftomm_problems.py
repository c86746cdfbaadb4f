"""The problems A01 to A05 of the benchmark library of the multibody community: what is run, and what it is compared with.

The library: M. González, D. Dopico, U. Lugrís, J. Cuadrado, "A benchmarking system for MBS simulation software: problem
standardization and performance measurement", Multibody System Dynamics 16 (2006). Places are closed forms, or converged: all
digits given are common to two formulations of kinegrad, and to what `reference` says of each problem.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from kinegrad.bench import windows
from kinegrad.bench.machine import PACKAGE

GRAVITY = windows.GRAVITY
PIECES = 1000  # of a run: places and energies are looked at between them


@dataclass(frozen=True)
class Run:
    """Times, (k, 3) places of the watched point, and the energy less the work of what has no potential, where it is known.

    `note` says why there is nothing to look at.
    """

    t: np.ndarray
    position: np.ndarray
    energy: np.ndarray | None = None
    note: str = ""

    @property
    def drift(self) -> float | None:
        """Largest change of the energy [J]."""
        return None if self.energy is None else float(np.abs(self.energy - self.energy[0]).max())


@dataclass(frozen=True, eq=False)
class Problem:
    """A problem: its point that is watched, where that is at some times, and what the library asks for."""

    key: str
    title: str
    t_end: float
    build: Callable
    marker: str
    times: np.ndarray
    places: np.ndarray
    reference: str
    asked_energy: float | None = None
    asked_error: float | None = None

    @property
    def asked(self) -> str:
        """What is asked, in words."""
        words = [] if self.asked_energy is None else [f"energy {self.asked_energy:.0e} J"]
        return ", ".join(words if self.asked_error is None else [*words, f"error {self.asked_error:.0e} m"])

    def error(self, run: Run) -> float:
        """Largest distance of the watched point from its place, at the times where that is known [m]."""
        at = np.searchsorted(run.t, self.times - 1e-6 * self.t_end)
        if np.abs(run.t[at] - self.times).max() > 1e-6 * self.t_end:
            raise ValueError(f"{self.key}: the run is not known at all times of the reference.")
        return float(np.linalg.norm(run.position[at] - self.places, axis=1).max())


def file(name: str):
    """The model of a file that comes with the package."""
    from kinegrad.model.model import Model

    return Model.from_yaml(PACKAGE / "data" / f"{name}.yaml")


def pendulum_angle(t) -> np.ndarray:
    """Angle from the horizontal, at times `t`, of a pendulum of 1 m that was released there: sin(x/2) = k cd(ωt, k)."""
    from scipy.special import ellipj

    sn, cn, dn, _ = ellipj(np.sqrt(GRAVITY) * np.asarray(t, float), 0.5)
    return 2.0 * np.arcsin(np.sqrt(0.5) * cn / dn) - 0.5 * np.pi


def _circle(angle, radius=1.0):
    angle = np.asarray(angle)
    return radius * np.stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)], axis=-1)


TENTHS = np.linspace(0.1, 10.0, 100)
SECONDS = np.arange(1.0, 11.0)

#: Angle of the crank of the squeezer at 0.01, 0.02 ... 0.05 s [rad].
CRANK = (2.1601131315, 8.1849058897, 15.8107711952, 24.3753049720, 33.8258677670)
#: Point P3 of Bricard's linkage at 1, 2 ... 10 s [m].
P3 = (
    (0.508664760230, -1.649827063211, 0.139035330748),
    (-0.969892003790, -1.219455140946, 0.756464579610),
    (-0.966341177904, -1.230661550970, 0.742736073481),
    (0.532399282558, -1.641032210097, 0.153506642713),
    (0.999999983091, -1.000183881295, 0.999816101799),
    (0.484302768901, -1.658252373737, 0.125099532498),
    (-0.973152766593, -1.208437127982, 0.769839853857),
    (-0.962483804495, -1.242046001420, 0.728660865179),
    (0.555490531462, -1.631884102291, 0.168477138345),
    (0.999999729402, -1.000735389911, 0.999264339690),
)
#: Height of the slider of the governor at 1, 2 ... 10 s [m].
SLIDER = (
    0.5014209223796, 0.5059092942967, 0.5132460783402, 0.5232233710260, 0.5355631037216,
    0.5499286659056, 0.5659381577194, 0.5831783367098, 0.6012184020475, 0.6196229170614,
)  # fmt: skip


@cache
def problems() -> dict[str, Problem]:
    """The problems by key, in order."""
    found = [
        Problem(
            "A01", "simple pendulum", 10.0, partial(file, "simple_pendulum"), "rod.P", TENTHS,
            _circle(pendulum_angle(TENTHS)), "elliptic functions", asked_energy=5e-5,
        ),
        *(
            Problem(
                f"A02, N = {n}", f"{n} four-bar windows", 10.0, partial(windows.windows, n), "crank_0.B", TENTHS,
                windows.corner(n, TENTHS), "elliptic functions", asked_energy=0.1,
            )
            for n in (2, 40)
        ),
        Problem(
            "A03", "Andrews' squeezer", 0.05, partial(file, "squeezer"), "crank.F", np.linspace(0.01, 0.05, 5),
            _circle(CRANK, 0.007), "published at 0.03 s", asked_error=1e-5,
        ),
        Problem(
            "A04", "Bricard's linkage", 10.0, partial(file, "bricard_cube"), "rod_3.P3", SECONDS, np.array(P3), "converged",
            asked_energy=1e-3,
        ),
        Problem(
            "A05", "flyball governor", 10.0, partial(file, "flyball_governor"), "slider.S", SECONDS,
            np.array(SLIDER)[:, None] * [0.0, 0.0, 1.0], "three coordinates, DOP853", asked_error=1e-4,
        ),
    ]  # fmt: skip
    return {problem.key: problem for problem in found}
