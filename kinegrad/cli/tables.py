"""Tables whose numbers are never cut: wider than the terminal where they must be, or in several parts."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

WIDEST = 10_000  # more than any table needs
FRAME = 3  # characters that a column takes beside its text


class WholeConsole(Console):
    """A console on which every column of a table has room for its longest word, and no word gets an ellipsis."""

    def print(self, *objects, **options) -> None:
        """As of any console; a table that does not fit is printed as wide as it has to be."""
        if len(objects) == 1 and isinstance(objects[0], Table):
            needed = set_widths(self, objects[0])
            if needed > self.width:
                Console(file=self.file, width=needed, highlight=False).print(*objects, **options)
                return
        super().print(*objects, **options)


def set_widths(console: Console, table: Table) -> int:
    """Gives the columns widths in which no word is cut, and returns the width of the table.

    Each begins with that of its longest word; the room that is left goes, bit by bit, to the narrowest with longer lines.
    """
    wide = console.options.update(width=WIDEST)
    sizes = [
        [Measurement.get(console, wide, cell) for cell in (column.header, *column.cells) if cell]
        for column in table.columns
    ]
    widths = [max((size.minimum for size in column), default=0) for column in sizes]
    wanted = [max((size.maximum for size in column), default=0) for column in sizes]
    frame = Measurement.get(console, wide, table).maximum - sum(wanted)
    for _ in range(console.width - frame - sum(widths)):
        short = [k for k in range(len(widths)) if widths[k] < wanted[k]]
        if not short:
            break
        widths[min(short, key=widths.__getitem__)] += 1
    for column, width in zip(table.columns, widths, strict=True):
        column.width = width
    return frame + sum(widths)


def show_columns(
    console: Console, head: str, columns: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]], title: str = "",
    apart: int = 0,
) -> None:  # fmt: skip
    """A table of texts with a label for each row, in as many parts, one below the other, as its columns need.

    A line is drawn after the first `apart` rows.
    """
    label = max(map(len, (head, *(name for name, _ in rows))))
    widths = [max(map(len, (column, *(cells[k] for _, cells in rows)))) for k, column in enumerate(columns)]
    first = 0
    while first < len(columns):
        room, last = console.width - label - FRAME - 1, first
        while last < len(columns) and (last == first or widths[last] + FRAME <= room):
            room -= widths[last] + FRAME
            last += 1
        table = Table(title=title or None)
        for text in (head, *columns[first:last]):
            table.add_column(Text(text))
        for k, (name, cells) in enumerate(rows):
            table.add_row(Text(name), *(Text(cell) for cell in cells[first:last]), end_section=k + 1 == apart)
        console.print(table)
        first = last
