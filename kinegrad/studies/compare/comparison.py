"""Comparison: what every combination of a coordinate set, a formulation and an integrator made of one model."""

from __future__ import annotations

import math
import re
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from pathlib import Path

from kinegrad.dataframe import import_pandas
from kinegrad.markup import frame, grid

NUMBER = re.compile(r"\d[\d.e+-]*")
VERDICTS = {True: "yes", False: "NO", None: "refused"}
PLAIN = "joint"  # the set with which costs are compared
NEARLY = 1.25  # times the cheapest: what is hardly dearer
VAGUE = 100.0  # times the largest error that is recommended: errors that explain nearly any difference
TINY = 1e-14  # an error that is no more than rounding


@dataclass(frozen=True)
class ComparisonRow:
    """One combination: how well its motion, or its gradient, is known, whether it is that of the others, and what it cost.

    Attributes
    ----------
    coordinates, body_point, formulation, integrator, method : str
        What was tried; a set without the option `body_point` has "" there, and so has `method` where motions are compared.
    error : float or None
        Error of the points at the end [m], by what half the step and twice the penalty change; of gradients the largest of
        an entry, relative to it or to a thousandth of the largest of its objective.
    difference : float or None
        Largest distance of these points from those of the reference [m]; of gradients as for the error.
    agrees : bool or None
        Whether errors explain the difference; False for a run that failed, None for a combination that was refused.
    energy_drift, max_constraint : float or None
        Largest error of the balance of energy [J], and largest violation of a constraint row.
    energy_drift_percent : float or None
        The first as per cent of the energy that moves.
    iterations, us_per_step : float or None
        Newton iterations (or evaluations) and microseconds of processor time, by step.
    steps : int or None
        Of the run at half the step.
    ratio : float or None
        Processor time by that of the same formulation and integrator in joint coordinates.
    problem : str or None
        Why there is no motion, in a sentence.
    cause, reason : str or None
        Of a combination that fails or disagrees: a word (stiff, step, drift, penalty, singular, chaotic, methods, failed,
        unknown) and a sentence with the evidence.
    remarks : tuple of str
        What its runs warn of.
    """

    coordinates: str
    body_point: str
    formulation: str
    integrator: str
    method: str = ""
    error: float | None = None
    difference: float | None = None
    agrees: bool | None = None
    energy_drift: float | None = None
    energy_drift_percent: float | None = None
    max_constraint: float | None = None
    iterations: float | None = None
    us_per_step: float | None = None
    steps: int | None = None
    ratio: float | None = None
    problem: str | None = None
    cause: str | None = None
    reason: str | None = None
    remarks: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Such as "matrix-r with rk4"."""
        return f"{self.formulation} with {self.integrator}{f' by {self.method}' if self.method else ''}"

    @property
    def full_name(self) -> str:
        """Such as "matrix-r with rk4 in joint coordinates (com)"."""
        return f"{self.name} in {self.coordinates} coordinates{f' ({self.body_point})' if self.body_point else ''}"

    @property
    def cpu_s(self) -> float | None:
        """Processor time of the run at half the step [s]."""
        return None if self.us_per_step is None else 1e-6 * self.us_per_step * self.steps


COLUMNS = tuple(field.name for field in fields(ComparisonRow))


@dataclass(frozen=True, repr=False)
class Comparison:
    """What every combination made of one model.

    Attributes
    ----------
    title : str
        That of the model.
    quantity : str
        What was compared: "motion" or "gradient".
    step, t_end : float
        Of all runs [s].
    rows : tuple of ComparisonRow
        One for each combination, in the order in which they were tried.
    best : ComparisonRow or None
        With which all others were compared: the smallest error of those with which most agree; None if every run failed.
    bound : float
        The largest error that is recommended: 1e-4 of the room that the points take [m], or 1e-3 of a derivative.
    unit : str
        Of errors and differences: "m", or "" for gradients.
    left_out : tuple of str
        Sentences on what was not tried.
    """

    title: str
    quantity: str
    step: float
    t_end: float
    rows: tuple[ComparisonRow, ...]
    best: ComparisonRow | None
    bound: float
    unit: str = "m"
    left_out: tuple[str, ...] = ()

    @property
    def agrees(self) -> bool:
        """Whether no combination disagrees or fails; those that refuse the model do not count."""
        return all(row.agrees is not False for row in self.rows)

    @cached_property
    def recommended(self) -> ComparisonRow | None:
        """The cheapest of those that agree with an error up to `bound`; None if none does.

        Times differ by chance: of what is less than a quarter dearer, the one with the fewest decades of error, or the first.
        """
        good = [row for row in self.rows if row.agrees and row.error <= self.bound]
        least = NEARLY * min((row.cpu_s for row in good), default=0.0)
        near = [row for row in good if row.cpu_s <= least]
        return min(near, key=lambda row: math.ceil(math.log10(max(row.error, TINY))), default=None)

    @property
    def ratios(self) -> dict[str, dict[str, float]]:
        """Processor time by that of joint coordinates, {set: {"ali3p with newmark": ratio}}."""
        found: dict[str, dict[str, float]] = {}
        for row in self.rows:
            if row.ratio is not None and row.coordinates != PLAIN:
                found.setdefault(row.coordinates, {})[row.name] = row.ratio
        return found

    def sentences(self) -> list[str]:
        """The verdict, what is recommended, who disagrees and why, what was refused, warned of and left out."""
        done = [row for row in self.rows if row.agrees is not None]
        said = [f"{sum(row.agrees for row in done)} of {len(done)} combinations agree."]
        unit = f" {self.unit}" if self.unit else ""
        if self.recommended is not None:
            row = self.recommended
            said.append(
                f"Recommended, as the cheapest with an error up to {self.bound:.1e}{unit}: {row.full_name}, error "
                f"{row.error:.1e}{unit}, {row.us_per_step:.3g} µs a step."
            )
        elif any(row.agrees for row in done):
            said.append(f"None has an error up to {self.bound:.1e}{unit}: take a shorter step than {self.step:g} s.")
        vague = [row for row in self.rows if row.agrees and row.error > VAGUE * self.bound]
        if vague:
            more = f" and {len(vague) - 1} more" if len(vague) > 1 else ""
            said.append(
                f"{vague[0].full_name}{more}: the error is so large ({vague[0].error:.1e}{unit}) that agreement says little; "
                f"take a shorter step than {self.step:g} s."
            )
        for row in self.rows:
            if row.problem:
                why = f" ({row.cause}: {row.reason})" if row.reason else ""
                said.append(f"{row.full_name}: {row.problem}{why}")
            elif row.agrees is False:
                said.append(f"{row.full_name} disagrees by {row.difference:.1e}{unit} ({row.cause}): {row.reason}")
        heard: dict[str, tuple[str, list[ComparisonRow]]] = {}
        for row in self.rows:
            for remark in row.remarks:  # those that differ in their numbers alone are told once
                heard.setdefault(NUMBER.sub("#", remark), (remark, []))[1].append(row)
        for remark, rows in heard.values():
            others = len({row.full_name for row in rows}) - 1
            said.append(f"{rows[0].full_name}{f' and {others} more' if others else ''}: {remark}")
        return said + list(self.left_out)

    def to_dataframe(self):
        """A pandas DataFrame: a row for each combination, a column for each entry; ``attrs["units"]`` has their units."""
        table = import_pandas().DataFrame([asdict(row) for row in self.rows], columns=COLUMNS)
        units = {
            "error": self.unit,
            "difference": self.unit,
            "energy_drift": "J",
            "energy_drift_percent": "%",
            "us_per_step": "µs",
        }
        table.attrs["units"] = units
        return table

    def plot(self, path: str | Path | None = None):
        """A matplotlib figure of error against cost, a dot for each combination, also written to `path` (png, pdf or svg)."""
        from kinegrad.plots.compare import plot_comparison

        return plot_comparison(self, path)

    def to_html(self, path: str | Path) -> Path:
        """Where a page with the figure and the table, sorted and filtered on demand, was written: one file, works offline."""
        from kinegrad.studies.compare.page import to_html

        return to_html(self, path)

    def __repr__(self) -> str:
        done = [row for row in self.rows if row.agrees is not None]
        refused = len(self.rows) - len(done)
        return (
            f"<Comparison of {self.title or 'a model'!r}: {sum(row.agrees for row in done)} of {len(done)} combinations "
            f"agree{f', {refused} refused' if refused else ''}>"
        )

    def __str__(self) -> str:
        """A table, and sentences on it."""
        head, cells = self.cells()
        widths = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
        lines = ["  ".join(f"{x:{w}}" for x, w in zip(row, widths, strict=True)).rstrip() for row in (head, *cells)]
        return "\n".join([self.title or "Comparison", *lines, *self.sentences()])

    def _repr_html_(self) -> str:
        """A table for notebooks."""
        return frame(self.title or "Comparison", grid(*self.cells()))

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """Texts of a table: its head, and its rows."""
        several = [
            key for key in ("coordinates", "body_point", "method") if len({getattr(row, key) for row in self.rows}) > 1
        ]
        labels = [
            *(k for k in several if k != "method"),
            "formulation",
            "integrator",
            *(k for k in several if k == "method"),
        ]
        unit = f" [{self.unit}]" if self.unit else ""
        head = [
            *(label.replace("_", " ") for label in labels),
            f"error{unit}",
            f"difference{unit}",
            "agrees",
            "drift [J]",
        ]
        head += ["rows", "iterations", "µs a step", "by joint"]
        return head, [[*(getattr(row, k) for k in labels), *numbers_of(row)] for row in self.rows]


def numbers_of(row: ComparisonRow) -> list[str]:
    """Texts of the numbers of a row, with the verdict among them."""
    small = ["" if x is None else f"{x:.1e}" for x in (row.error, row.difference, row.energy_drift, row.max_constraint)]
    large = ["" if x is None else f"{x:.3g}" for x in (row.iterations, row.us_per_step, row.ratio)]
    return [*small[:2], VERDICTS[row.agrees], *small[2:], *large]
