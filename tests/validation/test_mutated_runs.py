"""Examples with numbers replaced by extreme ones: simulated, differentiated and balanced, or refused in a sentence."""

import json
import random
import warnings
from pathlib import Path

import numpy as np
import pytest

import kinegrad as kg
from kinegrad.errors import AccuracyWarning, DerivativeWarning, IterationWarning, KinegradError, ModelWarning
from kinegrad.model.documents import load
from kinegrad.page.html import page
from kinegrad.page.scene import scene

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = ("five_bar", "slider_crank", "bennett", "gyroscope")
SCHEMES = [("ali3p", "newmark"), ("matrix-r", "rk4"), ("index1", "hht"), ("recursive", "rk54"), ("penalty", "newmark")]
EXTREME = [0.0, -0.0, -1.0, 1e300, -1e300, 1e-300, 1.7e308, 5e-324, 1e150, 1e-150, 1e100, 1e16, 1e-16, 1e8, 1e-8]


def numbers_in(value, path=()):
    """Paths of all numbers of a document."""
    if isinstance(value, float | int) and not isinstance(value, bool):
        yield path
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in entries:
        yield from numbers_in(entry, (*path, key))


def mutated(document, rng):
    document = json.loads(json.dumps(document))
    for _ in range(rng.choice([1, 1, 2])):
        *way, last = rng.choice([path for path in numbers_in(document) if path != ("kinegrad",)])
        holder = document
        for key in way:
            holder = holder[key]
        holder[last] = rng.choice(EXTREME)
    return document


def refused(act, *arguments, **options):
    """What `act` gives, or None when it refuses in sentences."""
    try:
        return act(*arguments, **options)
    except KinegradError as error:
        for problem in error.problems:
            assert (
                problem.sentence.endswith((".", "?"))
                and "\n" not in problem.sentence
                and "from ;" not in problem.sentence
            )
        return None


@pytest.mark.parametrize("seed", range(8))
def test_extreme_numbers(seed):
    rng = random.Random(seed)
    documents = [load((EXAMPLES / name / "model.yaml").read_text())[0] for name in NAMES]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for own in (AccuracyWarning, DerivativeWarning, IterationWarning, ModelWarning):
            warnings.simplefilter("ignore", own)
        for _ in range(15):
            model = refused(kg.Model.from_dict, mutated(rng.choice(documents), rng))
            system = model and refused(kg.joint, model)
            if not system:
                continue
            refused(kg.mobility, system)
            refused(kg.equilibrium, system, max_iterations=20)
            motion = refused(kg.simulate, system, *rng.choice(SCHEMES), t_end=0.01, step=1e-3)
            if motion:
                assert np.isfinite(motion.q).all() and np.isfinite(list(motion.objectives.values())).all()
                refused(motion.reactions)
                for method in ("direct", "discrete-adjoint"):
                    found = refused(kg.gradient, motion, method=method) if model.objectives and model.design else None
                    assert found is None or np.isfinite(found.matrix).all()
                refused(lambda: page(scene(motion)))  # noqa: B023
