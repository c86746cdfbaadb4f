"""The command line: ``kinegrad demo``, ``check``, ``run``, ``gradient`` and more; one file a command.

A command returns a `Report`; printing, exit codes and the sentences of errors are the same for all and live in
`contract`. Commands import what they need when they run, so that help and errors come at once.
"""

from __future__ import annotations

import ast
import importlib
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
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


def _words(function: Callable) -> str | None:
    """What stands under the name of a function: also where Python was told to forget it (PYTHONOPTIMIZE=2)."""
    if function.__doc__ is None:
        source = Path(function.__code__.co_filename)
        tree = ast.parse(source.read_bytes()) if source.is_file() else ast.Module([], [])
        named = (one for one in tree.body if getattr(one, "name", "") == function.__name__)
        return next(map(ast.get_docstring, named), None)
    return function.__doc__


for _name in COMMANDS:
    _function = getattr(importlib.import_module(f"kinegrad.cli.{_name}"), _name)
    app.command(_name, help=_words(_function))(_function)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command in `arguments` (those of the process by default) and exit with its code."""
    keep_numbers()
    os.environ["MPLBACKEND"] = "agg"  # figures go into files, whatever windows would need
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a name the terminal cannot show is no reason to fail
            stream.reconfigure(errors="backslashreplace")
    sys.exit(contract.run(typer.main.get_command(app), sys.argv[1:] if arguments is None else arguments))
