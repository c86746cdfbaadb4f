"""Commands that differentiate by a number that pulls a redundant mechanism apart."""

import json

from sensitivity.test_pulled_apart import CRANKS


def test_commands(report, command, tmp_path):
    path = tmp_path / "cranks.yaml"
    path.write_text(CRANKS.replace("SIZE", "1.0").replace("START", "0.5"))
    for options in (
        ("gradient", path), ("gradient", path, "--check"), ("gradient", path, "--certify"),
        ("gradient", path, "--method", "discrete-adjoint"), ("equilibrium", path, "--gradient"),
    ):  # fmt: skip
        code, out, err = command(*options)
        assert (code, out) == (2, "") and "There is no derivative by 'L'" in " ".join(err.split()), options
    code, out, err = command("gradient", path, "--all", "--json")
    found = json.loads(out)
    assert code == 0 and err.count("There is no derivative") == 1
    assert set(found["no_meaning"]) == {"L", "R", "x", "z"} and found["gradient"]["o"]["bodies.m.markers.B.z"] is None
