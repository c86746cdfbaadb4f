"""``kinegrad bench``: rows with their ratios, and refusals."""

import importlib.util
import json

import pytest

from kinegrad.bench import chain
from kinegrad.cli import main


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as exit:
        main(["bench", *arguments])
    return exit.value.code, *capsys.readouterr()


def test_our_rows_meet_their_errors_and_tell_the_cost_of_gradients(capsys):
    code, out, _ = run(capsys, "five-bar", "--only", "kinegrad", "--repeats", "3", "--json")
    rows = {row["name"]: row for row in json.loads(out)["rows"]}
    assert code == 0
    assert rows["kinegrad ALI3-P, trapezoidal"]["error"] < 3e-5
    for name in ("index 1", "Matrix-R", "recursive"):
        assert rows[f"kinegrad {name}, RK4"]["error"] < 1e-9
    for method in ("direct", "discrete-adjoint"):
        assert rows[f"kinegrad gradient 3 x 5, {method}"]["ratio"] > 0.0


def test_chains_have_accelerations_derivatives_and_steps(capsys, monkeypatch):
    """Peers that are installed agree with kinegrad."""
    monkeypatch.setattr(chain.run, "__defaults__", (5, "", None, (4, 64)))
    code, out, err = run(capsys, "chain", "--repeats", "2", "--json")
    rows = {(row["links"], row["what"], row["program"]): row for row in json.loads(out)["chain"]}
    assert code == 0
    for what in (chain.FORWARD, chain.DERIVATIVES, chain.TIME_STEP):
        assert rows[4, what, "kinegrad"]["ratio"] == 1.0
    assert all(row["difference"] < 1e-11 for row in rows.values())
    assert all(row["us"] > 0.0 for row in rows.values())
    for package, who in chain.PEERS.items():
        assert any(who in program for _, _, program in rows) or f"{who} is left out" in err
        assert (importlib.util.find_spec(package) is not None) == any(who in program for _, _, program in rows)


@pytest.mark.parametrize("arguments", [("five-bar", "--repeats", "0"), ("five-bar", "--only", "nothing"), ("six-bar",)])
def test_refusals_are_one_sentence(capsys, arguments):
    code, _, err = run(capsys, *arguments)
    assert code == 2
    assert len(err.strip().splitlines()) == 1 and arguments[1 if len(arguments) > 1 else 0] in err
