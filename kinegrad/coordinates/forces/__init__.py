"""How forces become rows of tables, and what they have as signals: one file a type, with ``lower(elements, name, force)``.

``signal(elements, formula, name, force, part)`` gives the Scalar, or the three, of a quantity of the force.
"""

from kinegrad.coordinates.forces import actuator, bushing, force, gravity, spline, spring, torque

LOWERINGS = {
    "gravity": gravity.lower,
    "spring": spring.lower,
    "force": force.lower,
    "torque": torque.lower,
    "spline": spline.lower,
    "bushing": bushing.lower,
    "actuator": actuator.lower,
}

SIGNALS = {
    "spring": spring.signal,
    "force": force.signal,
    "torque": torque.signal,
    "spline": spline.signal,
    "bushing": bushing.signal,
    "actuator": actuator.signal,
}

STORED = {"spring": spring.stored, "bushing": bushing.stored}
"""The energy that a force stores: ``stored(elements, formula, name, force)``."""
