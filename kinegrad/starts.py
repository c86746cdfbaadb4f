"""Where a motion starts: from the assembly, at rest in equilibrium, or from a state that was reached before (SRT-1 to SRT-4).

A start puts q, v, a and lam into a workspace, and knows what of them moves with the parameters.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kinegrad.balance.derivatives import RestDerivatives
from kinegrad.balance.found import balance, looked_at
from kinegrad.coordinates.convert import Conversion
from kinegrad.coordinates.system import System
from kinegrad.coordinates.workspace import Workspace
from kinegrad.errors import KinegradError
from kinegrad.kernels.products import FREEDOMS, POSITION, TIME
from kinegrad.kinematics.distances import tell_branch
from kinegrad.kinematics.start import row_sizes, start, start_as_found, start_from_position
from kinegrad.kinematics.start_derivatives import StartDerivatives
from kinegrad.model.element import closest

MOVED = 1e-9  # part of what a row changes by when coordinates change by 1: what it may differ by between two times

INSTEAD = {"has no": " that this one has", "has a": " that this one lacks", "has another": " of this name"}


class Start(ABC):
    """One way to begin a motion."""

    name: ClassVar[str]

    @abstractmethod
    def put(self, system: System, work: Workspace, compliance: float, guess: np.ndarray | None) -> None:
        """Leave q, v = vp, a = ap and lam in the workspace; `guess` is where the position is looked for."""

    @abstractmethod
    def derivatives(self, system: System, work: Workspace, compliance: float) -> StartDerivatives:
        """Derivatives of the start, at which the workspace is."""


@dataclass(frozen=True)
class Assembled(Start):
    """The degrees of freedom of the model at their values (KIN-1 to KIN-3)."""

    name = "assembly"

    def put(self, system, work, compliance, guess):
        start(system, work, compliance=compliance, guess=guess)
        if guess is None:
            tell_branch(system, work, stacklevel=6)

    def derivatives(self, system, work, compliance):
        return StartDerivatives(system, work, compliance)


@dataclass(frozen=True)
class AtEquilibrium(Start):
    """The position where all forces balance, with the velocities that the model gives its degrees of freedom (SRT-1)."""

    name = "equilibrium"

    def put(self, system, work, compliance, guess):
        found = balance(system, work, guess=guess)
        if not (found.stable or found.free):
            lowest = np.real(found.eigenvalues).min(initial=0.0)
            why = f"its lowest eigenvalue is {lowest:.4g} 1/s2" if lowest <= 0.0 else "its eigenvalues are complex"
            raise KinegradError(
                f"The equilibrium from which the motion is to start is not stable ({why}): it would not stay there. Give poses "
                "or degrees of freedom nearer to a stable one, or start from the assembly."
            )
        work["q"][:] = found.look.q
        work["flag"][FREEDOMS] = 1
        work.call(POSITION)
        start_from_position(system, work, compliance)

    def derivatives(self, system, work, compliance):
        rest = system.workspace(s=work["s"])
        rest["q"][:] = work["q"]
        look, free = looked_at(system, rest, 0.0)
        if free:
            raise KinegradError(
                f"The motion starts from an equilibrium in which nothing holds {free[0]}: where it is there depends on the "
                "search, so it has no derivative. Hold it by a spring or a driver, or start from the assembly."
            )
        at = RestDerivatives(system, work["s"], 0.0, look.q, look.lam, free, work["ds"], None)
        return StartDerivatives(system, work, compliance, rest=at)


@dataclass(frozen=True, eq=False)
class FromState(Start):
    """Values and rates of the degrees of freedom that are constants; all else is assembled with them (SRT-2).

    Attributes
    ----------
    position, velocity : (d,) arrays
        In the order of `System.freedoms`.
    """

    position: np.ndarray
    velocity: np.ndarray

    name = "state"

    def put(self, system, work, compliance, guess):
        if len(self.position) != len(system.freedoms):
            raise KinegradError(
                f"The start gives {len(self.position)} degrees of freedom, and the system has {len(system.freedoms)}; give the "
                "motion or the state itself, which is converted."
            )
        start(system, work, compliance=compliance, guess=guess, given=(self.position, self.velocity))

    def derivatives(self, system, work, compliance):
        return StartDerivatives(system, work, compliance, held=True)


@dataclass(frozen=True, eq=False)
class AsFound(Start):
    """The start of a motion as it was found, whichever way: nothing is solved again.

    Attributes
    ----------
    before : Start
        How it was found.
    state : q, v, a, lam
    scheme : Scheme
        That of the motion.
    """

    before: Start
    state: tuple[np.ndarray, ...]
    scheme: object

    name = "found"

    def put(self, system, work, compliance, guess):
        start_as_found(system, work, *self.state)

    def derivatives(self, system, work, compliance):
        return self.before.derivatives(system, work, compliance)


STARTS: dict[str, type[Start]] = {kind.name: kind for kind in (Assembled, AtEquilibrium)}


def start_of(system: System, value, guess: np.ndarray | None = None) -> tuple[Start, np.ndarray | None]:
    """How a motion of `system` starts, and where its position is looked for, from what a user gives: None for what the model
    says, a name, or what has been found before: an assembly, an equilibrium, a motion or one of its states."""
    value = system.model.simulation.start if value is None else value
    if isinstance(value, Start):
        return value, guess
    if isinstance(value, str):
        if value not in STARTS:
            raise KinegradError(
                f"There is no start {value!r}{closest(value, STARTS)}; give {', '.join(map(repr, STARTS))}, a motion or a "
                "state."
            )
        return STARTS[value](), guess
    if not hasattr(value, "as_start"):
        raise KinegradError(
            f"A motion cannot start from {value!r}; give {', '.join(map(repr, STARTS))}, a motion or a state."
        )
    found, near = value.as_start(system)
    return found, near if guess is None else guess


@dataclass(frozen=True, eq=False, repr=False)
class State:
    """Positions and velocities at one instant, from which another motion can start.

    Attributes
    ----------
    system : System
        Whose coordinates they are.
    t : float
    q, qd : (n,) arrays
    source : str
        Where they come from, for messages.
    """

    system: System
    s: np.ndarray
    t: float
    q: np.ndarray
    qd: np.ndarray
    source: str = "The state"

    def __repr__(self) -> str:
        return f"<State of {self.system.model.title or 'a model'!r} at t = {self.t:g} s>"

    def as_start(self, system: System) -> tuple[FromState, np.ndarray]:
        """Values and rates of the degrees of freedom of `system` in this state, and its coordinates (SRT-2)."""
        self._refuse_other_mechanism(system)
        there, s = _with_values_of(system, self.system), None
        if alike(system, self.system):
            q, v, s = self.q, self.qd, self.s
        else:
            conversion = Conversion(self.system, there, s=self.s)
            q, v, _ = conversion(self.t, self.q, self.qd, np.zeros_like(self.q))
        work = there.workspace(s=s)
        rows = {t: _rows(work, t, q) for t in (0.0, self.t)}
        self._refuse_elsewhere(there, work, rows)
        m, (Phi, Phi_t, J) = system.m, rows[0.0]
        return FromState(Phi[m:], (J @ v + Phi_t)[m:]), q

    def _refuse_other_mechanism(self, system: System) -> None:
        """Raises by the name of what only one of the two models has."""
        for what, one, other in zip(("body", "joint", "state"), _parts(self.system), _parts(system), strict=True):
            for name in (*other, *one):
                if one.get(name) != other.get(name):
                    who = "has no" if name not in one else "has a" if name not in other else "has another"
                    raise KinegradError(
                        f"{self.source} is of another model: it {who} {what} {name!r}{INSTEAD[who]}; start from a motion of "
                        "this model."
                    )
        if list(self.system.model.bodies) != list(system.model.bodies):
            raise KinegradError(f"{self.source} is of another model: its bodies are in another order; take this model.")

    def _refuse_elsewhere(self, system: System, work: Workspace, rows: dict) -> None:
        """Raises when a row of constraints moves in time, so that it is elsewhere when the clock is set to 0."""
        m = system.m
        if not m or self.t == 0.0:
            return
        limit = MOVED * row_sizes(system, work, m)
        for k, what in enumerate(("position", "rate")):
            apart = np.abs(rows[self.t][k][:m] - rows[0.0][k][:m])
            worst = int((apart / limit).argmax())
            if apart[worst] > limit[worst]:
                raise KinegradError(
                    f"{self.source} is at t = {self.t:.6g} s, and a motion starts at t = 0, where {system.row_names[worst]!r} "
                    f"has another {what}: it differs by {apart[worst]:.3g}. Write it as a function that continues at t = 0."
                )


def alike(a: System, b: System) -> bool:
    """Whether coordinates and slots of two systems mean the same."""
    return a is b or (a.kind == b.kind and a.coordinates == b.coordinates and a.slots.names == b.slots.names)


def near_position(found, system: System) -> np.ndarray:
    """The coordinates in `system` of a position (system, s, q) that was found in another one."""
    if alike(system, found.system):
        return found.q
    zero = np.zeros_like(found.q)
    return Conversion(found.system, _with_values_of(system, found.system), s=found.s)(0.0, found.q, zero, zero)[0]


def _with_values_of(system: System, other: System) -> System:
    """`system` with the values that `other` has of the parameters they share."""
    values = dict(zip(other.parameters.independent, other.rho.tolist(), strict=True))
    rho = system.rho.copy()
    for k, name in enumerate(system.parameters.independent):
        rho[k] = values.get(name, rho[k])
    return system.with_parameters(rho)


def _parts(system: System) -> tuple[dict, dict, dict]:
    """What a state of a model depends on, by name: bodies, joints with their types and bodies, elements with states."""
    joints = {
        name: (joint.type, tuple(end.partition(".")[0] for end in joint.between))
        for name, joint in system.model.joints.items()
    }
    return dict.fromkeys(system.model.bodies, True), joints, dict.fromkeys(system.states, True)


def _rows(work: Workspace, t: float, q: np.ndarray) -> tuple[np.ndarray, ...]:
    """Phi, Phi_t, Phi_q of all rows."""
    work["par"][TIME], work["flag"][FREEDOMS] = t, 1
    work["q"][:] = q
    work.call(POSITION)
    return work["Phi"].copy(), work["Phi_t"].copy(), work.matrix("J").copy()
