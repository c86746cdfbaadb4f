"""Motion: what a simulation gave, by time, and what can be read from it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kinegrad.coordinates.system import System
from kinegrad.coordinates.workspace import Workspace
from kinegrad.errors import KinegradError, UnusedOptionWarning
from kinegrad.kernels.products import BIAS, ENERGY, EVALUATE, OBSERVE
from kinegrad.kinematics.distances import Distances, distances
from kinegrad.kinematics.multipliers import least_norm
from kinegrad.memory import require
from kinegrad.quiet import without_warnings
from kinegrad.recipes import sealed
from kinegrad.starts import Assembled, Start, State
from kinegrad.times import Every

if TYPE_CHECKING:
    from kinegrad.model.signals import Catalogue
    from kinegrad.signals.histories import Histories

BLOCK = 4096  # states that are looked at together
UNSEEN = 1e-8  # of the potential energy: rounding, and what iterations leave at rest


@dataclass(frozen=True)
class MarkerMotion:
    """Position, velocity and acceleration of a marker in global components, (times, 3) each."""

    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray


def markers_of(work: Workspace) -> dict[str, MarkerMotion]:
    """All markers as OBSERVE left them in a workspace that moves every marker."""
    mk = work["mk"]
    return {
        name: MarkerMotion(mk[k]["x"].copy(), mk[k]["xd"].copy(), mk[k]["xdd"].copy())
        for name, k in sorted(work.system.markers.items())
    }


@dataclass(frozen=True)
class Energies:
    """Kinetic and potential energy, and the work done by all that has no potential, by time [J]."""

    kinetic: np.ndarray
    potential: np.ndarray
    work: np.ndarray

    @property
    @without_warnings
    def drift(self) -> float:
        """max |E - E0 - work|."""
        total = self.kinetic + self.potential
        return float(np.abs(total - total[0] - self.work).max())

    @property
    @without_warnings
    def moved(self) -> float:
        """The energy that moves: the largest kinetic energy, the range of the potential energy, or all work that was done,
        whichever is the largest."""
        done = np.abs(np.diff(self.work)).sum()
        return float(max(self.kinetic.max(), np.ptp(self.potential), done))

    @property
    def drift_part(self) -> float:
        """The drift as a part of the energy that moves; 0 where it is no more than rounding of the potential energy."""
        return self.part(self.drift)

    def part(self, drift: float) -> float:
        """Another drift as a part of the energy that moves."""
        moved = self.moved
        if not drift > UNSEEN * float(np.abs(self.potential).max()):
            return 0.0
        return drift / moved if moved > 0.0 else np.inf

    @property
    def drift_in_words(self) -> str:
        """The drift with what part of the energy that moves it is: "0.34 J, 4.2 % of the 8.1 J that move"."""
        if not self.moved > 0.0:
            return f"{self.drift:.3g} J"
        part = 100.0 * self.drift_part
        return f"{self.drift:.3g} J, {part:{'.0f' if part >= 99.5 else '.2g'}} % of the {self.moved:.3g} J that move"


@dataclass
class Motion:
    """States of a system by time.

    Attributes
    ----------
    t : (k,) array
        Times of the states that were kept.
    objectives : dict of name to value
    ts, hs : arrays, or EvenTimes and EvenSteps
        Times and sizes of all steps.
    iterations, flags : (steps,) arrays
        Newton iterations of each step, and which projections it ran (1 velocity, 2 acceleration), or 4 for the first
        step in other independent coordinates; near singular positions 8, and 16 or 32 where ALI3-P held rows firmly or loosely.
        Where `stride` steps lie between two states, iterations are summed and flags
        joined over them.
    stride : int
        1: a state was kept of every step; n: of every n-th; 0, with error control: of those that end at multiples of
        `output_step`.  That of the last step always.
    work : (k,) array or None
        Work of what has no potential, summed over all steps, where not every step was kept and there is some.
    follows : dict or None
        Those of t_end, step and output_step that follow from parameters, with their expressions; None: not known.
    status : int
        0, or why the run stopped early (`kinegrad.kernels.status`).
    cpu_s : float
        Processor time of the time loop.
    start : Start
        Where it started, and what of that moves with the parameters.
    output_step : float or None
        The interval of states that was asked for.
    """

    system: System
    formulation: object
    integrator: object
    scheme: object
    t: np.ndarray
    traj: np.ndarray
    ts: np.ndarray
    hs: np.ndarray
    stride: int
    iterations: np.ndarray
    flags: np.ndarray
    objectives: dict
    cpu_s: float
    status: int
    s: np.ndarray
    step: float
    t_end: float
    work: np.ndarray | None = None
    follows: dict | None = None
    extra: dict = field(default_factory=dict)
    start: Start = field(default_factory=Assembled)
    output_step: float | None = None
    program = None  # that it comes from, where it is known: no part of what it is

    def __reduce__(self):
        """A recipe: the system, what the scheme found at the start, and all arrays."""
        contents = {field.name: getattr(self, field.name) for field in fields(self)}
        if self.formulation is not None:
            contents["scheme"] = self.scheme.found()
        return sealed("motion", _made_again, contents)

    def __repr__(self) -> str:
        return f"<Motion of {self.system.model.title or 'a model'!r}: {len(self.hs)} steps to {self.ts[-1]:g} s>"

    @property
    def interval(self) -> float | None:
        """The output_step of another run with the same steps, some of which may end at its multiples; None where it was no
        longer than a step."""
        asked = self.stride * self.step if self.output_step is None else self.output_step
        return asked if asked > self.step * (1.0 + 1e-9) else None

    @property
    def keeping_all(self) -> float | None:
        """The output_step of another run with the same steps that keeps a state of each."""
        if self.scheme.adaptive:
            return None if self.output_step is None else Every(self.output_step)
        return self.step if self.stride > 1 else self.interval or self.step

    @cached_property
    def _states(self) -> dict[str, np.ndarray]:
        return self.scheme.motion(self.traj)

    @property
    def q(self) -> np.ndarray:
        """(k, n) coordinates."""
        return self._states["q"]

    @property
    def qd(self) -> np.ndarray:
        """(k, n) velocities."""
        return self._states["qd"]

    @property
    def qdd(self) -> np.ndarray:
        """(k, n) accelerations."""
        return self._states["qdd"]

    @cached_property
    def lam(self) -> np.ndarray:
        """(k, m) multipliers of the constraint rows; of least norm where rows are redundant."""
        why = getattr(self.scheme, "without_multipliers", "")
        if why:
            raise KinegradError(why)
        return least_norm(self.system, self.s, self.t, self.q, self._states["lam"])

    @property
    def how(self) -> tuple[str, ...]:
        """Formulation and integrator by name, or what stands for them."""
        if self.formulation is None:
            return ("by drivers",) if self.is_driven else ("given",)
        return self.formulation.type, self.integrator.type

    @property
    def is_driven(self) -> bool:
        """Whether drivers prescribe it, and there is no dynamics in it."""
        return self.formulation is None and "singular" in self.extra

    @property
    def us_per_step(self) -> float:
        """Microseconds of processor time a step."""
        return 1e6 * self.cpu_s / max(1, len(self.hs))

    @cached_property
    def _replayed(self) -> dict[str, np.ndarray]:
        """Markers, energies and violations at every state kept."""
        return self._in_blocks(with_markers=True)

    @cached_property
    def _summary(self) -> dict[str, np.ndarray]:
        """Energies and violations at every state kept, without the markers, which may be many."""
        return self.__dict__.get("_replayed") or self._in_blocks(with_markers=False)

    def _in_blocks(self, with_markers: bool) -> dict[str, np.ndarray]:
        """What `replay` gives of all states, found without a copy of them all."""
        again = Replay(self, with_markers)
        found = again(slice(0, 0))
        size = len(self.t) * sum(x.dtype.itemsize * math.prod(x.shape[1:]) for x in found.values())
        what = f"Keeping {'markers and energies' if with_markers else 'energies'} of {len(self.t)} states"
        require(size, what, "simulate with a larger output_step (--output-step)")
        whole = {name: np.zeros((len(self.t), *x.shape[1:]), x.dtype) for name, x in found.items()}
        for first in range(0, len(self.t), BLOCK):
            part = slice(first, first + BLOCK)
            for name, x in again(part).items():
                whole[name][part] = x
        return whole

    def marker_blocks(self):
        """A function of a slice of states: positions, velocities and accelerations of all markers there.

        Energies and violations come with them, and are kept when all states were asked for in turn.
        """
        order = list(self.system.markers.values())
        if "_replayed" in self.__dict__:
            return lambda rows: self._replayed["markers"][rows][:, order].transpose(2, 0, 1, 3)
        again, found = Replay(self), []

        def block(rows: slice) -> np.ndarray:
            x = again(rows)
            found.append((x["energy"], x["violation"]))
            if sum(len(energy) for energy, _ in found) == len(self.t):
                energy, violation = (np.concatenate(parts) for parts in zip(*found, strict=True))
                self.__dict__.setdefault("_summary", {"energy": energy, "violation": violation})
            return x["markers"][:, order].transpose(2, 0, 1, 3)

        return block

    def marker(self, name: str) -> MarkerMotion:
        """The motion of the marker ``body.marker``."""
        if name not in self.system.markers:
            raise KinegradError(f"There is no marker {name!r}; markers: {', '.join(sorted(self.system.markers))}.")
        x = self._replayed["markers"][:, self.system.markers[name]]
        return MarkerMotion(x[:, 0], x[:, 1], x[:, 2])

    def marker_array(self) -> np.ndarray:
        """(k, markers, 3, 3) position, velocity and acceleration of all markers, in the order of `system.markers`."""
        return self._replayed["markers"][:, list(self.system.markers.values())]

    @cached_property
    @without_warnings
    def from_poses(self) -> Distances:
        """How far the first state is from the poses of the bodies, and from what drivers and degrees of freedom ask for."""
        return distances(self.system, self.s, self.q[0])

    @cached_property
    @without_warnings
    def energies(self) -> Energies:
        """Energies at every state kept, and the work done up to it, summed over the steps by the integrator's own rule."""
        energy = self._summary["energy"]
        if self.work is not None:
            return Energies(energy[:, 0], energy[:, 1], self.work)
        done = np.zeros(len(self.t))
        power = Power(self.system, self.s)
        if len(self.hs) and has_power(power.work):
            done[1:] = np.cumsum(self.scheme.integrals(self.ts, self.hs, self.traj, power).real)
        return Energies(energy[:, 0], energy[:, 1], done)

    @property
    def constraint_violation(self) -> np.ndarray:
        """(k, 3) largest `|Phi|`, `|Phid|`, `|Phidd|` at every state kept."""
        return self._summary["violation"]

    def at_end(self) -> dict[str, MarkerMotion]:
        """All markers at the last state, each quantity a vector of three."""
        x = Replay(self)(slice(len(self.t) - 1, None))["markers"][0]
        return {name: MarkerMotion(*x[k]) for name, k in sorted(self.system.markers.items())}

    @cached_property
    def _reactions(self):
        return self._reactions_of(slice(None))

    def _reactions_of(self, rows: slice | np.ndarray):
        from kinegrad.reactions.solve import reactions

        return reactions(self.system, self.t[rows], self.q[rows], self.qd[rows], self.qdd[rows], s=self.s)

    def reactions(self, name: str | None = None, *, rows=None):
        """Force and moment of every joint and constraint at every state kept, or at those numbered `rows`; or of one: (k, 6).

        They act on the second body, at the first marker, in global components: `Reactions` is a mapping of names to
        (k, 6) arrays that also tells which components are unique, and the forces of drivers.
        """
        found = self._reactions if rows is None else self._reactions_of(np.asarray(rows))
        return found if name is None else found[name]

    def reactions_at_end(self):
        """The same at the last state only."""
        return self._reactions_of(slice(-1, None))

    # --- signals ---

    @property
    def catalogue(self) -> Catalogue:
        """All signals of the model by name, each with unit, owner and meaning; motions of one system share it."""
        tables = self.system.tables
        if "catalogue" not in tables:
            tables["catalogue"] = self.system.model.signals
        return tables["catalogue"]

    @property
    def signal_names(self) -> tuple[str, ...]:
        """Names of all signals."""
        return tuple(self.catalogue)

    def signals(self, *names: str, rows=None) -> Histories:
        """Histories of signals, a mapping from names to (k,) arrays; vectors are taken by component.

        Parameters
        ----------
        names : str
            As the catalogue lists them; all by default.
        rows : array of int, optional
            Numbers of the states to take; all of them by default.
        """
        from kinegrad.signals.histories import chosen, histories

        return histories(self, chosen(self.catalogue, names or ("all",)), rows)

    def __getitem__(self, name: str) -> np.ndarray:
        """The history of a signal, (k,), or (k, 3) of a vector."""
        found = self.signals(name).values
        return found[:, 0] if found.shape[1] == 1 else found

    # --- what is done with it ---

    def state(self, t: float | None = None) -> State:
        """The state at time `t`, from which another motion can start (``start=`` of `simulate`); the last one by default."""
        k = len(self.t) - 1
        if t is not None:
            if not self.t[0] <= t <= self.t[-1] * (1.0 + 1e-12):
                raise KinegradError(
                    f"The motion has no state at t = {t:g} s; it goes from {self.t[0]:g} s to {self.t[-1]:g} s."
                )
            k = int(np.abs(self.t - t).argmin())
            if abs(self.t[k] - t) > 1e-9 * self.t[-1]:
                raise KinegradError(
                    f"The motion has no state at t = {t:g} s; the nearest one that was kept is at {self.t[k]:.9g} s."
                )
        q, qd = self.q[k], self.qd[k]
        if not (np.isfinite(q).all() and np.isfinite(qd).all()):
            raise KinegradError(
                f"The state at t = {self.t[k]:g} s has numbers that are not finite; take an earlier one."
            )
        return State(self.system, self.s, float(self.t[k]), q.copy(), qd.copy(), "The motion")

    def as_start(self, system: System):
        """The last state as the start of a motion of `system`."""
        return self.state().as_start(system)

    @without_warnings
    def in_coordinates(self, kind: str | System | None = None, **options) -> Motion:
        """The same motion in other coordinates: q, qd and qdd of another set, or of this one cut elsewhere.

        What is converted is the motion of the bodies, exact to rounding.  Angles keep their turns, and Euler parameters the
        sign nearest to the state before.  Multipliers do not convert (`lam` says so); `reactions` gives forces and moments in
        every set.

        Parameters
        ----------
        kind : str or System, optional
            The set, with `options` such as `cut` as `kinegrad.lower` takes them, or a system of the same model.
        """
        from kinegrad.coordinates.sets import lower
        from kinegrad.given import converted

        if isinstance(kind, System):
            if options:
                raise KinegradError(f"A system has its options already; leave {', '.join(options)} out.")
            return converted(self, kind)
        system = lower(self.system.model, self.system.kind if kind is None else kind, **options)
        return converted(self, system.with_parameters(self.system.rho))

    def save(self, path: str | Path, *, reactions: bool = False, signals: str | Sequence[str] = ()) -> Path:
        """Where the motion was written: HDF5 in netCDF-4 layout, for `kinegrad.load` and xarray.

        Parameters
        ----------
        reactions : bool
            Whether reactions go with it.
        signals : str or sequence of str
            Signals that go with it, each a variable of its own with its unit; "all", or names.
        """
        from kinegrad.results import save

        return save(self, path, reactions, [signals] if isinstance(signals, str) else signals)

    def to_dataframe(self, *names: str, signals: str | Sequence[str] | None = None):
        """A pandas DataFrame: a row for each state kept, indexed by time, with a column for each quantity.

        Parameters
        ----------
        names : str
            Markers (``body.marker``), coordinates (``joint.angle``) and signals to take; by default all coordinates and
            markers.
        signals : str or sequence of str, optional
            Signals by name, or "all": without other names the table has these alone.

        Returns
        -------
        pandas.DataFrame
            Columns such as ``hinge.angle``, ``hinge.angle.velocity``, ``rod.tip.x``, ``rod.tip.x.acceleration``, then
            ``kinetic_energy``, ``potential_energy``, ``work`` and ``violation_position``; ``attrs["units"]`` has their
            units.
        """
        from kinegrad.dataframe import to_dataframe

        return to_dataframe(self, names, [signals] if isinstance(signals, str) else signals)

    def _repr_html_(self) -> str:
        """A summary for notebooks, with a picture."""
        from kinegrad.display import motion_html

        return motion_html(self)

    def plot(self, *names: str, x: str | None = None, beside=(), path: str | Path | None = None):
        """A matplotlib figure of signals, or of markers, energies, constraint violations and reactions.

        Parameters
        ----------
        names : str
            Signals, as in ``"strut.force, brace.force; hinge.angle"``: a comma puts them on the same axes, one unit an axis, a
            semicolon begins new ones.  Or markers (``body.marker``), ``energy``, ``constraints``, ``reactions`` (their
            magnitudes) and joints (components of their reactions).  By default a marker of each body that moves in its
            own way, the energies, the constraint violation, and forces of drivers where these move it.
        x : str, optional
            The signal along the other axis, in place of the time.
        beside : sequence of Motion, or mapping of labels to them, optional
            Motions whose signals are drawn on the same axes.
        path : str, optional
            Also write the figure there (png, pdf or svg).
        """
        from kinegrad.plots import plot

        return plot(self, names, path, x, beside)

    def to_html(
        self,
        path: str | Path,
        *,
        gradient=None,
        frames: int = 600,
        folder: str | Path | None = None,
        signals: str | Sequence[str] = (),
        beside=(),
    ) -> Path:
        """Where the animated page of the motion was written: one file that works offline.

        Parameters
        ----------
        gradient : Gradient, optional
            Derivatives to draw as bars beside the motion.
        frames : int
            States shown, at most; the motion has more, or fewer.
        folder : str, optional
            Where paths of mesh files begin; the current folder by default.
        signals : str or sequence of str
            Signals in the panels, as `plot` takes them: "," on the same axes, ";" in a new panel. "all" puts every signal into
            the file, for panels to choose from; by default it has those of joints, forces, measures and objectives.
        beside : Motion, sequence of them, or mapping of labels to them
            Motions that are drawn paler at the same times, and in the same panels.
        """
        from kinegrad.page.html import to_html

        options = {"gradient": gradient, "frames": frames, "folder": folder, "signals": signals, "beside": beside}
        return to_html(self, path, **options)


