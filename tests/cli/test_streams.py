"""Standard output and standard error that cannot be written: a sentence and exit code 2, or silence, never a traceback."""

import os
import subprocess
import sys

import pytest

COMMAND = [sys.executable, "-c", "from kinegrad.cli import main; main()"]


def done(arguments, before="", after=""):
    """Exit code, output and errors of a command in a shell, with redirections."""
    quoted = " ".join(f"'{word}'" for word in [*COMMAND, *map(str, arguments)])
    command = f"set -o pipefail; {before}{quoted} {after}"
    found = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, env=os.environ | {"KINEGRAD_QUIET": "1"}
    )
    return found.returncode, found.stdout, found.stderr


@pytest.mark.parametrize("options", [[], ["--json"]], ids=["table", "json"])
@pytest.mark.parametrize(
    ("redirection", "reason"),
    [(">/dev/full", "No space left on device"), (">&-", "it is closed")],
    ids=["full", "closed"],
)
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_that_cannot_be_written(pendulum, tmp_path, options, redirection, reason, unbuffered):
    """The files are written all the same."""
    out = tmp_path / "m.nc"
    arguments = ["run", pendulum(), "--t-end", "0.01", "--out", out, *options]
    found = done(arguments, f"PYTHONUNBUFFERED={unbuffered} ", redirection)
    assert found == (
        2,
        "",
        f"Standard output cannot be written: {reason}; redirect it to another file, or to /dev/null.\n",
    )
    assert out.exists()


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["--version"], ["schema"], ["schema", "--json"]])
@pytest.mark.parametrize("redirection", [">/dev/full", ">&-"])
def test_what_prints_by_itself(arguments, redirection):
    code, out, err = done(arguments, after=redirection)
    assert (code, out) == (2, "") and err.startswith("Standard output cannot be written") and err.count("\n") == 1


@pytest.mark.parametrize("options", [[], ["--json"]], ids=["table", "json"])
def test_a_reader_that_leaves_is_no_verdict(pendulum, options):
    """Exit code 1 would be a negative verdict."""
    path = pendulum()
    assert done(["run", path, "--t-end", "0.01", *options], after="| true") == (0, "", "")
    assert done(["--help"], after="| true") == (0, "", "")
    few = pendulum(("degrees_of_freedom: {hinge.angle: {position: -pi/4, velocity: 0}}", ""))
    assert done(["check", few, *options])[0] == 1
    assert done(["check", few, *options], after="| true")[0] == 141
    assert done(["check", "missing.yaml", *options], after="2>&1 | true")[0] == 2


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full", ">&- 2>&-", "<&- >&- 2>&-"])
def test_problems_that_nobody_hears(pendulum, tmp_path, redirection):
    assert done(["run", "missing.yaml"], after=redirection) == (2, "", "")
    out = tmp_path / "m.nc"
    code, _, err = done(["run", pendulum(), "--t-end", "0.01", "--out", out], after=redirection)
    assert (code, err) == (2 if ">&- 2" in redirection else 0, "")
    assert out.read_bytes().startswith(b"\x89HDF")
