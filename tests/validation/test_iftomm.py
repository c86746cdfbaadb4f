"""The problems A01 and A03 to A05 of the IFToMM library: errors and energies as it asks for, and as the schemes promise.

A02 has its own file, `test_windows.py`. What the places of `kinegrad.bench.iftomm_problems` are compared with stands with each
test; none of it comes from the joint set.
"""

from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import kinegrad as kg
from kinegrad.bench.iftomm_problems import CRANK, P3, SLIDER, Run, pendulum_angle, problems

ROOT = Path(__file__).parents[2]
NAMES = {"A01": "simple_pendulum", "A03": "squeezer", "A04": "bricard_cube", "A05": "flyball_governor"}


@cache
def system(key):
    return kg.joint(kg.Model.from_yaml(ROOT / "examples" / NAMES[key] / "model.yaml"))


@cache
def motion(key, formulation="ali3p", integrator="newmark", step=None, t_end=None):
    return kg.simulate(system(key), formulation, integrator, step=step, t_end=t_end)


def error(key, *scheme, step=None):
    """Of the watched point, over the whole run [m]."""
    found = motion(key, *scheme, step=step)
    return problems()[key].error(Run(found.t, found.marker(problems()[key].marker).position))


@pytest.mark.parametrize("path", sorted((ROOT / "kinegrad" / "data").glob("*.yaml")), ids=lambda path: path.stem)
def test_the_package_has_the_models_of_the_examples(path):
    assert path.read_bytes() == (ROOT / "examples" / path.stem / "model.yaml").read_bytes()


# --- all of them, with the steps of their files ---


@pytest.mark.parametrize("key", NAMES)
def test_what_the_library_asks_for(key):
    problem = problems()[key]
    for scheme in (("ali3p", "newmark"), ("ali3p", "hht"), ("ali3p", "generalized-alpha"), ("matrix-r", "newmark")):
        assert motion(key, *scheme).ts[-1] == problem.t_end
        assert motion(key, *scheme).energies.drift < (problem.asked_energy or np.inf), scheme
        assert error(key, *scheme) < (problem.asked_error or np.inf), scheme


@pytest.mark.parametrize(
    ("key", "place", "energy"),
    [("A01", 2.5e-5, 8.1e-6), ("A03", 1e-6, 6e-5), ("A04", 1.5e-6, 1.5e-6), ("A05", 2.5e-5, 2e-4)],
)
def test_errors_with_the_options_that_come_by_themselves(key, place, energy):
    assert error(key) < place
    assert motion(key).energies.drift < energy
    assert motion(key).constraint_violation[:, 0].max(initial=0.0) < 1e-12
    assert motion(key).iterations.mean() < 2.1


@pytest.mark.parametrize(("key", "step"), [("A01", 4e-3), ("A03", 1e-5), ("A04", 4e-3), ("A05", 2e-3)])
def test_order_two(key, step):
    errors = [error(key, step=step / k) for k in (1, 2, 4)]
    for coarse, fine in pairwise(errors):
        assert np.log2(coarse / fine) == pytest.approx(2.0, abs=0.15)


@pytest.mark.parametrize(("key", "step"), [("A01", 5e-3), ("A03", 5e-5), ("A04", 2e-2)])
def test_order_four(key, step):
    errors = [error(key, "matrix-r", "rk4", step=step / k) for k in (1, 2)]
    assert np.log2(errors[0] / errors[1]) > 3.8


# --- A01: elliptic functions ---


def test_the_pendulum_beside_elliptic_functions():
    import mpmath

    times = np.linspace(0.0, 10.0, 41)
    with mpmath.workdps(30):
        omega = mpmath.sqrt(mpmath.mpf(9.81))
        exact = [
            2 * mpmath.asin(mpmath.ellipfun("cd", omega * t, m=0.5) / mpmath.sqrt(2)) - mpmath.pi / 2 for t in times
        ]
    assert np.abs(pendulum_angle(times) - np.array(exact, float)).max() < 1e-13
    assert np.abs(motion("A01", "index1", "rk4").q[::250, 0] - pendulum_angle(times)).max() < 2e-11


