"""Results on disk: a Motion saved as HDF5 in the layout of netCDF-4, and loaded again.

Every array has named dimensions, labels and units, so that the file opens elsewhere as it is:
``xarray.open_dataset(path, engine="h5netcdf")``. The model is in it as the text of a model file, with the values of all
parameters, so that a loaded Motion can be replayed, plotted and differentiated.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import numpy as np

import kinegrad
from kinegrad.errors import KinegradError
from kinegrad.motion import EvenSteps, EvenTimes, Motion

FORMAT = 2
UNITS = {"time": "s", "step_end": "s", "interval_end": "s"}


# --- saving ---


def check_writable(path: str | Path) -> Path:
    """`path` without links; raises when a file cannot be written there."""
    path = Path(path)
    try:
        path = path.resolve()
        if path.exists() and not path.is_file():
            raise KinegradError(f"{str(path)!r} cannot be written: it is not a file; name a file that may be replaced.")
        if not path.parent.is_dir():
            raise KinegradError(
                f"{str(path)!r} cannot be written: there is no folder {str(path.parent)!r}; make it first."
            )
        new = not path.exists()
        with path.open("ab"):
            pass
        if new:
            path.unlink()
    except (OSError, RuntimeError, ValueError) as error:
        raise KinegradError(f"{str(path)!r} cannot be written: {_reason(error)}; name another file.") from None
    return path


def save(motion: Motion, path: str | Path, reactions: bool = False) -> Path:
    """Where `motion` was written; a file that was there is replaced, and only by a complete one."""
    if motion.formulation is None:
        raise KinegradError(
            "A motion that was given or driven has no formulation and is not saved; simulate the model."
        )
    path = check_writable(path)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        _write(motion, part, reactions)
        os.replace(part, path)
    except OSError as error:
        raise KinegradError(f"{str(path)!r} cannot be written: {_reason(error)}; name another file.") from None
    finally:
        part.unlink(missing_ok=True)
    return path


def _write(motion: Motion, path: Path, reactions: bool) -> None:
    import h5py

    system = motion.system
    with h5py.File(path, "w") as file:
        layout = _Layout(file)
        layout.dimension("time", motion.t, "time of the states that were kept")
        steps = "step_end" if motion.stride == 1 else "interval_end"
        ends = motion.ts[1:] if motion.stride == 1 else motion.t[1:]
        layout.dimension(steps, ends, f"time at the end of each {steps.removesuffix('_end')}")
        layout.dimension("coordinate", system.coordinates, "names of the coordinates")
        layout.dimension("row", system.row_names, "names of the constraint rows")
        layout.dimension("marker", list(system.markers), "names of the markers")
        layout.dimension("xyz", ["x", "y", "z"], "global axes")
        layout.dimension("objective", list(motion.objectives), "names of the objectives")
        layout.dimension("parameter", system.parameters.independent, "names of the independent parameters")
        layout.dimension("slot", system.slots.names, "names of the numbers that the equations read")
        layout.dimension("state", range(motion.traj.shape[1]), "entries of the state that the scheme keeps")

        moves = ("time", "coordinate")
        layout.variable("q", moves, motion.q, "m, rad or 1", "coordinates")
        layout.variable("qd", moves, motion.qd, "m/s, rad/s or 1/s", "velocities")
        layout.variable("qdd", moves, motion.qdd, "m/s2, rad/s2 or 1/s2", "accelerations")
        layout.variable("lam", ("time", "row"), motion.lam, "N, N m or N/m", "multipliers of the constraint rows")
        points = ("time", "marker", "xyz")
        x = motion.marker_array()
        layout.variable("marker_position", points, x[:, :, 0], "m", "positions of the markers, or unit vectors")
        layout.variable("marker_velocity", points, x[:, :, 1], "m/s", "velocities of the markers")
        layout.variable("marker_acceleration", points, x[:, :, 2], "m/s2", "accelerations of the markers")
        energies = motion.energies
        layout.variable("kinetic_energy", ("time",), energies.kinetic, "J", "kinetic energy")
        layout.variable("potential_energy", ("time",), energies.potential, "J", "energy of gravity and springs")
        layout.variable("work", ("time",), energies.work, "J", "work of all that has no potential, since the start")
        for k, (name, unit) in enumerate((("position", "m"), ("velocity", "m/s"), ("acceleration", "m/s2"))):
            text = f"largest violation of the constraint rows, {name} level"
            layout.variable(f"violation_{name}", ("time",), motion.constraint_violation[:, k], unit, text)
        layout.variable(
            "objective_value", ("objective",), list(motion.objectives.values()), "", "values of the objectives"
        )
        layout.variable("parameter_value", ("parameter",), system.rho, "SI", "values of the independent parameters")
        layout.variable("slot_value", ("slot",), motion.s, "SI", "numbers that the equations read")
        layout.variable("state_value", ("time", "state"), motion.traj, "", "states as the scheme keeps them")
        if motion.stride == 1:
            layout.variable("step_size", (steps,), motion.hs, "s", "step sizes")
        layout.variable("iterations", (steps,), motion.iterations, "1", "Newton iterations of each step or interval")
        layout.variable(
            "flags",
            (steps,),
            motion.flags,
            "1",
            "projections: 1 velocity, 2 acceleration; 4: other independent coordinates",
        )
        if reactions:
            _write_reactions(layout, motion.reactions())
        layout.text("model", system.model.to_yaml(), "the model file")

        file.attrs.update(
            kinegrad=kinegrad.__version__,
            format=FORMAT,
            title=system.model.title or "Motion",
            coordinates=system.kind,
            cut=json.dumps(system.cut),
            body_point=system.body_point,
            formulation=json.dumps(motion.formulation.to_plain()),
            integrator=json.dumps(motion.integrator.to_plain()),
            options=json.dumps(motion.scheme.options),
            fingerprint=fingerprint(system),
            step=motion.step,
            t_end=motion.t_end,
            stride=motion.stride,
            steps=len(motion.hs),
            cpu_s=motion.cpu_s,
            status=motion.status,
            status_text=_status_text(motion.status),
        )


def _write_reactions(layout: _Layout, reactions) -> None:
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


class _Layout:
    """Dimensions and variables of a netCDF-4 file in HDF5: each dimension is a scale, each variable names its own."""

    def __init__(self, file):
        import h5py

        self.file = file
        self.string = h5py.string_dtype("utf-8")

    def dimension(self, name: str, labels, text: str) -> None:
        """A dimension with labels or values along it; none at all is no dimension."""
        labels = list(labels) if not isinstance(labels, np.ndarray) else labels
        if len(labels) == 0:
            return
        dtype = self.string if isinstance(labels[0], str) else None
        scale = self.file.create_dataset(name, data=labels, dtype=dtype)
        scale.make_scale(name)
        scale.attrs["_Netcdf4Dimid"] = np.int32(sum("_Netcdf4Dimid" in d.attrs for d in self.file.values()))
        self._describe(scale, UNITS.get(name, ""), text)

    def variable(self, name: str, dimensions: tuple[str, ...], values, unit: str, text: str) -> None:
        """An array over dimensions; one without entries is left out."""
        if any(d not in self.file for d in dimensions):
            return
        dataset = self.file.create_dataset(name, data=np.ascontiguousarray(values))
        for axis, d in enumerate(dimensions):
            dataset.dims[axis].attach_scale(self.file[d])
        self._describe(dataset, unit, text)

    def text(self, name: str, value: str, text: str) -> None:
        """A text of any length."""
        self._describe(self.file.create_dataset(name, data=value, dtype=self.string), "", text)

    @staticmethod
    def _describe(dataset, unit: str, text: str) -> None:
        if unit:
            dataset.attrs["units"] = unit
        dataset.attrs["long_name"] = text


def _status_text(status: int) -> str:
    from kinegrad.kernels.status import WORDS

    return WORDS.get(status, f"status {status}")


def fingerprint(system) -> str:
    """Sixteen hexadecimal digits that change with the layout of the equations: coordinates, rows, freedoms, slots."""
    rows = [(row.name, row.number) for row in system.rows]
    freedoms = [freedom.name for freedom in system.freedoms]
    parts = (system.kind, system.coordinates, rows, freedoms, system.slots.names, system.objectives, system.cut)
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


# --- loading ---


def load(path: str | Path) -> Motion:
    """The Motion in a file that `Motion.save` wrote, with its system built again from the model in it."""
    import h5py

    path = Path(path)
    if not path.exists():
        raise KinegradError(f"There is no file {str(path)!r}.")
    try:
        with h5py.File(path, "r") as file:
            version = file.attrs.get("format")
            if "kinegrad" not in file.attrs or version is None:
                raise KinegradError(f"{str(path)!r} is no result of kinegrad; load what Motion.save or --out wrote.")
            if version != FORMAT:
                raise KinegradError(
                    f"{str(path)!r} has format {version} of kinegrad {file.attrs['kinegrad']}, and this version reads "
                    f"format {FORMAT}; simulate again, or use that version."
                )
            return _read(file, path)
    except (OSError, RuntimeError, KeyError, ValueError, TypeError, AttributeError) as error:
        raise KinegradError(f"{str(path)!r} cannot be read as a result of kinegrad: {_reason(error)}.") from None


def _read(file, path: Path) -> Motion:
    from kinegrad.coordinates.joint import joint
    from kinegrad.dynamics.schemes import scheme_for
    from kinegrad.model.model import Model
    from kinegrad.model.simulation import FORMULATIONS, INTEGRATORS

    model = Model.from_yaml_text(file["model"].asstr()[()])
    labels = _labels(file, "parameter")
    values = dict(zip(labels, _array(file, "parameter_value", len(labels)).tolist(), strict=True))
    point = file.attrs.get("body_point", "origin")
    system = joint(model, cut=json.loads(file.attrs["cut"]), values=values, body_point=point)
    if fingerprint(system) != file.attrs["fingerprint"]:
        raise KinegradError(
            f"{str(path)!r} was written by kinegrad {file.attrs['kinegrad']}, which set up the equations in another "
            "way than this version; simulate the model again."
        )
    formulation, integrator = (
        table[plain["type"]](**plain)
        for table, plain in (
            (FORMULATIONS, json.loads(file.attrs["formulation"])),
            (INTEGRATORS, json.loads(file.attrs["integrator"])),
        )
    )
    scheme = scheme_for(system, formulation, integrator)
    states = len(file["time"])
    stride, steps = int(file.attrs["stride"]), int(file.attrs["steps"])
    t = _array(file, "time", states)
    step, t_end = float(file.attrs["step"]), float(file.attrs["t_end"])
    if stride == 1:
        ts, hs = np.concatenate([t[:1], _array(file, "step_end", steps)]), _array(file, "step_size", steps)
        entries = steps
    else:
        whole = EvenSteps.that_meet(t_end, step)
        hs, ts = whole.until(steps), EvenTimes(step, len(whole), t_end).until(steps)
        entries = len(file["interval_end"]) if "interval_end" in file else 0
    return Motion(
        system=system,
        formulation=formulation,
        integrator=integrator,
        scheme=scheme,
        t=t,
        traj=_array(file, "state_value", states, scheme.row_size),
        ts=ts,
        hs=hs,
        stride=stride,
        iterations=_array(file, "iterations", entries).astype(np.int64),
        flags=_array(file, "flags", entries).astype(np.int64),
        objectives=dict(
            zip(system.objectives, _array(file, "objective_value", len(system.objectives)).tolist(), strict=True)
        ),
        cpu_s=float(file.attrs["cpu_s"]),
        status=int(file.attrs["status"]),
        s=_array(file, "slot_value", len(system.slots)),
        step=step,
        t_end=t_end,
        work=_array(file, "work", states) if stride > 1 else None,
    )


def _array(file, name: str, *shape: int) -> np.ndarray:
    """The numbers of a variable, which must have this shape; one without entries is not in the file."""
    if 0 in shape:
        return np.zeros(shape)
    found = file[name].shape
    if found != shape:
        raise ValueError(f"{name!r} has the shape {found} instead of {shape}")
    return file[name][()]


def _labels(file, name: str) -> list[str]:
    return file[name].asstr()[()].tolist() if name in file else []


def _reason(error: Exception) -> str:
    """What an error says, without full stop."""
    text = getattr(error, "strerror", None) or " ".join(str(error).split()) or type(error).__name__
    return text.rstrip(".")
