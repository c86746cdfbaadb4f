"""Figures of a motion: where markers go, coordinates, energies and constraint violations."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from kinegrad.errors import KinegradError, ModelError
from kinegrad.plots.figure import Panel, draw, finish
from kinegrad.plots.reactions import panels as reaction_panels
from kinegrad.plots.signals import signal_panels

MOST_MARKERS = 5  # that are chosen when none are named
STILL = 1e-6  # a marker that moves less, relative to the one that moves most, is not chosen
FLAT = 1e-3  # paths that are thinner, relative to their length, are drawn in a plane
ROUNDING = 1e-17  # a constraint violation below this is not drawn


def plot(motion, names=(), path: str | Path | None = None, x: str | None = None, beside=()):
    """A matplotlib figure with a panel for each kind of what is named, also written to `path` when one is given."""
    known, groups = _sorted(motion, names)
    if x is not None or beside:
        if known or not groups:
            raise KinegradError(
                f"x and beside go with signals, and {known[0] if known else 'none'!r} is named; name signals such as "
                "kinetic_energy."
            )
        panels = signal_panels(motion, groups, x, beside)
    else:
        panels = _panels(motion, known) if known or not groups else []
        panels += signal_panels(motion, groups) if groups else []
    return draw(motion.system.model.title or "Motion", panels, path)


def _sorted(motion, names) -> tuple[list[str], list[list[str]]]:
    """Names that have panels of their own, and signals by axes."""
    system = motion.system
    known = {"energy", "constraints", "reactions", *system.markers, *system.model.joints, *system.model.constraints}
    others = [name for name in system.coordinates if name not in motion.catalogue]
    own: list[str] = []
    groups: list[list[str]] = []
    for part in ",".join(names).split(";"):
        group: list[str] = []
        for name in filter(None, map(str.strip, part.split(","))):
            if name in known or name in others:
                own.append(name)
            else:
                group += _signals(motion, name)
        groups += [group] if group else []
    return own, groups


def _signals(motion, name: str) -> list[str]:
    """The signals of a name, or a sentence with what can be plotted."""
    try:
        return motion.catalogue.expand(name)
    except ModelError as error:
        from difflib import get_close_matches

        near = get_close_matches(name, motion.system.markers, 3)
        told = f", and the nearest markers {', '.join(near)}" if near else ""
        sentence = error.problems[0].sentence.removesuffix(".")
        raise KinegradError(
            f"{name!r} cannot be plotted: {sentence[0].lower()}{sentence[1:]}{told}; joints, 'energy', 'constraints' and "
            "'reactions' can be named too."
        ) from None


def _panels(motion, names) -> list[Panel]:
    """What draws each panel."""
    system = motion.system
    joints = [*system.model.joints, *system.model.constraints]
    markers = [n for n in names if n in system.markers] if names else moving_markers(motion)
    coordinates = [n for n in names if n in system.coordinates]
    panels = [partial(_paths, motion, markers), partial(_positions, motion, markers)] if markers else []
    if coordinates or not (names or markers):
        panels.append(partial(_coordinates, motion, coordinates or system.coordinates[:MOST_MARKERS]))
    if "energy" in names or not names:
        panels.append(partial(_energies, motion))
    if system.m and ("constraints" in names or not names):
        panels.append(partial(_violation, motion))
    if "reactions" in names:
        panels += reaction_panels(motion.t, motion.reactions())
    if any(name in joints for name in names):
        panels += reaction_panels(motion.t, motion.reactions(), [name for name in names if name in joints])
    if motion.is_driven and system.model.drivers and not names:
        panels += signal_panels(motion, [[f"{name}.force" for name in system.model.drivers]])
    if not panels:
        raise KinegradError("The model has no constraints, and nothing else was named; there is nothing to plot.")
    return panels


def moving_markers(motion, x: np.ndarray | None = None) -> list[str]:
    """Names of points that move each in its own way, one a body: that which moves most, and not those that only go along
    with another; `x` holds positions of all markers at some states, if at hand."""
    from kinegrad.model.bodies import VectorMarker

    system = motion.system
    x = motion.marker_array()[:, :, 0] if x is None else x
    extent = np.ptp(x, axis=0).max(axis=1)
    names = list(system.markers)
    of_body: dict[str, list[int]] = {}
    for k in sorted(range(len(names)), key=lambda k: _place(system.model, names[k])):
        if extent[k] > STILL * extent.max() and not isinstance(system.model.marker(names[k])[1], VectorMarker):
            of_body.setdefault(names[k].partition(".")[0], []).append(k)
    chosen: list[int] = []
    for ks in of_body.values():
        for k in sorted(ks, key=lambda k: -round(extent[k] / (STILL * extent.max()))):
            if all(np.ptp(x[:, k] - x[:, j], axis=0).max() > STILL * extent.max() for j in chosen):
                chosen.append(k)
                break
    largest = sorted(chosen, key=lambda k: -extent[k])[:MOST_MARKERS]
    return [names[k] for k in chosen if k in largest]


def _place(model, name: str) -> tuple[int, int]:
    """Where a marker stands in the file."""
    body, _, marker = name.partition(".")
    bodies = ["ground", *model.bodies]
    element = model.ground if body == "ground" else model.bodies[body]
    return bodies.index(body), list(element.markers).index(marker)


def _extents(positions: list[np.ndarray]) -> np.ndarray:
    """Largest extent of the paths along x, y, z."""
    return np.max([np.ptp(x, axis=0) for x in positions], axis=0)


def _paths(motion, markers, figure, place) -> None:
    """Paths in space, or in the plane they lie in."""
    positions = [motion.marker(name).position for name in markers]
    extent = _extents(positions)
    shown = [c for c in range(3) if extent[c] > FLAT * extent.max()]
    shown = shown if len(shown) == 3 else sorted(np.argsort(-extent, kind="stable")[:2])
    axes = figure.add_subplot(*place, projection="3d" if len(shown) == 3 else None)
    for name, x in zip(markers, positions, strict=True):
        (line,) = axes.plot(*x[:, shown].T, lw=1, label=name)
        for row, mark in ((0, "o"), (-1, "s")):
            axes.plot(*x[[row]][:, shown].T, mark, ms=5, color=line.get_color())
    labels = {f"{axis}label": f"{'xyz'[c]} [m]" for axis, c in zip("xyz", shown, strict=False)}
    axes.set(title="Paths (circle: start, square: end)", **labels)
    if len(shown) == 3:
        axes.set_aspect("equal")
        axes.locator_params(nbins=4)
        for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
            axis.labelpad = 12
    else:
        axes.set_aspect("equal", adjustable="datalim")
    finish(axes)


def _positions(motion, markers, figure, place) -> None:
    """Components that move, by time: a colour for each marker, a dash for each component."""
    axes = figure.add_subplot(*place)
    positions = [motion.marker(name).position for name in markers]
    largest = _extents(positions).max()
    for k, (name, x) in enumerate(zip(markers, positions, strict=True)):
        for c, dash in enumerate(("-", "--", ":")):
            if np.ptp(x[:, c]) > STILL * largest or largest == 0.0:
                axes.plot(motion.t, x[:, c], dash, lw=1, color=f"C{k % 10}", label=f"{name} {'xyz'[c]}")
    axes.set(title="Positions", xlabel="time [s]", ylabel="position [m]")
    finish(axes)


def _coordinates(motion, names, figure, place) -> None:
    axes = figure.add_subplot(*place)
    for name in names:
        k = motion.system.number_of[name]
        axes.plot(motion.t, motion.q[:, k], lw=1, label=f"{name} [{motion.system.coordinates[k].unit}]")
    axes.set(title="Coordinates", xlabel="time [s]", ylabel="coordinate")
    finish(axes)


def _energies(motion, figure, place) -> None:
    axes = figure.add_subplot(*place)
    e = motion.energies
    for values, label, style in (
        (e.kinetic, "kinetic", {}),
        (e.potential, "potential", {}),
        (e.kinetic + e.potential, "total", {"color": "k", "lw": 1.5}),
    ):
        axes.plot(motion.t, values - values[0], label=label, **{"lw": 1} | style)
    if np.abs(e.work).max() > 0.0:
        axes.plot(motion.t, e.work, "--", color="C3", lw=1, label="work of forces\nwithout potential")
    axes.set(title=f"Energy, change since the start (drift {e.drift:.1e} J)", xlabel="time [s]", ylabel="energy [J]")
    finish(axes)


def _violation(motion, figure, place) -> None:
    axes = figure.add_subplot(*place)
    for k, (label, unit) in enumerate((("position", "m"), ("velocity", "m/s"), ("acceleration", "m/s²"))):
        violation = motion.constraint_violation[:, k]
        axes.semilogy(motion.t, np.where(violation > ROUNDING, violation, np.nan), lw=1, label=f"{label} [{unit}]")
    axes.set(title="Largest constraint violation", xlabel="time [s]", ylabel="violation")
    finish(axes)
