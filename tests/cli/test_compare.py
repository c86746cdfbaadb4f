"""``kinegrad compare``: what it finds on models that are fine, and on one that is not; and what --tolerance reaches."""

import json

import pytest
from rich.console import Console

import kinegrad as kg
from kinegrad.cli.compare import _table, brief
from kinegrad.dynamics.schemes import SCHEMES
from kinegrad.kernels.jit import JIT
from kinegrad.studies.compare.comparison import ComparisonRow

KEYS = {
    "coordinates", "body_point", "formulation", "integrator", "method", "error", "difference", "agrees", "energy_drift",
    "energy_drift_percent", "max_constraint", "iterations", "us_per_step", "steps", "ratio", "problem", "cause", "reason",
    "remarks",
}  # fmt: skip


@pytest.mark.skipif(not JIT, reason="takes minutes without the compiler")
def test_five_bar_agrees_in_every_way(report, five_bar):
    found = report("compare", five_bar, "--t-end", 0.3, "--coordinates", "joint", "--body-point", "origin")
    assert found["step"] == 1e-3 and found["t_end"] == 0.3
    rows = {(row["formulation"], row["integrator"]): row for row in found["rows"]}
    assert list(rows) == list(SCHEMES)
    for row in rows.values():
        assert row.keys() == KEYS
        assert row["agrees"] is True and row["problem"] is None
        assert row["difference"] < 1e-5 and row["energy_drift"] < 1e-4 and row["us_per_step"] > 0.0
    newmark, rk4 = rows["ali3p", "newmark"], rows["matrix-r", "rk4"]
    assert newmark["error"] == pytest.approx(newmark["difference"], rel=0.1)  # the estimate tells the error
    assert rk4["error"] < 1e-11 < 1e-8 < newmark["error"]
    assert rows["index1", "newmark"]["max_constraint"] > 1e-9 > rows["matrix-r", "newmark"]["max_constraint"]
    assert rk4["iterations"] == 4.0


def test_a_pendulum_and_its_table(command, pendulum):
    path = pendulum()
    code, out, err = command("compare", path, "--t-end", 0.02)
    assert (code, err) == (0, "")
    count = 4 * len(SCHEMES) - 2 * sum(formulation == "recursive" for formulation, _ in SCHEMES)
    assert out.count(" yes ") == count and f"{count} of {count} combinations agree." in out and "Recommended" in out
    heads = (
        "joint coordinates (origin)",
        "joint coordinates (com)",
        "reference-point coordinates",
        "natural coordinates",
    )
    assert all(f"{head}\n" in out for head in heads)
    assert max(map(len, out.splitlines())) <= 80 and "…" not in out
    code, out, _ = command("compare", path, "--t-end", 0.02, "--set", "L=0.25", "--json")
    assert code == 0 and all(row["agrees"] for row in json.loads(out)["rows"])


@pytest.mark.parametrize("size", [1e-4, 0.0123, 0.96, 9.96, 99.96, 999.7, 12345.6, 9.9e7])
def test_a_table_keeps_its_width_on_a_machine_of_any_speed(size):
    assert max(map(len, (brief(size, 1), brief(1.0 / size, 1)))) <= 3 >= len(brief(size, 2)) - 1
    rows = [
        ComparisonRow(
            coordinates="joint", body_point="com", formulation=formulation, integrator=integrator, method="", agrees=True,
            error=1e-10, difference=1e-10, energy_drift=1e-10, max_constraint=1e-10, iterations=size, us_per_step=size,
            ratio=size,
        )
        for formulation, integrator in SCHEMES
    ]  # fmt: skip
    console = Console(width=200)
    with console.capture() as found:
        console.print(_table(rows))
    assert max(len(line.rstrip()) for line in found.get().splitlines()) <= 80


def test_drift_tells_the_accurate_rows_from_the_others(command, pendulum):
    """Where a motor and a damper do work, too: rk4 keeps the balance of energy to far less than what is of order 2."""
    drag = 'forces:\n  drag: {type: torque, acts_on: hinge.angle, value: "3*sin(9*t) - hinge.angle.velocity"}'
    code, out, _ = command("compare", pendulum(("forces:", drag)), "--t-end", 0.2, "--step", 0.005, "--json")
    drift = {(row["formulation"], row["integrator"]): row["energy_drift"] for row in json.loads(out)["rows"]}
    second = min(drift[key] for key in drift if key[1] in ("newmark", "hht", "generalized-alpha"))
    assert code == 0
    assert all(drift[key] < 1e-3 * second for key in drift if key[1] in ("rk4", "rk54"))


