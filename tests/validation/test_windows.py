"""Windows of parallelograms through their singular positions (problem A02), beside the pendulum that they are.

When all rods lie on one line the constraints lose rank and each window could fold on its own; the motion with momentum stays
a row of parallelograms, for which the trapezoidal rule does the same as on the equivalent pendulum.
"""

import warnings
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import kinegrad as kg
from kinegrad.bench.windows import angle, corner, inertia, stiffness, windows

EXAMPLE = Path(__file__).parents[2] / "examples" / "windows" / "model.yaml"
#: Windows, and the end of the run: a longer row needs more time for a step, so it passes two singular positions only.
ROWS = [(2, 10.0), (5, 10.0), (40, 2.0)]
#: Largest energy error of the trapezoidal rule with 1 ms on the equivalent pendulum, over 10 s [J].
ENERGY = {2: 1.367e-4, 5: 3.064e-4, 40: 2.287e-3}


@cache
def system(n):
    return kg.joint(windows(n))


@cache
def motion(n, t_end, step=1e-3, integrator="newmark"):
    """With the options that come by themselves."""
    return kg.simulate(system(n), "ali3p", integrator, step=step, t_end=t_end)


def distances(found, n):
    """Largest distance of the corners from the first one's circle, and largest turn of a bar: the branch."""
    first = found.marker("crank_0.B").position
    cranks = [found.marker(f"crank_{i}.B").position - first - [i, 0.0, 0.0] for i in range(1, n + 1)]
    bars = [found.marker(f"bar_{i}.right").position - found.marker(f"bar_{i}.left").position for i in range(1, n + 1)]
    return np.abs(cranks).max(), np.abs(np.array(bars) - [1.0, 0.0, 0.0]).max()


def pendulum(n, t_end, step=1e-3):
    """Angles and largest energy error of the trapezoidal rule on the equivalent pendulum."""
    frequency2 = stiffness(n) / inertia(n)
    x, v, a = 0.0, 1.0, 0.0
    xs, vs = [x], [v]
    for _ in range(round(t_end / step)):
        known = x + step * v + 0.25 * step**2 * a
        y = known + 0.25 * step**2 * a
        for _ in range(4):
            y -= (y - known - 0.25 * step**2 * frequency2 * np.sin(y)) / (1.0 - 0.25 * step**2 * frequency2 * np.cos(y))
        v += 0.5 * step * (a + frequency2 * np.sin(y))
        x, a = y, frequency2 * np.sin(y)
        xs.append(x), vs.append(v)
    energy = 0.5 * inertia(n) * np.square(vs) + stiffness(n) * np.cos(xs)
    return np.array(xs), np.abs(energy - energy[0]).max()


# --- what the tests compare with ---


def test_the_file_is_made_by_the_generator():
    assert kg.Model.from_yaml(EXAMPLE) == windows(2)
    with pytest.raises(kg.KinegradError, match="no window"):
        windows(0)


@pytest.mark.parametrize("n", [2, 5, 40])
def test_closed_form(n):
    """Beside elliptic functions of 30 digits, and as a solution of the equation of the pendulum."""
    import mpmath

    times = np.linspace(0.0, 10.0, 21)
    omega2 = mpmath.mpf(stiffness(n)) / mpmath.mpf(inertia(n))
    with mpmath.workdps(30):
        lowest = mpmath.sqrt(1 + 4 * omega2)
        m = 4 * omega2 / lowest**2
        sines = [float(mpmath.ellipfun("sn", mpmath.ellipk(m) + lowest * t / 2, m=m)) for t in times]
    assert np.abs(np.sin(0.5 * angle(n, times) + 0.5 * np.pi) - sines).max() < 3e-14
    h = 1e-3
    before, at, after = (angle(n, np.linspace(0.1, 9.9, 50) + k * h) for k in (-1, 0, 1))
    assert (
        np.abs((after - 2.0 * at + before) / h**2 - float(omega2) * np.sin(at)).max() < 2e-4
    )  # h²/12 of its 4th derivative
    assert angle(n, 0.0) == pytest.approx(0.0, abs=1e-15)
    assert (angle(n, h) - angle(n, 0.0)) / h == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("n", [2, 5, 40])
def test_energy_error_of_the_pendulum(n):
    assert pendulum(n, 10.0)[1] == pytest.approx(ENERGY[n], rel=1e-3)


# --- the mechanism ---


