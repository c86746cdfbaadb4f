"""A motion as a table of pandas: labelled columns over time, with their units."""

from __future__ import annotations

from kinegrad.errors import KinegradError

RATES = (("", ""), (".velocity", "/s"), (".acceleration", "/s2"))


def to_dataframe(motion, names=(), signals=None):
    """The DataFrame that `Motion.to_dataframe` describes."""
    pandas = import_pandas()
    system = motion.system
    known = {*system.coordinates, *system.markers}
    wanted = [*(name for name in names if name not in known), *(signals or ())]
    seen = motion.signals(*wanted) if wanted else {}
    names = [name for name in names if name in known]
    columns, units = {}, {}
    if not names and seen:
        return _frame(pandas, motion, dict(seen), seen.units)

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
    for name, values in seen.items():
        add(name, values, seen.units[name])
    return _frame(pandas, motion, columns, units)


def _frame(pandas, motion, columns: dict, units: dict[str, str]):
    frame = pandas.DataFrame(columns, index=pandas.Index(motion.t, name="time"))
    frame.attrs["units"] = {"time": "s", **units}
    frame.attrs["title"] = motion.system.model.title
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
