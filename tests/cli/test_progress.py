"""The bar appears for long work only, and on standard error."""

import time

from kinegrad.cli.progress import Progress


def test_short_work_is_silent(capsys):
    with Progress("Work") as progress:
        for k in range(11):
            progress(k / 10)
    assert capsys.readouterr() == ("", "")


def test_long_work_shows_a_bar_on_standard_error(capsys):
    with Progress("Work", patience=0.0) as progress:
        for k in range(11):
            progress(k / 10)
    out, err = capsys.readouterr()
    assert out == "" and "Work" in err and "100 %" in err


def test_the_clock_starts_with_the_work(capsys):
    with Progress("Work", patience=0.05) as progress:
        time.sleep(0.1)
        progress(0.5)
        progress(1.0)
    assert capsys.readouterr() == ("", "")
