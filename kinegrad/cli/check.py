"""``kinegrad check``: what a model is made of, and how large its equations are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kinegrad.cli.contract import Report
from kinegrad.cli.options import Cut, Json, ModelFile, Set, Variant, load_model

if TYPE_CHECKING:
    from kinegrad.coordinates.spanning_tree import SpanningTree
    from kinegrad.model.model import Model


NAMES_SHOWN = 20


def check(model: ModelFile, cut: Cut = [], variant: Variant = None, set_: Set = [], json: Json = False) -> Report:  # noqa: B006
    """Show what a model is made of and where its loops are cut."""
    from kinegrad.coordinates.spanning_tree import joint_set_size, spanning_tree

    description = load_model(model, variant, set_)
    tree = spanning_tree(description, cut)
    n, m = joint_set_size(description, tree)
    data = {
        "title": description.title or None,
        "variant": variant,
        "bodies": len(description.bodies),
        "joints": len(description.joints),
        "sets": {"joint": {"n": n, "m": m}},
        "cut_joints": list(tree.cut),
        "free_joints": list(tree.free),
    }
    return Report(data, lambda console: _show(console, data, description, tree))


def _show(console, data: dict, model: Model, tree: SpanningTree) -> None:
    from rich.table import Table
    from rich.text import Text

    console.print(Text(data["title"] or "Model without a title", style="bold"))
    counts = Table.grid(padding=(0, 2))
    for label, value in (
        ("variant", data["variant"]),
        ("bodies", _counted(model.bodies)),
        ("joints", _counted(model.joints)),
        ("constraints", _counted(model.constraints)),
        ("drivers", _counted(model.drivers)),
        ("forces", _counted(model.forces)),
        ("degrees of freedom", _counted(model.degrees_of_freedom)),
        ("objectives", _counted(model.objectives)),
        ("cut joints", _counted(tree.cut)),
        ("added floating joints", _counted(tree.free)),
    ):
        if value:
            counts.add_row(label, Text(value))
    console.print(counts)
    sets = Table("coordinates", "n", "m")
    for name, size in data["sets"].items():
        sets.add_row(name, str(size["n"]), str(size["m"]))
    console.print(sets)
    console.print("n coordinates, m constraint rows as written (some may be redundant).")


def _counted(section: Iterable[str]) -> str:
    """How many entries there are, and the names of the first; empty for an empty section."""
    names = list(section)
    shown = ", ".join(names[:NAMES_SHOWN]) + (" ..." if len(names) > NAMES_SHOWN else "")
    return f"{len(names)}: {shown}" if names else ""
