"""The constraint rows of one element at a state, with all their derivatives."""

from __future__ import annotations

import re
from functools import cached_property

import numpy as np

from kinegrad.coordinates.system import System
from kinegrad.equations.named import NamedArray, Tables
from kinegrad.equations.products import Products, vector
from kinegrad.errors import KinegradError
from kinegrad.model.element import closest

OWNER = re.compile(r"\w+", re.ASCII)  # a row is named by its element, and by what it is of it: "pin.x", "hinge axis.y"
SECTIONS = {"joints": "joint", "constraints": "constraint", "drivers": "driver", "bodies": "body"}


class ElementEquations(Tables):
    """The rows of a joint, constraint, driver or body at a state: what ``system.element(name).at(...)`` gives.

    Each attribute is a `NamedArray`, its rows those of the element and its columns all coordinates.

    Attributes
    ----------
    Phi, Phi_q, Phi_t
        The rows and their derivatives.
    nu, gamma
        Right sides: ``Phi_q qd = nu``, ``Phi_q qdd = gamma``.
    gamma_q, gamma_qd
        gamma by q and by qd.
    PhiqTlam_q
        (Phi_qᵀ lam) by q, with lam held fixed.
    """

    def __init__(self, element: Element, q, qd, t: float, lam):
        self.element, self.t = element, float(t)
        system = element.system
        q, qd = (vector(system, name, x, system.coordinates) for name, x in (("q", q), ("qd", qd)))
        self.lam = None if lam is None else _multipliers(element, lam)
        every = np.zeros(system.m)
        every[list(element.numbers)] = 0.0 if self.lam is None else self.lam
        self._products = Products(system, self.t, q, qd, np.zeros(system.n), every)

    def _of(self, name: str, values: np.ndarray) -> NamedArray:
        columns = self.element.system.coordinates if values.ndim == 2 else ()
        return NamedArray(name, values[list(self.element.numbers)], self.element.rows, columns)

    @cached_property
    def Phi(self) -> NamedArray:
        return self._of("Phi", self._products.values.Phi)

    @cached_property
    def Phi_q(self) -> NamedArray:
        return self._of("Phi_q", self._products.values.J)

    @cached_property
    def Phi_t(self) -> NamedArray:
        return self._of("Phi_t", self._products.values.Phi_t)

    @cached_property
    def nu(self) -> NamedArray:
        return self._of("nu", -self._products.values.Phi_t)

    @cached_property
    def gamma(self) -> NamedArray:
        return self._of("gamma", self._products.values.gamma)

    @cached_property
    def gamma_q(self) -> NamedArray:
        return self._of("gamma_q", self._products.partials.gamma_q)

    @cached_property
    def gamma_qd(self) -> NamedArray:
        return self._of("gamma_qd", self._products.partials.gamma_qd)

    @cached_property
    def PhiqTlam_q(self) -> NamedArray:
        if self.lam is None:
            rows = ", ".join(self.element.rows)
            raise KinegradError(
                f"PhiqTlam_q of {self.element.name!r} holds lam fixed; give lam=..., a number for each of its rows: {rows}."
            )
        names = self.element.system.coordinates
        return NamedArray("PhiqTlam_q", self._products.partials.PhiqTlam_q, names, names)

    def _title(self) -> str:
        element = self.element
        return f"{element.what} {element.name!r} in {element.system.kind} coordinates at t = {self.t:g} s"

    def _shown(self) -> list[NamedArray]:
        last = [] if self.lam is None else [self.PhiqTlam_q]
        return [self.Phi, self.Phi_q, self.nu, self.gamma, self.gamma_q, self.gamma_qd, *last]


class Element:
    """An element of a model with its constraint rows in one set of coordinates: what `System.element` gives.

    Attributes
    ----------
    name, what : str
        Its name, and that it is a joint, a constraint, a driver or a body, with its type.
    rows : tuple of str
        Names of its rows.
    left_out : tuple of str
        Rows that say nothing by structure, such as those across the plane of a planar mechanism, and are not computed.
    """

    def __init__(self, system: System, name: str):
        own = [row for row in system.rows if OWNER.match(row.name)[0] == name]
        self.system, self.name = system, name
        self.what = _what(system, name)
        self.rows = tuple(row.name for row in own if row.number >= 0)
        self.numbers = tuple(row.number for row in own if row.number >= 0)
        self.left_out = tuple(row.name for row in own if row.number < 0)
        if not self.rows:
            raise KinegradError(_no_rows(system, name, self.what, self.left_out))

    def at(self, q, qd=None, t: float = 0.0, *, lam=None) -> ElementEquations:
        """The rows of the element, and all their derivatives, at a state.

        Parameters
        ----------
        q, qd : (n,) arrays
            Coordinates of the system and their rates; at rest by default.
        lam : array, optional
            Multipliers, one for each row of the element, for `PhiqTlam_q`.
        """
        return ElementEquations(self, q, qd, t, lam)

    def __repr__(self) -> str:
        rows = f"{len(self.rows)} row" + "s" * (len(self.rows) != 1)
        return f"<{self.what} {self.name!r} in {self.system.kind} coordinates: {rows}, {', '.join(self.rows)}>"


def _multipliers(element: Element, lam) -> np.ndarray:
    found = np.atleast_1d(np.asarray(lam, float))
    if found.shape != (len(element.rows),) or not np.isfinite(found).all():
        raise KinegradError(
            f"lam of {element.name!r} is {lam}; give {len(element.rows)} finite numbers, one for each of its rows: "
            f"{', '.join(element.rows)}."
        )
    return found


def _what(system: System, name: str) -> str:
    """Words for an element, such as "revolute joint"; raises where there is none of that name."""
    model = system.model
    for section, word in SECTIONS.items():
        if name in getattr(model, section):
            kind = getattr(getattr(model, section)[name], "type", "")
            return f"{kind} {word}".strip()
    for section, word in (("forces", "force"), ("measures", "measure"), ("objectives", "objective")):
        if name in getattr(model, section):
            raise KinegradError(f"{word} {name!r} has no constraint rows; name a joint, a constraint or a driver.")
    if any(OWNER.match(row.name)[0] == name for row in system.rows):
        return "joint"  # that ties a chain to the ground
    known = [n for section in SECTIONS for n in getattr(model, section)]
    raise KinegradError(f"There is no element {name!r}{closest(name, known)}; name a joint, a constraint or a driver.")


def _no_rows(system: System, name: str, what: str, left_out: tuple[str, ...]) -> str:
    if left_out:
        return (
            f"{what} {name!r} has no rows that are computed: {', '.join(left_out)} hold in every position by structure."
        )
    if name in system.model.joints:
        mine = [c for c in system.coordinates if c.owner == name]
        return (
            f"{what} {name!r} has no rows in {system.kind} coordinates, where it is "
            f"{', '.join(mine) or 'part of the tree'}; cut it, or take coordinates in which joints are rows."
        )
    return (
        f"{what} {name!r} has no constraint rows in {system.kind} coordinates; name a joint, a constraint or a driver."
    )
