"""``assemble``, ``kinematics``, ``inverse``, ``equilibrium`` and ``run --reactions``: keys, numbers, refusals."""

import json

import numpy as np
import pytest

import kinegrad as kg

DRIVER = "drivers: {turn: {measure: hinge.angle, value: sin(3*t)}}"


@pytest.fixture
def driven(pendulum):
    return pendulum(
        ("degrees_of_freedom: {hinge.angle: {position: -pi/4, velocity: 0}}", DRIVER), ("u[0]*sin(t) + u[1]", "0")
    )


def test_run_gives_reactions_on_request(report, command, pendulum, five_bar, tmp_path):
    assert "reactions" not in report("run", pendulum())
    found = report("run", five_bar, "--t-end", 0.05, "--reactions", "--out", tmp_path / "m.nc")
    assert set(found["reactions"]) == {"JA", "J1", "J2", "J3", "JB"} and found["drivers"] == {}
    entry = found["reactions"]["J2"]
    assert entry.keys() == {"force", "moment", "unique_force", "unique_moment"}
    assert entry["unique_force"] == [True, True, False] and entry["unique_moment"] == [False, False, True]
    motion = kg.load(tmp_path / "m.nc")
    assert np.abs(motion.reactions("J2")[-1, :3] - entry["force"]).max() < 1e-12
    code, out, err = command("run", five_bar, "--t-end", 0.05, "--reactions")
    assert (code, err) == (0, "") and "not unique" in out and "force [N]" in out


def test_assemble(report, command, five_bar, slider_crank):
    for path in (five_bar, slider_crank):
        found = report("assemble", path)
        assert found.keys() == {"iterations", "residual", "coordinates", "markers", "from_poses"}
        assert found["residual"] < 1e-12
    point = report("assemble", five_bar)["markers"]["bar_12.P2"]
    assert point["position"] == pytest.approx([0.5, -2, 0], abs=1e-12)
    assert point.keys() == {"position", "velocity", "acceleration"}
    assert "position [m]" in command("assemble", five_bar)[1]
    (error,) = report("assemble", five_bar, "--set", "L_12=9", code=2)["errors"]
    assert "cannot be assembled at the start" in error["sentence"]


def test_kinematics_and_inverse(report, command, driven, pendulum, tmp_path):
    moved = report("kinematics", driven, "--step", 0.01)
    assert moved.keys() == {"steps", "t_end", "cpu_s", "iterations", "residual", "singular", "markers", "objectives"}
    assert moved["singular"] == []
    assert (moved["steps"], moved["t_end"]) == (50, 0.5) and moved["residual"] < 1e-15
    angle, rate, second = np.sin(1.5), 3 * np.cos(1.5), -9 * np.sin(1.5)
    tip = moved["markers"]["rod.tip"]
    assert tip["position"] == pytest.approx([0.5 * np.cos(angle), 0.5 * np.sin(angle), 0], abs=1e-13)
    assert tip["velocity"] == pytest.approx([-0.5 * rate * np.sin(angle), 0.5 * rate * np.cos(angle), 0], abs=1e-13)
    found = report("inverse", driven, "--step", 0.01, "--output-step", 0.25)
    assert set(moved) < set(found) and found["markers"] == moved["markers"]
    torque = (0.1 + 2 * 0.25**2) * second + 2 * 9.81 * 0.25 * np.cos(angle)
    assert found["drivers"]["turn"]["force"] == pytest.approx(torque, rel=1e-12)
    assert found["drivers"]["turn"]["power"] == pytest.approx(torque * rate, rel=1e-11)
    assert found["t"] == pytest.approx([0, 0.25, 0.5]) and len(found["forces"]["turn"]) == 3
    assert found["powers"]["turn"][-1] == found["drivers"]["turn"]["power"]
    for name in ("kinematics", "inverse"):
        code, out, err = command(name, driven, "--step", 0.01, "--plot", tmp_path / "a.svg")
        assert (code, err) == (0, "") and "rod.tip" in out and "a.svg" in out
        code, out, err = command(name, pendulum(name="free.yaml"))
        assert (code, out) == (2, "") and "The drivers leave 1 degrees of freedom" in err
        code, out, err = command(name, driven, "--t-end", "-1")
        assert code == 2 and "--t-end" in err


def test_a_driven_motion_is_saved_and_shown(report, command, driven, tmp_path):
    file, page = tmp_path / "m.nc", tmp_path / "m.html"
    moved = report("kinematics", driven, "--step", 0.01, "--output-step", 0.05, "--out", file, "--html", page)
    motion = kg.load(file)
    assert motion.is_driven and motion.how == ("by drivers",) and len(motion.t) == 11 and len(motion.hs) == 50
    assert motion.extra == {"steps": 50, "first_iterations": 1, "singular": []}
    assert motion.marker("rod.tip").position[-1] == pytest.approx(moved["markers"]["rod.tip"]["position"], abs=1e-15)
    again = kg.drive(motion.system, t_end=0.5, step=0.01, output_step=0.05)
    for name in ("q", "qd", "qdd", "lam"):
        assert np.array_equal(getattr(motion, name), getattr(again, name))
    assert "by drivers" in page.read_text(encoding="utf-8") and "by drivers" in motion._repr_html_()
    from kinegrad.cli.view import _again

    other = _again(motion, {"L": 0.25}, None)
    assert other.is_driven and np.array_equal(other.t, motion.t)
    assert other.marker("rod.tip").position == pytest.approx(0.5 * motion.marker("rod.tip").position, abs=1e-15)


