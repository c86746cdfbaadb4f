"""``kinegrad bench``: rows with their ratios, and refusals."""

import json

import pytest

from kinegrad.cli import main


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as exit:
        main(["bench", *arguments])
    return exit.value.code, *capsys.readouterr()


def test_our_rows_meet_their_errors_and_the_gradient_costs_a_few_simulations(capsys):
    code, out, _ = run(capsys, "--only", "kinegrad", "--repeats", "3", "--json")
    rows = {row["name"]: row for row in json.loads(out)["rows"]}
    assert code == 0
    assert rows["kinegrad ALI3-P, trapezoidal"]["error"] < 3e-5
    assert rows["kinegrad Matrix-R, RK4"]["error"] < 1e-9
    for method in ("direct", "discrete-adjoint"):  # asked: 5; a busy machine measures more
        assert 1.0 < rows[f"kinegrad gradient 3 x 5, {method}"]["ratio"] < 10.0


@pytest.mark.parametrize("arguments", [("--repeats", "0"), ("--only", "nothing")])
def test_refusals_are_one_sentence(capsys, arguments):
    code, _, err = run(capsys, *arguments)
    assert code == 2
    assert len(err.strip().splitlines()) == 1 and arguments[0] in err
