"""``kinegrad check`` on the examples, with every option, and on files that cannot be used."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kinegrad.cli import main

EXAMPLES = Path(__file__).parents[2] / "examples"
FIVE_BAR = str(EXAMPLES / "five_bar" / "model.yaml")
SLIDER_CRANK = str(EXAMPLES / "slider_crank" / "model.yaml")
PENDULUM = """\
kinegrad: 1
parameters: {m: 2.0, L: 0.5, half: L/2, u: [1, 2]}
variants: {heavy: {m: 20}}
ground: {markers: {O: [0, 0, 0]}}
bodies:
  rod: {mass: m, com: [half, 0, 0], inertia: [0, 0.1, 0.1], markers: {O: [0, 0, 0]}, pose: {origin: [0, 0, 0]}}
joints:
  hinge: {type: revolute, between: [ground.O, rod.O], axis: [0, 0, 1]}
"""
HELD = "degrees_of_freedom: {hinge.angle: {position: 0.3}}\n"


@pytest.fixture
def check(capsys):
    """Exit code and output of ``kinegrad check`` with these arguments."""

    def run(*arguments):
        with pytest.raises(SystemExit) as exit:
            main(["check", *map(str, arguments)])
        return exit.value.code, *capsys.readouterr()

    return run


@pytest.fixture
def checked(check):
    """The object that ``kinegrad check --json`` prints, after a look at its exit code."""

    def run(*arguments, code=0):
        found, out, err = check(*arguments, "--json")
        assert (found, err) == (code, ""), out
        return json.loads(out)

    return run


JB_AXIS = ["JB axis.x", "JB axis.y", "JB axis.z"]


def test_five_bar(checked):
    found = checked(FIVE_BAR)
    from_poses = found.pop("from_poses")
    assert set(from_poses["bodies"]) == {"bar_A1", "bar_12", "bar_23", "bar_3B"}
    assert all(one["distance"] < 1e-12 and one["angle"] < 1e-12 for one in from_poses["bodies"].values())
    assert from_poses["measures"] == {
        name: {"from_pose": pytest.approx(0.0, abs=1e-12), "from_asked": pytest.approx(0.0, abs=1e-12)}
        for name in ("JA.angle", "J1.angle")
    }
    assert found == {
        "title": "Five-bar linkage",
        "variant": None,
        "bodies": 4,
        "joints": 5,
        "found_joints": [],
        "dof": 2,
        "dof_velocity": 2,
        "dof_nearby": [2, 2],
        "singular": False,
        "sets": {
            "joint": {"n": 4, "m": 6, "redundant": 4},
            "reference-point": {"n": 30, "m": 36, "redundant": 8},
            "natural": {"n": 8, "m": 6, "redundant": 0},
        },
        "redundant_rows": {
            "joint": ["J2.z", "J2 axis.x", "J2 axis.y", "J2 axis.z"],
            "reference-point": [*(f"{joint} axis.z" for joint in ("JA", "J1", "J2", "J3")), "JB.z", *JB_AXIS],
            "natural": [],
        },
        "cut_joints": ["J2"],
        "free_joints": [],
        "problems": [],
    }


@pytest.mark.parametrize(
    ("cut", "n", "m", "redundant"),
    [(None, 4, 3, 0), ("ball", 4, 3, 0), ("pivot", 8, 8, 1), ("universal", 6, 5, 0), ("rail", 7, 10, 4)],
)
def test_slider_crank_cut_anywhere(checked, cut, n, m, redundant):
    """One freedom wherever the loop is cut: n - (m - redundant) = 1."""
    found = checked(SLIDER_CRANK, *(["--cut", cut] if cut else []))
    assert found["sets"]["joint"] == {"n": n, "m": m, "redundant": redundant}
    assert found["cut_joints"] == [cut or "ball"] and found["dof"] == 1
    assert len(found["redundant_rows"]["joint"]) == redundant


def test_table_names_all_parts(check):
    code, out, err = check(FIVE_BAR, "--variant", "printed")
    assert (code, err) == (0, "")
    for text in (
        "Five-bar linkage",
        "printed",
        "4: bar_A1, bar_12, bar_23, bar_3B",
        "J2",
        "JA.angle, J1.angle",
        "psi3",
    ):
        assert text in out


def test_a_terminal_without_the_letters_of_the_title_is_no_failure(tmp_path):
    path = tmp_path / "model.yaml"
    path.write_text(PENDULUM + HELD + "title: Fünfgelenk → φ\n", encoding="utf-8")
    command = [sys.executable, "-c", f"from kinegrad.cli import main; main(['check', {str(path)!r}])"]
    done = subprocess.run(
        command, env=os.environ | {"PYTHONIOENCODING": "ascii", "KINEGRAD_QUIET": "1"}, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("F\\xfcnfgelenk")


def test_long_lists_of_names_are_shortened(check, tmp_path):
    bodies = "".join(f"  b{k}: {{mass: 1, inertia: [1, 1, 1]}}\n" for k in range(30))
    path = tmp_path / "model.yaml"
    path.write_text("kinegrad: 1\nbodies:\n" + bodies)
    code, out, _ = check(path)
    assert (
        code == 1
        and "180 degrees of freedom" in " ".join(out.split())
        and "30: b0, b1" in out
        and "b19 ..." in " ".join(out.split())
        and "b29" not in out
    )


def test_constraints_and_drivers_add_their_rows(checked, tmp_path):
    rows = "constraints: {tie: {type: coincidence, between: [ground.O, rod.O]}}\n"
    rows += "drivers: {turn: {measure: hinge.angle, value: 6*t}}\n"
    path = tmp_path / "model.yaml"
    path.write_text(PENDULUM + rows)
    found = checked(path)
    assert found["sets"]["joint"] == {"n": 1, "m": 4, "redundant": 3} and found["dof"] == 0
    assert found["redundant_rows"]["joint"] == ["tie.x", "tie.y", "tie.z"]


def test_a_body_without_a_joint_floats(checked, tmp_path):
    path = tmp_path / "model.yaml"
    path.write_text(PENDULUM[: PENDULUM.index("joints:")])
    found = checked(path, code=1)
    assert found["free_joints"] == ["rod_free"] and found["sets"]["joint"] == {"n": 7, "m": 1, "redundant": 0}
    assert found["title"] is None and found["dof"] == 6
    (problem,) = found["problems"]
    assert "6 degrees of freedom" in problem and "gives 0" in problem


FOUR_BAR = """\
kinegrad: 1
ground: {markers: {A: [0, 0, 0], B: [2, 0, 0]}}
bodies:
  a: {mass: 1, com: [0.5, 0, 0], inertia: [0, 1, 1], markers: {P: [0, 0, 0], Q: [1, 0, 0]}, pose: {origin: [0, 0, 0]}}
  b: {mass: 1, com: [1, 0, 0], inertia: [0, 1, 1], markers: {P: [0, 0, 0], Q: [2, 0, 0]}, pose: {origin: [1, 0, 0]}}
  c: {mass: 1, com: [0.5, 0, 0], inertia: [0, 1, 1], markers: {P: [0, 0, 0], Q: [1, 0, 0]}, pose: {origin: [2, 0, 0]}}
