"""Runs of ``kinegrad optimize`` inside the test process."""

import pytest

from kinegrad.cli import main


@pytest.fixture
def optimize(capsys, monkeypatch):
    """Exit code, standard output and standard error of the command."""
    monkeypatch.setenv("KINEGRAD_QUIET", "1")

    def run(*arguments):
        with pytest.raises(SystemExit) as exit:
            main(["optimize", *map(str, arguments)])
        return exit.value.code, *capsys.readouterr()

    return run
