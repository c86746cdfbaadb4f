"""What a study computes of one design: a simulation, or an equilibrium; with its derivatives by one more pass."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kinegrad.coordinates.patterns import DENSE
from kinegrad.coordinates.system import System
from kinegrad.coordinates.workspace import Workspace
from kinegrad.dynamics.schemes import made_of, scheme_for
from kinegrad.errors import SimulationError
from kinegrad.kinematics.start import close_driven, put_driven, solve_position
from kinegrad.model.simulation import Simulation
from kinegrad.program import tight
from kinegrad.sensitivity.gradient import gradient
from kinegrad.sensitivity.histories import derivatives_at
from kinegrad.signals.histories import histories
from kinegrad.simulate import planned
from kinegrad.starts import start_of
from kinegrad.times import Every, given_time

DIRECT_UP_TO = 2  # parameters for each objective


def cheaper(parameters: int, objectives: int) -> str:
    """The method of differentiation that costs less."""
    return "direct" if parameters <= DIRECT_UP_TO * objectives else "discrete-adjoint"


@dataclass(frozen=True, eq=False)
class Found(ABC):
    """What an analysis found of one design.

    Attributes
    ----------
    result : Motion or Equilibrium
    """

    result: Any

    @property
    def objectives(self) -> dict[str, float]:
        """Objectives by name."""
        return self.result.objectives

    @property
    @abstractmethod
    def q(self) -> np.ndarray:
        """(n,) coordinates from which a neighbouring design is found."""

    @abstractmethod
    def gradient(self, labels: tuple[str, ...], method: str) -> np.ndarray:
        """(objectives, labels) derivatives."""

    @property
    def times(self) -> np.ndarray:
        """(k,) times of a run."""
        raise NotImplementedError  # plans refuse residuals of what has no times

    def course(self, signals: list[str], rows: np.ndarray) -> np.ndarray:
        """(rows, signals) values at some of these times."""
        raise NotImplementedError

    def course_slopes(self, labels: tuple[str, ...], rows: np.ndarray) -> tuple[list[str], np.ndarray]:
        """Names of objectives and (rows, objectives, labels) derivatives of what they take, at some of these times."""
        raise NotImplementedError


class Analysis(ABC):
    """One way to get objectives of a system."""

    name: ClassVar[str]

    def __init__(self, simulation: Simulation):
        self.simulation = simulation
        self._times: dict[str, float | None] = {}

    def time(self, system: System, name: str) -> float | None:
        """t_end or step in seconds; no variable changes them, so they are found once."""
        if name not in self._times:
            self._times[name] = given_time(system, name, getattr(self.simulation, name))
        return self._times[name]

    @abstractmethod
    def run(self, system: System, guess: np.ndarray | None) -> Found:
        """The objectives; a KinegradError where the design does not work."""

    def begin(self, system: System, guess: np.ndarray | None) -> Found | Begun:
        """What shows whether a design works of which no objective is asked for."""
        return self.run(system, guess)

    def position(self, system: System, guess: np.ndarray) -> np.ndarray:
        """The coordinates at which a run starts, found from `guess`; a KinegradError where there are none."""
        work = system.workspace()
        work["par"][:] = 0.0
        work["q"][:] = guess
        self.assemble(system, work)
        return work["q"].real.copy()

    def assemble(self, system: System, work: Workspace) -> None:
        """Leaves the position nearest to that in a workspace at which a run may start."""
        solve_position(system, work)


@dataclass(frozen=True, eq=False)
class Begun:
    """The position at which a run starts."""

    q: np.ndarray


class FoundMotion(Found):
    @property
    def q(self):
        return self.result.q[0]

    def gradient(self, labels, method):
        return gradient(self.result, wrt=labels, method=method, tighten=False).matrix

    @property
    def times(self):
        return self.result.t

    def course(self, signals, rows):
        return histories(self.result, signals, rows).values

    def course_slopes(self, labels, rows):
        return list(self.result.system.objectives), derivatives_at(self.result, labels, rows)


class FoundDriven(FoundMotion):
    """Of a motion by drivers."""

    def course_slopes(self, labels, rows):
        from kinegrad.statics.instants import Instants

        system = self.result.system
        with Instants(self.result, system.directions(labels)) as instants:
            return list(system.objectives), instants.along(rows).g


class Dynamics(Analysis):
    """A simulation to t_end: one run, converged as far as derivatives need it."""

    name = "dynamics"

    def __init__(self, simulation):
        super().__init__(simulation)
        self._how: tuple | None = None

    def how(self, system):
        """The formulation, converged as far as derivatives need it, and the interval of the states that are kept: each step
        with steps of one length."""
        if self._how is None:
            section = self.simulation
            made = made_of(system, section.formulation, section.integrator)
            interval = self.time(system, "step")
            if made.pair.adaptive:
                interval = None if section.output_step is None else Every(self.time(system, "output_step"))
            self._how = tight(made, section.formulation), interval
        return self._how

    def run(self, system, guess):
        section = self.simulation
        formulation, interval = self.how(system)
        times = self.time(system, "t_end"), self.time(system, "step"), interval
        how = formulation, section.integrator, *times, section.solver, section.start
        program, system, start, guess = planned(system, *how, guess)
        motion = program.run(system, guess=guess, start=start, watch=False)
        broken = [name for name, value in motion.objectives.items() if not np.isfinite(value)]
        if broken:
            raise SimulationError(f"The objective {broken[0]!r} is infinite or not a number.")
        return FoundMotion(motion)

    def begin(self, system, guess):
        """The start alone: it may be assembled."""
        start, guess = start_of(system, self.simulation.start, guess)
        work = system.workspace()
        scheme = scheme_for(system, self.simulation.formulation, self.simulation.integrator)
        start.put(system, work, scheme.compliance, guess)
        return Begun(work["q"].real.copy())


class FoundRest(Found):
    @property
    def q(self):
        return self.result.q

    def gradient(self, labels, method):
        return self.result.gradient(wrt=labels, method="direct" if method == "direct" else "adjoint").matrix


class Rest(Analysis):
    """The position where all forces balance."""

    name = "equilibrium"

    def run(self, system, guess):
        from kinegrad.statics.equilibrium import equilibrium

        return FoundRest(equilibrium(system, guess=guess))


class Kinematics(Analysis):
    """The motion by drivers to t_end, on the branch of the guess, or of the poses."""

    name = "kinematics"

    def run(self, system, guess):
        from kinegrad.statics.drive import drive

        step = self.time(system, "step")
        motion = drive(system, t_end=self.time(system, "t_end"), step=step, output_step=step, guess=guess)
        return FoundDriven(motion)

    def begin(self, system, guess):
        """The position at t = 0 alone."""
        from kinegrad.statics.drive import Driven

        work = system.with_solver(DENSE).workspace()
        Driven(system, work).begin(guess)
        return Begun(work["q"].real.copy())

    def assemble(self, system, work):
        put_driven(system, work)
        close_driven(system, work, "at t = 0 s")


ANALYSES: dict[str, type[Analysis]] = {kind.name: kind for kind in (Dynamics, Kinematics, Rest)}