@pytest.mark.parametrize(("n", "t_end"), ROWS)
def test_singular_positions_are_passed_as_parallelograms(n, t_end):
    found = motion(n, t_end)
    assert found.ts[-1] == t_end
    assert angle(n, t_end) > (2.0 if n == 40 else 10.0) * np.pi  # two singular positions in each turn
    cranks, bars = distances(found, n)
    assert cranks < 1e-9 and bars < 1e-9
    assert found.iterations.mean() < 2.5 and found.iterations.max() <= 10


@pytest.mark.parametrize(("n", "t_end"), ROWS)
def test_energy_is_that_of_the_pendulum(n, t_end):
    _, error = pendulum(n, t_end)
    assert motion(n, t_end).energies.drift == pytest.approx(error, rel=0.1)


@pytest.mark.parametrize(("n", "t_end"), ROWS)
def test_the_corner_goes_where_the_pendulum_goes(n, t_end):
    found = motion(n, t_end)
    error = np.abs(found.marker("crank_0.B").position - corner(n, found.t)).max()
    turned, _ = pendulum(n, t_end)
    circle = np.stack([np.sin(turned), np.cos(turned), np.zeros_like(turned)], axis=1)
    expected = np.abs(circle - corner(n, found.t)).max()
    assert error == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize("n", [2, 5])
def test_order_two_against_the_closed_form(n):
    errors = [
        np.abs(found.marker("crank_0.B").position - corner(n, found.t)).max()
        for found in (motion(n, 10.0, step) for step in (2e-3, 1e-3, 5e-4))
    ]
    for coarse, fine in pairwise(errors):
        assert np.log2(coarse / fine) == pytest.approx(2.0, abs=0.05)


@pytest.mark.parametrize("integrator", ["hht", "generalized-alpha"])
@pytest.mark.parametrize(("n", "t_end"), ROWS)
def test_with_numerical_damping(n, t_end, integrator):
    found = motion(n, t_end, integrator=integrator)
    assert found.energies.drift < 5e-3
    cranks, bars = distances(found, n)
    assert cranks < 1e-9 and bars < 1e-9


@pytest.mark.parametrize("step", [7e-4, 1.3e-3, 5e-3])
def test_other_steps_pass_too(step):
    """So that no passage depends on how near a step comes to the singular position."""
    found = motion(2, 10.0, step)
    assert max(distances(found, 2)) < 1e-9
    assert found.energies.drift == pytest.approx(pendulum(2, 10.0, step)[1], rel=0.1)


@pytest.mark.parametrize("formulation", ["index1", "recursive", "matrix-r"])
@pytest.mark.parametrize("n", [2, 5])
def test_explicit_methods_pass_too(n, formulation):
    found = kg.simulate(system(n), formulation, "rk4", t_end=10.0)
    assert max(distances(found, n)) < 1e-7
    assert found.energies.drift < 1e-5


@pytest.mark.parametrize("step", [7e-4, 1.3e-3, 3.1e-3])
@pytest.mark.parametrize("integrator", ["rk4", "generalized-alpha"])
@pytest.mark.parametrize("n", [2, 3])
def test_matrix_r_passes_to_its_order_or_stops(n, integrator, step):
    """A state so near to the singular position that independent coordinates keep few digits ends the run with a sentence."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", kg.AccuracyWarning)
            found = kg.simulate(system(n), "matrix-r", integrator, step=step, t_end=10.0)
    except kg.SimulationError as error:
        assert "reaches a singular position there" in str(error) and "'ali3p'" in str(error)
        return
    order = 0.0 if integrator == "rk4" else 1.5e-5 * (step / 1e-3) ** 2
    assert np.abs(found.marker("crank_0.B").position - corner(n, found.t)).max() < order + 1e-4


#: Windows, and how far the 700th state is past the position in which all rods lie on one line [rad].
NEAR = [(n, off) for n in (1, 2, 5) for off in (1e-4, 5e-5, 2e-5, 1e-5, 3e-6, 1e-6, 1e-9, 0.0)]


@pytest.mark.parametrize(("n", "off"), NEAR)
def test_a_step_that_ends_near_the_singular_position(n, off):
    from scipy.optimize import brentq

    step = brentq(lambda h: pendulum(n, 700 * h, h)[0][700] - 0.5 * np.pi - off, 0.6 / 700, 0.8 / 700, xtol=1e-18)
    found = motion(n, 2.0, step)
    if off > 1e-7:
        assert max(distances(found, n)) < 1e-9
        assert found.energies.drift == pytest.approx(pendulum(n, 2.0, step)[1], rel=0.1)
    else:  # on the singular position rows see the square of a distance only, so rounding of 1e-14 is one of 1e-7
        assert max(distances(found, n)) < 5e-7
        assert found.energies.drift < 2e-3
