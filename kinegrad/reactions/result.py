"""Reactions: what joints and constraints exert, and what drivers have to give, by time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from kinegrad.errors import UnknownNameError

COMPONENTS = ("Fx", "Fy", "Fz", "Mx", "My", "Mz")
UNITS = ("N", "N", "N", "N m", "N m", "N m")


@dataclass(frozen=True, eq=False)
class Reactions(Mapping):
    """Force and moment on the second body of each joint and constraint, at its first marker, in global components.

    A mapping from names to (k, 6) arrays, whose columns are `components` in `units`.

    Attributes
    ----------
    t : (k,) array
    unique : dict of name to (6,) array of bool
        Whether a component follows from the equations. Where it does not (redundant constraints) the value is one of
        many; the solution of least norm.
    forces : dict of name to (k,) array
        Generalised forces of drivers, and of guidances and linear constraints of measures: positive when they push the
        measure up.
    powers : dict of name to (k,) array
        What each of them delivers [W].
    unique_forces : dict of name to bool
    residual : (k,) array
        Largest generalised force that neither joints nor drivers can give: zero where the motion follows the equations.
    """

    t: np.ndarray
    wrenches: dict[str, np.ndarray]
    unique: dict[str, np.ndarray]
    forces: dict[str, np.ndarray]
    powers: dict[str, np.ndarray]
    unique_forces: dict[str, bool]
    residual: np.ndarray

    components = COMPONENTS
    units = UNITS

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.wrenches:
            raise UnknownNameError(f"{name!r} has no reaction; choose from {', '.join(self.wrenches) or 'none'}.")
        return self.wrenches[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.wrenches)

    def __len__(self) -> int:
        return len(self.wrenches)

    def __contains__(self, name: object) -> bool:
        return name in self.wrenches

    def force(self, name: str) -> np.ndarray:
        """(k, 3) force [N]."""
        return self[name][:, :3]

    def moment(self, name: str) -> np.ndarray:
        """(k, 3) moment about the first marker [N m]."""
        return self[name][:, 3:]

    def at(self, k: int) -> dict[str, dict]:
        """{name: {force, moment, unique_force, unique_moment}} at state k, as plain lists."""
        return {
            name: {
                "force": x[k, :3].tolist(),
                "moment": x[k, 3:].tolist(),
                "unique_force": self.unique[name][:3].tolist(),
                "unique_moment": self.unique[name][3:].tolist(),
            }
            for name, x in self.wrenches.items()
        }

    def drivers_at(self, k: int) -> dict[str, dict]:
        """{name: {force, power, unique}} of drivers and rows of measures at state k; the power of drivers only."""
        out = {}
        for name, x in self.forces.items():
            out[name] = {"force": x[k].tolist(), "unique": self.unique_forces[name]}
            if name in self.powers:
                out[name]["power"] = float(self.powers[name][k])
        return out
