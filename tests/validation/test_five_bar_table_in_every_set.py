"""The exact gradient of the five-bar over 5 s, in every coordinate set: each converges to it with order two."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import kinegrad as kg
from kinegrad.coordinates.sets import SETS
from kinegrad.kernels.jit import JIT

pytestmark = pytest.mark.skipif(not JIT, reason="runs need the compiler")
MODEL = Path(__file__).parents[2] / "examples" / "five_bar" / "model.yaml"
H = 2e-3

#: psi1 to psi3 by L_s1, L_s2, m_A1, r_G, L_A1: converged, all digits good.
EXACT = np.array(
    [
        [-4.2288108552, 3.2116041030, 0.3186566756, 0.4423506782, 3.3598099204],
        [-15.452069070, 50.308784851, 0.9701235491, 0.7456023208, -27.359239952],
        [221.64006823, 2436.6073476, -32.497522711, -85.656718512, -2546.5902029],
    ]
)


@cache
def gradients(kind):
    """Gradients with all numbers, at H and at half of it."""
    system = kg.lower(kg.Model.from_yaml(MODEL), kind)
    runs = [kg.simulate(system, "ali3p", "newmark", t_end=5.0, step=h) for h in (H, H / 2.0)]
    return [kg.gradient(run, method="discrete-adjoint", every_slot=True) for run in runs]


def by_number(kind):
    """{objective: {number: (at H, at H/2)}}."""
    coarse, fine = (gradient.by_number() for gradient in gradients(kind))
    return {psi: {name: (x, fine[psi][name]) for name, x in row.items()} for psi, row in coarse.items()}


@pytest.mark.parametrize("kind", SETS)
def test_all_fifteen_entries_have_one_limit(kind):
    coarse, fine = (gradient.matrix for gradient in gradients(kind))
    clear = np.abs(fine / EXACT - 1.0) > 1e-6  # elsewhere the error of second order is small by chance
    assert clear.sum() >= 13
    assert np.abs((coarse - EXACT) / (fine - EXACT) - 4.0)[clear].max() < 0.03
    assert np.abs((4.0 * fine - coarse) / 3.0 / EXACT - 1.0).max() < 5e-8


@pytest.mark.parametrize("kind", [kind for kind in SETS if kind != "joint"])
def test_every_number_of_the_model_has_one_limit(kind):
    """Steps differ between sets by h²; what is left after extrapolation is of the fourth order."""
    one, other = by_number("joint"), by_number(kind)
    for psi, row in one.items():
        shared = [name for name in row if name in other[psi]]
        assert len(shared) > 40
        x, y = (np.array([rows[psi][name] for name in shared]) for rows in (one, other))
        given = ~np.isnan(y[:, 0])  # what a set holds has no derivative there
        x, y = x[given], y[given]
        scale = np.abs(x[:, 1]).max()
        limits = [(4.0 * z[:, 1] - z[:, 0]) / 3.0 for z in (x, y)]
        assert np.abs(limits[0] - limits[1]).max() < 1e-7 * scale
        apart = np.abs(x - y)
        large = apart[:, 1] > 1e-6 * scale
        assert large.any()
        assert np.abs(apart[large, 0] / apart[large, 1] - 4.0).max() < 0.1
