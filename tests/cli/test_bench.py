"""``kinegrad bench``: rows with their ratios, and refusals."""

import importlib.util
import json
import math

import pytest
from numpy.testing import assert_allclose

import kinegrad as kg
from kinegrad.bench import adams, chain, iftomm, large, machine
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


@pytest.mark.parametrize("problem", ["A01", "A02, N = 2", "A03", "A04", "A05"])
def test_our_rows_of_the_library_meet_what_it_asks_for(capsys, monkeypatch, problem):
    """The longest row of windows is left to the benchmark."""
    ours = [entry for entry in iftomm.ENTRIES if entry.program.package == "kinegrad" and entry.problem == problem]
    monkeypatch.setattr(iftomm, "ENTRIES", ours)
    code, out, _ = run(capsys, "iftomm", "--repeats", "1", "--json")
    rows = json.loads(out)["iftomm"]
    assert code == 0 and len(rows) == len(ours) >= 1
    asked = iftomm.problems()[problem]
    for row in rows:
        assert row["note"] == "" and row["problem"] == problem
        assert row["error"] < (asked.asked_error or 2e-4) and row["energy"] < (asked.asked_energy or 1e-3)
        assert row["realtime"] == pytest.approx(row["step"] / (row["us_per_step"] * 1e-6), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("package", ["exudyn", "mujoco"])
def test_peers_solve_the_problems_too(package):
    """Their models are written out apart from ours, so that an agreement says something of both."""
    pytest.importorskip(package)
    entries = [entry for entry in iftomm.ENTRIES if entry.program.package == package and "40" not in entry.problem]
    assert len(entries) == 5
    for entry in entries:
        problem = iftomm.problems()[entry.problem]
        found = entry.program.watch(problem, entry.step)
        assert problem.error(found) < (1e-6 if entry.problem == "A03" else 2e-4), entry.problem
        if entry.problem == "A05":  # they do not tell the work of their dampers
            assert found.drift is None
        else:
            assert found.drift < (problem.asked_energy or 1e-4), entry.problem


def test_a_peer_that_is_missing_is_told_once(capsys, monkeypatch):
    there = importlib.util.find_spec
    monkeypatch.setattr(
        machine.importlib.util, "find_spec", lambda name: None if name in ("exudyn", "mujoco") else there(name)
    )
    code, out, err = run(capsys, "iftomm", "--only", "a01", "--repeats", "1")
    assert code == 0 and err.count("is left out") == 2 and "kinegrad[bench]" in err
    assert "| A01 | kinegrad ALI3-P, trapezoidal | 0.001 |" in out and "Exudyn" not in out


def test_a_run_that_stops_is_told_in_its_row(capsys, monkeypatch):
    entry = iftomm.Entry("A05", "kinegrad index 1, RK4", iftomm.Kinegrad("index1", "rk4"), 1e-3)
    monkeypatch.setattr(iftomm, "ENTRIES", [entry])
    code, out, _ = run(capsys, "iftomm", "--repeats", "1", "--json")
    (row,) = json.loads(out)["iftomm"]
    assert code == 0 and row["note"].startswith("stops at ") and row["error"] is row["realtime"] is None


@pytest.mark.parametrize(
    "arguments",
    [("five-bar", "--repeats", "0"), ("five-bar", "--only", "nothing"), ("six-bar",), ("iftomm", "--only", "nothing")],
)
def test_refusals_are_one_sentence(capsys, arguments):
    code, _, err = run(capsys, *arguments)
    assert code == 2
    assert len(err.strip().splitlines()) == 1 and arguments[1 if len(arguments) > 1 else 0] in err


def test_large_mechanisms_have_times_memory_and_slopes(capsys, monkeypatch):
    """Small ones here, by fronts in every set; families, sets and solvers can be chosen."""
    monkeypatch.setattr(large, "SPAN", 1e-3)
    monkeypatch.setattr(large, "LINEAR_FROM", 8)
    code, out, _ = run(
        capsys, "large", "--only", "windows reference-point fronts", "--largest", "16", "--repeats", "1", "--json"
    )
    rows = json.loads(out)["large"]
    assert code == 0 and [(row["bodies"], row["n"], row["m"]) for row in rows] == [(9, 64, 75), (17, 120, 143)]
    assert all(row[key] > 0.0 for row in rows for key in ("us", "start", "rank", "memory"))
    assert rows[0]["slope"] is None and rows[1]["slope"] == pytest.approx(
        math.log(rows[1]["us"] / rows[0]["us"]) / math.log(17 / 9)
    )
    [(name, first, last, slope, *_)] = large.slopes(large.LargeRow(**row) for row in rows)
    assert (name, first, last) == ("windows reference-point fronts", 9, 17) and slope == pytest.approx(rows[1]["slope"])


@pytest.mark.parametrize(("family", "freedoms"), [("chain", 13), ("tree", 13), ("windows", 1), ("grid", 4)])
def test_large_mechanisms_move_alike_in_all_sets(family, freedoms):
    """At the start, where no freedom is missing."""
    model = large.FAMILIES[family](13)
    found = []
    for kind in large.SETS:
        system = kg.lower(model, kind)
        mobility = kg.mobility(system)
        assert mobility.dof == mobility.given == freedoms and not mobility.problems
        found.append(kg.Stepper(system, "ali3p", "newmark", step=1e-3))
    marker = {"windows": "crank_0.B", "grid": "h_0_0.b"}.get(family, "b12.q")
    places = [stepper.marker(marker).acceleration for stepper in found]
    assert_allclose(places[1], places[0], rtol=0, atol=1e-11 * abs(places[0]).max())
    assert_allclose(places[2], places[0], rtol=0, atol=1e-11 * abs(places[0]).max())


def test_sizes_are_for_large_mechanisms(capsys):
    code, _, err = run(capsys, "five-bar", "--largest", "64")
    assert code == 2 and "--largest is for the part large" in err
    code, _, err = run(capsys, "large", "--largest", "4")
    assert code == 2 and "the smallest mechanism has 8 bodies" in err


def test_adams(capsys, monkeypatch, tmp_path):
    """The cases of MSC Adams, in a checkout."""
    code, out, _ = run(capsys, "adams", "--only", "Prismatic", "--coordinates", "natural", "--json")
    rows = json.loads(out)["adams"]
    assert code == 0 and [row["case"] for row in rows] == [f"Prismatic_Case0{k}" for k in (1, 2, 3)]
    assert all(row["agrees"] and row["coordinates"] == "natural" and row["largest"] in row["limits"] for row in rows)
    code, out, _ = run(capsys, "adams", "--only", "prismatic_case02", "--coordinates", "joint")
    assert code == 0 and "| Prismatic_Case02 | joint | 8.1e-05 | Acc | yes |" in out
    for arguments, sentence in (
        (("five-bar", "--coordinates", "joint"), "--coordinates is for the part adams"),
        (("adams", "--coordinates", "polar"), "--coordinates is 'polar'; choose joint, reference-point, natural."),
        (("adams", "--only", "gears"), "--only 'gears' matches no case; try Cylindrical, Distance, LinActuator,"),
    ):
        code, _, err = run(capsys, *arguments)
        assert code == 2 and sentence in err
    monkeypatch.setattr(adams, "FOLDER", tmp_path)
    code, _, err = run(capsys, "adams")
    assert code == 2 and "belong to the tests of a checkout of kinegrad; run" in err
