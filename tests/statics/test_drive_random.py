"""Random mechanisms, all freedoms driven: every set gives the same motion, and locks up at the same time."""

import warnings

import numpy as np
import pytest
from soak.mechanisms import generate

import kinegrad as kg
from kinegrad.coordinates.sets import SETS

SEEDS = (20, 107, 118, 201, 222, 294)


def driven(seed: int) -> kg.Model:
    """The mechanism of a seed with a driver in the place of each degree of freedom, from the same start."""
    mechanism = generate(seed)
    model = kg.Model.from_dict(mechanism.document)
    for name in [name for name, force in model.forces.items() if force.type == "actuator"]:
        del model.forces[name]
    system = kg.lower(model)
    start = kg.assemble(system).coordinates
    for k, name in enumerate(list(model.degrees_of_freedom)):
        size = 0.3 * mechanism.size if system.lengths[system.number_of[name]] else 1.0
        value = f"{float(start[name])!r} + {0.4 * size!r}*sin({1 + k}*t) + {0.3 * size!r}*t"
        model.drivers[f"driver{k}"] = {"measure": name, "value": value}
    model.degrees_of_freedom = {}
    return model


@pytest.mark.parametrize("seed", SEEDS)
def test_sets_agree(seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = driven(seed)
        motions = [kg.drive(kg.lower(model, kind), t_end=0.5, step=0.01, throw=False) for kind in SETS]
    one, *others = motions
    assert (len(one.t) == 51) == (one.status == 0)
    for other in others:
        assert np.array_equal(one.t, other.t) and one.status == other.status
        if one.status:
            assert other.extra["singular"][-1]["t"] == pytest.approx(one.extra["singular"][-1]["t"], rel=1e-6)
        for name in one.system.markers:
            a, b = one.marker(name), other.marker(name)
            size = max(np.abs(a.position).max(), 1e-3)
            assert np.abs(a.position - b.position).max() < 1e-9 * size
            assert np.abs(a.velocity - b.velocity).max() < 1e-7 * max(np.abs(a.velocity).max(), size)
