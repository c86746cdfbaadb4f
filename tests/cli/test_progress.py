"""The bar appears for long work only, and on standard error."""

import itertools

import pytest

from kinegrad.cli import progress as module
from kinegrad.cli.progress import Progress


@pytest.fixture(autouse=True)
def spoken(monkeypatch):
    monkeypatch.delenv("KINEGRAD_QUIET")


@pytest.fixture
def clock(monkeypatch):
    """A function that makes a second of each reading of the clock, or what it is given."""

    def tick(seconds=1.0):
        reading = itertools.count(0.0, seconds)
        monkeypatch.setattr(module.time, "monotonic", lambda: next(reading))

    return tick


def work(calls=11, **options):
    with Progress("Work", **options) as progress:
        for k in range(calls):
            progress(k / (calls - 1))


def test_short_work_is_silent(capsys, clock):
    clock(module.PATIENCE / 11)
    work()
    assert capsys.readouterr() == ("", "")


def test_long_work_shows_a_bar_on_standard_error(capsys, clock):
    clock(module.PATIENCE / 5)
    work()
    out, err = capsys.readouterr()
    assert out == "" and "Work" in err and "100 %" in err


def test_nothing_is_shown_where_quiet_is_asked_for(capsys, clock, monkeypatch):
    monkeypatch.setenv("KINEGRAD_QUIET", "1")
    clock(module.PATIENCE)
    work()
    assert capsys.readouterr() == ("", "")


def test_the_clock_starts_with_the_work(capsys, clock):
    """What passes before the first call, for compilation, does not count."""
    clock(100.0)
    module.time.monotonic()
    work(calls=3, patience=150.0)
    assert capsys.readouterr() == ("", "")
