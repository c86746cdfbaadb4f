"""Random mechanisms, all freedoms driven: every set gives the same motion, and locks up at the same time."""

import warnings

import numpy as np
import pytest
from soak.mechanisms import generate

import kinegrad as kg
from kinegrad.coordinates.sets import SETS

COUNT = 6


def driven(seed: int) -> kg.Model | None:
    """The mechanism of a seed with a driver in the place of each degree of freedom, from the same start; None where one is
    no coordinate.  Forces have no part in its motion."""
    mechanism = generate(seed)
    model = kg.Model.from_dict(mechanism.document)
    for section in (model.forces, model.objectives):
        for name in list(section):
            del section[name]
    system = kg.lower(model)
    if not all(name in system.number_of for name in model.degrees_of_freedom):
        return None
    start = kg.assemble(system).coordinates
    for k, name in enumerate(list(model.degrees_of_freedom)):
        size = 0.3 * mechanism.size if system.lengths[system.number_of[name]] else 1.0
        value = f"{float(start[name])!r} + {0.4 * size!r}*sin({1 + k}*t) + {0.3 * size!r}*t"
        model.drivers[f"driver{k}"] = {"measure": name, "value": value}
    model.degrees_of_freedom = {}
    return model


def test_sets_agree():
    found = (model for model in map(driven, range(100)) if model is not None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _, model in zip(range(COUNT), found, strict=False):
            one, *others = (kg.drive(kg.lower(model, kind), t_end=0.5, step=0.01, throw=False) for kind in SETS)
            assert (len(one.t) == 51) == (one.status == 0)
            for other in others:
                assert_alike(one, other)


def ends(motion: kg.Motion) -> list[float]:
    """The time of a lock-up, if there was one."""
    return [place["t"] for place in motion.extra["singular"] if not place["passed"]]


def assert_alike(one: kg.Motion, other: kg.Motion):
    """Markers move alike, and both end at the same time."""
    assert np.array_equal(one.t, other.t) and ends(other) == pytest.approx(ends(one), rel=1e-6)
    for name in one.system.markers:
        a, b = one.marker(name), other.marker(name)
        size = max(np.abs(a.position).max(), 1e-3)
        assert np.abs(a.position - b.position).max() < 1e-9 * size
        assert np.abs(a.velocity - b.velocity).max() < 1e-7 * max(np.abs(a.velocity).max(), size)
