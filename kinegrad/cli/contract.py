"""What every command keeps to: one JSON object or a readable table, sentences for problems, exit codes.

==== =================================================================
code meaning
==== =================================================================
0    done
1    done, and the verdict is negative
2    bad input or a failed solve; one sentence per problem
129  stopped, since the terminal was closed (SIGHUP)
130  stopped from the keyboard
141  done, the verdict is negative, and nobody read it: the reader of standard output left
143  stopped by SIGTERM, as of ``kill``, ``timeout`` and batch systems
==== =================================================================

Problems go to standard error; with ``--json`` they are the object ``{"errors": [{"sentence", "where", "line"}]}`` on
standard output.
"""

from __future__ import annotations

import json
import math
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from errno import ENOMEM
from typing import Any

import typer

from kinegrad.cli.streams import OutputError, ReaderLeft, guarded
from kinegrad.errors import KinegradError, Problem
from kinegrad.interrupts import Endings

DONE, NEGATIVE, FAILED, STOPPED, UNREAD = 0, 1, 2, 130, 141
SIGNALLED = 128  # and the number of a signal: the codes that shells have

MOST_SHOWN = 50  # problems told to a reader

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


class Stopped(Exception):
    """Ctrl-C, with a sentence on what was saved: libraries make a KeyboardInterrupt into errors of their own."""


def warn(sentence: Any) -> None:
    """Tell something on standard error that is no failure."""
    print(f"Note: {sentence}", file=sys.stderr, flush=True)


def run(command, arguments: Sequence[str]) -> int:
    """Exit code of `command` with these arguments, after its report or its problems are printed."""
    with warnings.catch_warnings(), guarded():
        show = warnings.showwarning

        def note(message, category, *rest):
            """Without a place in the program, which tells a user nothing; overflow is told where it matters."""
            if _debugging():
                show(message, category, *rest)
            elif category is not RuntimeWarning:
                warn(" ".join(str(message).split()))

        warnings.showwarning = note
        with Endings() as ended:
            code = _run(command, arguments)
        return SIGNALLED + ended.came if code == STOPPED and ended.came else code


def _debugging() -> bool:
    return os.environ.get("KINEGRAD_DEBUG", "0") not in ("", "0")


def _run(command, arguments: Sequence[str]) -> int:
    as_json = "--json" in arguments
    code = DONE
    try:
        report = command.main(list(arguments), prog_name="kinegrad", standalone_mode=False)
        if report == STOPPED:  # some versions of typer return this code for a keyboard interrupt, others abort
            raise KeyboardInterrupt
        if isinstance(report, Report):
            _check_finite(report.data)
            code = DONE if report.good else NEGATIVE
            _print_report(report, as_json)
        sys.stdout.flush()  # help and version print by themselves
        return code
    except (KeyboardInterrupt, typer.Abort, Stopped) as stop:
        print(stop if isinstance(stop, Stopped) else "stopped.", file=sys.stderr)
        return STOPPED
    except ReaderLeft:
        return DONE if code == DONE else UNREAD
    except Exception as error:
        if _debugging():
            traceback.print_exc()
        try:
            _print_problems(_problems(error), as_json and not isinstance(error, OutputError))
        except ReaderLeft:
            pass
        except OutputError as second:
            _print_problems(second.problems, as_json=False)
        return FAILED


def _check_finite(value: Any, where: str = "") -> None:
    """Raises when a number of a report is none, by its place in the JSON object."""
    if isinstance(value, dict):
        for key, entry in value.items():
            _check_finite(entry, f"{where}.{key}" if where else str(key))
    elif isinstance(value, list | tuple):
        for k, entry in enumerate(value):
            _check_finite(entry, f"{where}[{k}]")
    elif isinstance(value, float) and not math.isfinite(value):
        raise KinegradError(
            f"{where} of the result is {value}, which is no number: numbers of the model are too large or too small for "
            "double precision, or an expression is outside its domain; change these."
        )


def _print_report(report: Report, as_json: bool) -> None:
    if as_json:
        print(json.dumps(report.data, allow_nan=False), flush=True)
    else:
        from kinegrad.cli.tables import WholeConsole

        report.show(WholeConsole(highlight=False))


def _print_problems(problems: Sequence[Problem], as_json: bool) -> None:
    if as_json:
        errors = [{"sentence": p.sentence, "where": p.where, "line": p.line} for p in problems]
        print(json.dumps({"errors": errors}), flush=True)
    else:
        for problem in problems[:MOST_SHOWN]:
            print(" ".join(str(problem).split()), file=sys.stderr)
        if len(problems) > MOST_SHOWN:
            print(f"... and {len(problems) - MOST_SHOWN} problems more; --json gives all.", file=sys.stderr)
        sys.stderr.flush()


def _out_of_memory(error: BaseException | None) -> bool:
    """Whether memory ran out, which the system tells in several ways where a library is loaded."""
    while error is not None:
        said = str(error).lower()
        if isinstance(error, MemoryError) or getattr(error, "errno", None) == ENOMEM or "failed to map segment" in said:
            return True
        error = error.__cause__ or error.__context__
    return False


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
    if _out_of_memory(error):
        return (
            Problem(
                f"The memory of this machine, or what it allows this process, does not suffice ({type(error).__name__}): keep "
                "fewer states (--output-step), simulate a shorter time or a smaller model; should that not help, please "
                "report it with the command and the model (KINEGRAD_DEBUG=1 prints the place)."
            ),
        )
    return (
        Problem(
            f"this is a fault in kinegrad, not in your input ({what}). Please report it together with the command and "
            f"the model; with KINEGRAD_DEBUG=1 in the environment the place is printed."
        ),
    )
