"""A motion as a table of pandas: labelled columns over time, with their units."""

from __future__ import annotations

from kinegrad.errors import KinegradError

RATES = (("", ""), (".velocity", "/s"), (".acceleration", "/s2"))


def to_dataframe(motion, names=()):
    """The DataFrame that `Motion.to_dataframe` describes."""
    pandas = import_pandas()
    system = motion.system
    known = [*system.coordinates, *system.markers]
    unknown = [name for name in names if name not in known]
    if unknown:
        from difflib import get_close_matches

        near = get_close_matches(unknown[0], known, 3) or known[:12]
        raise KinegradError(
            f"{unknown[0]!r} is no coordinate and no marker of the motion; choose from names such as {', '.join(near)}."
        )
    columns, units = {}, {}

    def add(name: str, values, unit: str) -> None:
        columns[name], units[name] = values, unit

    for k, name in enumerate(system.coordinates):
        if not names or name in names:
            for (ending, per), values in zip(RATES, (motion.q, motion.qd, motion.qdd), strict=True):
                add(name + ending, values[:, k], name.unit + per)
    wanted = [name for name in system.markers if not names or name in names]
    if wanted:
        x, order = motion.marker_array(), list(system.markers)
        for name in wanted:
            for i, axis in enumerate("xyz"):
                for j, (ending, per) in enumerate(RATES):
                    add(f"{name}.{axis}{ending}", x[:, order.index(name), j, i], "m" + per)
    energies = motion.energies
    for name in ("kinetic", "potential"):
        add(f"{name}_energy", getattr(energies, name), "J")
    add("work", energies.work, "J")
    for k, (level, unit) in enumerate((("position", "m"), ("velocity", "m/s"), ("acceleration", "m/s2"))):
        add(f"violation_{level}", motion.constraint_violation[:, k], unit)
    frame = pandas.DataFrame(columns, index=pandas.Index(motion.t, name="time"))
    frame.attrs["units"] = {"time": "s", **units}
    frame.attrs["title"] = system.model.title
    return frame


def import_pandas():
    """The module pandas, or a sentence on how to install it."""
    try:
        import pandas
    except ImportError:
        raise KinegradError(
            "A table needs pandas, which is not installed; run: pip install 'kinegrad[data]'."
        ) from None
    return pandas
