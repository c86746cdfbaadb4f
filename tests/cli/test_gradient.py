"""``kinegrad gradient``: methods, parameters, objectives, every number, and the check by differences."""

from importlib import import_module

import numpy as np
import pytest

EXACT = {  # converged derivatives of the five-bar; the trapezoidal rule of 1 ms is 2e-4 off at most
    "psi1": [-4.2288108552, 3.2116041030, 0.3186566756, 0.4423506782, 3.3598099204],
    "psi2": [-15.452069070, 50.308784851, 0.9701235491, 0.7456023208, -27.359239952],
    "psi3": [221.64006823, 2436.6073476, -32.497522711, -85.656718512, -2546.5902029],
}


@pytest.mark.parametrize("method", ["direct", "discrete-adjoint"])
def test_five_bar_prints_the_contract(report, five_bar, method):
    found = report("gradient", five_bar, "--method", method)
    assert found.keys() == {"objectives", "gradient", "method", "cpu_s", "simulation_cpu_s"}
    assert found["method"] == method
    assert found["objectives"]["psi1"] == pytest.approx(0.72687746131, rel=1e-6)
    for objective, row in EXACT.items():
        assert list(found["gradient"][objective]) == ["L_s1", "L_s2", "m_A1", "r_G", "L_A1"]
        assert list(found["gradient"][objective].values()) == pytest.approx(row, rel=2e-4)
    assert found["simulation_cpu_s"] > 0.0 and found["cpu_s"] > 0.0


def test_methods_agree(report, five_bar):
    direct, adjoint = (
        report("gradient", five_bar, "--method", method, "--t-end", 0.5)["gradient"]
        for method in ("direct", "discrete-adjoint")
    )
    for objective, row in direct.items():
        scale = max(map(abs, row.values()))
        for name, value in row.items():
            assert abs(value - adjoint[objective][name]) < 1e-8 * max(abs(value), 1e-3 * scale)


def test_lists_entries_and_single_objectives(report, pendulum):
    path = pendulum()
    whole = report("gradient", path, "--wrt", "u,m", "--objective", "last")
    assert list(whole["objectives"]) == ["last"] == list(whole["gradient"])
    row = whole["gradient"]["last"]
    assert list(row) == ["u", "m"] and len(row["u"]) == 2
    entry = report("gradient", path, "--wrt", "u[1]", "--wrt", "m", "--objective", "last")["gradient"]["last"]
    assert list(entry) == ["u[1]", "m"]
    assert entry["u[1]"] == pytest.approx(row["u"][1], rel=1e-12)
    assert list(report("gradient", path, "--wrt", "m")["gradient"]) == ["travel", "last"]


def test_one_objective_leaves_the_loop_cut_where_it_was(report, five_bar):
    whole = report("gradient", five_bar, "--t-end", 0.1)["gradient"]["psi2"]
    alone = report("gradient", five_bar, "--t-end", 0.1, "--objective", "psi2")["gradient"]["psi2"]
    assert alone == pytest.approx(whole, rel=1e-12)


def test_every_number_of_the_model(report, five_bar):
    """A parameter that stands in one place only has the derivative of that number."""
    found = report("gradient", five_bar, "--all", "--t-end", 0.2)
    named = report("gradient", five_bar, "--t-end", 0.2)["gradient"]
    assert found["method"] == "discrete-adjoint"
    for objective, row in found["gradient"].items():
        assert len(row) > 60
        assert row["forces.spring_1.natural_length"] == pytest.approx(named[objective]["L_s1"], rel=1e-8)
        assert row["bodies.bar_A1.mass"] == pytest.approx(named[objective]["m_A1"], rel=1e-8)
        assert row["bodies.bar_A1.markers.P1.x"] == pytest.approx(named[objective]["L_A1"], rel=1e-8)


def test_check_by_differences(report, command, pendulum):
    path = pendulum()
    found = report("gradient", path, "--wrt", "m,L,u", "--check")
    for objective in ("travel", "last"):
        entries = found["check"][objective]
        assert list(entries) == ["m", "L", "u"] and len(entries["u"]) == 2
        assert max([entries["m"], entries["L"], *entries["u"]]) < 1e-7
    code, out, _ = command("gradient", path, "--wrt", "m", "--check")
    assert code == 0 and "Against differences" in out and "direct: " in out


