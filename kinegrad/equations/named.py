"""Vectors and matrices whose rows and columns have names, as tables for people."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinegrad.dataframe import import_pandas
from kinegrad.errors import KinegradError
from kinegrad.markup import frame, grid
from kinegrad.model.element import closest

ROUNDING = 1e-15  # of the largest entry
MOST = 40  # rows, and columns, that are shown
FEW = 8  # columns that are all shown; of more, those of zeros are left out, and rows with them where these have the same names


class NamedArray(np.lib.mixins.NDArrayOperatorsMixin):
    """A vector or a matrix with names of its rows and columns.

    Entries are asked for by name, ``Phi_q["pin.x", "hinge.angle"]``, or by number.  Functions of NumPy take it and give plain
    arrays: ``M @ qdd``.  As a table it shows ~0 for what is rounding beside its largest entry.

    Attributes
    ----------
    name : str
        What it is called on the theory pages.
    values : array
        The numbers, in an array that is not to be changed.
    rows, columns : tuples of str
        Names; a vector has no columns.
    """

    def __init__(self, name: str, values: np.ndarray, rows: Sequence[str], columns: Sequence[str] = ()):
        self.name, self.rows, self.columns = name, tuple(rows), tuple(columns)
        self.values = np.asarray(values, float) + 0.0  # a copy, with no zero below zero
        self.values.setflags(write=False)

    # --- as an array ---

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape

    def __len__(self) -> int:
        return len(self.values)

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        return np.array(self.values, dtype)

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        plain = [x.values if isinstance(x, NamedArray) else x for x in inputs]
        return getattr(ufunc, method)(*plain, **options)

    def __getitem__(self, key):
        keys = key if isinstance(key, tuple) else (key,)
        found = tuple(self._number(k, names) for k, names in zip(keys, (self.rows, self.columns), strict=False))
        return self.values[found if len(keys) <= 2 else key]

    def _number(self, key, names: tuple[str, ...]):
        if not isinstance(key, str):
            return key
        if key not in names:
            raise KinegradError(
                f"{self.name} has no row or column {key!r}{closest(key, names)}; it has {', '.join(names[:MOST]) or 'none'}."
            )
        return names.index(key)

    # --- for people ---

    def to_dataframe(self):
        """The table as a DataFrame of pandas."""
        columns = list(self.columns) if self.values.ndim == 2 else [self.name]
        table = self.values if self.values.ndim == 2 else self.values[:, None]
        return import_pandas().DataFrame(table, index=list(self.rows), columns=columns)

    def _cells(self) -> tuple[list[str], list[list[str]], str]:
        """Head, rows and a remark of the table that is shown."""
        table, columns = self.values, self.columns
        if table.ndim == 1:
            table, columns = table[:, None], ("",)
        down, along = range(len(self.rows)), range(len(columns))
        if len(columns) > FEW:
            along = [j for j in along if table[:, j].any()]
            down = [i for i in down if table[i].any()] if self.rows == columns else down
        remarks = []
        for shown, names, what in ((down, self.rows, "rows"), (along, columns, "columns")):
            if len(shown) < len(names):
                remarks.append(f"{len(names) - len(shown)} {what} of zeros left out")
            if len(shown) > MOST:
                remarks.append(f"{len(shown) - MOST} more {what}")
        head = [self.name, *(columns[j] for j in along[:MOST])]
        rounding = ROUNDING * np.abs(table).max(initial=0.0)
        rows = [[self.rows[i], *(_shown(table[i, j], rounding) for j in along[:MOST])] for i in down[:MOST]]
        return head, rows, "; ".join(remarks)

    def __repr__(self) -> str:
        head, rows, remark = self._cells()
        if not rows:
            return f"{self.name}: zero" if self.rows else f"{self.name}: no rows"
        widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
        lines = [
            "  ".join(
                [row[0].ljust(widths[0]), *(x.rjust(w) for x, w in zip(row[1:], widths[1:], strict=True))]
            ).rstrip()
            for row in (head, *rows)
        ]
        return "\n".join([*lines, *([f"({remark})"] if remark else [])])

    def _repr_html_(self) -> str:
        head, rows, remark = self._cells()
        return frame(remark, grid(head, rows)) if remark else grid(head, rows)


def _shown(x: float, rounding: float) -> str:
    return "~0" if 0.0 < abs(x) < rounding else f"{x:.6g}"


class Tables:
    """What shows several of them, one below the other: a title, and names of attributes that hold them."""

    def _title(self) -> str:
        raise NotImplementedError

    def _shown(self) -> list[NamedArray]:
        raise NotImplementedError

    def __repr__(self) -> str:
        return "\n\n".join([self._title(), *map(repr, self._shown())])

    def _repr_html_(self) -> str:
        return frame(self._title(), "".join(f"<p>{array._repr_html_()}</p>" for array in self._shown()))
