"""``kinematics --gradient`` and ``inverse --gradient``."""

import pytest
from statics.test_kinematic_gradient import DRIVEN


@pytest.mark.parametrize("name", ["kinematics", "inverse", "equilibrium"])
def test_a_method_of_no_gradient_is_refused(name, command, tmp_path):
    path = tmp_path / "m.yaml"
    path.write_text("kinegrad: 1\n" + DRIVEN)
    code, _, said = command(name, path, "--method", "adjoint")
    assert code == 2 and "--method adjoint is that of a gradient; add --gradient" in said


def test_the_commands(report, tmp_path):
    path = tmp_path / "m.yaml"
    path.write_text("kinegrad: 1\n" + DRIVEN)
    times = ("--t-end", "0.5", "--step", "0.02")
    by = {
        m: report("kinematics", path, *times, "--gradient", "--wrt", "crank,span", "--method", m)
        for m in ("direct", "adjoint")
    }
    assert list(by["direct"]["gradient"]["path"]) == ["crank", "span"] and by["adjoint"]["method"] == "adjoint"
    assert by["adjoint"]["gradient"]["rush"]["span"] == pytest.approx(
        by["direct"]["gradient"]["rush"]["span"], rel=1e-10
    )
    found = report("kinematics", path, *times, "--wrt", "crank", "--check")
    assert found["check"]["ax"]["crank"] < 1e-6
    forces = report("inverse", path, *times, "--gradient", "--wrt", "crank")
    assert len(forces["forces_gradient"]["motor"]["crank"]) == 26