def test_a_wrong_gradient_has_a_negative_verdict(report, pendulum, monkeypatch):
    import kinegrad.sensitivity.direct as module

    right = module.direct
    monkeypatch.setattr(module, "direct", lambda *arguments: right(*arguments) * (1.0 + 1e-4))
    found = report("gradient", pendulum(), "--wrt", "m,L", "--check", code=1)
    assert found["check"]["travel"]["m"] == pytest.approx(1e-4, rel=1e-2)


def test_no_difference_where_the_model_cannot_run(report, pendulum):
    """Below zero the torque is not defined: one side of every difference fails."""
    path = pendulum(("idle: 3", "edge: 0"), ("u[0]*sin(t)", "edge**1.5"))
    note = "Note: no difference by 'edge' could be formed: the model does not run with values near the one it has.\n"
    found = report("gradient", path, "--wrt", "edge", "--check", code=1, err=note)
    assert found["check"]["travel"]["edge"] is None and found["gradient"]["travel"]["edge"] == 0.0


def test_parameter_that_nothing_depends_on(report, pendulum):
    note = "Note: nothing in the model depends on the parameter 'idle'; its derivatives are zero.\n"
    for method in ("direct", "discrete-adjoint"):
        found = report("gradient", pendulum(), "--wrt", "idle,m", "--method", method, err=note)
        assert found["gradient"]["travel"]["idle"] == 0.0 != found["gradient"]["travel"]["m"]


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--method", "complex-step"], ["'complex-step'", "direct", "discrete-adjoint"]),
        (["--method", "guess"], ["'guess'", "direct"]),
        (["--objective", "trave"], ["'trave'", "travel, last"]),
        (["--wrt", "half"], ["'half'", "derived"]),
        (["--wrt", "mass"], ["'mass'"]),
        (["--wrt", "u[2]"], ["u[2]"]),
        (["--wrt", "m,m"], ["'m'", "twice"]),
        (["--wrt", "m,,L"], ["--wrt"]),
        ([], ["--wrt", "design"]),
        (["--all", "--wrt", "m"], ["--all", "--wrt"]),
        (["--all", "--method", "direct"], ["--all", "discrete-adjoint"]),
        (["--all", "--check"], ["--all", "--check"]),
        (["--wrt", "m", "--out", "missing/m.nc"], ["missing"]),
        (["--wrt", "m", "--formulation", "udwadia"], ["'udwadia'"]),
    ],
)
def test_refused_by_name(command, pendulum, options, named):
    code, out, err = command("gradient", pendulum(), *options)
    assert (code, out) == (2, "") and err.count("\n") == 1, err
    assert "fault in kinegrad" not in err
    for text in named:
        assert text in err


def test_a_model_without_objectives(command, pendulum):
    path = pendulum(("objectives: {travel: {integral: norm2(rod.tip.velocity)}, last: {final: rod.tip.x}}\n", ""))
    code, _, err = command("gradient", path, "--wrt", "m")
    assert code == 2 and "no objectives" in err


def test_a_failed_simulation_is_saved_here_too(command, pendulum, tmp_path):
    path = pendulum(("u[0]*sin(t)", "log(0.1 - t)"))
    code, _, err = command("gradient", path, "--wrt", "m", "--out", tmp_path / "m.nc")
    assert code == 2 and "0.099" in err and (tmp_path / "m.nc").exists()


# A body that spins freely: where it is does not depend on what it weighs, and its second coordinate is zero at all times.
SPINNING = """
kinegrad: 1
parameters: {m: 1.3, J: 0.2, v: 1}
ground: {markers: {O: [0, 0, 0]}}
bodies: {b: {mass: m, inertia: [0.1, J, 0.25], markers: {O: [0, 0, 0]}}}
joints: {f: {type: floating, between: [ground.O, b.O]}}
forces: {g: {type: gravity, acceleration: [0, 0, -9.81]}}
degrees_of_freedom: {f: {position: [0, 0, 0], velocity: [v, 0, 0], rotation: [0, 0, 0], angular_velocity: [1, 10, 0.1]}}
objectives: {along: {final: b.O.position.x}, across: {final: b.O.position.y}, down: {integral: b.O.position.z}}
simulation: {t_end: 0.3, step: 0.001}
"""


