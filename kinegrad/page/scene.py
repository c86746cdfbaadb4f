"""A motion as the page reads it: names, solids, joints, springs, curves by time, and where everything is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

import numpy as np

from kinegrad.coordinates.joints import KINDS
from kinegrad.errors import KinegradError
from kinegrad.expressions.syntax import Expression
from kinegrad.model.bodies import VectorMarker
from kinegrad.model.constraints import Distance
from kinegrad.model.forces import Gravity
from kinegrad.model.shapes import shapes_of
from kinegrad.page.arrows import Arrows
from kinegrad.page.curves import Curves
from kinegrad.page.guessed import is_telescope
from kinegrad.page.packing import brief, packed
from kinegrad.page.replay import Frames, chosen_rows, frames
from kinegrad.page.solids import GROUND, Solids, corners
from kinegrad.plots.motion import FLAT, moving_markers
from kinegrad.plots.topology import topology
from kinegrad.quiet import without_warnings
from kinegrad.signals.orientations import quaternions

FRAMES = 600  # states shown, at most, unless asked otherwise
FAR = 1.5  # a mechanism that goes so many times its size is followed by the camera
MOST_NUMBERS, MOST_ELEMENTS = 120, 12  # of a gradient by every number
MANY = 24  # bodies from which one path is shown at first


@without_warnings
def scene(
    motion,
    *,
    most: int = FRAMES,
    gradient=None,
    folder: str | Path | None = None,
    signals: str | Sequence[str] = (),
    beside=(),
    report: dict | None = None,
) -> dict:
    """The document of a page, ready for JSON.

    Parameters
    ----------
    most : int
        States shown, at most.
    gradient : Gradient, optional
        Derivatives to draw as bars.
    folder : path, optional
        Where paths of mesh files begin; the current folder by default.
    signals : str or sequence of str
        Signals that the panels show, and with "all" every signal is in the page; by default what elements do.
    beside : Motion, sequence of them, or mapping of labels to them
        Motions that are drawn paler at the same times, and in the same panels.
    report : dict, optional
        Tables and sentences that stand above the panels, as `kinegrad.optimize.report` gives them.
    """
    if isinstance(most, bool) or not isinstance(most, int) or most < 2:
        raise KinegradError(f"frames is {most!r}; a page needs a whole number of them, at least 2.")
    rows = chosen_rows(motion.t, most)
    document = _Scene(motion, rows, Path(folder or "."), signals).document(gradient) | {"report": report}
    others = labelled(beside)
    if others:
        options = {"most": most, "folder": folder}
        document["beside"] = [scene(one, **options) | {"label": label} for label, one in others.items()]
    return document


def labelled(beside) -> dict:
    """Motions by label, whatever form they are given in."""
    if isinstance(beside, Mapping):
        return {str(label): one for label, one in beside.items()}
    several = list(beside) if isinstance(beside, Sequence) else [beside]
    return {f"motion {k}": one for k, one in enumerate(several, 2)}


class _Scene:
    """One motion at chosen rows, on its way to a document."""

    def __init__(self, motion, rows: np.ndarray, folder: Path, signals: str | Sequence[str] = ()):
        self.motion, self.rows = motion, rows
        self.system, self.model = motion.system, motion.system.model
        self.bodies = [GROUND, *self.model.bodies]
        self.frames: Frames = frames(motion, rows)
        self.curves = Curves(motion, rows, signals)
        self.markers = self._markers()
        low, high = self._box()
        self.low, self.high = low, high
        self.solids = Solids(self.model, self.value, float(np.linalg.norm(high - low)) or 1.0, folder, self._travel())
        self.drawn = {body: self.solids.of(body) for body in self.bodies}
        self._widen()

    def value(self, number) -> float:
        """The value of a number or an expression at the parameters of the motion."""
        if not isinstance(number, Expression):
            return float(number)
        return self.system.parameters.evaluate(number, self.system.rho)

    def document(self, gradient) -> dict:
        motion, model = self.motion, self.model
        poses = np.concatenate([self.frames.origin, quaternions(self.frames.axes)], axis=2)
        return {
            "title": model.title or "Motion",
            "facts": self._facts(),
            "count": len(self.rows),
            "times": packed(motion.t[self.rows]),
            "poses": packed(poses),
            "bodies": [{"name": b, "com": self.solids.com(b).tolist(), "solids": self.drawn[b]} for b in self.bodies],
            "markers": [
                {"name": name, "body": self.bodies.index(name.partition(".")[0]), "at": at.tolist()}
                for name, at in self.markers.items()
            ],
            "traces": self._traces(),
            "joints": [self._joint(name, joint) for name, joint in model.joints.items()],
            "springs": [
                {"name": name, "ends": self._ends(force.between), "natural": self.value(force.drawn_length)}
                for name, force in model.forces.items()
                if force.drawn_length is not None
            ],
            "bars": [{"name": name, "ends": self._ends(element.between)} for name, element in self._bars()],
            "radius": self.solids.radius,
            "symbol": self.solids.symbol,
            "low": self.low.tolist(),
            "high": self.high.tolist(),
            "up": self._up(),
            "normal": self._normal(),
            **self._curves(),
            "arrows": Arrows(motion, self.rows, self.frames, self.value, self._ends).document(),
            "velocities": brief(self.frames.velocity),
            "spins": brief(self.frames.spin),
            "follow": self._followed(),
            "topology": self._topology(),
            "gradient": None if gradient is None else _gradient(gradient),
        }

    # --- geometry ---

    def _markers(self) -> dict[str, np.ndarray]:
        """Points of all bodies in their frames."""
        found = {}
        for body in self.bodies:
            element = self.model.ground if body == GROUND else self.model.bodies[body]
            for name, marker in element.markers.items():
                if not isinstance(marker, VectorMarker):
                    numbers = marker.origin if hasattr(marker, "origin") else marker.position
                    found[f"{body}.{name}"] = np.array([self.value(number) for number in numbers])
        return found

    def _positions(self, body: str, at: np.ndarray) -> np.ndarray:
        """(rows, 3) course of a point of a body."""
        if body == GROUND:
            return np.tile(at, (len(self.rows), 1))
        k = self.bodies.index(body) - 1
        return self.frames.origin[:, k] + self.frames.axes[:, k] @ at

    def _box(self) -> tuple[np.ndarray, np.ndarray]:
        """Corners of the space that the points and centres of mass pass through."""
        places = [(name.partition(".")[0], at) for name, at in self.markers.items()]
        for body, element in self.model.bodies.items():
            places.append((body, np.array([self.value(number) for number in element.com])))
        low, high = np.full(3, np.inf), np.full(3, -np.inf)
        for body, at in places:
            x = self._positions(body, at)
            x = x[np.isfinite(x).all(axis=1)]
            low, high = np.minimum(low, x.min(axis=0, initial=np.inf)), np.maximum(high, x.max(axis=0, initial=-np.inf))
        return (low, high) if np.isfinite(low).all() else (-np.ones(3), np.ones(3))

    def _travel(self) -> dict[str, tuple[float, float]]:
        """How far each joint with a rail goes along its axis."""
        found = {}
        for name, joint in self.model.joints.items():
            if KINDS[joint.type].drawing.rail:
                (a, at_a), (b, at_b) = ((m.partition(".")[0], self.markers[m]) for m in joint.between)
                axis = np.array([self.value(number) for number in joint.axis_pair[0]])
                turned = axis if a == GROUND else self.frames.axes[:, self.bodies.index(a) - 1] @ axis
                d = ((self._positions(b, at_b) - self._positions(a, at_a)) * turned).sum(axis=1) / np.linalg.norm(axis)
                if np.isfinite(d).all():
                    found[name] = float(d.min()), float(d.max())
        return found

    def _widen(self) -> None:
        """Let the box hold the shapes that the model gives, too."""
        for body in self.bodies:
            element = self.model.ground if body == GROUND else self.model.bodies[body]
            for at in corners(self.drawn[body]) if shapes_of(element) else ():
                x = self._positions(body, at)
                x = x[np.isfinite(x).all(axis=1)]
                if len(x):
                    self.low, self.high = np.minimum(self.low, x.min(axis=0)), np.maximum(self.high, x.max(axis=0))

    def _up(self) -> list[float]:
        """Against gravity; else z, or y when everything stays in the plane z = constant."""
        for force in self.model.forces.values():
            if isinstance(force, Gravity):
                g = np.array([self.value(number) for number in force.acceleration])
                if g.any():
                    g = g / np.abs(g).max()
                    return (-g / np.linalg.norm(g)).tolist()
        return [0.0, 1.0, 0.0] if self._normal() == [0.0, 0.0, 1.0] else [0.0, 0.0, 1.0]

    def _normal(self) -> list[float] | None:
        """The axis across the plane in which everything stays, when it is one of x, y, z."""
        extent = self.high - self.low
        across = int(np.argmin(extent))
        return np.eye(3)[across].tolist() if extent[across] <= FLAT * extent.max() else None

    def _topology(self) -> dict | None:
        """Bodies and joints as a graph; nothing where the joint set does not take the model."""
        with suppress(KinegradError):
            return topology(self.model, self.system.set.spanning_tree()).document()
        return None

    def _followed(self) -> int:
        """Number of the heaviest body where the mechanism goes much farther than it is large; 0 for none."""
        coms = [(body, self.solids.com(body)) for body in self.bodies[1:]]
        points = [(name.partition(".")[0], at) for name, at in self.markers.items()]
        low, high, travels = np.inf, -np.inf, []  # of all that moves, by row
        for body, at in (*coms, *points):
            p = self._positions(body, at)
            travels.append(np.ptp(p, axis=0).max())
            if np.isfinite(p).all() and travels[-1] > 0.0:
                low, high = np.minimum(low, p), np.maximum(high, p)
        if not coms or np.ndim(low) == 0:
            return 0
        alone, whole = (high - low).max(), (high.max(axis=0) - low.min(axis=0)).max()
        least = min(travels[: len(coms)])
        if least < FAR * alone or whole < FAR * alone:
            return 0
        return 1 + int(np.argmax([self.value(body.mass) for body in self.model.bodies.values()]))

    def _ends(self, between) -> list[dict]:
        """Body and place of two markers."""
        found = []
        for name in between:
            body, _, marker = name.partition(".")
            found.append({"body": self.bodies.index(body), "at": self.solids.point(body, marker).tolist()})
        return found

    def _joint(self, name: str, joint) -> dict:
        """Where a joint is, its axes in the first and in the second body, and what shows it."""
        drawing = KINDS[joint.type].drawing
        return {
            "name": name,
            "ends": self._ends(joint.between),
            "axes": [self.solids.vector(axis).tolist() for axis in joint.axis_pair or ()],
            "symbols": [] if is_telescope(self.model, name) else [asdict(symbol) for symbol in drawing.symbols],
            "support": drawing.support,
            "rail": drawing.rail and not is_telescope(self.model, name),
        }

    def _bars(self) -> list[tuple]:
        """Joints and constraints that are drawn as bars."""
        joints = [(name, joint) for name, joint in self.model.joints.items() if KINDS[joint.type].drawing.bar]
        return joints + [(name, c) for name, c in self.model.constraints.items() if isinstance(c, Distance)]

    def _traces(self) -> list[str]:
        """Names of the points whose paths are shown first."""
        x = np.zeros((len(self.rows), len(self.system.markers), 3))
        for k, name in enumerate(self.system.markers):
            if name in self.markers:
                x[:, k] = self._positions(name.partition(".")[0], self.markers[name])
        moving = moving_markers(self.motion, x)
        return moving if len(self.bodies) <= MANY else moving[-1:]

    # --- curves and words ---

    def _curves(self) -> dict:
        """Series and panels; first where the first path leads, unless something was asked for."""
        found = self.curves.document()
        for name in [] if self.curves.asked else self._traces()[:1]:
            first = {"title": "Marker", "marker": name, "names": [f"{name}.{axis}" for axis in "xyz"]}
            found["panels"].insert(0, first)
        return found

    def _facts(self) -> list[str]:
        motion = self.motion
        facts = [f"{self.system.kind} coordinates", *motion.how]
        if str(motion.from_poses):
            facts.append(f"from the poses at the start {motion.from_poses}")
        if len(motion.t) == 1:
            return [*facts, "one position"]
        facts.append(f"{len(motion.hs)} steps to {motion.ts[-1]:g} s")
        energies = motion.energies
        facts.append(f"energy drift {_brief(energies.drift)} J, {_brief(100.0 * energies.drift_part)} %")
        if motion.status:
            facts.append("stopped early")
        return facts


def _brief(value: float) -> str:
    """Two digits: 4.5e-6, 0.012, 37."""
    return f"{value:.2g}".replace("e-0", "e-").replace("e+0", "e")


def _number(value: float) -> float | None:
    """A number that JSON knows."""
    return float(value) if np.isfinite(value) else None


def _every_number(result) -> dict:
    """The most important numbers of the model with their derivatives, and sums of relative sensitivities by element."""
    ranked = result.ranked()
    numbers, names = ranked[:MOST_NUMBERS], list(result.values)
    elements = list(result.by_element().items())[:MOST_ELEMENTS]
    return {
        "count": len(ranked),
        "paths": [number.path for number in numbers],
        "values": [_number(number.value) for number in numbers],
        "matrix": [[_number(number.derivatives[name]) for number in numbers] for name in names],
        "relative": [[_number(number.relative[name]) for number in numbers] for name in names],
        "elements": [element for element, _ in elements],
        "sums": [[_number(sums[name]) for _, sums in elements] for name in names],
    }


def _gradient(result) -> dict:
    """Derivatives by name, with the values of the parameters, for bars of either kind."""
    system, certificate = result.motion.system, result.certificate
    rho = dict(zip(system.parameters.independent, system.rho.tolist(), strict=True))
    return {
        "method": result.method,
        "certificate": None if certificate is None else certificate.as_dict(),
        "every": None if result.by_slot is None else _every_number(result),
        "objectives": list(result.values),
        "values": [_number(value) for value in result.values.values()],
        "parameters": list(result.wrt),
        "rho": [rho[label] for label in result.wrt],
        "matrix": [[_number(value) for value in row] for row in result.matrix.tolist()],
    }
