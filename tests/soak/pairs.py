"""One mechanism in many pairs of formulation and integrator: two motions differ by no more than their errors."""

import warnings

import kinegrad as kg
from kinegrad.dynamics.schemes import SCHEMES
from kinegrad.model.simulation import FORMULATIONS, INTEGRATORS
from soak.ends import HALVINGS, Runs, apart, too_long
from soak.findings import compared, guarded

ROUGH = 1e-3  # an error estimate, in sizes of the mechanism, above which a comparison says nothing


def chosen_pairs(rng, count):
    """All pairs, or a choice in which every formulation has its share."""
    pairs = list(SCHEMES)
    if count >= len(pairs):
        return pairs
    by_formulation = {name: [pair for pair in pairs if pair[0] == name] for name, _ in pairs}
    found = []
    while len(found) < count:
        for group in by_formulation.values():
            if group and len(found) < count:
                found.append(group.pop(rng.integers(len(group))))
    return found


def check_pairs(mechanism, pairs):
    """Findings on the ends of runs by these pairs, each beside the one with the smallest error."""
    system = kg.joint(kg.Model.from_dict(mechanism.document))
    runs = {pair: Runs(mechanism, system, FORMULATIONS[pair[0]](), INTEGRATORS[pair[1]]()) for pair in pairs}
    errors, found = {}, []
    for pair in pairs:
        found += guarded("pairs", " + ".join(pair), converges, pair, runs[pair], errors)
    best = min(errors, key=errors.get, default=None)
    for pair in errors:
        if pair != best:
            found += guarded("pairs", " + ".join(pair), agrees, pair, runs[pair], best, runs[best])
    return found


def converges(pair, runs, errors):
    """Findings on the error of a pair, which is added to `errors` if it is small enough for a comparison.

    Substitution needs short steps and says so; a soft penalty is told by a warning.  Neither is a finding.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for level in range(1, HALVINGS + 2):
            try:
                error = runs.end(level).error
            except kg.SimulationError as failure:
                if not too_long(pair[0], failure):
                    raise
                if level > HALVINGS:
                    return []
                runs.first = level + 1
                continue
            if error <= ROUGH:
                break
    told = any(issubclass(w.category, kg.AccuracyWarning) and "penalty" in str(w.message) for w in caught)
    for w in caught:
        warnings.warn(w.message, stacklevel=1)
    if error > ROUGH and told:
        return []
    found = compared("pairs", " + ".join(pair), "does not converge", error, ROUGH)
    if not found:
        errors[pair] = error
    return found


def agrees(pair, runs, best, others):
    """Findings on one pair beside the best."""
    return compared("pairs", " + ".join(pair), f"differs from {' + '.join(best)}", *apart(runs, others))
