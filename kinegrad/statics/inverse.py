"""inverse: the forces that a given motion needs, at drivers or degrees of freedom, and all reactions (INV-1)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kinegrad.coordinates.system import System
from kinegrad.errors import KinegradError, ModelWarning
from kinegrad.given import given_motion
from kinegrad.kernels.products import FREEDOMS, POSITION, TIME
from kinegrad.kinematics.start import row_sizes
from kinegrad.kinematics.states import refuse_states, refuse_velocity_rows
from kinegrad.motion import Motion
from kinegrad.quiet import without_warnings
from kinegrad.reactions.result import Reactions
from kinegrad.reactions.solve import reactions
from kinegrad.statics.actuators import Actuators
from kinegrad.statics.drive import drive

POSSIBLE = 1e-6  # of the size of a constraint row: what a motion that is given may be off by


@dataclass(frozen=True, eq=False, repr=False)
class Inverse:
    """Forces of a given motion.

    Attributes
    ----------
    t : (k,) array
    forces : dict of name to (k,) array
        Of each driver and, where a motion was given, of each degree of freedom, along its measure; (k, 3) moment or (k, 6)
        force and moment on the second body for a spherical or floating joint that starts with an orientation.
    powers : dict of name to (k,) array
    reactions : Reactions
    motion : Motion
    actuators : Actuators or None
        Those that were named.
    path : Motion or None
        The motion by drivers that was given, where it is one.
    residual : float
        Largest generalised force that neither joints nor drivers, or actuators, can give; not zero when freedoms are left.
    """

    t: np.ndarray
    forces: dict[str, np.ndarray]
    powers: dict[str, np.ndarray]
    reactions: Reactions
    motion: Motion
    actuators: Actuators | None = None
    path: Motion | None = None

    @property
    def residual(self) -> float:
        return float(self.reactions.residual.max(initial=0.0))

    def gradient(self, wrt: Sequence[str] | None = None, method="direct"):
        """Gradient of the objectives of the motion by drivers, as `kinegrad.gradient` gives it."""
        from kinegrad.sensitivity.gradient import gradient

        return gradient(self.motion, wrt=wrt, method=method)

    def sensitivity(self, wrt: Sequence[str] | None = None):
        """Derivatives of a motion by drivers, and of the forces of drivers or actuators, by parameters (DRV-4, INV-4).

        The drivers hold what they prescribe: a length that changes moves the coordinates, and the forces with them.
        """
        from kinegrad.statics.instants import sensitivity

        return sensitivity(self.motion if self.path is None else self.path, wrt, self.actuators)

    def __repr__(self) -> str:
        return f"<Inverse: {', '.join(self.forces) or 'no forces'} at {len(self.t)} times to {self.t[-1]:g} s>"


@without_warnings
def inverse(
    system: System,
    motion: Motion | None = None,
    *,
    t: np.ndarray | None = None,
    q: np.ndarray | None = None,
    qd: np.ndarray | None = None,
    qdd: np.ndarray | None = None,
    actuators: Sequence[str] = (),
    t_end: float | None = None,
    step: float | None = None,
    output_step: float | None = None,
    progress: Callable[[float], None] | None = None,
) -> Inverse:
    """The forces that a motion needs beyond the loads of the model.

    Without a motion the drivers of the model prescribe it (see `kinegrad.drive`) and the answer is what they have to give.
    With one, the degrees of freedom of the model are taken as driven too.

    Parameters
    ----------
    motion : Motion, optional
        Of this system, or of one with the same coordinates (other forces, other parameters).
    t, q, qd, qdd : (k,) and (k, n) arrays, optional
        A motion by times, coordinates, velocities and accelerations.
    actuators : sequence of str, optional
        Forces of the model that act on measures: they are left out and found, instead of forces on all degrees of freedom.
        The drivers of the model prescribe the motion and carry nothing, but for those that are named here too. If actuators
        are too few `residual` tells what is missing; if they are too many a warning tells that their forces are of least norm.
    """
    refuse_states(system, "a motion that is given")
    refuse_velocity_rows(system, "A motion that is given", "simulate the model")
    given = [x is not None for x in (t, q, qd, qdd)]
    if motion is not None and any(given):
        raise KinegradError("inverse has a motion and arrays; give one of them.")
    if any(given) and not all(given):
        missing = [name for name, x in zip(("t", "q", "qd", "qdd"), given, strict=True) if not x]
        raise KinegradError(f"inverse lacks {' and '.join(missing)}; a motion by arrays needs t, q, qd and qdd.")
    if (motion is not None or any(given)) and not (t_end is step is output_step is None):
        raise KinegradError("inverse has a motion and t_end, step or output_step; a given motion has its own times.")
    if motion is not None:
        t, q, qd, qdd = _of_coordinates(system, motion)
    given, path = t is not None, motion if motion is not None and motion.is_driven else None
    if given:
        motion = _checked(system, t, q, qd, qdd)
    else:
        motion = drive(system, t_end=t_end, step=step, output_step=output_step, progress=progress)
    acting = Actuators.of(system, actuators) if actuators else None
    if acting is None:
        found = reactions(system, *_of_coordinates(system, motion), held=given)
        wanted = {*system.model.drivers, *system.model.degrees_of_freedom}
    else:
        found = acting.balanced(_of_coordinates(acting.acting, motion))
        wanted = set(acting.names)
        _tell_shared(acting, found)
    return Inverse(
        t=motion.t,
        forces={name: x for name, x in found.forces.items() if name in wanted},
        powers={name: x for name, x in found.powers.items() if name in wanted},
        reactions=found,
        motion=motion,
        actuators=acting,
        path=path,
    )


def _tell_shared(acting: Actuators, found: Reactions) -> None:
    """Warns of actuators that share the load."""
    shared = [name for name in acting.names if not found.unique_forces[name]]
    if shared:
        warnings.warn(
            f"The actuators {', '.join(shared)} are more than the motion needs: of the forces that balance it those of the "
            "least sum of squares are told. Name fewer for forces that follow from the motion alone.",
            ModelWarning,
            stacklevel=4,
        )


def _of_coordinates(system: System, motion: Motion) -> tuple[np.ndarray, ...]:
    """t, q, qd, qdd of a motion in the coordinates of `system`."""
    have = motion.system.number_of
    missing = [name for name in system.coordinates if name not in have]
    if missing or motion.system.kind != system.kind:
        what = f"has no coordinate {missing[0]!r}" if missing else f"is in {motion.system.kind} coordinates"
        raise KinegradError(
            f"The motion {what}; give one of this system, with the same options ({system.set.options})."
        )
    order = [have[name] for name in system.coordinates]
    return motion.t, motion.q[:, order], motion.qd[:, order], motion.qdd[:, order]


def _refuse_apart(system: System, t: np.ndarray, q: np.ndarray) -> None:
    """Raises where a position does not close loops, or follow drivers."""
    work = system.workspace()
    for time, position in zip(t, q, strict=True):
        work["q"][:], work["par"][TIME], work["flag"][FREEDOMS] = position, time, 0
        work.call(POSITION)
        off, sizes = np.abs(work["Phi"][: system.m]), row_sizes(system, work, system.m)
        worst = int((off / sizes).argmax()) if system.m else 0
        if system.m and not off[worst] <= POSSIBLE * sizes[worst]:
            raise KinegradError(
                f"The mechanism is not assembled at t = {time:g} s of the motion given: {system.row_names[worst]!r} is off by "
                f"{off[worst]:.3g}. Give coordinates that close all loops and follow the drivers."
            )


def _checked(system: System, t, q, qd, qdd) -> Motion:
    """The motion, after a look at its shape and at whether the mechanism can move so."""
    t, q, qd, qdd = (np.asarray(x, float) for x in (t, q, qd, qdd))
    for name, x in (("q", q), ("qd", qd), ("qdd", qdd)):
        if x.shape != (len(t), system.n):
            raise KinegradError(f"{name} has the shape {x.shape}; {(len(t), system.n)} is needed: times, coordinates.")
        if not np.isfinite(x).all():
            raise KinegradError(f"{name} has entries that are not finite.")
    motion = given_motion(system, t, (q, qd, qdd, np.zeros((len(t), system.m))), s=system.s)
    _refuse_apart(system, t, q)
    return motion
