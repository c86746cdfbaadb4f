"""States of one system as states of another one of the same bodies: between sets, cuts and body points (CNV-1 to CNV-4).

What passes between them is the motion of the bodies; multipliers belong to the rows of one system and do not pass.
"""

from __future__ import annotations

import numpy as np

from kinegrad.coordinates.coordinate_set import RADIAN
from kinegrad.coordinates.sparse import Rows
from kinegrad.coordinates.system import System
from kinegrad.errors import KinegradError


class Conversion:
    """States of `source` as states of `target`.

    Parameters
    ----------
    s, target_s : arrays, optional
        Values of the slots of either in place of those of the parameters.
    hints : mapping of names of coordinates to values, optional
        What is known of angles and signs at the first state, beyond what `source` tells.
    """

    def __init__(self, source: System, target: System, s=None, target_s=None, hints=None):
        refuse_other_bodies(source, target)
        self.source, self.target = source, target
        self._from, self._to = source.workspace(s=s), target.workspace(s=target_s)
        self._same = [
            (source.number_of[name], k)
            for k, name in enumerate(target.coordinates)
            if name in source.number_of and (name.unit == RADIAN or source.kind == target.kind)
        ]
        self._near = np.array([(hints or {}).get(name, 0.0) for name in target.coordinates])
        self._before: tuple[float, np.ndarray, np.ndarray] | None = None

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, ...]:
        """q, v, a of `target`; angles are on the turn nearest to where the state before leads to."""
        near = self._near
        if self._before is not None:
            t0, q0, v0 = self._before
            near = q0 + (t - t0) * v0
        for i, k in self._same:
            near[k] = q[i]  # an angle of the same name has the same turns
        work, to = self._to, self.target
        out = to.set.from_bodies(to, work, *self._bodies(t, q, v, a), near)
        self._own(t, out, (q, v, a), near)
        self._before = t, out[0].copy(), out[1].copy()
        return out

    def _bodies(self, t: float, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, ...]:
        """Orientation, origin, motion and its rate of all bodies."""
        from kinegrad.kernels.products import FREEDOMS, OBSERVE, POSITION, TIME

        work = self._from
        work["par"][TIME], work["flag"][FREEDOMS] = t, 0
        work["q"][:], work["vp"][:], work["ap"][:] = q, v, a
        work.call(POSITION)
        work.call(OBSERVE)
        return tuple(np.array(x) for x in self.source.set.bodies(self.source, work))

    def _own(self, t: float, out: tuple[np.ndarray, ...], given: tuple[np.ndarray, ...], near: np.ndarray) -> None:
        """Fill in what elements own: states are those of the same name, angles follow from their rows (CNV-4)."""
        from kinegrad.kernels.products import BIAS, FREEDOMS, POSITION, TIME

        system, work = self.target, self._to
        q, v, a = out
        bound = [own for own in system.own if own.row >= 0]
        for own in system.own:
            name = system.coordinates[own.k]
            if own.row >= 0:
                q[own.k], v[own.k], a[own.k] = near[own.k], 0.0, 0.0
            elif name in self.source.number_of:
                i = self.source.number_of[name]
                q[own.k], v[own.k], a[own.k] = (x[i] for x in given)
            else:
                raise KinegradError(
                    f"The motion has no state of {name.owner!r}, which {name!r} of the other system is; give a motion of a "
                    "model with this element."
                )
        if not bound:
            return
        work["par"][TIME], work["flag"][FREEDOMS] = t, 0
        work["q"][:] = q
        work.call(POSITION)
        for own in bound:  # a row is what markers tell, less the coordinate
            q[own.k] += work["Phi"][own.row]
            v[own.k] = _row_times(work, own.row, v) + work["Phi_t"][own.row]
        work["q"][:], work["v"][:], work["vp"][:] = q, v, v
        work.call(POSITION)
        work.call(BIAS)
        for own in bound:
            a[own.k] = _row_times(work, own.row, a) + work["c"][own.row]


def _row_times(work, row: int, x: np.ndarray):
    """A row of J times x."""
    J = work.matrix("J")
    return J.row_times(row, x) if isinstance(J, Rows) else J[row] @ x


def refuse_other_bodies(source: System, target: System) -> None:
    """Raises when two systems are not of the same bodies, by the name of one that only one of them has."""
    here, there = (list(system.model.bodies) for system in (target, source))
    if here == there:
        return
    apart = [name for name in (*there, *here) if (name in there) != (name in here)]
    what = f"body {apart[0]!r} is in one of them only" if apart else "their bodies are in another order"
    raise KinegradError(f"States pass between systems of the same bodies, and {what}; take the same model for both.")
