"""A Motion from a file of results: nothing in the file is believed before it was looked at."""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path

import numpy as np

from kinegrad.errors import KinegradError
from kinegrad.even_times import EvenSteps, EvenTimes
from kinegrad.files import reason
from kinegrad.kernels.status import WORDS
from kinegrad.motion import Motion
from kinegrad.starts import STARTS, Assembled, FromState, Start
from kinegrad.times import times_that_follow

FORMAT = 6  # that is written
# Those that are read: 2 had no checksum, 4 no start, 5 the reaction of a point on a line or in a plane at that point.
READ = (2, 3, 4, 5, 6)
CHECKSUM_SINCE = 3  # format
DRIVERS = "drivers"  # in the place of a formulation and an integrator
GIVEN = "given"  # the same, of states that were given, or came from another system
MOST_PACKED = 1100  # times that compression makes numbers smaller, at most
MOST_WORDS = 300  # characters of a reason
MOST_TEXT = 1 << 20  # characters of an attribute


def fingerprint(system) -> str:
    """Sixteen hexadecimal digits that change with the layout of the equations: coordinates, rows, freedoms, slots."""
    rows = [(row.name, row.number) for row in system.rows]
    freedoms = [freedom.name for freedom in system.freedoms]
    parts = (system.kind, system.set.options, system.coordinates, rows, freedoms, system.slots.names, system.objectives)
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def read(path: Path) -> tuple[Motion, int]:
    """The Motion in a file, and the format of the file."""
    import h5py

    try:
        with h5py.File(path, "r") as file:
            if "kinegrad" not in file.attrs or "format" not in file.attrs:
                raise KinegradError(f"{str(path)!r} is no result of kinegrad; load what Motion.save or --out wrote.")
            written_by = _text(file, "kinegrad")
            version = _whole(file, "format", 0)
            if version not in READ:
                raise KinegradError(
                    f"{str(path)!r} has format {version} of kinegrad {written_by}, and this version reads format "
                    f"{FORMAT}; simulate again, or use that version."
                )
            return _Reader(file, path, written_by).motion(), version
    except KinegradError as error:
        if str(path) in str(error):
            raise
        raise _unreadable(path, error) from error
    except Exception as error:  # whatever HDF5 and what builds the system make of numbers that nobody wrote
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> KinegradError:
    text = reason(error)
    text = f"{text[:MOST_WORDS]}..." if len(text) > MOST_WORDS else text
    return KinegradError(f"{str(path)!r} cannot be read as a result of kinegrad: {text}; simulate again.")


