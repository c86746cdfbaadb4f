"""How forces become rows of tables: one file a type, with ``lower(elements, name, force)``."""

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
