"""The smallest mechanisms that have what a test needs: two bodies on two joints in space."""

from kinegrad.model.model import Model

BODIES = """
kinegrad: 1
parameters: {L: 0.7, tilt: 0.3, MORE}
ground: {markers: {O: [0.1, -0.2, 0.3], S: [0.5, L, -0.2], n: {vector: [1, 2, tilt]}}}
bodies:
  a: {mass: 1.3, com: [0.1, L/3, -0.2], inertia: [0.3, 0.4, 0.5, 0.02, -0.03, 0.05],
      markers: {p: [0.05, L, 0.1], q: [0.3, 0.2, L], s: [0, tilt, 0.5], v: {vector: [1, tilt, 0.2]}}}
  b: {mass: 0.8, com: [0, 0.1, 0.2], inertia: [0.1, 0.2, 0.2],
      markers: {p: [-0.1, 0.2, 0.1], q: [L, 0.3, -0.2], v: {vector: [0.3, 0.1, 1]}}}
joints:
  ja: {between: [ground.O, a.p], FIRST}
  jb: {between: [a.q, b.p], SECOND}
"""
HINGES = ("type: revolute, axis: [1, tilt, 0.4]", "type: revolute, axis: [0, 1, tilt]")
SLIDES = ("type: prismatic, axis: [1, tilt, 0.4]", "type: prismatic, axis: [0, 1, tilt]")


def two_bodies(more: str = "", parameters: str = "", joints=HINGES) -> Model:
    """A chain of two bodies, by default a double pendulum: `more` text, joints first, after that of the joints ja and jb."""
    text = BODIES.replace("MORE", parameters).replace("FIRST", joints[0]).replace("SECOND", joints[1])
    return Model.from_yaml_text(text + more)


#: The second joint of two bodies, for each type of node of the joint set: turn, slide, screw, Euler parameters, rigid, and
#: sequences of them; with a constant rotation where the bodies have axes of their own, or with the joint against the tree.
NODE_TYPES = {
    "turn": "type: revolute, axis: [0, 1, tilt]",
    "turn after a rotation": "type: revolute, axis: [[0, 1, tilt], [1, tilt, 0.2]], zero: [[1, 0, 0], [0, L, 1]]",
    "slide": "type: prismatic, axis: [0, 1, tilt]",
    "screw": "type: screw, axis: [0, 1, tilt], pitch: 0.4*L",
    "Euler parameters": "type: spherical",
    "rigid": "type: fixed",
    "turn and slide": "type: cylindrical, axis: [[0, 1, tilt], [1, tilt, 0.2]], zero: [[1, 0, 0], [0, L, 1]]",
    "two turns": "type: cardan, axes: [[0, 1, tilt], [1, 0, 0]]",
}
NODE_TYPES |= {
    f"{name}, reversed": f"{NODE_TYPES[name]}, REVERSED" for name in ("turn", "slide", "screw", "Euler parameters")
}


def two_bodies_with(name: str, more: str = "", parameters: str = "") -> Model:
    """Two bodies, the second on a node of that type; after a hinge, so that the frame before it moves."""
    kind = NODE_TYPES[name]
    joints = (HINGES[0], kind.removesuffix(", REVERSED"))
    model = two_bodies(more, parameters, joints)
    if kind.endswith("REVERSED"):
        joint = model.joints["jb"]
        model.joints["jb"] = joint.with_(between=joint.between[::-1])
    return model