def test_a_failure_is_a_negative_verdict(command, pendulum):
    path = pendulum(("forces:", 'forces:\n  edge: {type: torque, acts_on: hinge.angle, value: "sqrt(0.0105 - t)"}'))
    code, out, _ = command("compare", path, "--t-end", 0.02, "--json")
    rows = json.loads(out)["rows"]
    assert code == 1
    assert all(row["agrees"] is False and "stopped at t = 0.01" in row["problem"] for row in rows)
    code, out, _ = command("compare", path, "--t-end", 0.02)
    assert code == 1 and " NO" in out and "force 'edge'" in out


def test_refused(command, pendulum):
    path = pendulum()
    code, _, err = command("compare", path, "--step", -1)
    assert code == 2 and "--step" in err


def test_tolerance_reaches_error_control(report, command, pendulum, tmp_path):
    path = pendulum()
    for formulation in ("matrix-r", "recursive", "index1"):
        scheme = ("--formulation", formulation, "--integrator", "rk54")
        steps = [report("run", path, *scheme, "--tolerance", e)["steps"] for e in (1e-4, 1e-11)]
        assert steps[0] < steps[1]
    report("run", path, *scheme, "--tolerance", 1e-5, "--out", tmp_path / "m.nc")
    motion = kg.load(tmp_path / "m.nc")
    assert motion.integrator.tolerance == 1e-5 and motion.formulation.tolerance == kg.Index1().tolerance
    report("run", path, "--tolerance", 1e-5, "--out", tmp_path / "n.nc")
    assert kg.load(tmp_path / "n.nc").formulation.tolerance == 1e-5
    code, _, err = command("run", path, "--formulation", "index1", "--integrator", "rk4", "--tolerance", 1e-5)
    assert code == 2 and "--tolerance does not apply: index1 with rk4" in err


def test_a_model_that_no_combination_takes_is_bad_input(command, pendulum):
    """One sentence, though there is one of each combination."""
    path = pendulum(("degrees_of_freedom: {hinge.angle: {position: -pi/4, velocity: 0}}", ""))
    code, out, err = command("compare", path)
    assert (code, out) == (2, "") and err.count("\n") == 1 and "1 degrees of freedom" in err


def test_quick_gradients_files_and_the_keys_of_json(command, pendulum, tmp_path):
    path, figure, page = pendulum(), tmp_path / "f.svg", tmp_path / "p.html"
    code, out, err = command(
        "compare", path, "--quick", "--t-end", 0.02, "--plot", figure, "--html", page, "--formulation", "ali3p,index1", "--json"
    )  # fmt: skip
    found = json.loads(out)
    assert (code, err) == (0, "") and found["agrees"] is True and found["quantity"] == "motion"
    assert set(found) == {
        "quantity", "step", "t_end", "agrees", "recommended", "reference", "bound", "ratios", "left_out", "rows",
    }  # fmt: skip
    assert found["recommended"]["formulation"] in ("ali3p", "index1") and found["left_out"]
    assert set(found["ratios"]) == {"reference-point", "natural"}
    assert figure.read_text(encoding="utf-8").startswith("<?xml")
    text = page.read_text(encoding="utf-8")
    assert (
        text.count("<tr ") == len(found["rows"]) == 9
        and text.count("<svg") == 1
        and "http" not in text.split("<svg")[0]
    )
    assert 'type="checkbox" checked value="natural"' in text and text.count('class="chosen"') == 1
    code, out, _ = command(
        "compare", path, "--gradient", "--wrt", "m,L", "--objective", "last", "--integrator", "rk4", "--t-end", 0.01,
        "--coordinates", "joint,natural", "--json",
    )  # fmt: skip
    rows = json.loads(out)["rows"]
    assert code == 0 and {row["method"] for row in rows} == {"direct", "discrete-adjoint"}
    assert {row["coordinates"] for row in rows} == {"joint", "natural"} and all(row["agrees"] for row in rows)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--coordinates", "joint,"), "--coordinates 'joint,' has an empty name"),
        (("--wrt", "m"), "wrt is for gradients"),
        (("--solver", "lu"), "'lu' is no solver"),
        (("--html", "page.png"), "no name of a page"),
        (("--plot", "figure.txt"), "no name of a figure"),
        (("--method", "adjoint"), "methods is for gradients"),
    ],
)
def test_refused_by_name(command, pendulum, arguments, said):
    code, out, err = command("compare", pendulum(), "--t-end", 0.01, *arguments)
    assert (code, out) == (2, "") and said in err
