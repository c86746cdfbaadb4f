"""The same mechanism in every other coordinate set: its start, its freedoms, one run and one gradient."""

import kinegrad as kg
from kinegrad.coordinates.sets import SETS
from kinegrad.dynamics.schemes import BY_FORMULATION
from kinegrad.model.simulation import FORMULATIONS, INTEGRATORS
from soak.ends import Runs, apart
from soak.findings import compared, guarded
from soak.gradients import check_gradients
from soak.starts import check_start


def check_sets(mechanism, pairs, rng, count):
    """Findings on each set beside joint coordinates, with one of the pairs that it takes."""
    found = []
    for kind in list(SETS)[1:]:
        taken = [pair for pair in pairs if BY_FORMULATION[pair[0]].only in (None, kind)]
        found += guarded("sets", kind, check_freedoms, mechanism, kind)
        found += guarded("sets", kind, check_start, mechanism, None, (), None, kind, kind)
        if taken:
            pair = taken[rng.integers(len(taken))]
            case = " + ".join((kind, *pair))
            found += guarded("sets", case, check_run, mechanism, kind, pair)
            found += guarded("sets", case, check_gradients, mechanism, pair, rng, count, 2, kind)
    return found


def check_freedoms(mechanism, kind):
    """Findings on the number of freedoms."""
    model = kg.Model.from_dict(mechanism.document)
    one, other = (kg.mobility(kg.lower(model, name)).dof for name in ("joint", kind))
    return compared("sets", kind, f"freedoms {other}, in joint coordinates {one}", abs(one - other), 0.5)


def check_run(mechanism, kind, pair):
    """Findings on the end of a run: it is that of joint coordinates."""
    model = kg.Model.from_dict(mechanism.document)
    ways = [
        Runs(mechanism, kg.lower(model, name), FORMULATIONS[pair[0]](), INTEGRATORS[pair[1]]())
        for name in ("joint", kind)
    ]
    return compared("sets", " + ".join((kind, *pair)), "differs from joint coordinates", *apart(*ways))
