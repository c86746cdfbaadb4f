"""hessian: second derivatives of objectives, by differences of exact gradients (HES-1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kinegrad.errors import AssemblyError, KinegradError, place_of
from kinegrad.markup import frame, grid
from kinegrad.memory import require
from kinegrad.motion import Motion
from kinegrad.quiet import without_warnings
from kinegrad.sensitivity.differences import FACTOR, extrapolated
from kinegrad.sensitivity.gradient import gradient, labels_of
from kinegrad.sensitivity.method import Method
from kinegrad.sensitivity.pulled_apart import refuse_apart
from kinegrad.sensitivity.result import motion_with
from kinegrad.sensitivity.rounding import sizes_of_parameters

LARGEST, SIZES = 1e-2, 5  # of a parameter: 1e-2, 3.3e-3 ... 1.2e-4


@dataclass(frozen=True, eq=False, repr=False)
class Hessian:
    """Second derivatives of objectives.

    Attributes
    ----------
    values : dict objective -> value
    wrt : tuple of str
        Labels of the independent parameters.
    matrix : (objectives, parameters, parameters) array
        Symmetric: the mean of what differences of gradients gave, and its transpose.
    error : (objectives, parameters, parameters) array
        What it may be off by: the change of the last extrapolation, and half of what was not symmetric.
    """

    values: dict
    wrt: tuple[str, ...]
    matrix: np.ndarray
    error: np.ndarray
    runs: int

    def __getitem__(self, key: tuple[str, str, str]) -> float:
        objective, one, other = key
        columns = (place_of(label, self.wrt, "parameter") for label in (one, other))
        return float(self.matrix[place_of(objective, self.values, "objective"), *columns])

    def __repr__(self) -> str:
        size = np.abs(self.matrix).max(initial=0.0) or 1.0
        return f"<Hessian of {', '.join(self.values)} by {', '.join(self.wrt)}: good to {self.error.max() / size:.0e}>"

    def _repr_html_(self) -> str:
        """Tables for notebooks."""
        tables = [
            frame(f"Second derivatives of {name}", grid(["", *self.wrt], [
                [label, *(f"{x:.6g}" for x in row)] for label, row in zip(self.wrt, table, strict=True)
            ]))
            for name, table in zip(self.values, self.matrix, strict=True)
        ]  # fmt: skip
        return "".join(tables)


@dataclass(frozen=True, eq=False)
class HessianProduct:
    """Second derivatives times a direction: `matrix` (objectives, parameters), and what it may be off by."""

    values: dict
    wrt: tuple[str, ...]
    matrix: np.ndarray
    error: np.ndarray


@without_warnings
def hessian(
    motion: Motion,
    wrt: Sequence[str] | None = None,
    *,
    method: Method | str = "discrete-adjoint",
    progress: Callable[[float], None] | None = None,
) -> Hessian:
    """Second derivatives of the objectives of `motion` by the parameters `wrt` (default: the model's design).

    They are differences of exact gradients, of five step sizes and extrapolated, symmetrised: ten runs with their gradients for
    each parameter.  `Hessian.error` tells how far they may be trusted; six to eight digits are usual.
    """
    refuse(motion)
    labels = labels_of(motion.system, wrt)
    refuse_apart(motion, labels)
    p, count = len(labels), len(motion.system.objectives)
    require(8.0 * count * p * p * (2 * SIZES + 6), f"A Hessian of {count} objectives by {p} parameters",
            "name fewer parameters, or take products by kg.hessian_product")  # fmt: skip
    columns = []
    for k, label in enumerate(labels):
        along = _unit(motion, [label])
        part = None if progress is None else lambda done, k=k: progress((k + done) / p)
        try:
            found, off = _differences(motion, along, labels, method, part)
        except AssemblyError as error:
            raise AssemblyError(
                f"Second derivatives by {label!r} take runs with values up to {100 * LARGEST:g} % from its own, and with one "
                f"of these: {error.problems[0].sentence}"
            ) from None
        scale = np.abs(along).max()
        columns.append((found / scale, off / scale))
    H, error = (np.stack(parts, axis=2) for parts in zip(*columns, strict=True))
    turned = H.transpose(0, 2, 1)
    error = np.maximum(np.maximum(error, error.transpose(0, 2, 1)), 0.5 * np.abs(H - turned))
    return Hessian(dict(motion.objectives), labels, 0.5 * (H + turned), error, 2 * SIZES * p)


@without_warnings
def hessian_product(
    motion: Motion,
    direction: Sequence[float],
    *,
    wrt: Sequence[str] | None = None,
    method: Method | str = "discrete-adjoint",
) -> HessianProduct:
    """Second derivatives by the parameters `wrt`, times a direction of these: ten runs with their gradients."""
    refuse(motion)
    labels = labels_of(motion.system, wrt)
    refuse_apart(motion, labels)
    try:
        direction = np.asarray(direction, float)
    except (TypeError, ValueError):
        raise KinegradError(f"The direction is {direction!r}; {len(labels)} finite numbers are needed.") from None
    if direction.shape != (len(labels),) or not np.isfinite(direction).all():
        raise KinegradError(
            f"The direction has the shape {direction.shape}; {len(labels)} finite numbers are needed, one for each of "
            f"{', '.join(labels)}."
        )
    system = motion.system
    places = system.parameters.positions(labels)
    size = np.abs(direction / sizes_of_parameters(motion, labels)).max(initial=0.0)
    if size == 0.0:
        zero = np.zeros((len(system.objectives), len(labels)))
        return HessianProduct(dict(motion.objectives), labels, zero, zero.copy())
    along = np.zeros(len(system.rho))
    along[places] = direction / size
    found, off = _differences(motion, along, labels, method, None)
    return HessianProduct(dict(motion.objectives), labels, size * found, size * off)


def refuse(motion: Motion) -> None:
    """Raises where there is no gradient to form differences of."""
    if motion.formulation is None:
        raise KinegradError("Second derivatives are those of a simulated motion; simulate the model.")
    if not motion.system.objectives:
        raise KinegradError("The model has no objectives to differentiate; add them under objectives.")
    if motion.scheme.adaptive:
        raise KinegradError(
            f"Second derivatives with error control ({motion.how[1]}) would see other steps in every run; take 'rk4', or an "
            "integrator of fixed steps."
        )


def _unit(motion: Motion, labels: Sequence[str]) -> np.ndarray:
    """A direction along one parameter, of its size."""
    system = motion.system
    along, (k,) = np.zeros(len(system.rho)), system.parameters.positions(labels)
    along[k] = sizes_of_parameters(motion, labels)[0]
    return along


def _differences(motion: Motion, along: np.ndarray, labels, method, progress) -> tuple[np.ndarray, np.ndarray]:
    """(o, p) derivative of the gradient along a direction, and its error (HES-1)."""
    rho, sizes, quotients = motion.system.rho, LARGEST / FACTOR ** np.arange(SIZES), []
    for i, h in enumerate(sizes):
        ends = []
        for side in (1.0, -1.0):
            run = motion_with(motion, rho + side * h * along, output_step=motion.interval or motion.step)
            ends.append(gradient(run, wrt=labels, method=method).matrix)
        quotients.append(((ends[0] - ends[1]) / (2.0 * h)).ravel())
        if progress is not None:
            progress((i + 1) / SIZES)
    best, _, error = extrapolated(np.array(quotients))
    shape = len(motion.system.objectives), len(labels)
    return best.reshape(shape), error.reshape(shape)
