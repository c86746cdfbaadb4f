"""``kinegrad signals``: every named quantity of a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kinegrad.cli import options as o
from kinegrad.cli.contract import Report

if TYPE_CHECKING:
    from kinegrad.model.model import Model
    from kinegrad.motion import Motion

KEYS = ("unit", "dimension", "group", "owner", "meaning", "use")


def signals(
    model: o.ModelFile,
    set_: o.Set = [],  # noqa: B006
    variant: o.Variant = None,
    json: o.Json = False,
) -> Report:
    """List every named quantity of a model: its unit, what it is, and where expressions may use it.

    Any of them goes into `run --signals`, plots, tables, files and, unless it is a result, objectives. Example:
    kinegrad signals arm.yaml
    """
    found = o.load_model(model, variant, set_).signals
    data = {"signals": {name: {key: getattr(signal, key) for key in KEYS} for name, signal in found.items()}}

    def show(console):
        from rich.table import Table
        from rich.text import Text

        table = Table("signal", "unit", "meaning", "used in")
        last = None
        for name, signal in found.items():
            if last not in (None, (signal.group, signal.owner)):
                table.add_section()
            last = signal.group, signal.owner
            table.add_row(Text(name), signal.unit, Text(signal.meaning), USED[signal.use])
        console.print(table)

    return Report(data, show)


USED = {
    "measure": "everywhere",
    "force": "forces, objectives",
    "objective": "objectives",
    "solved": "objectives",
    "followed": "objectives",
    "result": "results",
}


def checked(model: Model, text: str | None) -> str | None:
    """What --signals says, after a look at its names."""
    from kinegrad.model.signals import groups_of

    if text is not None:
        groups_of(model.signals, text)
    return text


def summary(motion: Motion, text: str | None) -> dict:
    """{"signals": {name: {unit, final, min, max}}}, or nothing without --signals."""
    from kinegrad.model.signals import groups_of

    if text is None:
        return {}
    names = [name for group in groups_of(motion.catalogue, text) for name in group]
    return {"signals": motion.signals(*dict.fromkeys(names)).summary()}


def show_signals(console, data: Mapping) -> None:
    """A table of the signals in `data`, if there are any."""
    from rich.table import Table
    from rich.text import Text

    if data.get("signals"):
        table = Table("signal", "unit", "at the end", "least", "largest")
        for name, entry in data["signals"].items():
            table.add_row(Text(name), entry["unit"], *(f"{entry[key]:.6g}" for key in ("final", "min", "max")))
        console.print(table)
