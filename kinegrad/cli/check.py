"""``kinegrad check``: what a model is made of, how it can move, and how large its equations are."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kinegrad.cli.contract import Report
from kinegrad.cli.options import Cut, Json, ModelFile, Set, Variant, load_model, lowered
from kinegrad.errors import KinegradError

if TYPE_CHECKING:
    from kinegrad.kinematics.mobility import Mobility
    from kinegrad.model.model import Model


Plot = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE.png", help="Draw bodies, joints, tree and cut joints (png, pdf or svg)."),
]
NAMES_SHOWN = 20
LARGE = 30  # bodies from which on compiled kernels save more than it takes to compile them


def check(
    model: ModelFile,
    cut: Cut = [],  # noqa: B006
    variant: Variant = None,
    set_: Set = [],  # noqa: B006
    plot: Plot = None,
    json: Json = False,
) -> Report:
    """Assemble a model and count its degrees of freedom.

    Also tells what it is made of, the size of its equations, redundant rows and the joints at which loops are cut. Exit
    code 1 when the degrees of freedom given do not suit it. Example: kinegrad check arm.yaml
    """
    description = load_model(model, variant, set_)
    _compile_only_for_large(description)
    if plot is not None:
        from kinegrad.cli.job import check_files

        check_files({"--plot": plot}, [model])
    from kinegrad.kinematics.mobility import mobility

    system = lowered(description, cut=cut)
    tree = system.set.spanning_tree()
    found = mobility(system)
    sizes = _by_set(description, cut, {system.kind: found})
    data = {
        "title": description.title or None,
        "variant": variant,
        "bodies": len(description.bodies),
        "joints": len(description.joints),
        "found_joints": [
            {"name": joint.name, "type": joint.type, "between": list(joint.between), "why": joint.why}
            for joint in description.found_joints
        ],
        "dof": found.dof,
        "dof_velocity": found.dof_velocity,
        "dof_nearby": list(found.nearby),
        "singular": found.singular,
        "sets": {kind: {"n": x.n, "m": x.rows, "redundant": len(x.redundant)} for kind, x in sizes.items()},
        "redundant_rows": {kind: list(x.redundant) for kind, x in sizes.items()},
        "cut_joints": list(tree.cut) if tree else [],
        "free_joints": list(tree.free) if tree else [],
        "problems": list(found.problems),
        "from_poses": found.distances.data,
    }
    if plot is not None:
        from kinegrad.plots.topology import plot_topology

        plot_topology(description, plot, tree)

    def show(console) -> None:
        _show(console, data, description, found.distances.facts)
        if plot is not None:
            console.print(f"The picture of the topology is in {plot}.", markup=False)

    return Report(data, show, good=not found.problems)


def _by_set(model: Model, cut: Sequence[str], known: dict[str, Mobility]) -> dict[str, Mobility]:
    """How the model moves in each coordinate set, those `known` among them; a set that does not take it is left out."""
    from kinegrad.coordinates.sets import SETS, lower
    from kinegrad.kinematics.mobility import mobility

    found = dict(known)
    for kind, made in SETS.items():
        options = {"cut": tuple(cut)} if cut and "cut" in made.option_names else {}
        with contextlib.suppress(KinegradError):
            found.setdefault(kind, known.get(kind) or mobility(lower(model, kind, **options)))
    return found


def _compile_only_for_large(model: Model) -> None:
    """A process that only checks a small model is done before the compiler would have woken up: kernels are plain Python."""
    alone = sys.argv[1:2] == ["check"] and "kinegrad.kernels.jit" not in sys.modules
    if alone and len(model.bodies) <= LARGE:
        os.environ.setdefault("NUMBA_DISABLE_JIT", "1")


def _show(console, data: dict, model: Model, facts: dict[str, str]) -> None:
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
        ("degrees of freedom found", str(data["dof"])),
        ("degrees of freedom given", _counted(model.degrees_of_freedom)),
        ("objectives", _counted(model.objectives)),
        ("cut joints", _counted(data["cut_joints"])),
        ("added floating joints", _counted(data["free_joints"])),
        ("redundant rows", _counted(next(iter(data["redundant_rows"].values())))),
        *facts.items(),
    ):
        if value:
            counts.add_row(label, Text(value))
    console.print(counts)
    if data["found_joints"]:
        found = Table("joint found", "type", "between", "since they")
        for joint in data["found_joints"]:
            found.add_row(*map(Text, (joint["name"], joint["type"], ", ".join(joint["between"]), joint["why"])))
        console.print(found)
    sets = Table("coordinates", "n", "m", "redundant")
    for name, size in data["sets"].items():
        sets.add_row(name, *(str(size[key]) for key in ("n", "m", "redundant")))
    console.print(sets)
    console.print("n coordinates, m constraint rows as written, of which some are redundant (harmless).")
    for problem in data["problems"]:
        console.print(Text(problem, style="bold red"))


def _counted(section: Iterable[str]) -> str:
    """How many entries there are, and the names of the first; empty for an empty section."""
    names = list(section)
    shown = ", ".join(names[:NAMES_SHOWN]) + (" ..." if len(names) > NAMES_SHOWN else "")
    return f"{len(names)}: {shown}" if names else ""
