"""Results on disk: a Motion saved as HDF5 in the layout of netCDF-4, and loaded again.

Every array has named dimensions, labels and units, so that the file opens elsewhere as it is:
``xarray.open_dataset(path, engine="h5netcdf")``. The model is in it as the text of a model file, with the values of all
parameters, so that a loaded Motion can be replayed, plotted and differentiated. A checksum stands at its end.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import kinegrad
from kinegrad import checksum
from kinegrad.errors import KinegradError, UncheckedFileWarning
from kinegrad.files import check_writable, complete, reason
from kinegrad.hdf5_probe import comes_to_an_end
from kinegrad.hdf5_writing import Layout, new_file
from kinegrad.motion import Motion
from kinegrad.results_reading import CHECKSUM_SINCE, DRIVERS, FORMAT, GIVEN, fingerprint, read
from kinegrad.signals.histories import Histories, chosen
from kinegrad.starts import FromState

# --- saving ---


def save(motion: Motion, path: str | Path, reactions: bool = False, signals: Sequence[str] = ()) -> Path:
    """Where `motion` was written; a file that was there is replaced, and only by a complete one."""
    names = chosen(motion.catalogue, signals)
    path = check_writable(path)
    with complete(path) as part:
        _write(motion, part, reactions, names)
    return path


def _write(motion: Motion, path: Path, reactions: bool, signals: Sequence[str]) -> None:
    """The file with its checksum."""
    with new_file(path) as layout:
        _write_dimensions(layout, motion)
        _write_moving(layout, motion)
        _write_values(layout, motion)
        if reactions:
            _write_reactions(layout, motion.reactions())
        if signals:
            _write_signals(layout, motion.signals(*signals))
        layout.text("model", motion.system.model.to_yaml(), "the model file")
        layout.file.attrs.update(_attributes(motion))
    checksum.append(path)


def _steps(motion: Motion) -> str:
    """The dimension of what is known of each step, or of each interval between states."""
    return "step_end" if motion.stride == 1 else "interval_end"


def _write_dimensions(layout: Layout, motion: Motion) -> None:
    system, steps = motion.system, _steps(motion)
    layout.dimension("time", motion.t, "time of the states that were kept")
    ends = motion.ts[1:] if motion.stride == 1 else motion.t[1:]
    layout.dimension(steps, ends, f"time at the end of each {steps.removesuffix('_end')}")
    if motion.stride == 0:
        layout.dimension("step_end", motion.ts[1:], "time at the end of each step")
    layout.dimension("coordinate", system.coordinates, "names of the coordinates")
    layout.dimension("row", system.row_names, "names of the constraint rows")
    layout.dimension("marker", list(system.markers), "names of the markers")
    layout.dimension("xyz", ["x", "y", "z"], "global axes")
    layout.dimension("objective", list(motion.objectives), "names of the objectives")
    layout.dimension("parameter", system.parameters.independent, "names of the independent parameters")
    layout.dimension("slot", system.slots.names, "names of the numbers that the equations read")
    if isinstance(motion.start, FromState):
        layout.dimension("freedom", [f.name for f in system.freedoms], "names of the degrees of freedom")
    layout.dimension("state", range(motion.traj.shape[1]), "entries of the state that the scheme keeps")


def _write_moving(layout: Layout, motion: Motion) -> None:
    """What there is of every state, written in blocks: there may be more than fits in memory once more."""
    moves = ("time", "coordinate")
    for name, dimensions, unit, text in (
        ("q", moves, "m, rad or 1", "coordinates"),
        ("qd", moves, "m/s, rad/s or 1/s", "velocities"),
        ("qdd", moves, "m/s2, rad/s2 or 1/s2", "accelerations"),
        ("lam", ("time", "row"), "N, N m or N/m", "multipliers of the constraint rows"),
    ):
        layout.variables_by_rows(
            [(name, dimensions, unit, text)],
            lambda rows, name=name: [motion.scheme.motion(motion.traj[rows])[name]],
        )
    points = ("time", "marker", "xyz")
    layout.variables_by_rows(
        [
            ("marker_position", points, "m", "positions of the markers, or unit vectors"),
            ("marker_velocity", points, "m/s", "velocities of the markers"),
            ("marker_acceleration", points, "m/s2", "accelerations of the markers"),
        ],
        motion.marker_blocks(),
    )
    text = "states as the scheme keeps them"
    layout.variables_by_rows([("state_value", ("time", "state"), "", text)], lambda rows: [motion.traj[rows]])


def _write_values(layout: Layout, motion: Motion) -> None:
    """Energies, violations, objectives, parameters and what is known of each step."""
    system, energies, steps = motion.system, motion.energies, _steps(motion)
    layout.variable("kinetic_energy", ("time",), energies.kinetic, "J", "kinetic energy")
    layout.variable("potential_energy", ("time",), energies.potential, "J", "energy of gravity and springs")
    layout.variable("work", ("time",), energies.work, "J", "work of all that has no potential, since the start")
    for k, (name, unit) in enumerate((("position", "m"), ("velocity", "m/s"), ("acceleration", "m/s2"))):
        text = f"largest violation of the constraint rows, {name} level"
        layout.variable(f"violation_{name}", ("time",), motion.constraint_violation[:, k], unit, text)
    values = list(motion.objectives.values())
    layout.variable("objective_value", ("objective",), values, "", "values of the objectives")
    layout.variable("parameter_value", ("parameter",), system.rho, "SI", "values of the independent parameters")
    layout.variable("slot_value", ("slot",), motion.s, "SI", "numbers that the equations read")
    if isinstance(motion.start, FromState):
        text = "degrees of freedom at the start, which came from another motion"
        layout.variable("start_position", ("freedom",), motion.start.position, "SI", text)
        layout.variable("start_velocity", ("freedom",), motion.start.velocity, "SI", f"rates of {text}")
    if motion.stride < 2:
        layout.variable("step_size", ("step_end",), motion.hs, "s", "step sizes")
    layout.variable("iterations", (steps,), motion.iterations, "1", "Newton iterations of each step or interval")
    text = "projections: 1 velocity, 2 acceleration; 4: other independent coordinates"
    layout.variable("flags", (steps,), motion.flags, "1", text)


def _attributes(motion: Motion) -> dict:
    system = motion.system
    return {
        "kinegrad": kinegrad.__version__,
        "format": FORMAT,
        "title": system.model.title or "Motion",
        "coordinates": system.kind,
        "coordinate_options": json.dumps(system.set.options),
        **_choices(motion),
        "options": json.dumps(motion.scheme.options),
        "fingerprint": fingerprint(system),
        "start": motion.start.name,
        "step": motion.step,
        **({} if motion.output_step is None else {"output_step": motion.output_step}),
        "t_end": motion.t_end,
        **({} if motion.follows is None else {"follows": json.dumps(list(motion.follows))}),
        "stride": motion.stride,
        "steps": len(motion.hs),
        "cpu_s": motion.cpu_s,
        "status": motion.status,
        "status_text": _status_text(motion.status),
    }


def _choices(motion: Motion) -> dict:
    """How the motion was made; for one by drivers what it found on its way stands there."""
    if motion.formulation is None and not motion.is_driven:
        found = {"type": GIVEN, "converted": bool(getattr(motion.scheme, "without_multipliers", ""))}
        return {
            "formulation": json.dumps(found | {"turns": motion.extra.get("turns", {})}),
            "integrator": json.dumps({"type": GIVEN}),
        }
    if motion.is_driven:
        return {
            "formulation": json.dumps({"type": DRIVERS, **motion.extra}),
            "integrator": json.dumps({"type": DRIVERS}),
        }
    chosen = {"formulation": motion.formulation, "integrator": motion.integrator}
    return {name: json.dumps(choice.to_plain()) for name, choice in chosen.items()}


def _write_signals(layout: Layout, signals: Histories) -> None:
    """A variable for each, by its name; time and what every file has are there already."""
    for name, signal in signals.signals.items():
        if name not in layout.file and name != "t":
            layout.variable(name, ("time",), signals[name], signal.unit, signal.meaning)


def _write_reactions(layout: Layout, reactions) -> None:
    """Force and moment by time and joint, what is unique of them, and the forces of drivers."""
    layout.dimension("joint", list(reactions), "names of the joints and constraints that have reactions")
    layout.dimension("measure", list(reactions.forces), "names of drivers and of other constraints of measures")
    where = "on the second body, at the first marker, global components"
    for part, kind, unit in ((slice(0, 3), "force", "N"), (slice(3, 6), "moment", "N m")):
        values = np.stack([x[:, part] for x in reactions.values()], axis=1) if len(reactions) else ()
        layout.variable(f"reaction_{kind}", ("time", "joint", "xyz"), values, unit, f"{kind} {where}")
        flags = [unique[part].astype(np.int8) for unique in reactions.unique.values()]
        text = f"1 where the {kind} follows from the equations, 0 where redundant constraints share it"
        layout.variable(f"reaction_{kind}_unique", ("joint", "xyz"), flags, "1", text)
    forces = np.stack(list(reactions.forces.values()), axis=1) if reactions.forces else ()
    layout.variable("measure_force", ("time", "measure"), forces, "N or N m", "forces of drivers, along their measures")


def _status_text(status: int) -> str:
    from kinegrad.kernels.status import WORDS

    return WORDS.get(status, f"status {status}")


# --- loading ---


def load(path: str | Path) -> Motion:
    """The Motion in a file that `Motion.save` wrote, with its system built again from the model in it.

    Raises KinegradError when the file is damaged. A file without a checksum, from an older version or changed by another
    program, is read with a warning (`UncheckedFileWarning`).
    """
    path = Path(path)
    _check_file(path)
    try:
        sound = checksum.is_sound(path)
    except OSError as error:
        raise KinegradError(f"{str(path)!r} cannot be read: {reason(error)}.") from None
    if sound is False:
        raise KinegradError(
            f"{str(path)!r} is damaged: its checksum does not suit its contents; take another copy, or simulate again."
        )
    if sound is None and not comes_to_an_end(path):
        raise KinegradError(f"{str(path)!r} is damaged: HDF5 does not come to an end with it; simulate again.")
    motion, version = read(path)
    if sound is None:
        how = "was saved by an older version" if version < CHECKSUM_SINCE else "was changed after it was saved"
        warnings.warn(
            UncheckedFileWarning(
                f"{str(path)!r} {how} and has no checksum, so that damage to its numbers would not show."
            ),
            stacklevel=2,
        )
    return motion


def _check_file(path: Path) -> None:
    """Raises when there is no regular file: a pipe would never end, and HDF5 has to go back and forth."""
    try:
        if not path.exists():
            raise KinegradError(f"There is no file {str(path)!r}.")
        if not path.is_file():
            raise KinegradError(
                f"{str(path)!r} cannot be read: it is not a file; name what Motion.save or --out wrote."
            )
    except (OSError, ValueError) as error:
        raise KinegradError(f"{str(path)!r} cannot be read: {reason(error)}.") from None
