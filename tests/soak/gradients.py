"""Gradients of short runs: direct against adjoint, and both against differences of runs, number by number."""

import copy
import re

import numpy as np

import kinegrad as kg
from kinegrad.errors import KinegradError
from kinegrad.model.simulation import FORMULATIONS, INTEGRATORS
from soak.ends import HALVINGS, too_long
from soak.findings import compared

AGREE = 1e-9  # of direct and adjoint
DIFFERENCES = 1e-6
STEPS = 15
SMALL = 1e-3  # part of the largest entry of a row below which an entry counts as that part
NOTHING = 1e-7  # objectives are of the order of one: a change of number by itself that changes them less counts as this
SIZES = 1e-2 * 0.25 ** np.arange(7)  # of a change, relative to the number
TENSOR = {name: k for k, name in enumerate(("xx", "yy", "zz", "xy", "xz", "yz"))}


class Count:
    """Derivatives that were compared with differences, and those for which differences were not good enough."""

    def __init__(self):
        self.compared, self.vague, self.worst = 0, 0, 0.0


def check_gradients(mechanism, pair, rng, count, numbers=4, kind="joint"):
    """Findings on the gradients of one pair, by parameters and by single numbers."""
    system = kg.lower(kg.Model.from_dict(mechanism.document), kind)
    formulation, integrator = FORMULATIONS[pair[0]](), INTEGRATORS[pair[1]]()
    for level in range(HALVINGS + 2):
        times = {"step": mechanism.step / 2.0**level, "t_end": STEPS * mechanism.step / 2.0**level}
        try:
            motion = kg.simulate(system, formulation, integrator, **times)
            break
        except kg.SimulationError as failure:
            if level > HALVINGS or not too_long(pair[0], failure):
                raise
    direct = kg.gradient(motion)
    adjoint = kg.gradient(motion, method="discrete-adjoint", every_slot=True)
    case = " + ".join(pair if kind == "joint" else (kind, *pair))
    values = parameter_values(system, direct.wrt)
    by_number = adjoint.by_number()
    paths = system.slots.field_paths
    fields = system.slots.field_values(system.rho)
    G = np.array([[by_number[name][path] for path in paths] for name in direct.values])
    largest = np.maximum(np.nanmax(np.abs(G * fields), axis=1), np.abs(direct.matrix * values).max(axis=1, initial=0.0))
    found = []
    error = np.abs(direct.matrix - adjoint.matrix) * np.abs(values)
    scale = np.maximum(np.abs(direct.matrix * values), np.maximum(SMALL * largest, NOTHING)[:, None])
    if error.size:
        o, p = np.unravel_index((error / scale).argmax(), error.shape)
        text = f"direct and adjoint of {list(direct.values)[o]} by {direct.wrt[p]}"
        found += compared("gradient", case, text, error[o, p] / scale[o, p], AGREE)
    if pair[1] == "rk54":
        return found  # its steps are held in the derivative, and change in a difference
    run = direct.motion
    options = {"formulation": run.formulation, "integrator": run.integrator, **times}
    free = [k for k, path in enumerate(paths) if may_change(mechanism, path) and fields[k] and path not in system.held]
    for k in rng.permutation(free)[:numbers]:

        def objectives(value, k=k):
            changed = fields.copy()
            changed[k] = value
            return of_slots(system, changed, options)

        found += entry(case, paths[k], G[:, k], fields[k], largest, objectives, direct.values, count)
    labels = [k for k, label in enumerate(direct.wrt) if "[" not in label and values[k]]
    for k in rng.permutation(labels)[:1]:

        def objectives(value, k=k):
            return of_document(mechanism.document, direct.wrt[k], value, options, kind)

        found += entry(
            case,
            f"parameter {direct.wrt[k]}",
            direct.matrix[:, k],
            values[k],
            largest,
            objectives,
            direct.values,
            count,
        )
    return found


def parameter_values(system, labels):
    independent = list(system.parameters.independent)
    return np.array([system.rho[independent.index(label)] for label in labels])


def may_change(mechanism, path):
    """Whether a number may be changed alone: not where it would pull a redundant loop apart or spoil a right angle."""
    if path.startswith("joints."):
        name = path.split(".")[1]
        kind = mechanism.document["joints"][name]["type"]
        return name not in mechanism.stiff and kind not in ("cardan", "planar")
    marker = re.search(r"markers\.(j\d+)[ab]\b", path)
    return not (marker and marker[1] in mechanism.stiff)


def of_slots(system, fields, options):
    """Objectives of a run with other numbers."""
    slots = system.slots
    s = slots.from_fields(fields)
    for block in slots.blocks:
        s[block.slots] = block.map(fields[block.columns])
    return np.array(list(kg.simulate(system, s=s, **options).objectives.values()))


def of_document(document, parameter, value, options, kind="joint"):
    """Objectives of a run with another value of a parameter, read anew."""
    document = copy.deepcopy(document)
    document["parameters"][parameter] = float(value)
    return np.array(list(kg.simulate(kg.lower(kg.Model.from_dict(document), kind), **options).objectives.values()))


def entry(case, name, column, value, largest, objectives, names, count):
    """Findings on the derivatives of all objectives by one number."""
    slopes, doubt = differences(objectives, value, len(column))
    scale = np.maximum(np.abs(column * value), np.maximum(SMALL * largest, NOTHING))
    error, doubt = np.abs(column - slopes) * abs(value) / scale, doubt * abs(value) / scale
    found = []
    for o, objective in enumerate(names):
        if not doubt[o] < DIFFERENCES:
            count.vague += 1
            if not (np.isfinite(doubt[o]) and error[o] > 30.0 * doubt[o] and error[o] > DIFFERENCES):
                continue
        else:
            count.compared += 1
            count.worst = max(count.worst, error[o])
        text = f"{objective} by {name}: {column[o]:.9g}, by differences {slopes[o]:.9g} (they change by {doubt[o]:.0e})"
        found += compared("differences", case, text, error[o], DIFFERENCES + 3.0 * doubt[o])
    return found


def differences(objectives, value, n):
    """Central differences of the size that changes least, extrapolated, and how much they changed."""
    quotients = []
    for size in SIZES:
        h = size * abs(value)
        try:
            high, low = objectives(value + h), objectives(value - h)
        except KinegradError:
            quotients.append(np.full(n, np.nan))
            continue
        quotients.append((high - low) / ((value + h) - (value - h)))
    best, doubt = np.full(n, np.nan), np.full(n, np.inf)
    column = np.array(quotients)
    noise = SIZES[-1] * np.median(
        np.abs(np.diff(column[-4:], axis=0)), axis=0
    )  # of a quotient, times the size of its change
    for order in range(1, 4):
        factor = 16.0**order
        refined = (factor * column[1:] - column[:-1]) / (factor - 1.0)
        change = np.abs(refined[1:] - refined[:-1]) + noise / SIZES[order + 1 :, None]
        for k in range(len(change)):
            better = change[k] < doubt
            best, doubt = np.where(better, refined[k + 1], best), np.where(better, change[k], doubt)
        column = refined
    return best, doubt