def _made_again(contents: dict) -> Motion:
    """A motion from its recipe; its scheme is made by its names."""
    from kinegrad.dynamics.schemes import scheme_for

    found = contents["scheme"]
    if isinstance(found, dict):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnusedOptionWarning)  # it was told when the motion was made
            contents["scheme"] = scheme_for(*(contents[name] for name in ("system", "formulation", "integrator")))
        contents["scheme"].take(found)
    return Motion(**contents)


def has_power(work: Workspace) -> bool:
    """Whether something in the model does work without having a potential: a law, a damper, a row that moves in time."""
    from kinegrad.kernels.elements.kinds import KINDS

    return any(kind.does_work(work.arrays) for kind in KINDS)


class Power:
    """The power of what has no potential, at states along a run; in a workspace with these slots, if one is given."""

    def __init__(self, system: System, s: np.ndarray, work: Workspace | None = None):
        self.work = system.workspace(s=s) if work is None else work
        self.functions = self.work.functions(EVALUATE, ENERGY, BIAS, OBSERVE)

    def __call__(self, t: np.ndarray, states: dict[str, np.ndarray]) -> np.ndarray:
        """(k,) power at the times t and states q, qd, qdd, lam."""
        return replay_states(self.work, self.functions, np.ascontiguousarray(t), states)["energy"][:, 2]


