"""Recursive dynamics of a system in joint coordinates: accelerations, generalised forces, and derivatives, without M."""

from __future__ import annotations

import functools

import numpy as np

from kinegrad.coordinates.patterns import DENSE
from kinegrad.coordinates.system import System
from kinegrad.coordinates.workspace import Workspace
from kinegrad.errors import KinegradError
from kinegrad.kernels.elements.kinds import link_stages, taking_part
from kinegrad.kernels.elements.layout import N_ROWS
from kinegrad.kernels.elements.stages import BIAS, FORCES, LINEAR_FORCES, ROWS
from kinegrad.kernels.jit import record
from kinegrad.kernels.joint.records import EULER, RIGID, SCREW, SLIDE, TURN
from kinegrad.kernels.joint.recursive import (
    ARTICULATED,
    BLOCK,
    CLOSE,
    COORDINATE_SCREW,
    FORWARD,
    LOAD_DERIVATIVES,
    LOADS,
    LOST,
    RECURSIVE,
    SUBS,
    TREE_ROW,
    forward_dynamics,
    inverse_dynamics,
)
from kinegrad.kernels.joint.recursive_derivatives import COVECTORS, forward_derivatives
from kinegrad.kernels.joint.recursive_rows import CONSTRAINED, factor, rates, solve_four
from kinegrad.kernels.products import FREEDOMS, STATUS, TIME
from kinegrad.kernels.records import NORM
from kinegrad.kernels.table import address, addresses, bound, call_from_python


