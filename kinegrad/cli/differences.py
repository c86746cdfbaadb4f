"""Gradients by differences: an independent check that knows nothing of derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from kinegrad.errors import KinegradError

if TYPE_CHECKING:
    from kinegrad.motion import Motion

LARGEST, FACTOR, SIZES = 1e-2, 3.0, 6  # step sizes relative to the parameter: 1e-2, 3.3e-3 ... 4e-5
SMALL_ENTRY = 1e-3  # entries below this part of their row's largest are measured against that
ALLOWED = 1e-5


def by_differences(
    motion: Motion, labels: Sequence[str], progress: Callable[[float], None] | None = None
) -> np.ndarray:
    """(objectives, parameters) derivatives by central differences of whole simulations; nan where none could be run.

    Each parameter is scanned over step sizes, and of their extrapolations the one that changes least is taken.
    """
    system = motion.system
    columns = []
    for j, label in enumerate(labels):
        k = system.parameters.independent.index(label)
        scale = abs(system.rho[k]) or 1.0
        sizes = scale * LARGEST / FACTOR ** np.arange(SIZES)
        quotients = []
        for i, h in enumerate(sizes):
            quotients.append(_central(motion, k, h))
            if progress is not None:
                progress((j + (i + 1) / SIZES) / len(labels))
        columns.append(_extrapolated(np.array(quotients)))
    return np.array(columns).reshape(len(labels), len(system.objectives)).T


def _central(motion: Motion, k: int, h: float) -> np.ndarray:
    """Central quotient of all objectives by parameter k."""
    ends = []
    for rho_k in (motion.system.rho[k] + h, motion.system.rho[k] - h):
        try:
            ends.append((rho_k, _objectives(motion, k, rho_k)))
        except KinegradError:  # too far: it cannot be assembled there, or does not run through
            return np.full(len(motion.system.objectives), np.nan)
    (a, psi_a), (b, psi_b) = ends
    return (psi_a - psi_b) / (a - b)


def _objectives(motion: Motion, k: int, value: float) -> np.ndarray:
    from kinegrad.simulate import simulate

    rho = motion.system.rho.copy()
    rho[k] = value
    run = simulate(
        motion.system.with_parameters(rho), motion.formulation, motion.integrator,
        t_end=motion.t_end, step=motion.step, output_step=len(motion.hs) * motion.step,
    )  # fmt: skip
    return np.array(list(run.objectives.values()), float)


def _extrapolated(quotients: np.ndarray) -> np.ndarray:
    """(objectives,) limits of quotients (sizes, objectives) whose errors are even powers of the step size."""
    sizes, count = quotients.shape
    best, error = np.full(count, np.nan), np.full(count, np.inf)
    column = quotients
    for order in range(1, sizes):
        factor = FACTOR ** (2 * order)
        refined = (factor * column[1:] - column[:-1]) / (factor - 1.0)
        change = np.maximum(np.abs(refined - column[1:]), np.abs(refined - column[:-1]))
        for row, delta in zip(refined, change, strict=True):
            better = delta < error
            best, error = np.where(better, row, best), np.where(better, delta, error)
        column = refined
    return best


def relative_differences(matrix: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """|matrix − reference| relative to each entry, or to a part of its row's largest where it is smaller than that."""
    largest = np.abs(matrix).max(axis=1, keepdims=True, initial=0.0)
    scale = np.maximum(np.abs(matrix), SMALL_ENTRY * largest)
    return np.abs(matrix - reference) / np.where(scale > 0.0, scale, 1.0)