joints:
  J1: {type: revolute, between: [ground.A, a.P], axis: [0, 0, 1]}
  J2: {type: revolute, between: [a.Q, b.P], axis: [0, 0, 1]}
  J3: {type: revolute, between: [b.Q, c.Q], axis: [0, 0, 1]}
  J4: {type: revolute, between: [ground.B, c.P], axis: [0, 0, 1]}
"""


def test_a_flat_parallelogram_is_singular(checked, check, tmp_path):
    path = tmp_path / "model.yaml"
    path.write_text(FOUR_BAR + "degrees_of_freedom: {J1.angle: {position: 0}}\n")
    found = checked(path, code=1)
    assert (found["dof"], found["dof_nearby"], found["singular"]) == (2, [1, 1], True)
    assert len(found["problems"]) == 1 and "singular" in found["problems"][0]
    assert "singular" in check(path)[1]
    path.write_text(FOUR_BAR + "degrees_of_freedom: {J1.angle: {position: 0.7}}\n")
    found = checked(path)
    assert (found["dof"], found["dof_nearby"], found["problems"]) == (1, [1, 1], [])


@pytest.mark.parametrize(
    ("freedoms", "said"),
    [
        ("{}", ["1 degrees of freedom", "gives 0", "add 1"]),
        ("{J1.angle: {position: 0.7}, J2.angle: {position: 0.1}}", ["J1.angle, J2.angle", "remove 1"]),
        ("{b.P.z: {position: 0}}", ["b.P.z", "depend on each other"]),
    ],
)
def test_wrong_freedoms_are_a_negative_verdict(checked, check, tmp_path, freedoms, said):
    path = tmp_path / "model.yaml"
    path.write_text(FOUR_BAR.replace("{origin: [0, 0, 0]}", "{origin: [0, 0, 0], x_axis: [1, 1, 0]}"))
    with path.open("a") as file:
        file.write(f"degrees_of_freedom: {freedoms}\n")
    found = checked(path, code=1)
    assert found["dof"] == 1 and not found["singular"]
    (problem,) = found["problems"]
    for text in said:
        assert text in problem
    assert problem.split()[0] in check(path)[1]


def test_a_loop_that_cannot_close_is_a_failure(checked, tmp_path):
    path = tmp_path / "model.yaml"
    path.write_text(
        FOUR_BAR.replace("B: [2, 0, 0]", "B: [9, 0, 0]") + "degrees_of_freedom: {J1.angle: {position: 0.7}}\n"
    )
    (error,) = checked(path, code=2)["errors"]
    assert "cannot be assembled" in error["sentence"] and "J3" in error["sentence"]


def test_a_freedom_out_of_reach_is_a_failure(checked, tmp_path):
    path = tmp_path / "model.yaml"
    path.write_text(FOUR_BAR + "degrees_of_freedom: {a.Q.x: {position: 7}}\n")
    (error,) = checked(path, code=2)["errors"]
    assert "cannot be assembled" in error["sentence"]


@pytest.mark.parametrize("value", ["3", "1/3", "sqrt(2)", "1e-3"])
def test_set_takes_numbers_and_expressions(checked, tmp_path, value):
    path = tmp_path / "model.yaml"
    path.write_text(PENDULUM + HELD)
    assert checked(path, "--set", f"m={value}", "--set", "u=[3, 4]", "--variant", "heavy")["variant"] == "heavy"


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--cut", "nut"], ["nut", "hinge"]),
        (["--cut", "hinge"], ["hinge", "loop"]),
        (["--variant", "light"], ["light", "heavy"]),
        (["--set", "m"], ["--set", "NAME=VALUE"]),
        (["--set", "m="], ["NAME=VALUE"]),
        (["--set", "m=1", "--set", "m=2"], ["'m'", "twice"]),
        (["--set", "mm=1"], ["mm"]),
        (["--set", "half=1"], ["half"]),
        (["--set", "m=two"], ["two"]),
        (["--set", "m=__import__('os')"], ["__import__"]),
        (["--set", "m=nan"], ["nan"]),
        (["--set", "m=-1"], ["rod", "mass"]),
    ],
)
def test_wrong_options_are_told_by_name(check, checked, tmp_path, options, named):
    path = tmp_path / "model.yaml"
    path.write_text(PENDULUM)
    code, out, err = check(path, *options)
    assert (code, out) == (2, "")
    assert "fault in kinegrad" not in err
    for text in named:
        assert text in err
    assert checked(path, *options, code=2)["errors"]


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"", ["kinegrad"]),
        (b"\xff\xfe\x00garbage", []),
        (b"bodies: [unclosed", []),
        (b"- a\n- list\n", []),
        (b"just a text", []),
        (b"kinegrad: 1\n", ["bodies"]),
        (b"kinegrad: 99\nbodies: {}\n", ["99"]),
        (b"kinegrad: 1\nbodys: {}\nbodies: {}\n", ["bodys"]),
        (PENDULUM.replace("revolute", "revolut").encode(), ["hinge", "revolut"]),
        (PENDULUM.replace("rod.O]", "rod.X]").encode(), ["hinge", "X"]),
    ],
)
def test_files_that_are_no_models(check, checked, tmp_path, content, named):
    path = tmp_path / "model.yaml"
    path.write_bytes(content)
    code, out, err = check(path)
    assert (code, out) == (2, "") and err.strip()
    assert "fault in kinegrad" not in err and "Traceback" not in err
    for text in named:
        assert text in err
    assert all(entry["sentence"] for entry in checked(path, code=2)["errors"])


def test_errors_carry_the_line(checked, tmp_path):
    path = tmp_path / "model.yaml"
    path.write_text(PENDULUM.replace("revolute", "revolut"))
    (error,) = checked(path, code=2)["errors"]
    assert error["line"] == 8 and error["where"].startswith("joints.hinge")


def test_missing_files_and_folders(check, tmp_path):
    for path in (tmp_path / "none.yaml", tmp_path):
        code, out, err = check(path)
        assert (code, out) == (2, "") and path.name in err
        assert "fault in kinegrad" not in err and err.count("\n") == 1


def test_unreadable_file(check, tmp_path):
    path = tmp_path / "circle.yaml"
    path.symlink_to(path)  # not even the superuser can read that
    code, _, err = check(path)
    assert code == 2 and "circle.yaml" in err and "fault in kinegrad" not in err


def test_check_loads_only_what_it_needs():
    program = (
        "import sys, atexit, kinegrad.cli\n"
        "heavy = {'matplotlib', 'sympy', 'scipy.optimize', 'scipy.sparse', 'h5py'}\n"
        "atexit.register(lambda: print(sorted(heavy & set(sys.modules)), file=sys.stderr))\n"
        f"kinegrad.cli.main(['check', {FIVE_BAR!r}])"
    )
    environment = os.environ | {"KINEGRAD_QUIET": "1"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stderr) == (0, "[]\n")


def test_a_screw_is_one_degree_of_freedom(tmp_path, capsys):
    path = tmp_path / "vice.yaml"
    path.write_text(
        "kinegrad: 1\n"
        "ground: {markers: {O: [0, 0, 0]}}\n"
        "bodies: {jaw: {mass: 1, inertia: [1, 1, 1], markers: {o: [0, 0, 0]}}}\n"
        "joints: {thread: {type: screw, between: [ground.O, jaw.o], axis: [1, 0, 0], pitch: 0.001}}\n"
        "degrees_of_freedom: {thread.angle: {position: 0}}\n"
    )
    with pytest.raises(SystemExit) as exit:
        main(["check", str(path), "--json"])
    data = json.loads(capsys.readouterr().out)
    assert exit.value.code == 0
    assert data["dof"] == 1 and data["sets"]["joint"] == {"n": 1, "m": 0, "redundant": 0}