def test_check_where_a_gradient_is_zero(report, tmp_path, monkeypatch):
    """Rounding against rounding is no difference; an entry that should be zero and is 1e-6 is one."""
    import kinegrad.sensitivity.direct as module

    (tmp_path / "m.yaml").write_text(SPINNING)
    arguments = ("gradient", tmp_path / "m.yaml", "--wrt", "m,J", "--check")
    found = report(*arguments)
    assert max(abs(x) for row in found["gradient"].values() for x in row.values()) < 1e-12
    assert max(x for row in found["check"].values() for x in row.values()) < 1e-5
    exact = module.direct
    monkeypatch.setattr(module, "direct", lambda *a, **k: exact(*a, **k) + 1e-6)
    found = report(*arguments, code=1)
    assert min(x for name in ("along", "down") for x in found["check"][name].values()) > 1e-3


def test_check_sees_a_small_error_where_objectives_are_strongly_curved(report, tmp_path, monkeypatch):
    """Some swings of a double pendulum: what six sizes of steps lack of one curve is not taken for noise."""
    import kinegrad.sensitivity.direct as module

    (tmp_path / "m.yaml").write_text("""
kinegrad: 1
parameters: {L: 0.4, m: 0.6}
ground: {markers: {O: [0, 0, 0]}}
bodies:
  a: {mass: 1, com: [L/2, 0, 0], inertia: [0, 0.02, 0.02], markers: {O: [0, 0, 0], P: [L, 0, 0]}}
  b: {mass: m, com: [0.2, 0, 0], inertia: [0, 0.01, 0.01], markers: {P: [0, 0, 0], Q: [0.4, 0, 0]}}
joints:
  one: {type: revolute, between: [ground.O, a.O], axis: [0, 0, 1]}
  two: {type: revolute, between: [a.P, b.P], axis: [0, 0, 1]}
forces: {g: {type: gravity, acceleration: [0, -9.81, 0]}}
degrees_of_freedom: {one.angle: {position: 1, velocity: 0}, two.angle: {position: 1, velocity: 0}}
objectives: {end: {final: b.Q.position.x}}
simulation: {t_end: 2.5, step: 0.004}
""")
    arguments = ("gradient", tmp_path / "m.yaml", "--wrt", "L,m", "--check")
    found = report(*arguments)
    assert max(found["check"]["end"].values()) < 1e-5
    exact = module.direct
    monkeypatch.setattr(module, "direct", lambda *a, **k: exact(*a, **k) * 1.0001)
    found = report(*arguments, code=1)
    assert min(found["check"]["end"].values()) > 9e-5


# The end, the step and the interval of the results follow from parameters; so does an option of the formulation.
TIMED = """
kinegrad: 1
parameters: {T: 0.5, twice: 2*T, h: 0.01, w: 9, m: 2}
design: [T, m]
ground: {markers: {O: [0, 0, 0]}}
bodies: {rod: {mass: m, com: [0.2, 0, 0], inertia: [0, 0.1, 0.1], markers: {O: [0, 0, 0], P: [1, 0, 0]}}}
joints: {hinge: {type: revolute, between: [ground.O, rod.O], axis: [0, 0, 1]}}
forces: {weight: {type: gravity, acceleration: [0, -9.81, 0]}, push: {type: torque, acts_on: hinge.angle, value: "sin(t/T)"}}
degrees_of_freedom: {hinge.angle: {position: 0, velocity: 0}}
objectives: {o: {final: rod.P.x}}
simulation: {t_end: twice/2, step: h, output_step: 2*h, formulation: {type: index1, frequency: 2*w}}
"""


def test_a_parameter_that_times_or_options_follow_is_refused(command, report, tmp_path):
    path = tmp_path / "timed.yaml"
    path.write_text(TIMED)
    for arguments, sentence in {
        ("--all",): "simulation.step is 'h' and follows the parameter 'h'",
        ("--wrt", "m,h"): "simulation.step is 'h' and follows the parameter 'h'",
        ("--wrt", "h", "--step", 0.01): "simulation.output_step is '2*h' and follows the parameter 'h'",
        ("--wrt", "w"): "simulation.formulation.frequency is '2*w' and follows the parameter 'w'",
    }.items():
        code, _, err = command("gradient", path, *arguments)
        assert code == 2 and sentence in err and "as a number" in err and len(err.splitlines()) == 1
    # with a number in its place the parameter is one like the others
    held = ("--t-end", 0.5, "--wrt", "T,m", "--check")
    assert max(report("gradient", path, *held)["check"]["o"].values()) < 1e-7
    report("gradient", path, "--wrt", "m", "--check")
    # and the end of the run moves the objectives: to the error of the steps, since the last of them changes too
    given = ("--step", 1e-3, "--output-step", 1e-3)
    by_end = report("gradient", path, "--wrt", "T", *given)["gradient"]["o"]["T"]
    more, less = (report("run", path, "--set", f"T={T}", *given)["objectives"]["o"] for T in (0.5001, 0.4999))
    assert abs(by_end - (more - less) / 2e-4) < 1e-5 * abs(by_end)


