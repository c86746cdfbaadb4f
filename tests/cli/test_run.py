"""``kinegrad run``: the numbers it prints, the files it writes, and what it refuses by name."""

import json

import numpy as np
import pytest

import kinegrad as kg


def test_five_bar_prints_the_contract(report, five_bar):
    """Point 2 at 5 s is known to all digits; the trapezoidal rule of 1 ms is 3e-5 m off."""
    found = report("run", five_bar)
    assert found.keys() == {
        "steps", "t_end", "cpu_s", "us_per_step", "energy_drift", "energy_drift_percent", "max_constraint", "from_poses",
        "markers", "objectives",
    }  # fmt: skip
    assert (found["steps"], found["t_end"]) == (5000, 5.0)
    point = found["markers"]["bar_12.P2"]
    assert point.keys() == {"position", "velocity", "acceleration"}
    assert np.abs(np.array(point["position"]) - [0.88403168, -2.30378344, 0.0]).max() < 4e-5
    assert found["markers"]["ground.B"] == {"position": [1, 0, 0], "velocity": [0, 0, 0], "acceleration": [0, 0, 0]}
    assert found["objectives"]["psi2"] == pytest.approx(7.34228779279, rel=1e-5)
    assert 0.0 < found["energy_drift"] < 2e-5 and 0.0 < found["max_constraint"] < 1e-11
    assert found["us_per_step"] == pytest.approx(1e6 * found["cpu_s"] / 5000)


def test_a_cut_elsewhere_gives_the_same_motion(report, five_bar):
    """To the error of the rule, which is applied to other coordinates."""
    positions = [report("run", five_bar, "--t-end", 0.3, *cut)["markers"] for cut in ([], ["--cut", "J3"])]
    for name, marker in positions[0].items():
        assert np.abs(np.subtract(marker["position"], positions[1][name]["position"])).max() < 1e-7


def test_options_reach_the_simulation(report, pendulum):
    path = pendulum()
    assert report("run", path, "--step", 0.01, "--t-end", 0.1)["steps"] == 10
    assert report("run", path, "--set", "L=0.25", "--t-end", 0.1)["markers"]["rod.tip"]["position"][0] < 0.25
    heavy = report("run", path, "--variant", "heavy")["objectives"]["travel"]
    assert heavy == pytest.approx(report("run", path, "--set", "m=20")["objectives"]["travel"], rel=1e-12)
    assert heavy != pytest.approx(report("run", path)["objectives"]["travel"], rel=1e-2)


def test_output_step_changes_what_is_kept_and_nothing_else(report, pendulum, tmp_path):
    path = pendulum()
    every = report("run", path)
    some = report("run", path, "--output-step", 0.05, "--out", tmp_path / "m.nc")
    assert some["markers"] == every["markers"] and some["objectives"] == every["objectives"]
    assert kg.load(tmp_path / "m.nc").t == pytest.approx(np.arange(11) * 0.05)


def test_body_points_give_one_motion(report, pendulum, tmp_path):
    path = pendulum()
    found = [report("run", path, "--body-point", p, "--out", tmp_path / f"{p}.nc") for p in ("origin", "com")]
    for name, marker in found[0]["markers"].items():
        assert np.abs(np.subtract(marker["position"], found[1]["markers"][name]["position"])).max() < 1e-13
    assert [kg.load(tmp_path / f"{p}.nc").system.set.body_point for p in ("origin", "com")] == ["origin", "com"]


def test_solvers_give_one_motion(report, command, five_bar):
    markers = [
        report("run", five_bar, "--t-end", 0.01, "--solver", solver)["markers"] for solver in ("dense", "fronts")
    ]
    for name, marker in markers[0].items():
        assert np.abs(np.subtract(marker["position"], markers[1][name]["position"])).max() < 1e-13
    for options, named in (
        (["--solver", "sparse"], "'sparse' is no solver; choose from auto, dense, fronts"),
        (["--solver", "fronts", "--formulation", "matrix-r"], "does not serve the formulation 'matrix-r'"),
    ):
        code, _, err = command("run", five_bar, "--t-end", 0.01, *options)
        assert code == 2 and named in " ".join(err.split())


@pytest.mark.parametrize(("formulation", "integrator"), [("matrix-r", "newmark"), ("matrix-r", "rk4")])
def test_formulations_by_name_agree(report, five_bar, formulation, integrator):
    """The trapezoidal rule of 1 ms is 1.3e-6 m off at 0.2 s."""
    ends = [
        report("run", five_bar, "--t-end", 0.2, *options)["markers"]["bar_12.P2"]["position"]
        for options in ([], ["--formulation", formulation, "--integrator", integrator])
    ]
    assert np.abs(np.subtract(*ends)).max() < 2e-6


