"""What all commands keep to: exit codes, sentences, one JSON object, no traceback."""

import json
import subprocess
import sys
import warnings

import pytest
import typer

from kinegrad.cli import COMMANDS, main
from kinegrad.cli.contract import Report, run
from kinegrad.errors import DerivativeWarning, ModelError, Problem, SimulationError


def outcome(arguments):
    """Exit code of a command line."""
    with pytest.raises(SystemExit) as exit:
        main(arguments)
    return exit.value.code


def ends(report_or_error):
    """A command line with one command ``go`` that returns or raises this."""
    app = typer.Typer()

    @app.command("go")
    def go(json: bool = False):
        if isinstance(report_or_error, BaseException):
            raise report_or_error
        return report_or_error

    return typer.main.get_command(app)


def test_version_and_help(capsys):
    assert outcome(["--version"]) == 0
    assert capsys.readouterr().out == "kinegrad 0.1.0\n"
    for arguments in ([], ["--help"]):
        assert outcome(arguments) == 0
        shown = capsys.readouterr().out
        assert all(command in shown for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_and_json(command, capsys):
    assert outcome([command, "--help"]) == 0
    assert "--json" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["chek"], "chek"),
        (["--wrong"], "--wrong"),
        (["check"], "MODEL"),
        (["check", "a.yaml", "b.yaml"], "b.yaml"),
        (["check", "a.yaml", "--colour"], "--colour"),
        (["check", "a.yaml", "--cut"], "--cut"),
        (["schema", "extra"], "extra"),
    ],
)
def test_wrong_command_lines_are_told_in_one_sentence(arguments, named, capsys):
    assert outcome(arguments) == 2
    plain = capsys.readouterr()
    assert plain.out == ""
    assert named in plain.err and "kinegrad" in plain.err and plain.err.count("\n") == 1
    assert outcome([arguments[0], "--json", *arguments[1:]]) == 2
    errors = json.loads(capsys.readouterr().out)["errors"]
    assert len(errors) == 1 and errors[0].keys() == {"sentence", "where", "line"}


def test_verdicts_and_failures_have_their_codes(capsys):
    def say(console):
        console.print("said")

    assert run(ends(Report({"a": 1}, say)), []) == 0
    assert capsys.readouterr().out == "said\n"
    assert run(ends(Report({"a": 1}, say, good=False)), ["--json"]) == 1
    assert capsys.readouterr().out == '{"a": 1}\n'
    assert run(ends(SimulationError("the step failed at t = 1 s.")), []) == 2
    assert capsys.readouterr() == ("", "the step failed at t = 1 s.\n")
    assert run(ends(KeyboardInterrupt()), []) == 130
    assert capsys.readouterr().err == "stopped.\n"


def test_each_problem_is_one_line_or_one_entry(capsys):
    error = ModelError(Problem("one\nthing.", "bodies.a.mass", 7), "another.")
    assert run(ends(error), []) == 2
    assert capsys.readouterr() == ("", "line 7: one thing.\nanother.\n")
    assert run(ends(error), ["--json"]) == 2
    assert json.loads(capsys.readouterr().out) == {
        "errors": [
            {"sentence": "one\nthing.", "where": "bodies.a.mass", "line": 7},
            {"sentence": "another.", "where": "", "line": None},
        ]
    }


@pytest.mark.parametrize("fault", [ZeroDivisionError("by\nzero"), RecursionError(), KeyError("x"), MemoryError()])
def test_faults_of_the_program_ask_for_a_report(fault, capsys, monkeypatch):
    monkeypatch.delenv("KINEGRAD_DEBUG", raising=False)
    assert run(ends(fault), []) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1
    assert type(fault).__name__ in said.err and "report" in said.err and "KINEGRAD_DEBUG=1" in said.err
    monkeypatch.setenv("KINEGRAD_DEBUG", "1")
    assert run(ends(fault), ["--json"]) == 2
    said = capsys.readouterr()
    assert "Traceback" in said.err and len(json.loads(said.out)["errors"]) == 1


def test_numbers_that_json_lacks_are_a_fault_and_not_printed(capsys):
    assert run(ends(Report({"a": float("nan")}, print)), ["--json"]) == 2
    assert "errors" in json.loads(capsys.readouterr().out)


def test_a_reader_that_leaves_early_gets_no_traceback():
    program = "from kinegrad.cli import main; main(['schema'])"
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 0


def test_warnings_tell_no_place_in_the_program(capsys, monkeypatch):
    monkeypatch.delenv("KINEGRAD_DEBUG", raising=False)
    app = typer.Typer()

    @app.command("go")
    def go():
        for warning in (
            RuntimeWarning("overflow in x"),
            UserWarning("a glyph\nis missing"),
            DerivativeWarning("not exact."),
        ):
            warnings.warn(warning, stacklevel=1)
        return Report({}, lambda console: None)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert run(typer.main.get_command(app), []) == 0
        assert capsys.readouterr() == ("", "Note: a glyph is missing\nNote: not exact.\n")
    monkeypatch.setenv("KINEGRAD_DEBUG", "1")
    with pytest.warns(RuntimeWarning, match="overflow in x"):
        assert run(typer.main.get_command(app), []) == 0


def test_a_number_that_is_none_is_told_by_its_place(capsys):
    report = Report({"markers": {"a.P": {"position": [0.0, float("inf")]}}}, lambda console: console.print("a table"))
    for options in ([], ["--json"]):
        assert run(ends(report), options) == 2
        said = capsys.readouterr()
        assert "markers.a.P.position[1] of the result is inf" in said.out + said.err and "a table" not in said.out
