"""Small mechanisms whose bodies are carried in every way: shared points and vectors, n × d, followers, welds, a plane."""

from small_mechanisms import HINGES, NODE_TYPES, SLIDES, two_bodies

from kinegrad.coordinates.sets import natural

MORE = """
forces:
  weight: {type: gravity, acceleration: [0.3, -9.81, g]}
  coil: {type: spring, between: [ground.S, b.q], stiffness: 30, damping: 0.8, natural_length: 0.4}
  wind: {type: torque, at: b.q, value: [tilt, "0.2*a.q.velocity.x", 0.3], frame: body}
constraints:
  rope: {type: distance, between: [ground.S, b.q], distance: L}
drivers: {go: {measure: b.q.x, value: "tilt*sin(3*t)"}}
objectives: {o: {integral: "norm2(b.q.acceleration) + a.s.velocity.x*b.v.acceleration.y + a.p.acceleration.z"}}
"""
TURN = "type: revolute, axis: [0, 0, 1]"
SKEW = "type: prismatic, axis: [[0, 1, tilt], [1, tilt, 0.2]], zero: [[1, 0, 0], [0, L, 1]]"
JOINTS = {
    "hinges": HINGES,
    "slide": (HINGES[0], NODE_TYPES["slide"]),
    "slide between skew frames": (HINGES[0], SKEW),
    "slides": (SLIDES[0], SKEW),
    "weld": (HINGES[0], NODE_TYPES["rigid"]),
    "weld on a slide": (SKEW, NODE_TYPES["rigid"]),
    "balls": (NODE_TYPES["Euler parameters"], NODE_TYPES["Euler parameters"]),
    "cross": (NODE_TYPES["two turns"], NODE_TYPES["two turns"]),
    "sleeve": (NODE_TYPES["turn and slide"], NODE_TYPES["screw"]),
    "plane": (TURN, TURN),
    "hung on the ground": (HINGES[0], "type: floating"),
}
#: One of each way to be carried, for what takes long.
FEW = ("hinges", "slide between skew frames", "weld on a slide", "cross", "plane")


def model(kind: str, more: str = MORE):
    """Two bodies, one of them with a point mass and parameters in its inertia; in a plane no height has a parameter."""
    made = two_bodies(more, "m1: 0.3, g: 1.0", JOINTS[kind])
    made.bodies["b"] = made.bodies["b"].with_(
        point_masses={"load": {"mass": "m1", "at": ["L", "0.1", "tilt"]}},
        inertia=["m1", 0.2, "tilt", 0.01, "0.1*m1", 0.02],
    )
    if kind == "plane":
        made.bodies["a"] = made.bodies["a"].with_(markers=flat(made.bodies["a"].markers))
    return made


def flat(markers: dict) -> dict:
    """The markers, with heights that are numbers."""
    return {
        name: marker if name == "v" else marker.with_(position=(*marker.position[:2], 0.25))
        for name, marker in markers.items()
    }


def system(kind: str, **options):
    """The same in natural coordinates."""
    return natural(model(kind), **options)
