"""How constraints become rows of tables: one function a type, ``lower(elements, name, constraint)``."""

from kinegrad.coordinates.constraints import expressions, guidance, linear, markers

LOWERINGS = {
    "coincidence": markers.coincidence,
    "distance": markers.distance,
    "dot": markers.dot,
    "angle": markers.angle,
    "linear": linear.lower,
    "guidance": guidance.lower,
    "position": expressions.position,
    "velocity": expressions.velocity,
}
