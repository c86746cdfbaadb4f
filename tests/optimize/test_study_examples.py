"""The studies of the gallery end at optima, with numbers that are known otherwise."""

from pathlib import Path

import numpy as np
import pytest

import kinegrad as kg

FOLDER = Path(__file__).parents[2] / "examples" / "studies"


def study(name):
    return kg.Study.from_yaml(FOLDER / name / "study.yaml")


def test_every_study_can_be_read():
    names = sorted(path.parent.name for path in FOLDER.glob("*/study.yaml"))
    assert len(names) == 8 and all(study(name).plan for name in names)


def test_crane():
    """Linear but for the swing, so the force is odd about the middle of the time; the load ends at rest."""
    found = study("crane_control").optimize()
    u = np.array(found.variables["u"])
    assert found.status == "optimum" and u == pytest.approx(-u[::-1], abs=1e-3)
    assert found.active["u[0]"] == "upper" and found.active["u[12]"] == "lower"
    assert max(abs(found.values[name]) for name in ("v", "swing", "rate")) < 1e-9


def test_slider_crank():
    found = study("slider_crank_smoothing").optimize()
    assert found.status == "optimum" and found.active == {"c": "upper", "moves": "at_least"}
    assert found.values["minimise"] < 0.12 * found.values_before["minimise"]


def test_stewart_platform():
    """Two loads give way alike, the two others less; twice the energy is the work of the load, F²/K by hand at the start."""
    found = study("stewart_stiffness").optimize()
    assert found.status == "optimum"
    side, down = found.values["give@sidewards"], found.values["give@downwards"]
    assert (
        side == pytest.approx(down, rel=1e-5) and max(found.values["give@tilted"], found.values["give@turned"]) < side
    )
    R, r, h, k = 1.0, 0.6, 1.0, 1e6
    length = np.sqrt(h**2 + R**2 + r**2 - 2 * R * r * np.cos(np.pi / 3 - 0.4))
    assert found.values_before["give@downwards"] == pytest.approx(3000.0**2 / (6 * k * (h / length) ** 2), rel=1e-2)
    across = 3 * k * (1.0 - (h / length) ** 2)  # half of the legs' directions in the plane, by symmetry
    assert found.values_before["give@sidewards"] > 1000.0**2 / across  # and it tilts besides


def test_lift():
    """The spread by first order beside that of 200 samples, whose own error is 5 %."""
    found = study("lift_tolerances").sweep()
    assert found.failures == 0
    for name, of in found.statistics.items():
        assert found.first_order[name] == pytest.approx(of["deviation"], rel=0.15)


@pytest.mark.parametrize("name", ["quarter_car_comfort", "buggy_comfort"])
def test_comfort(name):
    found = study(name).optimize()
    assert found.status == "optimum" and found.evaluations < 25
    if name == "buggy_comfort":
        assert found.values_before["comfort"] == pytest.approx(35.04, rel=1e-3)
        assert found.values["comfort"] == pytest.approx(1.2187, rel=1e-3)
    else:
        assert found.active == {"grip": "at_most"} and found.multipliers["grip"] < 0.0