def sweep_arrays(work: Workspace, derivatives: bool) -> dict[str, np.ndarray]:
    """The arrays of a workspace, and those that the sweeps over its tree need besides, with or without derivatives."""
    n, nodes, number = work.system.n, work["node"], work["s"].dtype
    art = np.zeros(len(nodes), record(ARTICULATED, number))
    for name in TREE_ROW:
        art[name] = nodes[name]
    art["A"][0] = np.eye(3).ravel()
    art["kend"] = art["k"] + art["nk"]
    for B in art[:0:-1]:
        above = art[B["parent"]]
        above["kend"] = max(above["kend"], B["kend"])
    for B in art[1:]:
        above = art[B["parent"]]
        B["lever"] = above["lever"] or above["type"] not in (RIGID, SLIDE)
    size = n if derivatives else 0
    square = 2 * (4 * ((size + 6) // 4),)  # tiles of four may begin at any coordinate
    return work.arrays | {
        "art": art,
        "tau": np.zeros(n, number),
        "work": np.zeros((len(nodes), 6 * BLOCK), number),
        "rhs": np.zeros((n, BLOCK), number),
        "sub": np.zeros(len(SUBS), np.int64),
        "screw": np.zeros(size, record(COORDINATE_SCREW, number)),
        "cov": np.zeros((COVECTORS, square[0]), number),
        "tail": np.repeat([[-1.0, 0.0]], 4, axis=1).astype(number),
        "rows": np.zeros(size, np.int64),
        **{name: np.zeros(square, number) for name in ("a_q", "a_v", "a_tau", "Kq", "Kv")},
    }


def link(arrays, subs, stages) -> None:
    """Put the addresses of what a function reaches on this model where it finds them, compiled now if need be."""
    SUBS.link(arrays["sub"], subs)
    link_stages(arrays, stages)


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
        if system.own:
            name = system.coordinates[system.own[0].k]
            raise KinegradError(f"Sweeps over an open tree do not know the coordinate {name!r}; simulate the model.")
        work = self._work = system.with_solver(DENSE).workspace(s=s)
        self.arrays = sweep_arrays(work, derivatives=True)
        self._context = RECURSIVE.context(self.arrays)
        self._context.calls = work.calls
        self._a, self._tau, self._par = self.arrays["a"], self.arrays["tau"], self.arrays["par"]
        self._zero = np.zeros_like(self._tau)
        # numbers are copied through views of memory: a third of the time of arrays, and no broadcasting
        self._views = {name: memoryview(self.arrays[name]) for name in ("q", "v", "a", "tau")}
        self._by = tuple(self.arrays[name][: system.n, : system.n] for name in ("a_q", "a_v", "a_tau"))

    @property
    def status(self) -> int:
        """What the last function left: a number of `kinegrad.kernels.status`."""
        return int(self.arrays["flag"][STATUS])

    def accelerations(self, q, v, tau=None, t: float = 0.0) -> np.ndarray:
        """q̈ (n,) under the forces of the model and the generalised forces `tau`; arrays in, an array out."""
        self._run(self._forward, q, v, "tau", self._zero if tau is None else tau, t)
        return self._a

    def forces(self, q, v, a, t: float = 0.0) -> np.ndarray:
        """M a + f (n,): the generalised forces that `a` takes beyond the forces of the model."""
        self._run(self._inverse, q, v, "a", a, t)
        return self._tau

    def derivatives(self, q, v, tau=None, t: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """q̈ (n,) and its derivatives (n, n) by q, by v and by `tau`."""
        self._run(self._derivatives, q, v, "tau", self._zero if tau is None else tau, t)
        return self._a, *self._by

    def _run(self, function, q, v, name, x, t):
        """Run a function on q, v and x, which is "a" or "tau"."""
        views = self._views
        try:
            views["q"][:], views["v"][:], views[name][:] = q, v, x
        except (TypeError, ValueError, NotImplementedError):  # not arrays of our numbers, or complex ones
            given = [np.asarray(values, self._a.dtype) for values in (q, v, x)]
            if any(values.shape != self._a.shape for values in given):
                lengths = ", ".join(str(len(y)) for y in (q, v, x) if y is not self._zero)
                raise ValueError(
                    f"the system has {len(self._a)} coordinates, the arrays given have {lengths} entries"
                ) from None
            self.arrays["q"][:], self.arrays["v"][:], self.arrays[name][:] = given
        self._par[TIME] = t
        function()

    # --- functions, compiled when first used ---

    @functools.cached_property
    def _forward(self):
        return self._linked(forward_dynamics, (), (LOADS,), (FORCES,))

    @functools.cached_property
    def _inverse(self):
        return self._linked(inverse_dynamics, (), (LOADS,), (FORCES,))

    @functools.cached_property
    def _derivatives(self):
        return self._linked(forward_derivatives, (FORWARD,), (LOADS, LOAD_DERIVATIVES), (FORCES, LINEAR_FORCES))

    def _linked(self, function, always, with_loads, stages):
        link(self.arrays, always + with_loads * has_loads(self.arrays), stages)
        return bound(function, self._context)


def has_loads(arrays) -> bool:
    """Whether a model has markers or forces that the sweeps must move."""
    return len(arrays["mk"]) > 0 or len(taking_part(arrays, FORCES)) > 0


class ConstrainedTree:
    """The tree of a workspace under all its constraint rows, for the time loops: `rates` fills a = ap, lam and vp (REC-12).

    Parameters
    ----------
    work : Workspace
        Its arrays are shared.
    stabilisation : (Ω², 2ξΩ)
        Of the constraint rows, as in `index1`.
    """

    def __init__(self, work: Workspace, stabilisation):
        self.work = work
        n, m, number = work.system.n, work.system.m, work["s"].dtype
        rows = work["row"][: work["count"][N_ROWS]]
        norms = rows[rows["type"] == NORM]
        bound = np.array([(own.row, own.k) for own in work.system.own if own.row >= 0], np.int64).reshape(-1, 2)
        closing = np.setdiff1d(np.arange(m), [*norms["row"], *bound[:, 0]])
        k = len(closing)
        self.arrays = sweep_arrays(work, derivatives=False) | {
            "closing": closing.astype(np.int64),
            "norms": np.stack([norms["row"], norms["n"]], axis=1),
            "heavy": np.array([own.k for own in work.system.own if own.inertia >= 0], np.int64),
            "bound": bound,
            "stab": np.array(stabilisation, float),
            "X": np.zeros((n, k), number),
            "L": np.zeros((k, k), number),
            **{name: np.zeros(size, number) for name, size in (("pivot", 2 * k), ("gap", k), ("bias", k))},
            "gap4": np.zeros((k, 4), number),
        }
        self._context = CONSTRAINED.context(self.arrays)
        self._context.calls = work.calls

    @property
    def pointer(self):
        """The context, for the entries of time loops."""
        return self._context.pointer

    @functools.cached_property
    def rates(self):
        """The address of the function."""
        arrays = self.arrays
        subs = (
            (FORWARD,)
            + (LOADS,) * has_loads(arrays)
            + (CLOSE,) * (len(arrays["closing"]) + len(arrays["heavy"]) + len(arrays["bound"]) > 0)
        )
        link(arrays, subs, (FORCES, ROWS, BIAS))
        return address(rates)

    def functions(self, fn):
        """The table of functions `fn` with `rates` behind it, for the time loops."""
        self._context.inner = getattr(self.work.context, "inner", None)  # read where nothing is compiled (OBJ-3)
        return np.append(fn, self.rates)

    def derivative_functions(self, fn):
        """The table of functions `fn` with `factor` and `solve_four` behind it, for derivatives."""
        return np.append(fn, addresses((factor, solve_four)))

    def evaluate(self) -> int:
        """Status of `rates` at the q, v and time of the workspace."""
        _ = self.rates
        self.arrays["flag"][FREEDOMS] = 0
        call_from_python(rates, self._context)
        self.work.check_calls()
        return int(self.arrays["flag"][STATUS])

    def idle_coordinate(self) -> str:
        """The first coordinate, from the leaves on, whose motion meets no inertia, after `evaluate` found one."""
        for B in self.arrays["art"][:0:-1]:
            a, c, u, w, U = (B[name].real for name in ("Ia", "Ic", "u", "w", "U"))
            left, size = {
                TURN: (u @ U[3:], c[:3].sum()),
                SLIDE: (u @ U[:3], a[:3].sum()),
                SCREW: (w @ U[:3] + u @ U[3:], w @ w * a[:3].sum() + c[:3].sum()),
                EULER: (np.linalg.det(c[[[0, 3, 4], [3, 1, 5], [4, 5, 2]]]), c[:3].prod()),
            }.get(int(B["type"]), (1.0, 1.0))
            if not left > LOST * size:
                return self.work.system.coordinates[B["k"]]
        return "a coordinate"
