"""Equilibria and driven motions whose derivatives are found by complex step through their equations.

Run as a script with ``NUMBA_DISABLE_JIT=1`` it prints {case: derivatives}. For an equilibrium Newton's method with a real
matrix goes on from the real solution with complex parameters; its imaginary part is the derivative when the residual has
none left.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[1] / "derivatives")]

from kinematics.small_models import FOUR_BAR
from whole_runs import CHAIN

from kinegrad.balance.search import at_rest
from kinegrad.coordinates.sets import joint
from kinegrad.kernels.products import EVALUATE, LINEARISE, OBSERVE
from kinegrad.model.model import Model
from kinegrad.sensitivity.gradient import labels_of
from kinegrad.statics.drive import drive
from kinegrad.statics.equilibrium import equilibrium

H = 1e-30
CASES = ("five_bar", "chain")


def built(case):
    """The system of a case; its model has a design."""
    if case == "five_bar":
        model = Model.from_yaml(Path(__file__).parents[2] / "examples" / "five_bar" / "model.yaml")
        model.objectives = {
            "psi1": {"final": "norm2(bar_12.P2.position - vec(0.5, -2, 0))"},
            "bend": {"final": "J1.angle"},
        }
        return joint(model)
    model = Model.from_yaml_text(CHAIN)
    model.design = ["L", "m", "com_y", "k", "L0", "tilt"]
    model.forces["drag"] = {"type": "force", "at": "e.q", "value": ["push", "e.q.position.x*c", 0], "frame": "body"}
    model.forces["hold"] = {"type": "spring", "between": ["ground.S", "e.p"], "stiffness": 500, "natural_length": 0}
    model.forces["back"] = {"type": "spring", "between": ["ground.O", "e.q"], "stiffness": 50, "natural_length": 0}
    model.forces["jet"] = {"type": "torque", "acts_on": "hinge.angle", "value": "0.3 - hinge.angle*tilt"}
    model.objectives = {
        "where": {"final": "dot(d.q.position, e.q.position) + tilt*L"},
        "bend": {"final": "hinge.angle + b.q.position.x"},
    }
    return joint(model)


def residual(work, m):
    """f + Phi_qᵀ lam, then Phi."""
    work.call(EVALUATE)
    return np.concatenate([work["f"] + work["J"][:m].T @ work["lam"][:m], work["Phi"][:m]])


def by_complex_step(system):
    """(o, p) derivatives of the objectives at the equilibrium."""
    found = equilibrium(system)
    n, m = system.n, system.m
    work = system.workspace()
    at_rest(work, 0.0, found.q, found.lam)
    work.call(LINEARISE)
    J = work["Phi_z"][:m, :n]
    matrix = np.block([[work["R_z"][:, :n], J.T], [J, np.zeros((m, m))]])
    inverse = np.linalg.pinv(matrix, rcond=1e-10)
    columns = []
    for label in labels_of(system, None):
        rho = system.rho.astype(complex)
        rho[system.parameters.independent.index(label)] += 1j * H
        work = system.workspace(s=system.with_parameters(rho).s)
        at_rest(work, 0.0, found.q, found.lam)
        for _ in range(3):
            step = inverse @ residual(work, m).imag
            work["q"][:] -= 1j * step[:n]
            work["lam"][:m] -= 1j * step[n:]
        left = np.abs(residual(work, m).imag).max() / H
        assert left < 1e-8, f"{label}: the complex equations are not solved ({left:.2g})"
        work.call(OBSERVE)
        columns.append(work["g"].imag / H)
    return np.array(columns).T


def driven():
    """A four-bar with a spring, moved by its crank, and what it is differentiated by."""
    text = (
        FOUR_BAR.replace("span: 0.8}", "span: 0.8, w: 6, amp: 2, k: 30, m: 1.2}")
        .replace("mass: 2", "mass: m")
        .replace(
            "degrees_of_freedom: {JA.angle: {position: pi/2, velocity: 1}}",
            "drivers: {turn: {measure: JA.angle, value: 'pi/2 + w*t + amp*t**2'}}",
        )
        .replace(
            "forces: {",
            "forces: {coil: {type: spring, between: [ground.A, b.C], stiffness: k, damping: 2, natural_length: 0.4}, ",
        )
    )
    return joint(Model.from_yaml_text("kinegrad: 1\n" + text)), ["crank", "rocker", "span", "w", "amp", "k", "m"]


def driven_by_complex_step():
    """(times, 3 n + 1, p) derivatives of q, qd, qdd and the torque of the crank."""
    system, wrt = driven()
    columns = []
    for label in wrt:
        rho = system.rho.astype(complex)
        rho[system.parameters.independent.index(label)] += 1j * H
        motion = drive(system, t_end=0.3, step=0.1, s=system.with_parameters(rho).s)
        force = -motion.lam[:, [system.row_names.index("turn")]]
        columns.append(np.hstack([motion.q, motion.qd, motion.qdd, force]).imag / H)
    return np.stack(columns, axis=2)


if __name__ == "__main__":
    found = {case: by_complex_step(built(case)).tolist() for case in CASES}
    print(json.dumps(found | {"driven": driven_by_complex_step().tolist()}))