class _Reader:
    """Reads one file."""

    def __init__(self, file, path: Path, written_by: str):
        self.file, self.path, self.written_by = file, path, written_by

    def motion(self) -> Motion:
        file = self.file
        system = self.system()
        scheme, formulation, integrator, extra = self.made_by(system)
        is_given = formulation is None and "singular" not in extra
        time = _number if is_given else _positive  # one state has no step
        step, t_end, cpu_s = time(file, "step"), time(file, "t_end"), _number(file, "cpu_s")
        stride, steps, status = _whole(file, "stride", 0), _whole(file, "steps", 0), _whole(file, "status", 0)
        if status not in WORDS:
            raise ValueError(f"'status' is {status}, which has no meaning")
        states = self.length("time")
        t = self.times("time", states)
        if stride == 0 and not getattr(scheme, "adaptive", False):
            raise ValueError("'stride' is 0, and the integrator does not choose its steps")
        if stride < 2:
            ts, hs = np.concatenate([t[:1], self.times("step_end", steps)]), self.finite("step_size", steps)
            if not (states == steps + 1 if stride == 1 else np.isin(t, ts).all() and t[-1] == ts[-1]):
                raise ValueError(f"{states} states and {steps} steps do not suit each other")
            entries = states - 1
        else:
            whole = EvenSteps.that_meet(t_end, step)
            if steps > len(whole) or states > steps + 1:
                raise ValueError(f"{states} states and {steps} steps do not suit {len(whole)} steps of {step:g} s")
            hs, ts = whole.until(steps), EvenTimes(step, len(whole), t_end).until(steps)
            entries = states - 1
        known = system.objectives if "objective_value" in file or not is_given else {}
        objectives = self.array("objective_value", len(known)).tolist()
        summed = stride != 1 or bool(getattr(scheme, "without_multipliers", ""))
        return Motion(
            system=system, formulation=formulation, integrator=integrator, scheme=scheme, t=t, ts=ts, hs=hs, stride=stride,
            traj=self.array("state_value", states, scheme.row_size), iterations=self.whole("iterations", entries),
            flags=self.whole("flags", entries), objectives=dict(zip(known, objectives, strict=True)),
            cpu_s=cpu_s, status=status, s=self.finite("slot_value", len(system.slots)), step=step, t_end=t_end,
            work=self.array("work", states) if summed else None, start=self.start(len(system.freedoms)),
            extra=extra, output_step=_positive(file, "output_step") if "output_step" in file.attrs else None,
            follows=self.follows(system),
        )  # fmt: skip

    def follows(self, system) -> dict | None:
        """Times that follow from parameters, with their expressions; None where the file does not tell."""
        if "follows" not in self.file.attrs:
            return None
        names = _json(self.file, "follows", list)
        every = times_that_follow(system, t_end=None, step=None, output_step=None)
        return {name: expression for name, expression in every.items() if name in names}

    def start(self, freedoms: int) -> Start:
        """Where the motion started."""
        name = _text(self.file, "start") if _whole(self.file, "format", 0) >= 5 else Assembled.name
        if name == FromState.name:
            return FromState(*(self.finite(f"start_{part}", freedoms) for part in ("position", "velocity")))
        if name not in STARTS:
            raise ValueError(f"'start' is {name!r}, which has no meaning")
        return STARTS[name]()

    def system(self):
        """The system, built again from the model and the values of parameters."""
        from kinegrad.coordinates.sets import lower
        from kinegrad.model.model import Model

        model = Model.from_yaml_text(self.model_text())
        labels = self.labels("parameter")
        values = dict(zip(labels, self.finite("parameter_value", len(labels)).tolist(), strict=True))
        system = lower(model, self.kind(), values=values, **_json(self.file, "coordinate_options", dict))
        if fingerprint(system) != _text(self.file, "fingerprint"):
            raise KinegradError(
                f"{str(self.path)!r} was written by kinegrad {self.written_by}, which set up the equations in another "
                "way than this version; simulate the model again."
            )
        return system

    def kind(self) -> str:
        """The coordinate set."""
        from kinegrad.coordinates.sets import SETS

        kind = _text(self.file, "coordinates")
        if kind not in SETS or "coordinate_options" not in self.file.attrs:
            raise KinegradError(
                f"{str(self.path)!r} was written by kinegrad {self.written_by}, whose coordinates this version does not set up "
                "in the same way; simulate the model again."
            )
        return kind

    def made_by(self, system):
        """Scheme, formulation, integrator, and what a motion by drivers found on its way."""
        from kinegrad.dynamics.given_states import GivenStates
        from kinegrad.dynamics.schemes import scheme_for

        plain = _json(self.file, "formulation", dict)
        if plain.get("type") == DRIVERS:
            return GivenStates(system), None, None, _found(plain)
        if plain.get("type") == GIVEN:
            from kinegrad.given import ConvertedStates

            return (ConvertedStates if plain.get("converted") else GivenStates)(system), None, None, _turns(plain)
        formulation, integrator = self.choices()
        return scheme_for(system, formulation, integrator), formulation, integrator, {}

    def choices(self):
        """Formulation and integrator."""
        from kinegrad.model.simulation import FORMULATIONS, INTEGRATORS

        for name, table in (("formulation", FORMULATIONS), ("integrator", INTEGRATORS)):
            plain = _json(self.file, name, dict)
            if plain.get("type") not in table:
                raise ValueError(f"{name!r} is {plain.get('type')!r}, which does not exist")
            yield table[plain["type"]](**plain)

    # --- datasets ---

    def dataset(self, name: str):
        """A dataset of this file, whose numbers are in it: no link to elsewhere, not larger than its bytes can hold."""
        import h5py

        if name not in self.file:
            raise KeyError(f"there is no {name!r} in it")
        link = self.file.get(name, getlink=True)
        found = self.file[name] if isinstance(link, h5py.HardLink) else None
        if not isinstance(found, h5py.Dataset) or found.is_virtual or found.external:
            raise ValueError(f"{name!r} is no array of this file")
        if found.nbytes > MOST_PACKED * max(found.id.get_storage_size(), 64):
            raise ValueError(f"{name!r} claims {found.nbytes} bytes, which are not in the file")
        return found

    def length(self, name: str) -> int:
        found = self.dataset(name)
        if len(found.shape) != 1 or not found.shape[0]:
            raise ValueError(f"{name!r} has the shape {found.shape}; a list is needed")
        return found.shape[0]

    def array(self, name: str, *shape: int, kinds: str = "f") -> np.ndarray:
        """The numbers of a variable, which must have this shape; one without entries is not in the file."""
        if 0 in shape:
            return np.zeros(shape)
        found = self.dataset(name)
        if found.shape != shape:
            raise ValueError(f"{name!r} has the shape {found.shape} instead of {shape}")
        if found.dtype.kind not in kinds:
            raise ValueError(
                f"{name!r} holds {found.dtype} instead of {'numbers' if kinds == 'f' else 'whole numbers'}"
            )
        return np.ascontiguousarray(found[()], float if kinds == "f" else np.int64)

    def finite(self, name: str, *shape: int) -> np.ndarray:
        found = self.array(name, *shape)
        if not np.isfinite(found).all():
            raise ValueError(f"{name!r} has numbers that are not finite")
        return found

    def times(self, name: str, count: int) -> np.ndarray:
        found = self.finite(name, count)
        if (np.diff(found) <= 0.0).any():
            raise ValueError(f"{name!r} does not increase")
        return found

    def whole(self, name: str, count: int) -> np.ndarray:
        return self.array(name, count, kinds="iu").astype(np.int64)

    def labels(self, name: str) -> list[str]:
        if name not in self.file:
            return []
        self.length(name)
        return self.dataset(name).asstr()[()].tolist()

    def model_text(self) -> str:
        found = self.dataset("model")
        if found.shape != ():
            raise ValueError(f"'model' has the shape {found.shape}; a text is needed")
        return found.asstr()[()]


