"""What every command keeps to: one JSON object or a readable table, sentences for problems, exit codes.

==== =================================================================
code meaning
==== =================================================================
0    done
1    done, and the verdict is negative
2    bad input or a failed solve; one sentence per problem
130  stopped from the keyboard
==== =================================================================

Problems go to standard error; with ``--json`` they are the object ``{"errors": [{"sentence", "where", "line"}]}`` on
standard output.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import typer

from kinegrad.errors import KinegradError, Problem

DONE, NEGATIVE, FAILED, STOPPED = 0, 1, 2, 130

#: What a wrong command line raises; it has no public name in all versions of typer.
UsageError = typer.BadParameter.__mro__[2]


@dataclass(frozen=True)
class Report:
    """What a command has to say.

    Attributes
    ----------
    data : dict
        The object printed with ``--json``.
    show : callable
        Prints the same for a reader, on a rich console.
    good : bool
        The verdict, where there is one.
    """

    data: dict[str, Any]
    show: Callable[[Any], None]
    good: bool = True


def warn(sentence: Any) -> None:
    """Tell something on standard error that is no failure."""
    print(f"Note: {sentence}", file=sys.stderr, flush=True)


def run(command, arguments: Sequence[str]) -> int:
    """Exit code of `command` with these arguments, after its report or its problems are printed."""
    with warnings.catch_warnings():
        show = warnings.showwarning

        def note_ours(message, category, *rest):
            if category.__module__ == "kinegrad.errors":
                warn(message)
            else:
                show(message, category, *rest)

        warnings.showwarning = note_ours
        return _run(command, arguments)


def _run(command, arguments: Sequence[str]) -> int:
    as_json = "--json" in arguments
    try:
        report = command.main(list(arguments), prog_name="kinegrad", standalone_mode=False)
        if report == STOPPED:  # some versions of typer return this code for a keyboard interrupt, others abort
            raise KeyboardInterrupt
        if not isinstance(report, Report):  # help and version print by themselves
            return DONE
        _print_report(report, as_json)
        return DONE if report.good else NEGATIVE
    except (KeyboardInterrupt, typer.Abort):
        print("stopped.", file=sys.stderr)
        return STOPPED
    except BrokenPipeError:  # the reader has seen enough, as in `kinegrad schema | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except Exception as error:
        if os.environ.get("KINEGRAD_DEBUG", "0") not in ("", "0"):
            traceback.print_exc()
        _print_problems(_problems(error), as_json)
        return FAILED


def _print_report(report: Report, as_json: bool) -> None:
    if as_json:
        print(json.dumps(report.data, allow_nan=False), flush=True)
    else:
        from kinegrad.cli.tables import WholeConsole

        report.show(WholeConsole(highlight=False))
        sys.stdout.flush()


def _print_problems(problems: Sequence[Problem], as_json: bool) -> None:
    if as_json:
        errors = [{"sentence": p.sentence, "where": p.where, "line": p.line} for p in problems]
        print(json.dumps({"errors": errors}), flush=True)
    else:
        for problem in problems:
            print(" ".join(str(problem).split()), file=sys.stderr)


def _problems(error: Exception) -> tuple[Problem, ...]:
    """The sentences for `error`, whether it was foreseen or not."""
    if isinstance(error, KinegradError):
        return error.problems
    if isinstance(error, UsageError):
        context = getattr(error, "ctx", None)
        help_command = f"{context.command_path} --help" if context is not None else "kinegrad --help"
        sentence = error.format_message().strip().rstrip(".")
        stop = "" if sentence.endswith("?") else "."
        return (Problem(f"{sentence}{stop} See `{help_command}`."),)
    what = " ".join(f"{type(error).__name__}: {error}".split())
    return (
        Problem(
            f"this is a fault in kinegrad, not in your input ({what}). Please report it together with the command and "
            f"the model; with KINEGRAD_DEBUG=1 in the environment the place is printed."
        ),
    )
