"""28 reference cases of MSC Adams beside kinegrad: joints, springs and actuators; they are among the tests of a checkout."""

from __future__ import annotations

import importlib.util
import json
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from kinegrad.errors import AccuracyWarning, KinegradError

FOLDER = Path(__file__).resolve().parents[2] / "tests" / "validation" / "adams"
SETS = ("joint", "reference-point", "natural")
TOLERANCE = 1e-11  # of error control


@dataclass(frozen=True)
class AdamsRow:
    """One case in one coordinate set.

    Attributes
    ----------
    differences : dict of quantity to number
        Largest difference from Adams at 11 instants, of the largest size of the quantity there.
    largest : str
        The quantity of the largest one.
    limits : dict of quantity to number
        What is allowed; the errors of Adams with a margin.
    agrees : bool
    steps : int
    cpu_s : float
        Processor time of the time loop.
    """

    case: str
    coordinates: str
    differences: dict[str, float]
    largest: str
    limits: dict[str, float]
    agrees: bool
    steps: int
    cpu_s: float


def run(
    repeats: int = 1, only: str = "", progress: Callable | None = None, *, coordinates: Sequence[str] = SETS
) -> list[AdamsRow]:
    """A row for each case whose name contains the word `only`, in these coordinate sets; nothing is repeated."""
    names = [name for name in cases().CASES if only.lower() in name.lower()]
    rows = []
    for k, (name, kind) in enumerate([(name, kind) for name in names for kind in coordinates]):
        rows.append(row(name, kind))
        if progress is not None:
            progress((k + 1) / (len(names) * len(coordinates)))
    return rows


def kinds() -> list[str]:
    """What is before the numbers of the cases."""
    return list(dict.fromkeys(name.partition("_")[0] for name in cases().CASES))


def row(name: str, kind: str) -> AdamsRow:
    """One case in one coordinate set, by matrix-r with rk54."""
    here, figures = cases(), data("figures")
    found, motion = simulated(name, kind)
    expected, limits = figures["cases"][name], data("limits")[name]
    differences = {key: here.difference(key, found[key], values) for key, values in expected.items()}
    agrees = all(x <= limits[key] for key, x in differences.items())
    largest = max(differences, key=lambda key: differences[key])
    return AdamsRow(name, kind, differences, largest, limits, agrees, len(motion.hs), motion.cpu_s)


def simulated(name: str, kind: str):
    """What Adams' file of a case tells, of a motion by kinegrad, and the motion."""
    import kinegrad as kg

    here, times = cases(), data("figures")["t"]
    system = kg.lower(here.CASES[name].model, kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)  # kinks of progressive springs
        motion = kg.simulate(
            system, "matrix-r", kg.RungeKutta54(tolerance=TOLERANCE), t_end=times[-1], output_step=times[1]
        )
    return here.quantities(name, motion, times), motion


def cases() -> ModuleType:
    """The module of the cases."""
    return module("cases")


_MODULES: dict[str, ModuleType] = {}


def module(name: str) -> ModuleType:
    """A module beside the cases."""
    if name not in _MODULES:
        spec = importlib.util.spec_from_file_location(f"adams_{name}", present(f"{name}.py"))
        found = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = found
        spec.loader.exec_module(found)
        _MODULES[name] = found
    return _MODULES[name]


def data(name: str) -> dict:
    """Numbers beside the cases."""
    return json.loads(present(f"{name}.json").read_text(encoding="utf-8"))


def present(name: str) -> Path:
    """The path of a file of the cases; they are not in an installed package."""
    path = FOLDER / name
    if not path.is_file():
        raise KinegradError(
            f"The cases of MSC Adams are not here: there is no {path}. They belong to the tests of a checkout of kinegrad; run "
            "'kinegrad bench adams' there."
        )
    return path


def table(rows: Sequence[AdamsRow]) -> str:
    """The rows as a Markdown table."""
    lines = ["| case | coordinates | largest difference | in | agrees | steps | s |", "|---|---|---|---|---|---|---|"]
    for one in rows:
        largest = f"{one.differences[one.largest]:.1e} | {one.largest} | {'yes' if one.agrees else 'NO'}"
        lines.append(f"| {one.case} | {one.coordinates} | {largest} | {one.steps} | {one.cpu_s:.3f} |")
    return "\n".join(lines)
