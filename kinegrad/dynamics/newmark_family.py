"""Newmark, HHT and generalized-alpha: their constants, and what a scheme with one of them adds to its formulation."""

from __future__ import annotations

import numpy as np

from kinegrad.dynamics.scheme import Scheme
from kinegrad.errors import KinegradError

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


class NewmarkFamily(Scheme):
    """To be inherited before the class of a formulation, whose states it extends by the auxiliary acceleration.

    Rows, derivatives and adjoints of the state have it as their last part, except with Newmark's method, where it is the
    acceleration itself: kernels are then given the block of accelerations twice, `*state[:3], state[-1]`.  `auxiliary` is
    its array in a simulation.
    """

    def __init__(self, system, options):
        super().__init__(system, options)
        self.family = constants(options)
        self.extended = bool(self.family[3:].any())

    def acceleration(self, work) -> np.ndarray:
        """The accelerations that a step starts from, in the coordinates that are integrated."""
        return work["ap"]

    @property
    def integrated(self) -> int:
        """Number of coordinates that are integrated."""
        return self.system.n

    @property
    def row_size(self):
        return super().row_size + (self.integrated if self.extended else 0)

    def begin(self, work):
        super().begin(work)
        self.auxiliary = self.acceleration(work).copy()  # (NMF-5)

    def keep(self, work, row):
        super().keep(work, row)
        if self.extended:
            row[super().row_size :] = self.auxiliary

    def resume(self, work, row):
        super().resume(work, row)
        self.auxiliary = (row[super().row_size :] if self.extended else self.acceleration(work)).copy()

    def memory(self, work):
        return [*super().memory(work), self.auxiliary]

    def settle(self, work, t):
        before = self.acceleration(work).copy()
        status = super().settle(work, t)
        self.auxiliary += self.acceleration(work) - before
        return status

    def start_weight(self, hs):
        return 0.5 * hs[0]

    def start_state(self, work, q, v, a):
        Q, V, A = super().start_state(work, q, v, a)
        return [Q, V, A, A.copy()] if self.extended else [Q, V, A]

    def start_adjoint(self, work, state, columns):
        Q, V, A = state[:3]
        return super().start_adjoint(work, [Q, V, A + state[3] if self.extended else A], columns)

    def empty_state(self, columns):
        state = super().empty_state(columns)
        return [*state, np.zeros_like(state[2])] if self.extended else state