class Replay:
    """Marker quantities (rows, markers, 3, 3), energies (rows, 3) and constraint violations (rows, 3) of some states.

    Without markers a workspace with the slots of the motion will do, if one is given.
    """

    def __init__(self, motion: Motion, with_markers: bool = True, work: Workspace | None = None):
        self.motion, self.with_markers = motion, with_markers
        self.work = motion.system.workspace(s=motion.s, every_marker=with_markers) if work is None else work
        self.fn = self.work.functions(EVALUATE, ENERGY, BIAS, OBSERVE)

    def __call__(self, rows: slice | np.ndarray) -> dict[str, np.ndarray]:
        states = self.motion.scheme.motion(self.motion.traj[rows])
        return replay_states(self.work, self.fn, self.motion.t[rows], states, self.with_markers)


def replay_states(
    work: Workspace, fn, t: np.ndarray, states: dict, with_markers: bool = False
) -> dict[str, np.ndarray]:
    """As `Replay`, for states q, qd, qdd, lam at the times t."""
    from kinegrad.kernels.replay import replay as run

    q, qd, qdd, lam = (np.ascontiguousarray(states[name]) for name in ("q", "qd", "qdd", "lam"))
    markers = np.zeros((len(t), len(work["mk"]) if with_markers else 0, 3, 3), q.dtype)
    energy, violation = np.zeros((len(t), 3), q.dtype), np.zeros((len(t), 3))
    run(fn, work.pointer, work.system.m, t, q, qd, qdd, lam, markers, energy, violation)
    work.check_calls()
    return {"markers": markers, "energy": energy, "violation": violation}
