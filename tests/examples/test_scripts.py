"""The scripts beside the example models run, and find what they say."""

import runpy
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"


def script(path):
    return runpy.run_path(str(EXAMPLES / path))["run"]


def test_the_squeezer_beside_its_published_end_values():
    found = script("squeezer/published.py")()
    assert found["ali3p, newmark"] < 6.5e-5
    assert found["matrix-r, rk4"] < 2e-6
    assert found["index1, rk54 at 1e-12"] < 3e-9


def test_windows_until_they_lie_down():
    found = script("windows/windows.py")(3, 0.6)
    assert found["error"] < 2e-6 and found["energy"] < 1e-4 and found["passed"] == 0


def test_windows_through_two_singular_positions():
    found = script("windows/windows.py")(2, 2.0)
    assert found["error"] < 1e-5 and found["energy"] < 1.6e-4 and found["passed"] == 2
