"""``kinegrad view``: the animated page in the browser, with sliders that simulate anew."""

from __future__ import annotations

import sys
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kinegrad.cli import options as o
from kinegrad.cli.contract import Report
from kinegrad.errors import KinegradError

if TYPE_CHECKING:
    from kinegrad.motion import Motion

HDF5 = b"\x89HDF\r\n\x1a\n"  # how a result file begins

File = Annotated[
    Path, typer.Argument(metavar="FILE", help="A model file, or a motion that --out saved.", show_default=False)
]
Port = Annotated[int, typer.Option("--port", metavar="N", help="Port of the page; any free one by default.")]
Beside = Annotated[
    list[Path],
    typer.Option(
        "--beside",
        metavar="FILE",
        help="Also show this motion that --out saved, paler, at the same times; may be repeated.",
    ),
]
NoOpen = Annotated[bool, typer.Option("--no-open", help="Serve the page, and do not open the browser.")]


def view(
    file: File,
    step: o.Step = None,
    t_end: o.TEnd = None,
    from_: o.From = None,
    from_time: o.FromTime = None,
    set_: o.Set = [],  # noqa: B006
    variant: o.Variant = None,
    port: Port = 0,
    no_open: NoOpen = False,
    signals: o.Signals = None,
    beside: Beside = [],  # noqa: B006
    json: o.Json = False,
) -> Report:
    """Show a motion in the browser; sliders change the design, and the page simulates anew.

    A saved motion is shown as it is. Example: kinegrad view arm.yaml --t-end 2
    """
    from kinegrad.page.live import LiveMotion
    from kinegrad.page.server import LiveServer

    if not 0 <= port <= 65535:
        raise KinegradError(f"--port is {port}; give a number from 0 (any that is free) to 65535.")
    given = {
        "--step": step,
        "--t-end": t_end,
        "--from": from_,
        "--from-time": from_time,
        "--set": set_,
        "--variant": variant,
    }
    choices = {"step": step, "t_end": t_end, "start": from_, "start_time": from_time}
    motion = _saved(file, given) if _is_result(file) else _simulated(file, choices, set_, variant, signals)
    others = {path.stem: _saved(path, {}) for path in beside}
    live = LiveMotion(motion, partial(_again, motion), folder=file.parent, signals=signals or (), beside=others)
    with LiveServer(live.document(), live.simulate, port, live.signals) as server:
        print(f"The page is at {server.address} until you press Ctrl-C.", file=sys.stderr, flush=True)
        if not no_open:
            threading.Thread(target=_open, args=(server.address,), daemon=True).start()
        try:
            server.serve_forever(poll_interval=0.2)
        except KeyboardInterrupt:
            print(file=sys.stderr)
        data = {"address": server.address, "simulations": live.number}

    def show(console):
        console.print(f"The page was closed after {live.number} simulations.")

    return Report(data, show)


def _is_result(file: Path) -> bool:
    try:
        if not file.is_file():  # what is read from a pipe would be lost to the reader of models
            return False
        with file.open("rb") as stream:
            return stream.read(len(HDF5)) == HDF5
    except (OSError, ValueError):
        return False  # the reader of models tells why


def _saved(file: Path, given: dict[str, Any]) -> Motion:
    """The motion in a result file, which has its own model and times."""
    from kinegrad.results import load

    for option, value in given.items():
        if value or value == 0.0:
            raise KinegradError(
                f"{option} does not apply to {str(file)!r}, a saved motion; leave it out, or view the model file."
            )
    return load(file)


def _simulated(file: Path, choices: dict, assignments, variant, signals: str | None) -> Motion:
    """The motion of a model as the file and the options say."""
    from kinegrad.cli.job import Choices, prepare
    from kinegrad.cli.progress import Progress
    from kinegrad.cli.signals import checked

    model = o.load_model(file, variant, assignments)
    checked(model, signals)
    job = prepare(model, Choices(**choices), (), None, None, keep=[file])
    with Progress("Simulation") as progress:
        return job.simulate(progress)


def _again(motion: Motion, values: dict[str, float], progress) -> Motion:
    """The motion with other values of parameters, made like `motion`; as many states as it has are kept."""
    from kinegrad.simulate import simulate
    from kinegrad.starts import FromState
    from kinegrad.statics.drive import drive

    system = motion.system.with_parameters(values)
    times = {
        "t_end": motion.t_end,
        "step": motion.step,
        "output_step": motion.output_step or motion.stride * motion.step,
    }
    if motion.is_driven:
        return drive(system, **times, progress=progress)
    guess = motion.q[0] if isinstance(motion.start, FromState) else None
    how = motion.formulation, motion.integrator
    return simulate(system, *how, **times, start=motion.start, guess=guess, progress=progress)


def _open(address: str) -> None:
    import webbrowser

    webbrowser.open(address)