def test_table_for_readers(command, five_bar, tmp_path):
    code, out, err = command("run", five_bar, "--t-end", 0.05, "--out", tmp_path / "a.nc", "--plot", tmp_path / "a.svg")
    assert (code, err) == (0, "")
    for text in ("Five-bar linkage", "joint coordinates, ali3p, newmark", "50 to t = 0.05 s", "bar_12.P2", "psi3"):
        assert text in out
    assert kg.load(tmp_path / "a.nc").t[-1] == pytest.approx(0.05)
    assert "<svg" in (tmp_path / "a.svg").read_text()


def test_a_failed_run_is_saved_as_far_as_it_went(command, report, pendulum, tmp_path):
    path = pendulum(("u[0]*sin(t)", "log(0.1 - t)"))
    out = tmp_path / "m.nc"
    code, printed, err = command("run", path, "--out", out)
    assert (code, printed) == (2, "") and err.count("\n") == 1
    assert "t = 0.099 s" in err and str(out) in err and "fault in kinegrad" not in err
    motion = kg.load(out)
    assert motion.status != 0 and motion.t[-1] == pytest.approx(0.099)
    assert np.isfinite(motion.marker("rod.tip").position).all()
    out.unlink()
    (error,) = report("run", path, code=2)["errors"]
    assert "0.099" in error["sentence"] and not out.exists()


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--coordinates", "cartesian"], ["'cartesian'", "joint"]),
        (["--body-point", "middle"], ["--body-point", "'middle'", "origin, com"]),
        (["--formulation", "kane"], ["--formulation", "'kane'", "ali3p", "matrix-r", "recursive"]),
        (["--integrator", "leapfrog"], ["--integrator", "'leapfrog'", "newmark", "hht", "rk4"]),
        (["--integrator", "rk4"], ["ali3p", "rk4", "newmark"]),
        (["--formulation", "matrix-r", "--penalty", "1e9"], ["--penalty", "matrix-r"]),
        (["--step", "nan"], ["--step", "nan"]),
        (["--step", "-1e-3"], ["--step", "-0.001"]),
        (["--step", "quick"], ["--step"]),
        (["--t-end", "inf"], ["--t-end", "inf"]),
        (["--tolerance", "0"], ["--tolerance", "0"]),
        (["--step", "2"], ["2 s"]),
        (["--output-step", "0.0015"], ["0.0015"]),
        (["--out", "missing/m.nc"], ["missing", "folder"]),
        (["--out", "."], ["not a file"]),
        (["--plot", "figure.txt"], ["figure.txt", ".png"]),
        (["--out", "model.yaml"], ["model.yaml", "overwrite the model"]),
        (["--out", "a.png", "--plot", "./a.png"], ["--plot", "overwrite"]),
        (["--html", "page.txt"], ["page.txt", ".html"]),
    ],
)
def test_refused_by_name_before_anything_runs(command, pendulum, monkeypatch, tmp_path, options, named):
    path = pendulum()
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir()), path.read_bytes()
    code, out, err = command("run", path, *options)
    assert (code, out) == (2, "") and err.count("\n") == 1, err
    assert "fault in kinegrad" not in err
    for text in named:
        assert text in err
    assert (sorted(tmp_path.iterdir()), path.read_bytes()) == before


def test_what_the_file_asks_for_is_refused_too(command, pendulum):
    for key, value in (("coordinates", "cartesian"), ("formulation", "{type: kane}")):
        path = pendulum(("{t_end: 0.5}", f"{{t_end: 0.5, {key}: {value}}}"))
        code, _, err = command("run", path)
        assert code == 2 and f"simulation.{key}" in err and "unknown type" in err


def test_missing_end_of_time_is_told(command, pendulum):
    code, _, err = command("run", pendulum(("simulation: {t_end: 0.5}", "")))
    assert code == 2 and "t_end" in err


def test_wrong_freedoms_and_loops_that_do_not_close_are_sentences(report, pendulum, five_bar):
    path = pendulum(("degrees_of_freedom: {hinge.angle: {position: -pi/4, velocity: 0}}", ""))
    (error,) = report("run", path, code=2)["errors"]
    assert "1 degrees of freedom" in error["sentence"]
    (error,) = report("run", five_bar, "--set", "L_12=9", code=2)["errors"]
    assert "cannot be assembled" in error["sentence"]


def test_json_is_one_line(command, pendulum):
    _, out, _ = command("run", pendulum(), "--json")
    assert out.count("\n") == 1 and json.loads(out)


def test_an_option_without_effect_is_a_note(report, pendulum):
    section = "simulation: {t_end: 0.01, formulation: {type: index1, tolerance: 1.0e-9}, integrator: {type: rk4}}"
    model = pendulum(("simulation: {t_end: 0.5}", section))
    report("run", model, err="Note: 'tolerance' of index1 has no effect with rk4; leave it out.\n")
    report("run", model, "--integrator", "newmark")
