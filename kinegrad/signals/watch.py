"""A system that computes signals beside its objectives, and their values along states."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from kinegrad.coordinates.system import Own, Row, System, lowered_again
from kinegrad.errors import KinegradError
from kinegrad.kernels.products import BIAS, OBSERVE, POSITION
from kinegrad.memory import require

BLOCK = 4096  # states that are looked at together
MOST_KNOWN = 8  # choices of signals whose tables a system remembers

States = Callable[[slice], Mapping[str, np.ndarray]]


def watching(system: System, names: Sequence[str]) -> System:
    """`system` as one that computes these signals; its coordinates are those of `system`, and angles that only signals use.

    The tables are made once for each choice of signals.
    """
    known = system.tables.setdefault("watching", {})
    key = tuple(names)
    if key not in known:
        if len(known) >= MOST_KNOWN:
            known.clear()
        made = lowered_again(system.model.watching(names), type(system.set), system.set.options, system.rho)
        if made.coordinates[: system.n] != system.coordinates:
            raise KinegradError("The system was lowered in another way than its model says; lower the model again.")
        known[key] = signals_alone(made, system.n)
    return known[key].with_parameters(system.rho).with_solver(system.solver)


def signals_alone(system: System, n: int) -> System:
    """`system` with nothing to compute but signals, and the rows of the angles from coordinate n on, which only they use."""
    tables, packed = system.tables, system.tables["packed"]
    bound = [own for own in system.own if own.k >= n]
    rows = {own.row: k for k, own in enumerate(bound)}
    laws = [law | {"row": rows[law["row"]]} for law in tables["elements"]["row_law"] if law["row"] in rows]
    signals = tables["elements"]["signal"]
    read = [sorted({k for law in some for k in packed.ins[law["in0"] : law["in1"]]}) for some in (laws, signals)]
    scalars = {k: i for i, k in enumerate(dict.fromkeys([*read[0], *read[1]]))}
    markers: dict[int, int] = {-1: -1}
    for k in scalars:
        marker = tables["scalars"][k][0]
        markers.setdefault(marker, len(markers) - 1)
    used = len({tables["scalars"][k][0] for k in read[0]} - {-1})  # of these, rows need derivatives
    every = tuple(tables["every_marker"][k] for k in markers if k >= 0)
    ins = [scalars.get(k, 0) for k in packed.ins]
    kept = {"signal": signals, "row_law": tuple(laws), "spline": tables["elements"]["spline"]}
    return replace(
        system,
        objectives={},
        freedoms=(),
        sizes=system.sizes | {"m": len(rows)},
        rows=tuple(Row(system.coordinates[own.k], k, True) for k, own in enumerate(bound)),
        own=tuple(Own(own.k, row=k) for k, own in enumerate(bound)),
        tables={
            **{
                key: value
                for key, value in tables.items()
                if key not in ("structure", "watching", "opened", "all_opened")
            },
            "elements": dict.fromkeys(tables["elements"], ()) | kept,
            "packed": replace(packed, ins=ins),
            "scalars": tuple((markers[tables["scalars"][k][0]], tables["scalars"][k][1]) for k in scalars),
            "markers": every[:used],
            "every_marker": every,
            "facing": (),
            "either": (),
            "starting": (),
            "known": {},
        },
    )


def _slots(watched: System, system: System, s: np.ndarray | None) -> np.ndarray:
    """Values of the slots of a system that watches another, whose slots, with these values or its own, are among them."""
    s = system.s if s is None else s
    if watched.slots.names == system.slots.names:
        return s
    values = watched.s
    place = {name: k for k, name in enumerate(watched.slots.names)}
    values[[place[name] for name in system.slots.names]] = s
    return values


class Watch:
    """Values of signals along states of a system.

    Parameters
    ----------
    names : sequence of str
        Listed names of signals that are formulas.
    s : array, optional
        Values of the slots of `system` in place of those of its parameters.
    hints : mapping, optional
        What is known of angles at the first state, by the names of coordinates: which turn they are on.
    """

    def __init__(self, system: System, names: Sequence[str], s: np.ndarray | None = None, hints: Mapping | None = None):
        self.system, self.names = system, tuple(names)
        watched = watching(system, names)
        self.work = watched.workspace(s=_slots(watched, system, s), every_marker=True)
        self.bound = np.array([(own.k, own.row) for own in watched.own], np.int64).reshape(-1, 2)
        for k in self.bound[:, 0]:
            self.work["q"][k] = (hints or {}).get(watched.coordinates[k], 0.0)
        self.fn = self.work.functions(POSITION, OBSERVE, *([BIAS] if len(self.bound) else []))

    def __call__(self, t: np.ndarray, states: States) -> np.ndarray:
        """(k, signals) at the times t; ``states(rows)`` gives q, qd, qdd of a slice of them."""
        from kinegrad.kernels.histories import histories

        t = np.ascontiguousarray(t, float)
        size = 8.0 * len(t) * len(self.names)
        require(
            size, f"Keeping {len(self.names)} signals of {len(t)} states", "name fewer signals, or keep fewer states"
        )
        out = np.zeros((len(t), len(self.names)), self.work["q"].dtype)
        for first in range(0, len(t), BLOCK):
            rows = slice(first, first + BLOCK)
            found = states(rows)
            q, qd, qdd = (np.ascontiguousarray(found[name]) for name in ("q", "qd", "qdd"))
            before = t[first - 1] if first else t[0]
            histories(self.fn, self.work.pointer, self.bound, before, t[rows], q, qd, qdd, out[rows])
            self.work.check_calls()
        return out
