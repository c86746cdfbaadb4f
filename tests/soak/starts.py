"""The start against the equations in absolute coordinates: markers at three levels, reactions, forces of drivers."""

import numpy as np

import kinegrad as kg
from soak.findings import compared

TOLERANCE = 1e-9


def markers_of(document):
    """Names of all markers of bodies."""
    return [f"{body}.{marker}" for body, entry in document["bodies"].items() for marker in entry["markers"]]


def check_start(mechanism, document=None, cut=(), body_point=None, case="as written", kind="joint"):
    """Findings on the start of a document, or of a variant of it."""
    document = document or mechanism.document
    model = kg.Model.from_dict(document)
    options = {"cut": cut, "body_point": body_point} if kind == "joint" else {}
    system = kg.lower(model, kind, **options)
    motion = kg.simulate(system, "index1", "rk4", step=mechanism.step, t_end=mechanism.step)
    instant = mechanism.instant(document)
    solution = instant.solution
    L, T = mechanism.size, mechanism.time
    found = []
    expected = [instant.marker(name) for name in markers_of(document)]
    accelerations = instant.accelerations(markers_of(document))
    seen = [motion.marker(name) for name in markers_of(document)]
    loss = max(1.0, 0.1 / solution.weakest)  # accelerations lose digits where rows nearly depend on each other
    for level, scale, mine, theirs in (
        ("position", L, [x.v for x in expected], [m.position[0] for m in seen]),
        ("velocity", L / T, [x.d[:, -1] for x in expected], [m.velocity[0] for m in seen]),
        ("acceleration", L / T**2, accelerations, [m.acceleration[0] for m in seen]),
    ):
        mine, theirs = np.array(mine), np.array(theirs)
        scale = max(scale, float(np.abs(mine).max()))
        difference = float(np.abs(mine - theirs).max()) / scale
        found += compared("start", case, level, difference, TOLERANCE * (loss if level == "acceleration" else 1.0))
    return found + check_reactions(mechanism, instant, motion, case)


def check_reactions(mechanism, instant, motion, case):
    """Findings on reactions and forces of drivers at the start."""
    document, L, T = instant.document, mechanism.size, mechanism.time
    force = mechanism.mass * L / T**2
    units = np.array([1.0] * 3 + [L] * 3)
    reactions, found = motion.reactions(), []
    mine, freedom = {}, {}
    for name in document["joints"]:
        if name in instant.rows:
            mine[name], freedom[name] = instant.reaction(name)
    largest = max([force, *(float(np.abs(w / units).max()) for w in mine.values())])
    tolerance = 10.0 * TOLERANCE * max(1.0, 0.1 / instant.solution.weakest)
    for name, wrench in mine.items():
        told = reactions.unique[name]
        known = np.linalg.norm(freedom[name] / units[:, None], axis=1) * largest / force < 1e-6
        rough = np.linalg.norm(freedom[name] / units[:, None], axis=1) > 1e-3
        if np.any(told & rough):
            found += compared("reactions", case, f"{name} unique though {told & rough}", 1.0, 0.5)
        if np.any(~told & known) and instant.solution.gap < 1e-12:
            found += compared("reactions", case, f"{name} not unique though {~told & known}", 1.0, 0.5)
        both = told & known
        difference = float(np.abs(((reactions[name][0] - wrench) / units)[both]).max(initial=0.0)) / largest
        kind = document["joints"][name]["type"]
        found += compared("reactions", case, f"{kind} {name}", difference, tolerance)
    for name in document.get("drivers", {}):
        if reactions.unique_forces[name] and np.abs(instant.solution.nothing[name]).max(initial=0.0) < 1e-9:
            row = instant.rows[name]
            unit = np.linalg.norm(row.d[0, : instant.n] * instant.scale)
            difference = abs(reactions.forces[name][0] + instant.solution.multipliers[name][0]) * unit / largest
            found += compared("reactions", case, f"driver {name}", float(difference), tolerance)
    return found
