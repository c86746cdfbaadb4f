"""Examples by points and vectors beside the same mechanisms with frames and joints of their own."""

from pathlib import Path

import numpy as np
import pytest

import kinegrad as kg

EXAMPLES = Path(__file__).parents[2] / "examples"
#: Markers in model.yaml, and the same points in points.yaml.
SAME = {
    "five_bar": {"bar_A1.P1": "bar_A1.P1", "bar_12.P2": "bar_23.P2", "bar_3B.P3": "bar_3B.P3"},
    "slider_crank": {"crank.B": "rod.B", "rod.C": "slider.C", "slider.D": "slider.D"},
    "bicycle": {"frame.S": "fork.S", "front.C": "front.C_f", "rear.C": "rear.C_r", "frame.R": "frame.R"},
}


def model(name, file):
    return kg.Model.from_yaml(EXAMPLES / name / f"{file}.yaml")


@pytest.mark.parametrize("made", [kg.joint, kg.natural], ids=lambda made: made.__name__)
@pytest.mark.parametrize("name", SAME)
def test_written_both_ways_they_move_alike(name, made):
    formulation = kg.ALI3P(tolerance=1e-15)
    one, other = (
        kg.simulate(made(model(name, file)), formulation, t_end=0.1, step=1e-3) for file in ("model", "points")
    )
    for marker, point in SAME[name].items():
        for rate in ("position", "velocity"):
            expected, found = getattr(one.marker(marker), rate), getattr(other.marker(point), rate)
            assert np.abs(found - expected).max() < 1e-12 * max(1.0, np.abs(expected).max())


@pytest.mark.parametrize("made", [kg.joint, kg.natural], ids=lambda made: made.__name__)
@pytest.mark.parametrize(("name", "parameter"), [("five_bar", "x_2"), ("slider_crank", "z_B"), ("bicycle", "lam")])
def test_gradients_by_points(name, parameter, made):
    """Moving a point moves it in every body: against differences of whole runs, in two ways."""
    motion = kg.simulate(made(model(name, "points")), t_end=0.02, step=1e-3)
    direct, adjoint = (kg.gradient(motion, wrt=[parameter], method=way) for way in ("direct", "discrete-adjoint"))
    assert np.abs(direct.matrix).max() > 0.0
    assert adjoint.matrix == pytest.approx(direct.matrix, rel=1e-8, abs=1e-14)
    assert direct.check().good
