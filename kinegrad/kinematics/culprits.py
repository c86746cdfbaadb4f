"""Which element made a computation stop: its name, found from the state that the workspace was left with."""

from __future__ import annotations

import numpy as np

from kinegrad.coordinates.system import System
from kinegrad.coordinates.workspace import Workspace
from kinegrad.kernels.elements.kinds import KINDS
from kinegrad.kernels.products import TIME
from kinegrad.kernels.status import NOT_FINITE, WORDS


def culprit(system: System, work: Workspace, status: int) -> str:
    """The force that status is due to, such as ``force 'wind'``; empty when none is found."""
    if status == NOT_FINITE:
        name = _broken_law(system, work)
        return f"force {name!r}" if name else ""
    for kind in KINDS:
        if status in kind.failures and kind.is_in(work.arrays):
            find, *_ = kind.failures[status]
            name = system.tables["owners"][kind.table][find(work.arrays)]
            return f"{system.model.forces[name].type} {name!r}"
    return ""


def failure(work: Workspace, status: int) -> tuple[str, str] | None:
    """What happened to an element that left this status, in words that follow its name, and what to try."""
    for kind in KINDS:
        if status in kind.failures and kind.is_in(work.arrays):
            _, what, remedy = kind.failures[status]
            return what(work.arrays) if callable(what) else what, remedy
    return None


def told(work: Workspace, status: int, who: str, otherwise: str) -> str:
    """Why a position cannot be evaluated, and what to try: in the words of the element, or else in general ones."""
    failed = failure(work, status) if who else None
    if failed:
        return f"{who}, {failed[0]}; {failed[1]}."
    return f"{WORDS[status]}{who and f' ({who})'}. {otherwise}"


def _broken_law(system: System, work: Workspace) -> str:
    """The first force with an expression whose value is not finite though its inputs are."""
    for name, law in zip(system.tables["owners"]["law"], work["law"], strict=True):
        if np.isfinite(_inputs(work, law)).all() and not np.isfinite(run_law(work, law, law["t1"] - law["t0"])).all():
            return name
    return ""


def force_without_derivative(system: System, work: Workspace) -> str:
    """The first force given by an expression that has no derivative at the state at hand; empty when all have."""
    for name, law in zip(system.tables["owners"]["law"], work["law"], strict=True):
        targets, inputs, slots = (law[f"{k}1"] - law[f"{k}0"] for k in ("t", "in", "sl"))
        if not np.isfinite(run_law(work, law, targets * (2 + 2 * inputs + slots), tape=1)).all():
            return name
    return ""


def left_table(system: System, work: Workspace, objective: str = "") -> str:
    """A table that a force or a row leaves at the state at hand, or the objective of that name; empty when none is left."""
    from kinegrad.kernels.tape import FIND, OUTSIDE

    kinds = {"objective": "objective"} if objective else {"law": "force", "row_law": ""}
    for table, kind in kinds.items() if system.tables["tables"] else ():
        for name, law in zip(system.tables["owners"][table], work[table], strict=True):
            code = work["code"][law["c0"] : law["e0"]]
            finds = code[code[:, 0] == FIND] if name == objective or not objective else ()
            registers = _registers(work, law, 0, _given(work, law)) if len(finds) else None
            for _, a, first, result in finds:
                if registers[result] == OUTSIDE and np.isfinite(registers[a]):
                    word = kind or ("driver" if name in system.model.drivers else "constraint")
                    left = system.tables["tables"][int(first)]
                    x = system.parameters.evaluate_all(system.model.tables[left].x)
                    return (
                        f"{word} {name!r} leaves the table {left!r} with the argument {float(np.real(registers[a])):.9g} (it "
                        f"goes from {x[0]:.6g} to {x[-1]:.6g}); add points, or outside: hold or extrapolate"
                    )
    return ""


def _inputs(work: Workspace, law) -> np.ndarray:
    """The registers that are given to the tapes of an expression element."""
    inputs = work["sc"][work["ins"][law["in0"] : law["in1"]]]
    t = work["par"][TIME]
    w = _spline_value(work, law["w"], t)
    numbers = work["slots"][law["sl0"] : law["sl1"]]
    slots = work["s"][numbers[numbers >= 0]]
    return np.concatenate([inputs["u"], inputs["ud"], inputs["udd"], [t, w], slots])


def run_law(work: Workspace, law, outputs: int, tape: int = 0) -> np.ndarray:
    """The first outputs of a tape of an expression element; tape 0: covectors of a force, or Phi, Phi_t, Phi_u of a row."""
    return _tape(work, law, tape, _given(work, law), outputs)


def _given(work: Workspace, law) -> np.ndarray:
    """The registers that are there before a tape of an expression element runs, but for its constants."""
    given = _inputs(work, law)
    return np.concatenate([given, _called(work, law, given)])


def _tape(work: Workspace, law, k: int, given: np.ndarray, count: int) -> np.ndarray:
    """The first `count` outputs of tape k of an element."""
    return _registers(work, law, k, given)[work["outs"][law[f"o{k}"] : law[f"o{k}"] + count]]


def _registers(work: Workspace, law, k: int, given: np.ndarray) -> np.ndarray:
    """All registers after tape k of an element."""
    from kinegrad.kernels.tape import run_tape_entry

    constants = work["const"][law[f"q{k}"] : law[f"r{k}"]]
    code = np.ascontiguousarray(work["code"][law[f"c{k}"] : law[f"e{k}"]])
    registers = np.concatenate([given, constants, np.zeros(len(code), given.dtype)])
    run_tape_entry(code, len(code), registers, work["s"])
    return registers


def _called(work: Workspace, law, given: np.ndarray) -> np.ndarray:
    """Values of the function of a law, and zeros for their partials; nothing without one."""
    if law["fn"] < 0:
        return given[:0]
    x = _tape(work, law, 2, given, law["na"])
    out = np.zeros(law["nc"] * (1 + law["na"]), given.dtype)
    out[: law["nc"]] = work.calls.values(law["fn"], x)
    return out


def _spline_value(work: Workspace, number: int, t: float) -> float:
    """The cubic of the interval at time t; 0 without a spline."""
    if number < 0:
        return 0.0
    spline = work["spline"][number]
    times = work["times"][spline["t0"] : spline["t1"]]
    k = int(np.clip(np.searchsorted(times, np.real(t), side="right") - 1, 0, len(times) - 2))
    cubic = work["s"][spline["slot"] + 4 * k : spline["slot"] + 4 * k + 4]
    return np.polyval(cubic[::-1], t - times[k])
