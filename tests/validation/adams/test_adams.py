"""28 reference cases of MSC Adams: each in one coordinate set in turn; `kinegrad bench adams` has all sets."""

import numpy as np
import pytest

from kinegrad.bench import adams

here, independent = adams.cases(), adams.module("independent")
FIGURES, NAMES = adams.data("figures"), list(here.CASES)
KINDS = [adams.SETS[k % len(adams.SETS)] for k in range(len(NAMES))]


@pytest.mark.parametrize(("name", "kind"), list(zip(NAMES, KINDS, strict=True)))
def test_what_differs_is_the_error_of_adams(name, kind):
    """Within what Adams is off, and as without kinegrad, to 4e-7 of the largest at the end of a whip."""
    found, _ = adams.simulated(name, kind)
    limits = adams.data("limits")[name]
    for key, expected in FIGURES["cases"][name].items():
        assert here.difference(key, found[key], expected) <= limits[key], key
    other = adams.data("independent").get(name)
    if other is not None:
        for key, expected in FIGURES["cases"][name].items():
            size = np.linalg.norm(np.asarray(expected), axis=1).max()
            off = here.difference(key, found[key], other[key])
            assert off <= 4e-7 or size < 1e-8, (key, off)


@pytest.mark.parametrize("name", ["Prismatic_Case02", "Universal_Case03"])
def test_numbers_without_kinegrad_are_those_of_their_program(name):
    """The others take longer: `python tests/validation/adams/independent.py`."""
    found = independent.quantities(name, here.CASES[name], FIGURES["t"], here.euler_parameters)
    for key, expected in adams.data("independent")[name].items():
        assert here.difference(key, found[key], expected) < 1e-8, key


@pytest.mark.parametrize("name", independent.PENDULUMS)
def test_plane_pendulums_are_those_of_closed_form(name):
    found, _ = adams.simulated(name, KINDS[NAMES.index(name)])
    exact = independent.pendulum(here.CASES[name], FIGURES["t"])
    assert np.abs(found["Pos"] - exact).max() < 1e-9
    assert np.abs(np.array(FIGURES["cases"][name]["Pos"]) - exact).max() > 1e-6  # Adams


def test_limits_are_of_every_quantity():
    limits = adams.data("limits")
    assert list(limits) == NAMES == list(FIGURES["cases"])
    assert all(limits[name].keys() == FIGURES["cases"][name].keys() for name in NAMES)
