"""All checks on the mechanism of one seed."""

import time

import numpy as np

from soak.findings import guarded
from soak.gradients import Count, check_gradients
from soak.mechanisms import generate
from soak.mutations import check_mutations
from soak.pairs import check_pairs, chosen_pairs
from soak.references import check_path
from soak.roles import check_roles
from soak.sets import check_sets
from soak.units import check_units

CHECKS = ("roles", "pairs", "path", "sets", "gradients", "mutations", "units")
USUAL = CHECKS[:-1]


def check_seed(seed, checks=USUAL, size=None, mass=None, pairs=10, gradients=2):
    """A record: what the mechanism is, what was found, how much was compared, and how long it took."""
    clock = time.perf_counter()
    mechanism = generate(seed, size, mass)
    count, found = Count(), []
    if "roles" in checks:
        found += check_roles(mechanism, np.random.default_rng([8, seed]))
    chosen = chosen_pairs(np.random.default_rng([9, seed]), pairs)
    if "pairs" in checks:
        found += guarded("pairs", "all", check_pairs, mechanism, chosen)
    if "path" in checks:
        found += guarded("path", "matrix-r + rk4", check_path, mechanism)
    if "sets" in checks:
        found += check_sets(mechanism, chosen, np.random.default_rng([11, seed]), count)
    if "gradients" in checks:
        rng = np.random.default_rng([10, seed])
        for k in rng.permutation(len(chosen))[:gradients]:
            found += guarded("gradient", " + ".join(chosen[k]), check_gradients, mechanism, chosen[k], rng, count)
    if "mutations" in checks:
        found += check_mutations(mechanism, np.random.default_rng([11, seed]))
    if "units" in checks:
        found += check_units(mechanism, chosen, np.random.default_rng([12, seed]), gradients)
    joints = [f"{joint['type']}{'*' if joint.get('cut') else ''}" for joint in mechanism.document["joints"].values()]
    return {
        "seed": seed,
        "family": mechanism.family,
        "size": mechanism.size,
        "mass": mechanism.mass,
        "bodies": len(mechanism.document["bodies"]),
        "joints": joints,
        "mobility": mechanism.mobility,
        "freedoms": mechanism.freedoms,
        "findings": [vars(finding) for finding in found],
        "derivatives": count.compared,
        "vague": count.vague,
        "worst": float(count.worst),
        "seconds": round(time.perf_counter() - clock, 2),
    }
