"""ALI3-P: augmented Lagrangian of index 3 with projections, by the Newmark family."""

from __future__ import annotations

import numpy as np

from kinegrad.dynamics.scheme import Scheme, blocks, unblocked
from kinegrad.kernels.products import BIAS, EVALUATE


class Ali3pNewmark(Scheme):
    """Rows of a trajectory: q, v, a, vp, ap, lam, sv, sa."""

    needs = (EVALUATE, BIAS)

    def __init__(self, system, options):
        super().__init__(system, options)
        from kinegrad.kernels.formulations import ali3p

        self.kernels = ali3p
        o = options
        self.opts = np.zeros(7)
        self.opts[ali3p.PENALTY] = o["penalty"]
        self.opts[ali3p.SCALE] = o["projection_scale"]
        self.opts[ali3p.TOLERANCE] = o["tolerance"]
        self.opts[ali3p.THRESHOLD] = 0.0 if o["projection"] == "every-step" else o["projection"]
        self.opts[ali3p.CARRY] = o["multiplier_start"]
        self.opts[ali3p.BETA] = o["beta"]
        self.opts[ali3p.GAMMA] = o["gamma"]
        self.iopts = np.array([o["max_iterations"], int(o["projection_method"] == "augmented-lagrangian")], np.int64)

    @property
    def row_size(self):
        return 5 * self.system.n + 3 * self.system.m

    def begin(self, work, row):
        n, m = self.system.n, self.system.m
        _forget(work)
        row[: 5 * n] = np.concatenate([work[k] for k in ("q", "v", "a", "vp", "ap")])
        row[5 * n :] = np.concatenate([work[k][:m] for k in ("lam", "sv", "sa")])

    def resume(self, work, row):
        """Put the state of a row back into the workspace."""
        n, m = self.system.n, self.system.m
        for i, k in enumerate(("q", "v", "a", "vp", "ap")):
            work[k][:] = row[i * n : (i + 1) * n]
        for i, k in enumerate(("lam", "sv", "sa")):
            work[k][:m] = row[5 * n + i * m : 5 * n + (i + 1) * m]
        _forget(work)

    def advance(self, work, fn, ts, hs, observe, final, psi, g_last, stride, traj, iterations, flags):
        return self.kernels.simulate(
            fn, work.pointer, self.system.m, ts, hs, self.opts, self.iopts, observe, final, psi, g_last, stride, traj,
            iterations, flags,
        )  # fmt: skip

    def motion(self, traj):
        n, m = self.system.n, self.system.m
        parts = {"q": traj[:, :n], "qd": traj[:, 3 * n : 4 * n], "qdd": traj[:, 4 * n : 5 * n]}
        # those of the projected accelerations, M ap + f + Phi_qᵀ(lam + sa) = 0: lam alone is of first order only
        return parts | {"lam": traj[:, 5 * n : 5 * n + m] + traj[:, 5 * n + 2 * m :]}

    def direct(self, work, fn, ts, hs, after, final, traj, flags, state, grad):
        return self.kernels.direct(
            fn, work.pointer, self.system.m, ts, hs, after, self.opts, self.iopts, final, traj, flags, *state, grad
        )

    def adjoint(self, work, fn, ts, hs, after, final, traj, flags, state):
        return self.kernels.adjoint(
            fn, work.pointer, self.system.m, ts, hs, after, self.opts, self.iopts, final, traj, flags, *state
        )

    def start_weight(self, hs):
        return 0.5 * hs[0]

    def start_state(self, work, q, v, a):
        return [blocks(q), blocks(v), blocks(a)]

    def start_adjoint(self, work, state, columns):
        rows = np.zeros((self.system.m + len(self.system.freedoms), columns))
        return *(unblocked(x, columns) for x in state), rows

    def empty_state(self, columns):
        return [np.zeros(((columns + 3) // 4, self.system.n, 4)) for _ in range(3)]


def _forget(work) -> None:
    """There are no steps before the state of the workspace from which the next could be extrapolated."""
    for before, now in (("dv", "ap"), ("da", "ap"), ("yp", "lam"), ("yv", "lam")):
        work[before][:] = work[now]
