"""Recursive dynamics of a system in joint coordinates: accelerations, generalised forces, and derivatives, without M."""

from __future__ import annotations

import functools

import numpy as np

from kinegrad.coordinates.system import System
from kinegrad.kernels.elements.layout import LAW_CALL, LAW_FORCES, LAW_LINEAR, PARTS, SPRING_LINEAR
from kinegrad.kernels.jit import JIT, record
from kinegrad.kernels.joint.recursive import (
    ARTICULATED,
    BLOCK,
    COORDINATE_SCREW,
    LOAD_DERIVATIVES,
    LOADS,
    RECURSIVE,
    SUBS,
    TREE_ROW,
    forward_dynamics,
    inverse_dynamics,
    run,
)
from kinegrad.kernels.joint.recursive_derivatives import forward_derivatives
from kinegrad.kernels.products import STATUS


class Recursive:
    """The open tree of a system, whose closure rows are left out; Euler parameters keep ``p·p̈ = -ṗ·ṗ``.

    An object has its own arrays and serves one caller at a time.  What its functions return are these arrays: copy what
    has to outlive the next call.

    Parameters
    ----------
    system : System
        In joint coordinates.
    s : (slots,) array, optional
        Values of the slots in place of those of the parameters.

    Attributes
    ----------
    arrays : dict
        All arrays by name, those of a workspace among them.
    """

    def __init__(self, system: System, s: np.ndarray | None = None):
        work = self._work = system.workspace(s=s)
        n, nodes, number = system.n, system.tables["nodes"], work["s"].dtype
        art = np.zeros(len(nodes), record(ARTICULATED, number))
        for name in TREE_ROW:
            art[name] = [node[name] for node in nodes]
        art["A"][0] = np.eye(3).ravel()
        self.arrays = work.arrays | {
            "art": art,
            "screw": np.zeros(n, record(COORDINATE_SCREW, number)),
            "tau": np.zeros(n, number),
            "work": np.zeros((len(nodes), 6 * BLOCK), number),
            "rhs": np.zeros((n, BLOCK), number),
            "sub": np.zeros(2, np.int64),
            **{name: np.zeros((n, n), number) for name in ("a_q", "a_v", "a_tau")},
        }
        self._context = RECURSIVE.context(self.arrays)
        self._context.calls = work.calls
        self._pointer = self._context.pointer
        self._a, self._tau, self._zero = self.arrays["a"], self.arrays["tau"], np.zeros(n, number)

    @property
    def status(self) -> int:
        """What the last function left: a number of `kinegrad.kernels.status`."""
        return int(self.arrays["flag"][STATUS])

    def accelerations(self, q, v, tau=None, t: float = 0.0) -> np.ndarray:
        """q̈ (n,) under the forces of the model and the generalised forces `tau`; arrays in, an array out."""
        fits = run(self._forward, self._pointer, q, v, self._zero if tau is None else tau, False, t)
        self._work.check_calls()
        return self._a if fits else self._misfit(q, v, tau)

    def forces(self, q, v, a, t: float = 0.0) -> np.ndarray:
        """M a + f (n,): the generalised forces that `a` takes beyond the forces of the model."""
        return self._tau if run(self._inverse, self._pointer, q, v, a, True, t) else self._misfit(q, v, a)

    def derivatives(self, q, v, tau=None, t: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """q̈ (n,) and its derivatives (n, n) by q, by v and by `tau`."""
        if not run(self._derivatives, self._pointer, q, v, self._zero if tau is None else tau, False, t):
            self._misfit(q, v, tau)
        return self._a, self.arrays["a_q"], self.arrays["a_v"], self.arrays["a_tau"]

    def _misfit(self, *arrays):
        lengths = ", ".join(str(len(x)) for x in arrays if x is not None)
        raise ValueError(f"the system has {len(self._a)} coordinates, the arrays given have {lengths} entries")

    # --- functions, compiled when first used ---

    @functools.cached_property
    def _forward(self):
        return self._linked(forward_dynamics, (LOADS,), (("law", LAW_FORCES),))

    @functools.cached_property
    def _inverse(self):
        return self._linked(inverse_dynamics, (LOADS,), (("law", LAW_FORCES),))

    @functools.cached_property
    def _derivatives(self):
        parts = (("law", LAW_FORCES), ("law", LAW_LINEAR), ("spring", SPRING_LINEAR))
        return self._linked(forward_derivatives, (LOADS, LOAD_DERIVATIVES), parts)

    def _linked(self, function, subs, parts):
        """The address of a function, once those that it reaches on this model are in the context."""
        if not JIT:
            return function
        if len(self.arrays["mk"]) or len(self.arrays["law"]):
            for number in subs:
                self.arrays["sub"][number] = SUBS[number].address
        for name, number in (*parts, ("callback", LAW_CALL)):
            if len(self.arrays[name]):
                self.arrays["links"][number] = PARTS[number].address
        return function.address
