"""Matrix R: independent coordinates, by Newmark's method or by Runge-Kutta of order 4."""

from __future__ import annotations

import numpy as np

from kinegrad.dynamics.scheme import Scheme, blocks, unblocked
from kinegrad.kernels.products import BIAS, EVALUATE, POSITION


class MatrixR(Scheme):
    """What the two integrators share; rows begin with q, v, a, lam of the state."""

    needs = (EVALUATE, BIAS, POSITION)
    explicit: bool

    def __init__(self, system, options):
        super().__init__(system, options)
        from kinegrad.kernels.formulations import matrix_r, matrix_r_derivatives

        self.kernels = matrix_r
        self.derivatives = matrix_r_derivatives
        self.free = [f for f in system.freedoms if f.independent]
        self.wraps = np.array([f.wraps for f in self.free], np.bool_)
        self.opts = np.array([options["tolerance"], options.get("beta", 0.0), options.get("gamma", 0.0)])

    @property
    def size(self) -> int:
        """Numbers of one state or stage."""
        return 3 * self.system.n + self.system.m

    def begin(self, work):
        number, measured = work["q"].dtype, work["J"] @ work["a"] + work["c"]
        self.z = np.array([work["s"][f.position] for f in self.free], number)
        self.zd = np.array([work["s"][f.velocity] for f in self.free], number)
        self.zdd = np.array([measured[f.row] for f in self.free], number)

    def keep(self, work, row):
        n, m = self.system.n, self.system.m
        row[: 3 * n] = np.concatenate([work[k] for k in ("q", "vp", "ap")])
        row[3 * n : 3 * n + m] = work["lam"][:m]

    def resume(self, work, row):
        n, m = self.system.n, self.system.m
        work["q"][:], work["vp"][:], work["ap"][:] = row[:n], row[n : 2 * n], row[2 * n : 3 * n]
        work["lam"][:m] = row[3 * n : 3 * n + m]

    def motion(self, traj):
        n, m = self.system.n, self.system.m
        parts = {"q": traj[:, :n], "qd": traj[:, n : 2 * n], "qdd": traj[:, 2 * n : 3 * n]}
        return parts | {"lam": traj[:, 3 * n : 3 * n + m]}

    def direct(self, work, fn, ts, hs, after, final, traj, flags, state, grad):
        return self.derivatives.direct(
            fn, work.pointer, self.system.m, ts, hs, after, self.opts, self.explicit, final, traj, *state, grad
        )

    def adjoint(self, work, fn, ts, hs, after, final, traj, flags, state):
        return self.derivatives.adjoint(
            fn, work.pointer, self.system.m, ts, hs, after, self.opts, self.explicit, final, traj, *state
        )

    def start_state(self, work, q, v, a):
        n = self.system.n
        rows = np.array([f.row for f in self.free], np.int64)
        Phidd, Phid, J = work["Phidd_z"][rows], work["Phid_z"][rows], work["Phi_z"][rows]
        zdd = Phidd[:, :n] @ q + 2.0 * Phid[:, :n] @ v + J[:, :n] @ a + Phidd[:, n:]
        z = work["ds"].T[self._slots("position")]
        zd = work["ds"].T[self._slots("velocity")]
        return [blocks(z), blocks(zd), blocks(zdd)]

    def _slots(self, which: str) -> np.ndarray:
        return np.array([getattr(f, which) for f in self.free], np.int64)

    def start_adjoint(self, work, state, columns):
        n, m = self.system.n, self.system.m
        Z, Zd, A = (unblocked(x, columns) for x in state)
        if self.explicit:
            A = np.zeros_like(A)
        rows = np.array([f.row for f in self.free], np.int64)
        for o in range(columns):
            for k, f in enumerate(self.free):
                work["psi_s"][o, f.position] += Z[k, o]
                work["psi_s"][o, f.velocity] += Zd[k, o]
        Q = work["Phidd_z"][rows, :n].T @ A
        V = 2.0 * work["Phid_z"][rows, :n].T @ A
        extra = np.zeros((m + len(self.system.freedoms), columns))
        extra[rows] = A
        return Q, V, work["Phi_z"][rows, :n].T @ A, extra

    def empty_state(self, columns):
        return [np.zeros(((columns + 3) // 4, len(self.free), 4)) for _ in range(3)]


class MatrixRNewmark(MatrixR):
    """With Newmark's method."""

    explicit = False

    @property
    def row_size(self):
        return self.size

    def start_weight(self, hs):
        return 0.5 * hs[0]

    def advance(self, work, fn, ts, hs, observe, final, psi, g_last, stride, traj, iterations, flags):
        return self.kernels.simulate_newmark(
            fn, work.pointer, self.system.m, self.wraps, ts, hs, self.opts, self.options["max_iterations"], final, psi,
            g_last, stride, traj, iterations, self.z, self.zd, self.zdd,
        )  # fmt: skip


class MatrixRRungeKutta4(MatrixR):
    """With the classical Runge-Kutta method; rows also hold stages 2, 3, 4 of the step that led to the state."""

    explicit = True

    @property
    def row_size(self):
        return 4 * self.size

    def start_weight(self, hs):
        return 0.0

    def advance(self, work, fn, ts, hs, observe, final, psi, g_last, stride, traj, iterations, flags):
        return self.kernels.simulate_rk4(
            fn, work.pointer, self.system.m, self.wraps, ts, hs, self.opts, final, psi, stride, traj, iterations, self.z,
            self.zd, self.zdd,
        )  # fmt: skip