def _found(plain: dict) -> dict:
    """What a motion by drivers found, from the text in a file: every entry is of its kind."""
    counts = {name: plain.get(name) for name in ("steps", "first_iterations")}
    kinds = {"t": float, "rank": int, "n": int, "coordinate": str, "passed": bool}
    places = plain.get("singular")
    if not all(type(count) is int for count in counts.values()) or not isinstance(places, list):
        raise ValueError("what is told of the drivers is not complete")
    for place in places:
        if not (isinstance(place, dict) and {name: type(value) for name, value in place.items()} == kinds):
            raise ValueError("a singular position is not told as it should be")
    return counts | {"singular": places}


def _turns(plain: dict) -> dict:
    """What a motion that was converted knew of angles at its start."""
    turns = plain.get("turns")
    if not (isinstance(turns, dict) and all(isinstance(x, float) and math.isfinite(x) for x in turns.values())):
        raise ValueError("what is told of turns is not complete")
    return {"turns": turns} if turns else {}


# --- attributes ---


def _text(file, name: str) -> str:
    value = file.attrs[name]
    if not isinstance(value, str) or len(value) > MOST_TEXT:
        raise ValueError(f"{name!r} is no text")
    return value


def _json(file, name: str, kind: type):
    value = json.loads(_text(file, name))
    if not isinstance(value, kind):
        raise ValueError(f"{name!r} is no {'list' if kind is list else 'table'}")
    return value


def _number(file, name: str) -> float:
    value = np.asarray(file.attrs[name])
    if value.shape != () or value.dtype.kind not in "iuf" or not math.isfinite(value):
        raise ValueError(f"{name!r} is no finite number")
    return float(value)


def _positive(file, name: str) -> float:
    value = _number(file, name)
    if value <= 0.0:
        raise ValueError(f"{name!r} is {value:g}; it must be larger than zero")
    return value


def _whole(file, name: str, least: int) -> int:
    value = np.asarray(file.attrs[name])
    if value.shape != () or value.dtype.kind not in "iu" or not least <= int(value) <= 2**53:
        raise ValueError(f"{name!r} is no whole number from {least} on")
    return int(value)
