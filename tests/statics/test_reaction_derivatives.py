"""Derivatives of reactions by one adjoint solution in reference-point coordinates (REA-7, REA-8), against differences."""

import re

import numpy as np
import pytest
from helpers import assert_close
from kinematics.small_models import FOUR_BAR
from whole_runs import DRIVEN

import kinegrad as kg
from kinegrad import rotations
from kinegrad.kernels.products import EVALUATE, LINEARISE, TIME
from kinegrad.model.model import Model
from kinegrad.reactions.numbers import Numbers

BODY = 7  # coordinates of a body: its centre of mass, then Euler parameters
RANK = 1e-9
STEP = 1e-4  # of central differences, which are extrapolated


class Instant:
    """A state in reference-point coordinates, its rows, multipliers and the derivatives of R with these fixed."""

    def __init__(self, system, t, q, v, a):
        self.system, self.state = system, (t, q, v, a)
        self.numbers = Numbers(system)
        work = self._work(system.workspace())
        work.call(EVALUATE)
        self.J = work["J"][: system.m].copy()
        self.lam = -np.linalg.pinv(self.J.T, rcond=RANK) @ (work["M"] @ a + work["f"])

    def _work(self, work):
        t, q, v, a = self.state
        work["par"][TIME] = t
        for name, x in (("q", q), ("v", v), ("vp", v), ("a", a), ("ap", a)):
            work[name][:] = x
        return work

    def linearised(self, lam):
        """M, C, R_q, R_s at these multipliers."""
        work = self._work(self.system.workspace(ds=self.system.directions(self.system.parameters.independent)))
        work["lam"][: len(lam)] = lam
        work.call(LINEARISE)
        return [work[name].copy() for name in ("M", "C", "R_q", "R_s")]

    def rows(self, joint):
        """Numbers of the rows that close a joint; those that bind its angles are none."""
        rows = [
            row for row in self.system.rows if row.closure and row.number >= 0 and not row.name.endswith(" measured")
        ]
        return [row.number for row in rows if re.split("[ .]", row.name)[0] == joint]

    def point(self, marker):
        """Body and position of a marker."""
        body, p = self.numbers.marker(marker)
        if body == "ground":
            return -1, p
        k = BODY * list(self.system.model.bodies).index(body)
        q = self.state[1]
        return k, q[k : k + 3] + rotations.A_of(q[k + 3 : k + BODY]) @ (p - self.numbers.masses([body]).com[0])

    def motion(self, joint, gamma):
        """ν of (REA-7)."""
        (first, x1), (second, _) = map(self.point, self.system.model.joints[joint].between)
        k, sign = (second, 1.0) if second >= 0 else (first, -1.0)
        q, nu = self.state[1], np.zeros(self.system.n)
        nu[k : k + 3] = sign * (gamma[:3] + np.cross(gamma[3:], q[k : k + 3] - x1))
        nu[k + 3 : k + BODY] = sign * 0.5 * rotations.E_of(q[k + 3 : k + BODY]).T @ gamma[3:]
        return nu

    def value(self, joint, gamma):
        """g of (REA-7)."""
        K = self.rows(joint)
        return -self.motion(joint, gamma) @ (self.J[K].T @ self.lam[K])

    def opening(self, joint, gamma):
        """μ of (REA-8), and what is left of its equation."""
        K, h = self.rows(joint), np.zeros(self.system.m)
        h[K] = -self.J[K] @ self.motion(joint, gamma)
        mu = np.linalg.pinv(self.J, rcond=RANK) @ h
        return mu, np.abs(self.J @ mu - h).max()


def slopes(f, x):
    """Derivatives of f by the entries of x, by differences of two steps."""
    columns = []
    for e in np.eye(len(x)):
        near, far = ((f(x + h * e) - f(x - h * e)) / (2 * h) for h in (STEP, 2 * STEP))
        columns.append((4 * near - far) / 3)
    return np.array(columns)


def at_start(model):
    system = kg.reference_point(model)
    motion = kg.simulate(system, "index1", t_end=1e-3, step=1e-3)
    return motion, Instant(system, motion.t[0], motion.q[0], motion.qd[0], motion.qdd[0])


@pytest.mark.parametrize("joint", ["main", "wrist", "slide", "table"])
def test_a_combination_of_all_components(joint, rng):
    model = Model.from_yaml_text(DRIVEN)
    model.objectives = {}
    motion, instant = at_start(model)
    system, (t, q, v, a) = instant.system, instant.state
    gamma = rng.uniform(-1, 1, 6)
    assert instant.value(joint, gamma) == pytest.approx(motion.reactions(joint)[0] @ gamma, abs=1e-9)
    K, nu = instant.rows(joint), instant.motion(joint, gamma)
    mu, left = instant.opening(joint, gamma)
    assert left < 1e-12
    M, C, R_q, R_s = instant.linearised(instant.lam)
    rest = instant.lam.copy()
    rest[K] = 0.0
    _, _, Q_q, Q_s = instant.linearised(rest)
    force = instant.J[K].T @ instant.lam[K]

    def moved(q=q, v=v, a=a, rho=system.rho):
        return Instant(system.with_parameters(rho), t, q, v, a)

    g_q = -nu @ (R_q - Q_q) - slopes(lambda x: moved(q=x).motion(joint, gamma) @ force, q)
    g_s = -nu @ (R_s - Q_s) - slopes(lambda x: moved(rho=x).motion(joint, gamma) @ force, system.rho)
    for expected, by in (
        (g_q - mu @ R_q, ("q", q)), (-mu @ C, ("v", v)), (-mu @ M, ("a", a)), (g_s - mu @ R_s, ("rho", system.rho))
    ):  # fmt: skip
        name, x = by
        found = slopes(lambda z, name=name: moved(**{name: z}).value(joint, gamma), x)
        assert_close(found, expected, 1e-7)


def test_what_is_not_unique_does_not_open():
    """A planar loop: the equation of μ is solved for what is unique, and has a residual for what is not."""
    motion, instant = at_start(Model.from_yaml_text("kinegrad: 1\n" + FOUR_BAR))
    unique = motion.reactions().unique["JB"]
    assert unique.tolist() == [True, True, False, False, False, True]
    for sure, gamma in zip(unique, np.eye(6), strict=True):
        left = instant.opening("JB", gamma)[1]
        assert left < 1e-12 if sure else left > 1e-3
