"""The bar appears for long work only, and on standard error."""

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


def test_work_that_ends_at_once_after_a_long_wait_shows_nothing(capsys):
    with Progress("Work", patience=0.0) as progress:
        progress(1.0)
    assert capsys.readouterr() == ("", "")
