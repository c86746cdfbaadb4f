"""Tables among the slots: pieces of polynomials, which expressions evaluate wherever their argument lies (LAW-12)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinegrad.coordinates.cubics import CubicSpline
from kinegrad.expressions.maps import LinearMap
from kinegrad.expressions.syntax import Expression

BEYOND = 1e300  # an end that nothing reaches
NEAR = 1e-9  # of its length: so far a table that ends is continued, since times and positions are rounded
DEGREES = {"linear": 1, "cubic": 3}


@dataclass(frozen=True)
class TableSlots:
    """Where the numbers of a table are: its first slot, the first knot, the first coefficient; the degree of its pieces, and
    the size of its largest knot."""

    first: int
    knots: int
    coefficients: int
    degree: int
    largest: float

    @property
    def kinked(self) -> bool:
        """Whether its slope jumps."""
        return self.degree == 1


def lower(elements, name: str) -> TableSlots:
    """The slots of a table: the number of pieces, its ends, where each piece begins, and their coefficients."""
    table, path, slots = elements.model.tables[name], f"tables.{name}", elements.slots
    x = np.array(elements.parameters.evaluate_all(table.x))
    if isinstance(table.y, str):
        labels = elements.parameters.expand(table.y)
        fields = [slots.field(f"parameters.{label}", Expression.parse(label)) for label in labels]
    else:
        fields = [slots.field(f"{path}.y[{i}]", number) for i, number in enumerate(table.y)]
    pieces = Pieces(x, DEGREES[table.interpolation], table.outside == "hold")
    ends = (x[0], x[-1]) if table.outside == "error" else (-BEYOND, BEYOND)
    near = NEAR * (x[-1] - x[0]) if table.outside == "error" else 0.0
    first = _pieces(slots, path, ends[0] - near, ends[1] + near, pieces.begins)
    coefficients = slots.linear(f"{path} coefficients", fields, pieces)
    return TableSlots(first, first + 3, coefficients, pieces.degree, float(np.abs(x).max()))


def spline_slots(elements, name: str, spline: dict) -> TableSlots:
    """The slots of a spline in time, whose record has its times and the first of its coefficients, as those of a table."""
    times = np.array(elements.times[spline["t0"] : spline["t1"]])
    begins = times[:-1]
    first = _pieces(elements.slots, f"forces.{name}", -BEYOND, BEYOND, begins)
    return TableSlots(first, first + 3, spline["slot"], 3, float(np.abs(times).max()))


def _pieces(slots, path: str, low: float, high: float, begins) -> int:
    """The first of the slots that tell where pieces are: their number, the ends, where each begins."""
    numbers = [len(begins), low, high, *begins]
    return slots.scalars(f"{path} pieces", [slots.graph.constant(float(number)) for number in numbers])


class Pieces(LinearMap):
    """From the ordinates of a table to the coefficients of its pieces, that of an end that is held being a constant.

    Cubic pieces with ends that are held begin and end with slope zero.
    """

    def __init__(self, x: np.ndarray, degree: int, held: bool):
        self.degree, self.held = degree, held
        self.h = np.diff(x)
        self.begins = np.concatenate([[x[0] - 1.0], x]) if held else x[:-1]
        self.spline = CubicSpline(x, flat=held) if degree == 3 else None
        self.shape = (degree + 1) * len(self.begins), len(x)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        if self.spline is not None:
            inner = self.spline(x)
        else:
            h = self.h.reshape(-1, *[1] * (x.ndim - 1))
            inner = np.stack([x[:-1], np.diff(x, axis=0) / h], axis=1).reshape(2 * len(h), *x.shape[1:])
        if not self.held:
            return inner
        out = np.zeros_like(inner, shape=(self.shape[0], *x.shape[1:]))
        out[0], out[-self.degree - 1] = x[0], x[-1]
        out[self.degree + 1 : -self.degree - 1] = inner
        return out

    def pull(self, gradient: np.ndarray) -> np.ndarray:
        size = self.degree + 1
        inner = gradient[..., size:-size] if self.held else gradient
        if self.spline is not None:
            out = self.spline.pull(inner)
        else:
            out = np.zeros_like(gradient, shape=(*gradient.shape[:-1], self.shape[1]))
            slope = inner[..., 1::2] / self.h
            out[..., :-1] = inner[..., ::2] - slope
            out[..., 1:] += slope
        if self.held:
            out[..., 0] += gradient[..., 0]
            out[..., -1] += gradient[..., -size]
        return out