def test_lock_up_keeps_what_was_found(report, command, pendulum, tmp_path):
    """The height of the tip is driven beyond the length of the rod, 0.5: at t = 0.25."""
    driver = "drivers: {lift: {measure: rod.tip.y, value: 0.1 + 1.6*t}}"
    dof = "degrees_of_freedom: {hinge.angle: {position: -pi/4, velocity: 0}}"
    model, out, plot = pendulum((dof, driver), ("u[0]*sin(t) + u[1]", "0")), tmp_path / "m.nc", tmp_path / "m.svg"
    (error,) = report("kinematics", model, "--step", 0.01, "--out", out, "--plot", plot, code=2)["errors"]
    assert error["sentence"].startswith("The mechanism locks up at t = 0.25 s: ")
    assert "rank 0 of 1" in error["sentence"] and "m.nc', " in error["sentence"] and plot.exists()
    motion = kg.load(out)
    assert motion.t[-1] == pytest.approx(0.24) and len(motion.t) == 25 and motion.status != 0
    assert motion.extra["singular"][0]["t"] == pytest.approx(0.25, abs=1e-9)
    assert np.abs(motion.marker("rod.tip").position[:, 1] - 0.1 - 1.6 * motion.t).max() < 1e-13
    code, out, err = command("kinematics", model, "--step", 0.01)
    assert (code, out) == (2, "") and err.count("\n") == 1 and "locks up" in err


def test_equilibrium(report, command, pendulum, five_bar):
    found = report("equilibrium", five_bar, "--gradient")
    assert found.keys() == {
        "iterations", "residual", "force_residual", "stable", "free", "frequencies", "coordinates", "markers", "objectives",
        "reactions", "drivers", "gradient", "method",
    }  # fmt: skip
    assert found["stable"] and found["free"] == [] and len(found["frequencies"]) == 2
    assert found["gradient"]["psi1"]["L_s1"] == pytest.approx(-0.48314902898383744, rel=1e-10)
    adjoint = report("equilibrium", five_bar, "--wrt", "r_G,L_s1", "--method", "adjoint")["gradient"]["psi1"]
    assert adjoint == pytest.approx({name: found["gradient"]["psi1"][name] for name in ("r_G", "L_s1")}, rel=1e-12)
    path = pendulum(("u[0]*sin(t) + u[1]", "u[1]"))
    angle = report("equilibrium", path, "--set", "u=[0, 3]")["coordinates"]["hinge.angle"]
    assert 2 * 9.81 * 0.25 * np.cos(angle) == pytest.approx(3, rel=1e-12)
    assert report("equilibrium", path, "--variant", "heavy")["stable"]
    code, out, err = command("equilibrium", path)
    assert (code, err) == (0, "") and "natural frequencies" in out and "hinge.angle" in out
    code, out, err = command("equilibrium", path, "--method", "sideways")
    assert code == 2 and "'sideways'" in err and "adjoint" in err
    code, _, err = command("equilibrium", path, "--set", "u=[0, 30]")
    assert code == 2 and "'hinge.angle' keeps moving" in err


def test_equilibrium_beside_differences(report, command, five_bar, monkeypatch):
    from kinegrad.statics import sensitivity

    plain = report("equilibrium", five_bar, "--wrt", "r_G,L_s1")
    found = report("equilibrium", five_bar, "--wrt", "r_G,L_s1", "--check")
    assert found.pop("check").keys() == found["gradient"].keys() and found == plain
    code, out, err = command("equilibrium", five_bar, "--check")
    assert (code, err) == (0, "") and "Against differences of equilibria" in out
    right = sensitivity._AtEquilibrium.direct
    monkeypatch.setattr(sensitivity._AtEquilibrium, "direct", lambda self: right(self) * 1.0001)
    found = report("equilibrium", five_bar, "--wrt", "r_G", "--check", code=1)
    assert found["check"]["psi1"]["r_G"] == pytest.approx(1e-4, rel=1e-3)


def test_json_is_one_line(command, driven):
    for name in ("assemble", "kinematics", "inverse", "equilibrium"):
        _, out, _ = command(name, driven, "--json")
        assert out.count("\n") == 1 and json.loads(out)


def test_actuators_carry_in_the_place_of_drivers(report, command, pendulum, tmp_path):
    """The tip is driven; the motor of the model gives the torque that the motion needs."""
    driver = "drivers: {lift: {measure: rod.tip.y, value: 0.1 + 0.1*t}}"
    dof = "degrees_of_freedom: {hinge.angle: {position: -pi/4, velocity: 0}}"
    model, out = pendulum((dof, driver)), tmp_path / "m.csv"
    options = ("inverse", model, "--step", 0.1, "--set", "u=[9, 9]", "--actuators")
    found = report(*options, "motor", "--wrt", "L", "--out", out)
    assert (
        set(found["forces"])
        == set(found["powers"])
        == set(found["drivers"])
        == set(found["forces_gradient"])
        == {"motor"}
    )
    assert found["force_residual"] < 1e-12 and out.exists()
    system = kg.lower(kg.Model.from_yaml(model)).with_parameters({"u": [9, 9]})
    again = kg.inverse(system, actuators=["motor"], step=0.1)
    assert found["forces"]["motor"] == again.forces["motor"].tolist()
    assert found["forces_gradient"]["motor"]["L"] == again.sensitivity(["L"]).forces["motor"][:, 0].tolist()
    code, text, err = command(*options, "motor", "--wrt", "L")
    assert (code, err) == (0, "") and "of actuators" in " ".join(text.split())
    code, text, err = command(*options, "motr")
    assert (code, text) == (2, "") and "did you mean 'motor'?" in err
    code, text, err = command(*options, "motor,")
    assert (code, text) == (2, "") and "--actuators 'motor,' has an empty name" in err
