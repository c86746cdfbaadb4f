"""Arguments that several commands share, and the model they stand for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kinegrad.errors import KinegradError, ModelError

if TYPE_CHECKING:
    from kinegrad.coordinates.system import System
    from kinegrad.model.model import Model

TOLERANCE = "Where iterations end; with error control (rk54) the error allowed in a step."

ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="The model file (YAML).", show_default=False)]
Cut = Annotated[
    list[str], typer.Option("--cut", metavar="NAME", help="Cut the loop through this joint here; may be repeated.")
]
Variant = Annotated[
    str | None, typer.Option("--variant", metavar="NAME", help="Use the parameter values of this variant of the file.")
]
Set = Annotated[
    list[str],
    typer.Option("--set", metavar="NAME=VALUE", help="Give a parameter this value, after --variant; may be repeated."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]

# What a simulation is done with; without them the file decides.
Coordinates = Annotated[
    str | None, typer.Option("--coordinates", metavar="NAME", help="Coordinate set: joint, reference-point or natural.")
]
Formulation = Annotated[
    str | None,
    typer.Option(
        "--formulation", metavar="NAME", help="ali3p, matrix-r, index1, penalty, recursive or udwadia-kalaba."
    ),
]
Integrator = Annotated[
    str | None, typer.Option("--integrator", metavar="NAME", help="newmark, hht, generalized-alpha, rk4 or rk54.")
]
Solver = Annotated[
    str | None,
    typer.Option("--solver", metavar="NAME", help="How equations are solved: dense, fronts, or auto, where they pay."),
]
BodyPoint = Annotated[
    str | None, typer.Option("--body-point", metavar="NAME", help="Where each body's motion is taken: origin or com.")
]
Step = Annotated[float | None, typer.Option("--step", metavar="H", help="Time step [s], 1 ms by default.")]
TEnd = Annotated[float | None, typer.Option("--t-end", metavar="T", help="End of the simulation [s].")]
OutputStep = Annotated[
    float | None,
    typer.Option("--output-step", metavar="H", help="Keep a state every so many seconds; every step by default."),
]
Tolerance = Annotated[float | None, typer.Option("--tolerance", metavar="E", help=TOLERANCE)]
Penalty = Annotated[
    float | None, typer.Option("--penalty", metavar="A", help="Penalty factor, for formulations that have one.")
]
From = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="START",
        help="Where it starts: assembly, equilibrium, or FILE.nc, a motion that --out saved (its last state; the clock starts "
        "at 0 again).",
    ),
]
FromTime = Annotated[
    float | None, typer.Option("--from-time", metavar="T", help="Take the state of --from FILE.nc at this time [s].")
]
Out = Annotated[Path | None, typer.Option("--out", metavar="FILE.nc", help="Save the motion (HDF5, netCDF-4 layout).")]
Plot = Annotated[Path | None, typer.Option("--plot", metavar="FILE.png", help="Draw the motion (png, pdf or svg).")]
Html = Annotated[
    Path | None,
    typer.Option("--html", metavar="FILE.html", help="Write the animated page, one file that works offline."),
]
Signals = Annotated[
    str | None,
    typer.Option(
        "--signals",
        metavar="NAMES",
        help="Also give these signals (see `kinegrad signals`), or all: at the end, in the file of --out, in the figure of "
        "--plot and in the panels of a page, where ',' puts them on the same axes and ';' begins new ones.",
    ),
]
Reactions = Annotated[
    bool,
    typer.Option("--reactions", help="Also give the reactions of all joints: at the end, and in the file of --out."),
]


def load_model(path: Path, variant: str | None, assignments: Sequence[str]) -> Model:
    """The model in `path` with the values of a variant, then of assignments ``NAME=VALUE``."""
    from kinegrad.model.model import Model

    model = Model.from_yaml(path)
    if variant is not None:
        model = model.with_variant(variant)
    if assignments:
        model = model.with_values(**parse_assignments(assignments))
    return model.check()


def lowered(
    model: Model, coordinates: str | None = None, cut: Sequence[str] = (), body_point: str | None = None
) -> System:
    """The model in the coordinates of the options, or of the file."""
    from kinegrad.coordinates.sets import SETS, lower
    from kinegrad.model.simulation import BODY_POINTS

    for option, given, offered in (
        ("--coordinates", coordinates, SETS),
        ("--body-point", body_point, BODY_POINTS),
    ):
        if given is not None and given not in offered:
            raise KinegradError(
                f"{option} is {given!r}, which is not available; use {option} with one of {', '.join(offered)}."
            )
    options = {"cut": tuple(cut) or None, "body_point": body_point}
    return lower(model, coordinates, **{name: value for name, value in options.items() if value is not None})


def start_from(value: str | None, time: float | None):
    """What --from and --from-time say: None, a name, or a state of a saved motion."""
    from kinegrad.starts import STARTS

    if value is None or value in STARTS:
        if time is not None:
            raise KinegradError(
                "--from-time goes with --from FILE.nc, whose state it chooses; leave it out, or name a file."
            )
        return value
    from kinegrad.results import load

    if not Path(value).exists():
        raise KinegradError(
            f"--from is {value!r}, which is no file; give {', '.join(STARTS)}, or a motion that --out saved."
        )
    motion = load(Path(value))
    try:
        return replace(motion.state(time), source=f"The motion in {value!r}")
    except KinegradError as error:
        raise KinegradError(f"--from {value}: {error}") from None


def parse_assignments(assignments: Sequence[str]) -> dict[str, Any]:
    """Values by name from texts ``NAME=VALUE``; a value in brackets is a list."""
    values: dict[str, Any] = {}
    problems = []
    for text in assignments:
        name, sign, value = (part.strip() for part in text.partition("="))
        if not (name and sign and value):
            problems.append(f"--set {text!r} is not an assignment; write --set NAME=VALUE, such as --set mass=2.5.")
        elif name in values:
            problems.append(f"--set gives {name!r} twice; keep one of them.")
        elif value.startswith("[") and value.endswith("]"):
            values[name] = [entry.strip() for entry in value[1:-1].split(",")]
        else:
            values[name] = value
    if problems:
        raise ModelError(*problems)
    return values