def test_times_that_follow_in_python_and_after_loading(tmp_path):
    import kinegrad as kg

    system = kg.joint(kg.Model.from_yaml_text(TIMED))
    motion = kg.simulate(system)
    motion.save(tmp_path / "m.nc")
    for run in (motion, kg.load(tmp_path / "m.nc")):
        direct, adjoint = (kg.gradient(run, method=method) for method in ("direct", "discrete-adjoint"))
        assert np.isfinite(direct.matrix).all() and np.allclose(direct.matrix, adjoint.matrix, rtol=1e-9)
        with pytest.raises(kg.KinegradError, match=r"simulation\.step is 'h'"):
            kg.gradient(run, wrt=["h"])
    given = kg.simulate(system, t_end=0.5, step=0.01, output_step=0.01)
    held, moved = kg.gradient(given), kg.gradient(kg.simulate(system, step=0.01, output_step=0.01))
    rate = given.marker("rod.P").velocity[-1, 0]
    assert abs(moved["o", "T"] - held["o", "T"] - rate) < 1e-7 * abs(rate)


# --- how much is simulated ---------------------------------------------------------------------------------------


@pytest.fixture
def count(monkeypatch):
    """How often a motion was simulated, and a start solved."""
    program, starts = (import_module(f"kinegrad.{name}") for name in ("program", "starts"))
    calls = {"simulate": 0, "start": 0}

    def counted(name, function):
        def run(*arguments, **options):
            calls[name] += 1
            return function(*arguments, **options)

        return run

    monkeypatch.setattr(program.Program, "run", counted("simulate", program.Program.run))
    monkeypatch.setattr(starts, "start", counted("start", starts.start))
    return calls


@pytest.mark.parametrize("method", ["direct", "discrete-adjoint"])
def test_a_gradient_simulates_twice(report, pendulum, count, method):
    """As asked for, and with iterations to rounding from the same start; an explicit scheme has none, and its motion serves."""
    report("gradient", pendulum(), "--wrt", "m", "--method", method)
    assert count == {"simulate": 2, "start": 1}
    report("gradient", pendulum(), "--wrt", "m", "--method", method, "--formulation", "index1", "--integrator", "rk4")
    assert count == {"simulate": 3, "start": 2}


def test_a_run_simulates_once(report, pendulum, count):
    report("run", pendulum())
    assert count == {"simulate": 1, "start": 1}


def test_adjoint_is_the_discrete_adjoint(report, pendulum):
    short, long = (
        report("gradient", pendulum(), "--wrt", "m,u", "--method", x) for x in ("adjoint", "discrete-adjoint")
    )
    assert short["method"] == "discrete-adjoint" and short["gradient"] == long["gradient"]
    report("gradient", pendulum(), "--all", "--method", "adjoint")


def test_certificates(report, pendulum, command):
    found = report("gradient", pendulum(), "--wrt", "m,L", "--certify")["certificate"]
    assert found["good"] and not found["useless"] and found["problems"] == []
    assert found["numbers"]["directions"] < 1e-8 and found["numbers"]["methods"] < 1e-9 and "sets" in found["numbers"]
    code, out, _ = command("gradient", pendulum(), "--wrt", "m", "--certify")
    assert code == 0 and "Nothing was found against the gradient." in out
    code, _, err = command("gradient", pendulum(), "--all", "--certify")
    assert code == 2 and "--certify does not go with --all" in err


def test_every_number_by_importance(report, pendulum):
    found = report("gradient", pendulum(), "--all")
    sums = [max(row.values()) for row in found["by_element"].values()]
    assert sums == sorted(sums, reverse=True) and sums[0] > 0.0
    assert all(path.startswith(tuple(found["by_element"])) for path in found["gradient"]["travel"])
