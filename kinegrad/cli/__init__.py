"""The command line: ``kinegrad demo``, ``check``, ``run``, ``gradient`` and more; one file a command.

A command returns a `Report`; printing, exit codes and the sentences of errors are the same for all and live in
`contract`. Commands import what they need when they run, so that help and errors come at once.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

import kinegrad
from kinegrad.cli import contract
from kinegrad.cli.streams import keep_numbers

#: Each is a module of this package with a function of the same name.
COMMANDS = (
    "demo", "check", "signals", "assemble", "kinematics", "run", "inverse", "equilibrium", "gradient", "compare", "optimize",
    "view", "bench", "schema", "precompile",
)  # fmt: skip

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    help="Rigid multibody systems: described once, simulated, and differentiated exactly.",
)


@app.callback(invoke_without_command=True)
def _begin(
    context: typer.Context, version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False
) -> None:
    if version:
        print(f"kinegrad {kinegrad.__version__}")
        raise typer.Exit()
    if context.invoked_subcommand is None:
        print(context.get_help())


for _name in COMMANDS:
    app.command(_name)(getattr(importlib.import_module(f"kinegrad.cli.{_name}"), _name))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command in `arguments` (those of the process by default) and exit with its code."""
    keep_numbers()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a name the terminal cannot show is no reason to fail
            stream.reconfigure(errors="backslashreplace")
    sys.exit(contract.run(typer.main.get_command(app), sys.argv[1:] if arguments is None else arguments))
