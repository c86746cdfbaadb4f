"""``kinegrad bench``: cost and accuracy beside other programs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from kinegrad.cli.contract import Report
from kinegrad.cli.options import Json
from kinegrad.errors import KinegradError

PARTS = ("five-bar", "gradient", "chain", "iftomm", "thesis", "large")  # and "adams", in a checkout
LARGEST, LARGEST_OF_ALL = 1024, 64  # bodies

Part = Annotated[
    str,
    typer.Argument(
        metavar="PART", help="five-bar, gradient, chain, iftomm, thesis, large or all; adams in a checkout."
    ),
]
Repeats = Annotated[int, typer.Option("--repeats", metavar="N", help="Turns that count, after one that does not.")]
Only = Annotated[str, typer.Option("--only", metavar="WORD", help="Rows whose name contains this word.")]

Largest = Annotated[
    int | None,
    typer.Option("--largest", metavar="N", help="Bodies of the largest mechanism of large; 1024, of all 64."),
]


Sets = Annotated[
    str | None,
    typer.Option("--coordinates", metavar="NAME", help="Of adams: joint, reference-point or natural; all without it."),
]


def bench(
    part: Part = "all",
    repeats: Repeats = 5,
    only: Only = "",
    largest: Largest = None,
    coordinates: Sets = None,
    json: Json = False,
) -> Report:
    """Time kinegrad beside other programs.

    The linkage of five bars beside Exudyn and MuJoCo, and its gradients; gradients beside CasADi, MuJoCo and Exudyn, and those
    of robots beside Pinocchio; open chains beside Pinocchio, MuJoCo and Exudyn; the problems A01 to A05 of the IFToMM library
    beside Exudyn and MuJoCo; the tables and figures of a thesis; large
    mechanisms of more and more bodies. Programs that are not installed are left out. In a checkout, 28 reference cases of MSC
    Adams, which are not timed: how far they are from kinegrad, against limits.
    Example: kinegrad bench five-bar --only kinegrad
    """
    from kinegrad.bench import adams, chain, five_bar, gradient, iftomm, large, thesis
    from kinegrad.bench.machine import machine
    from kinegrad.cli.progress import Progress

    if part not in (*PARTS, "adams", "all"):
        raise KinegradError(f"{part!r} is no part of the benchmark; choose {', '.join(PARTS)}, adams or all.")
    if coordinates is not None and part != "adams":
        raise KinegradError(f"--coordinates is for the part adams, and {part} has sets of its own; leave it out.")
    if coordinates is not None and coordinates not in adams.SETS:
        raise KinegradError(f"--coordinates is {coordinates!r}; choose {', '.join(adams.SETS)}.")
    if repeats < 1:
        raise KinegradError(f"--repeats is {repeats}; at least one turn has to count.")
    if largest is not None and largest < large.SIZES[0]:
        raise KinegradError(f"--largest is {largest}; the smallest mechanism has {large.SIZES[0]} bodies.")
    if largest is not None and part not in ("large", "all"):
        raise KinegradError(f"--largest is for the part large, and {part} has no sizes; leave it out.")
    chosen = PARTS if part == "all" else (part,)
    most = largest or (LARGEST_OF_ALL if part == "all" else LARGEST)
    found = {}
    for name, module in zip((*PARTS, "adams"), (five_bar, gradient, chain, iftomm, thesis, large, adams), strict=True):
        if name in chosen:
            with Progress(f"benchmark, {name}") as progress:
                more: dict = {"largest": most} if module is large else {}
                more |= {"coordinates": (coordinates,)} if module is adams and coordinates else {}
                found[name] = (module, module.run(repeats, only, progress, **more))
    if not any(rows for _, rows in found.values()):
        if part == "adams":
            raise KinegradError(f"--only {only!r} matches no case; try {', '.join(adams.kinds())}.")
        words = "kinegrad, exudyn, mujoco" + (", pinocchio" if {"chain", "gradient"} & {*chosen} else "")
        raise KinegradError(f"--only {only!r} matches no row; try {words}.")
    lines = machine()
    data = {"machine": lines} | {
        "rows" if name == "five-bar" else name: [asdict(row) for row in rows] for name, (_, rows) in found.items()
    }

    def show(console) -> None:
        console.print("\n".join(lines), highlight=False)
        for module, rows in found.values():
            if rows:
                console.print()
                print(module.table(rows))

    beyond = any(not row.agrees for _, rows in found.values() for row in rows if isinstance(row, adams.AdamsRow))
    return Report(data, show, good=not beyond)
