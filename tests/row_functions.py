"""Models with rows given twice: by expressions, and by Python functions of the same values."""

import numpy as np

import kinegrad as kg
from kinegrad.expressions.graph import Graph, evaluate
from kinegrad.expressions.trace import trace

BEAD = """
kinegrad: 1
parameters: {m: 0.7, a: 0.8, w: 2.0, v0: 0.5, L: 0.3}
design: [m, a, w, v0, L]
ground: {markers: {O: [0, 0, 0], S: [0.2, 1, 0]}}
bodies:
  bead: {mass: m, inertia: [0.01, 0.02, 0.03], markers: {C: [0, 0, 0], T: [L, 0.1, 0]}}
joints:
  P: {type: planar, between: [ground.O, bead.C], axis: [0, 0, 1], x_axis: [1, 0, 0]}
forces:
  gravity: {type: gravity, acceleration: [0, -9.81, 0]}
  tie: {type: spring, between: [ground.S, bead.T], stiffness: 20, natural_length: 0.4}
constraints:
  wire: {type: position, value: "bead.C.y - a*bead.C.x**2 + 0.1*sin(w*bead.T.x + 3*t) - 0.05*exp(-t)*bead.T.y"}
degrees_of_freedom: {P.x: {position: 0.2, velocity: v0}, P.angle: {position: 0.3, velocity: 1}}
objectives:
  height: {final: bead.T.y}
  path: {integral: "norm2(bead.T.velocity) + 0.01*norm2(bead.C.acceleration)"}
"""

SLEIGH = """
kinegrad: 1
parameters: {m: 1.2, J: 0.3, a: 0.4, w: 1.5}
design: [m, J, a, w]
ground: {markers: {O: [0, 0, 0]}}
bodies:
  sleigh: {mass: m, com: [a, 0, 0], inertia: [0.2, 0.2, J], markers: {C: [0, 0, 0], G: [a, 0, 0]}}
joints:
  P: {type: planar, between: [ground.O, sleigh.C], axis: [0, 0, 1], x_axis: [1, 0, 0]}
constraints:
  edge: {type: velocity,
         value: "(cos(P.angle) + a*P.x**2)*P.y.velocity - sin(P.angle)*P.x.velocity - 0.1*sin(w*t)*P.y"}
degrees_of_freedom: {P.x: {position: 0.1, velocity: 0.2}, P.y: {position: 0.3}, P.angle: {position: 0, velocity: w}}
objectives:
  turn: {final: P.angle.velocity}
  path: {integral: "norm2(sleigh.G.velocity) + 0.01*norm2(sleigh.G.acceleration)"}
"""


def wire(y, x, ahead, above, t, a, w):
    return y - a * x**2 + 0.1 * np.sin(w * ahead + 3 * t) - 0.05 * np.exp(-t) * above


def edge(angle, x, y, xd, yd, t, a, w):
    normal = np.array([-np.sin(angle), np.cos(angle) + a * x**2])
    return normal @ np.array([xd, yd]) - 0.1 * np.sin(w * t) * y


WIRE = ["bead.C.y", "bead.C.x", "bead.T.x", "bead.T.y", "t"], ["a", "w"]
EDGE = ["P.angle", "P.x", "P.y", "P.x.velocity", "P.y.velocity", "t"], ["a", "w"]


def bead(function=None, **options):
    """A body whose point stays on a curve that moves; `function` in the place of its expression."""
    model = kg.Model.from_yaml_text(BEAD)
    if function is not None:
        model.constraints["wire"] = kg.PositionRow(value=kg.law(function, *WIRE, **options))
    return model


def sleigh(function=None, **options):
    """A sleigh that slips across its edge as time and place say; `function` in the place of its expression."""
    model = kg.Model.from_yaml_text(SLEIGH)
    if function is not None:
        model.constraints["edge"] = kg.VelocityRow(value=kg.law(function, *EDGE, **options))
    return model


def given_derivatives(function, n, orders):
    """Functions that return the derivatives of `function` of n arguments, order by order, as a user would write them."""
    graph = Graph()
    x = [graph.input(f"x{i}") for i in range(n)]
    last, out = trace(function, x, graph), []
    for _ in range(orders):
        last = [z for y in last for z in graph.gradient(y, x)]
        out.append(lambda *at, last=last: evaluate(last, dict(zip(x, at, strict=True))))
    return out


def opaque(function):
    """The same function, which cannot be followed."""
    return lambda *x: function(*(float(y) for y in x))


def called_bead():
    return bead(opaque(wire), derivative=given_derivatives(wire, 7, 3))


def called_sleigh():
    return sleigh(opaque(edge), derivative=given_derivatives(edge, 8, 2))