# --- A03: published end values ---

#: At 0.03 s, from the Test Set for IVP Solvers, problem "Andrews' squeezing mechanism": positions, then velocities.
PUBLISHED = {
    "beta": (15.81077119629904, 1139.920302151208),
    "Theta": (-15.75637105984298, -1424.379294994111),
    "gamma": (0.04082224013073101, 11.03291221937134),
    "Phi": (-0.5347301163226948, 19.29337464421385),
    "delta": (0.5244099658805304, 0.5735699284790808),
    "Omega": (0.5347301163226948, -19.29337464421385),
    "epsilon": (1.048080741042263, 0.3231791658026955),
}
START = {
    "beta": -0.0617138900142764496358948458001, "Theta": 0.0, "gamma": 0.455279819163070380255912382449,
    "Phi": 0.222668390165885884674473185609, "delta": 0.487364979543842550225598953530,
    "Omega": -0.222668390165885884674473185609, "epsilon": 1.23054744454982119249735015568,
}  # fmt: skip
ACCELERATIONS = {"beta": 14222.4439199541138705911625887, "Theta": -10666.8329399655854029433719415}


def angles(q):
    named = dict(zip(system("A03").coordinates, q, strict=True))
    return np.array([named[f"{name}.angle"] for name in PUBLISHED])


def test_the_squeezer_starts_as_published():
    found = motion("A03", "matrix-r", "rk4", t_end=1e-5)
    assert np.abs(angles(found.q[0]) - list(START.values())).max() < 1e-13
    expected = [ACCELERATIONS.get(name, 0.0) for name in PUBLISHED]
    assert np.abs(angles(found.qdd[0]) - expected).max() < 1e-6


@pytest.mark.parametrize(
    ("scheme", "step"),
    [(("matrix-r", "rk4"), 1e-6), (("index1", kg.RungeKutta54(tolerance=1e-14)), 1e-5)],
    ids=["rk4", "rk54"],
)
def test_the_squeezer_ends_as_published(scheme, step):
    """To ten digits of the largest angle; what is left is one and the same moment of time for all of them.

    The published state is the one at 0.03 s + 1.0045e-12 s; so it is for the published equations integrated in other
    programs. With that in mind all seven angles agree to the last digits of a double.
    """
    found = kg.simulate(system("A03"), *scheme, step=step, t_end=0.03)
    q, qd = angles(found.q[-1]), angles(found.qd[-1])
    published, rates = np.array(list(PUBLISHED.values())).T
    assert np.abs(q - published).max() < 1.5e-9
    assert np.abs(qd / rates - 1.0).max() < 6e-8
    later = 1.0045e-12
    assert np.abs(q + later * qd - published).max() < 3e-12


def test_the_crank_of_the_squeezer():
    """Two formulations, to the digits that `CRANK` has."""
    system_ = system("A03")
    crank = system_.coordinates.index("beta.angle")
    for formulation in ("matrix-r", kg.Index1(frequency=1000)):
        found = kg.simulate(system_, formulation, "rk4", step=1e-6, t_end=0.05, output_step=0.01)
        assert np.abs(found.q[1:, crank] - CRANK).max() < 1e-10
    assert CRANK[2] == pytest.approx(PUBLISHED["beta"][0], abs=1.5e-9)


# --- A04: Bricard's relation ---


def test_bricard_on_a_cube():
    """One freedom, two redundant rows, every second angle alike, and the relation of the trihedral linkage."""
    found = kg.mobility(system("A04"))
    assert (found.dof, found.nearby, found.singular, len(found.redundant)) == (1, (1, 1), False, 2)
    q = dict(zip(system("A04").coordinates, motion("A04").q.T, strict=True))
    for one, other in (("J0", "J2"), ("J0", "J4")):
        assert np.abs(q[f"{one}.angle"] - q[f"{other}.angle"]).max() < 1e-8
    a, b = np.sin(q["J0.angle"]), np.sin(q["J1.angle"])  # cosines of what is 90 degrees at the start
    assert np.abs(a + b + a * b).max() < 1e-8
    assert np.ptp(q["J0.angle"]) == pytest.approx(np.pi, abs=1e-6)  # it swings from the cube to its mirror image


