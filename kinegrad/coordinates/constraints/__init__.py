"""How constraints become rows of tables: one function a type, ``lower(elements, name, constraint)``."""

from kinegrad.coordinates.constraints import expressions, guidance, linear, lines, markers

LOWERINGS = {
    "coincidence": markers.coincidence,
    "distance": markers.distance,
    "dot": markers.dot,
    "angle": markers.angle,
    "parallel": lines.parallel,
    "same-direction": lines.same_direction,
    "point-on-line": lines.point_on_line,
    "point-in-plane": lines.point_in_plane,
    "linear": linear.lower,
    "guidance": guidance.lower,
    "position": expressions.position,
    "velocity": expressions.velocity,
}
