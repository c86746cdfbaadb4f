"""Rows of parallelograms through their singular positions in all coordinate sets, in any plane and with any masses (ALI-8).

In reference-point and natural coordinates, and in joint coordinates of a line that is not along an axis, no row vanishes when
the rods come into line: rows become dependent, which no weight of a row sees.
"""

import numpy as np
import pytest
from rows_of_windows import row_of_windows

import kinegrad as kg
from kinegrad.bench.windows import angle, windows
from kinegrad.kernels.jit import JIT

pytestmark = pytest.mark.skipif(not JIT, reason="long runs need the compiler")
SETS = ("joint", "reference_point", "natural")
INTEGRATORS = ("newmark", "hht", "generalized-alpha")


def lowered(model, which):
    return getattr(kg, which)(model)


def deviations(motion, n):
    """Of the angles of cranks from the pendulum's, and of the directions of bars from theirs."""
    ends = [motion.marker(f"crank_{i}.B").position - [i, 0, 0] for i in range(n + 1)]
    angles = np.unwrap([np.arctan2(x[:, 0], x[:, 1]) for x in ends], axis=1)
    bars = [motion.marker(f"bar_{i}.right").position - motion.marker(f"bar_{i}.left").position for i in range(1, n + 1)]
    return np.abs(angles - angle(n, motion.t)).max(), np.abs(np.array(bars) - [1, 0, 0]).max()


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("which", SETS)
def test_windows_pass(which, integrator):
    motion = kg.simulate(
        lowered(windows(2), which), "ali3p", integrator, t_end=1.3
    )  # past the line at 0.714 and 1.228 s
    cranks, bars = deviations(motion, 2)
    assert cranks < 3e-4 and bars < 1e-9
    assert motion.energies.drift < 2e-3
    assert motion.iterations.mean() < 2.1


@pytest.mark.parametrize(
    ("which", "n", "t_end"), [("reference_point", 5, 2.7), ("reference_point", 40, 0.8), ("natural", 40, 0.8)]
)
def test_longer_rows_pass(which, n, t_end):
    """Five windows come to 3e-4 rad of the line, at 2.675 s; forty are solved by fronts."""
    motion = kg.simulate(lowered(windows(n), which), "ali3p", t_end=t_end)
    cranks, bars = deviations(motion, n)
    assert cranks < 1e-4 and bars < 1e-8
    assert motion.energies.drift < 2e-2
    assert motion.iterations.mean() < 2.2


#: Seeds of drawn rows, and steps.
DRAWN = [(2, 1e-3), (4, 2.5e-4), (5, 5e-4), (7, 2e-3), (11, 2e-3), (13, 1e-3)]


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("which", SETS)
@pytest.mark.parametrize(("seed", "step"), DRAWN)
def test_drawn_rows_pass(which, integrator, seed, step):
    """Of one to four windows, in a drawn plane, with joints that are redundant in different ways; at a few rad/s or more."""
    rng = np.random.default_rng(seed)
    row = row_of_windows(1 + seed % 4, rng.uniform(0.0, 6.2), rng.choice([-1, 1]) * rng.uniform(3.0, 8.0), seed)
    motion = kg.simulate(lowered(row.model, which), "ali3p", integrator, step=step, t_end=1.5)
    assert len(motion.t) == round(1.5 / step) + 1
    error, apart = row.errors(motion)
    assert error < 2e-3 * (step / 1e-3) ** 2 and apart < 1e-5
    assert motion.energies.drift < 5e-4 * np.ptp(motion.energies.kinetic)


STEP, STEPS = 1e-3, 40  # steps until a state that is as near to the line as asked for


def hit(which, integrator, seed, off):
    """A row that starts so that state STEPS is `off` past the line, and its motion past it."""
    row = row_of_windows(1 + seed % 4, np.pi, 4.0, seed)
    before = row.angle(-STEP * np.arange(STEPS + 1))[-1]
    speed = np.sqrt(row.speed**2 - 2.0 * integral(row, before, np.pi))
    for turns in (STEPS, STEPS, STEPS, 3 * STEPS):
        row = row_of_windows(1 + seed % 4, before, speed, seed)
        motion = kg.simulate(lowered(row.model, which), "ali3p", integrator, step=STEP, t_end=turns * STEP)
        before -= row.angles(motion, "crank_0", "A", "B")[STEPS] - np.pi - off
    return row, motion


def integral(row, first, last):
    """Of the acceleration by the angle."""
    from scipy.integrate import quad

    return quad(row.acceleration, first, last, epsabs=1e-14)[0]


@pytest.mark.parametrize("off", [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 0.0])
@pytest.mark.parametrize("which", SETS)
@pytest.mark.parametrize("seed", [1, 4, 7])
def test_a_state_next_to_the_line(which, seed, off):
    """Constraints bear loads here, so that multipliers grow as 1/off; at 0 nothing can be held, and nothing is."""
    row, motion = hit(which, "newmark", seed, off)
    error, apart = row.errors(motion)
    assert error < 2e-5 and apart < 2e-5  # a load of some 10 m/s² for a quarter of h²
    assert motion.energies.drift < 2e-4 * np.ptp(motion.energies.kinetic)
    assert motion.iterations.max() <= 12