def test_bricard_converged():
    for scheme, step in ((("matrix-r", "rk4"), 5e-4), (("matrix-r", "rk4"), 1e-3)):
        found = kg.simulate(system("A04"), *scheme, step=step, output_step=1.0)
        assert np.abs(found.marker("rod_3.P3").position[1:] - P3).max() < 2e-12
        assert found.energies.drift < 1e-12
    found = kg.simulate(system("A04"), kg.Index1(frequency=100), kg.RungeKutta54(tolerance=1e-13), t_end=9.0)
    assert np.abs(found.at_end()["rod_3.P3"].position - P3[8]).max() < 1e-11


def test_bricard_with_thick_rods():
    """Some submissions have rods of 0.1 m: another motion, as well-behaved."""
    thick = kg.joint(system("A04").model.with_variant("thick"))
    found = kg.simulate(thick, output_step=1.0)
    assert found.energies.drift < 2e-6
    assert np.abs(found.marker("rod_3.P3").position[1:] - P3).max() > 1e-2


# --- A05: three coordinates ---


def governor(t_end):
    """Heights of the slider at whole seconds, from shaft, slider and the angle of both rods, without markers or frames."""
    from scipy.integrate import solve_ivp

    mass, ball, cube = 0.3, 5.0, 3.0
    along, across = mass * 1e-4 / 6, mass * (1.0 + 1e-4) / 12
    swing = across + 0.25 * mass + ball
    shaft = along + cube * 0.01 / 6

    def turning(a):
        c, s = np.cos(a), np.sin(a)
        value = ball * (0.05 + c) ** 2 + mass * (0.05 + 0.5 * c) ** 2 + across * c**2 + along * s**2
        slope = -2 * ball * (0.05 + c) * s - mass * (0.05 + 0.5 * c) * s - 2 * (across - along) * c * s
        return shaft + 2 * value, 2 * slope

    momentum = turning(np.pi / 6)[0] * 2 * np.pi

    def rates(t, y):
        a, z, ad, zd = y
        inertia, slope = turning(a)
        x, h = 0.5 * np.cos(a), 1.0 - 0.5 * np.sin(a) - z
        length = np.hypot(x, h)
        by_a, by_z = (-0.5 * x * np.sin(a) - 0.5 * h * np.cos(a)) / length, -h / length
        force = 8e5 * (length - 0.5) + 4e4 * (by_a * ad + by_z * zd)
        weight = 2 * 9.81 * (ball + 0.5 * mass) * np.cos(a)
        return [
            ad,
            zd,
            (0.5 * slope * (momentum / inertia) ** 2 + weight - 2 * force * by_a) / (2 * swing),
            -2 * force * by_z / cube - 9.81,
        ]

    start = [np.pi / 6, 0.5, 0.0, 0.0]
    return solve_ivp(rates, (0, t_end), start, "Radau", np.arange(1.0, t_end + 0.5), rtol=1e-9, atol=1e-12).y[1]


def test_the_governor_in_three_coordinates():
    assert np.abs(governor(3.0) - SLIDER[:3]).max() < 1e-11


def test_the_governor_converged():
    for formulation in ("matrix-r", "recursive"):
        found = kg.simulate(system("A05"), formulation, "rk4", step=1e-4, output_step=1.0)
        assert np.abs(found.marker("slider.S").position[1:, 2] - SLIDER).max() < 1e-12


def test_the_governor_is_stiff():
    """What disturbs the springs decays at 8100 1/s: the trapezoidal rule takes steps of 1 ms, and an explicit method cannot."""
    assert motion("A05").iterations.mean() < 2.5
    with pytest.raises(kg.SimulationError):
        kg.simulate(system("A05"), "matrix-r", "rk4", step=1e-3)
    q = motion("A05").q
    assert np.abs(q[:, 2] + q[:, 3]).max() < 1e-12  # the rods move alike
