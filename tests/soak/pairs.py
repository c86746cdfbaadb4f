"""One mechanism in many pairs of formulation and integrator: two motions differ by no more than their errors."""

import numpy as np

import kinegrad as kg
from kinegrad.dynamics.schemes import SCHEMES
from kinegrad.model.simulation import FORMULATIONS, INTEGRATORS
from soak.findings import Finding, guarded
from soak.starts import markers_of

FACTOR, FLOOR = 3.0, 1e-9
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
    """Findings on the ends of runs by these pairs, and how many were compared."""
    system = kg.joint(kg.Model.from_dict(mechanism.document))
    ends, found = {}, []
    for pair in pairs:
        case = " + ".join(pair)

        def run(pair=pair):
            ends[pair] = end_and_error(mechanism, system, *pair)
            return []

        found += guarded("pairs", case, run)
    if not ends:
        return found
    best = min(ends, key=lambda pair: ends[pair][1])
    for pair, (x, error) in ends.items():
        if error > ROUGH:
            found.append(
                Finding("pairs", " + ".join(pair), "difference", f"not convergent: error {error:.1g}", error / ROUGH)
            )
            continue
        difference = float(np.abs(x - ends[best][0]).max())
        allowed = FACTOR * (error + ends[best][1]) + FLOOR
        if not difference <= allowed:
            text = f"differs from {' + '.join(best)} by {difference:.3g}, allowed {allowed:.3g} (own error {error:.1g})"
            found.append(Finding("pairs", " + ".join(pair), "difference", text, difference / allowed))
    return found


def end_and_error(mechanism, system, formulation, integrator):
    """Positions and velocities at the end in units of the mechanism, and their error by the order of the method."""
    formulation, integrator = FORMULATIONS[formulation](), INTEGRATORS[integrator]()
    h = mechanism.step
    if integrator.type == "rk54":
        runs = [
            (formulation, integrator.with_(tolerance=1e-9), h),
            (formulation, integrator.with_(tolerance=1e-9 / 32), h),
        ]
    else:
        runs = [(formulation, integrator, h), (formulation, integrator, h / 2.0)]
    coarse, fine = (end(mechanism, system, *run) for run in runs)
    error = float(np.abs(fine - coarse).max()) / (2.0**integrator.order - 1.0)
    if "penalty" in type(formulation).model_fields:
        stiffer = formulation.with_(penalty=2.0 * formulation.penalty)
        error += 2.0 * float(np.abs(fine - end(mechanism, system, stiffer, *runs[1][1:])).max())
    return fine, error


def end(mechanism, system, formulation, integrator, h):
    """(2, markers, 3) positions and velocities at the end, divided by size and speed of the mechanism."""
    motion = kg.simulate(system, formulation, integrator, step=h, t_end=mechanism.t_end)
    markers = motion.at_end()
    names = markers_of(mechanism.document)
    x = np.array([[markers[name].position for name in names], [markers[name].velocity for name in names]])
    scales = [
        max(1.0, float(np.abs(x[0]).max()) / mechanism.size),
        max(1.0, float(np.abs(x[1]).max()) * mechanism.time / mechanism.size),
    ]
    return x / np.array([mechanism.size * scales[0], mechanism.size / mechanism.time * scales[1]])[:, None, None]
