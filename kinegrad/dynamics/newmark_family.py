"""Newmark, HHT and generalized-alpha: their constants, and the auxiliary acceleration that a run with one of them carries."""

from __future__ import annotations

import numpy as np

from kinegrad.dynamics.integrator import Integrator, trapezoidal
from kinegrad.errors import KinegradError
from kinegrad.kernels.formulations.arguments import Implicit

ROUNDING = 1e-12


def constants(options: dict) -> np.ndarray:
    """β, γ, c1, c2, c3 of (NMF-1) from the options of one of the three integrators; refuses what is out of range.

    ``alpha``: HHT, ``rho_inf``: generalized-alpha (NMF-4), ``beta`` and ``gamma``: Newmark.
    """
    if "alpha" in options:
        alpha = _between("hht", "alpha", options["alpha"], -1.0 / 3.0, 0.0)
        return _family(0.0, -alpha)
    if "rho_inf" in options:
        rho = _between("generalized-alpha", "rho_inf", options["rho_inf"], 0.0, 1.0)
        return _family((2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0))
    if not options["beta"] > 0.0:
        raise KinegradError(f"beta of newmark is {options['beta']:g}; give a number larger than zero.")
    return np.array([options["beta"], _between("newmark", "gamma", options["gamma"], 0.5, 1.0), 1.0, 0.0, 0.0])


def _between(integrator: str, name: str, value: float, low: float, high: float) -> float:
    """`value`, if it is from low to high."""
    if not low - ROUNDING <= value <= high + ROUNDING:
        raise KinegradError(f"{name} of {integrator} is {value:g}; give a number from {low:g} to {high:g}.")
    return float(value)


def _family(alpha_m: float, alpha_f: float) -> np.ndarray:
    """The constants with the γ of second order and the β of greatest damping at high frequencies (NMF-4)."""
    gamma = 0.5 + alpha_f - alpha_m
    beta = 0.25 * (gamma + 0.5) ** 2
    return np.array([beta, gamma, *(c / (1.0 - alpha_m) for c in (1.0 - alpha_f, alpha_f, -alpha_m))])


class NewmarkFamily(Integrator):
    """One of the three.

    Beside the state there is the auxiliary acceleration; with Newmark's method it is the acceleration itself, and rows and
    variations do not have it.
    """

    explicit = False
    auxiliary: np.ndarray | None = None

    def __init__(self, options):
        super().__init__(options)
        self.family = constants(options)
        self.extended = bool(self.family[3:].any())

    def method(self, allowed, coordinates, psi, control):
        return Implicit(self.family, self.auxiliary, allowed)

    def start_weight(self, hs):
        return 0.5 * hs[0]

    def integrals(self, ts, hs, rows, size, values):
        return trapezoidal(hs, values(ts, rows))

    def begin(self, acceleration):
        self._take(acceleration)  # (NMF-5)

    def keep(self, row):
        if self.extended:
            row[len(row) - len(self.auxiliary) :] = self.auxiliary

    def resume(self, row, acceleration):
        self._take(row[len(row) - len(acceleration) :] if self.extended else acceleration)

    def _take(self, values):
        """Begin with these, in the same array where there is one: compiled code may have been handed it."""
        known = self.auxiliary
        if known is not None and known.shape == values.shape and known.dtype == values.dtype:
            known[:] = values
        else:
            self.auxiliary = values.copy()

    def restart(self, acceleration):
        self.auxiliary[:] = acceleration

    def shift(self, change):
        self.auxiliary += change

    def memory(self):
        return [self.auxiliary]
