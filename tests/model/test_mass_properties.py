"""Masses and inertias as real files have them: none at all, negative by rounding, or those of no body."""

import json
import warnings

import numpy as np
import pytest
from bad_models import SOUND, problems_of, spoil

from kinegrad.coordinates.sets import joint
from kinegrad.errors import ModelWarning
from kinegrad.model.model import Model

BALL = "[0.1, 0.1, 0.1]"


@pytest.mark.parametrize(
    "inertia",
    [
        "[0, 0, -5.0e-20]",
        "[-1.2e-20, 1.0e-19, -5.0e-20, 3.0e-20, 0, -1.0e-20]",
        "[0.1, 0.1, -9.0e-14]",
        "{axis: [1, 2, 3], along: -5.0e-20, across: 0}",
    ],
)
@pytest.mark.parametrize("mass", ["1", "0"])
def test_a_moment_negative_by_rounding_is_zero(inertia, mass):
    text = spoil((BALL, inertia), ("mass: 1\n", f"mass: {mass}\n"))
    assert problems_of(text) == ()
    assert Model.from_yaml_text(text).doubts() == []


def test_a_slender_bar_turned_by_any_rotation_is_legal(rng):
    """As a converter turns it, also for a bar next to which others are large."""
    for size in (1.0, 1e-6, 1e-12):
        for _ in range(20):
            R, _ = np.linalg.qr(rng.normal(size=(3, 3)))
            T = R @ np.diag([0.0, size, size]) @ R.T
            six = [T[0, 0], T[1, 1], T[2, 2], T[0, 1], T[0, 2], T[1, 2]]
            model = Model.from_yaml_text(SOUND)
            model.bodies["ball"] = model.bodies["ball"].with_(inertia=six)
            assert model.problems() == [] and model.doubts() == []


@pytest.mark.parametrize("moment", [-1e-8, -1e-12])
def test_a_moment_that_is_negative_is_refused(moment):
    (problem,) = problems_of(spoil((BALL, f"[0.1e-6, 0.1e-6, {moment!r}]")))
    assert problem.where == "bodies.ball.inertia" and f"{moment:g}" in problem.sentence


WRONG = {
    "three moments": ("[0.1, 0.1, 0.3]", "0.1, 0.1, 0.3"),
    "of revolution": ("{axis: [1, 0, 0], along: 3, across: 1}", "1, 1, 3"),
    "a tensor": ("[1, 1, 0.1, 0.8, 0, 0]", "0.1, 0.2, 1.8"),
    "without mass": ("[0.1, 0.1, 0.3]", "0.1, 0.1, 0.3"),
}


@pytest.mark.parametrize("case", WRONG)
def test_moments_of_no_body_are_told_once_and_used(case):
    inertia, numbers = WRONG[case]
    text = spoil((BALL, inertia), *([("mass: 1\n", "mass: 0\n")] if case == "without mass" else []))
    assert problems_of(text) == ()
    model = Model.from_yaml_text(text)
    (doubt,) = model.doubts()
    assert doubt.where == "bodies.ball.inertia"
    with pytest.warns(ModelWarning, match=rf"bodies\.ball\.inertia has the principal moments {numbers}") as told:
        joint(model)
    assert len(told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        joint(model)


def test_a_variant_may_bring_the_doubt():
    text = spoil((BALL, "[0.1, 0.1, 0.05*m]"))
    (doubt,) = Model.from_yaml_text(text).doubts()
    assert doubt.sentence.startswith("in variant 'heavy': bodies.ball.inertia has the principal moments 0.1, 0.1, 1;")


def test_the_command_line_tells_it_and_goes_on(tmp_path, capfd):
    from kinegrad.cli import main

    path = tmp_path / "model.yaml"
    text = spoil(
        (BALL, "[0.1, 0.1, 0.3]"), ("constraints:\n  square: {type: dot, between: [ground.up, arm.side]}\n", "")
    )
    path.write_text(text)
    with pytest.raises(SystemExit) as done:
        main(["check", str(path), "--json"])
    assert done.value.code == 0
    out, err = capfd.readouterr()
    assert err.count("bodies.ball.inertia has the principal moments 0.1, 0.1, 0.3") == 1
    assert json.loads(out)["dof"] == 4
