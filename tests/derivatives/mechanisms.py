"""Mechanisms for derivative tests: every joint, force, constraint and measure, at unassembled random states."""

import numpy as np

from kinegrad.model.model import Model

TREE = """
kinegrad: 1
parameters: {L: 0.7, k: 30, c: 0.8, m1: 1.3, tilt: 0.3, tau: 1.5, u: [0.1, -0.4, 0.9, 0.2, -0.3], lead: 0.4}
ground: {markers: {O: [0.1, -0.2, 0.3], S: [0.5, 0.4, -0.2], n: {vector: [1, 2, 3]}}}
bodies:
  a: {mass: m1, com: [0.1, L/3, -0.2], inertia: [0.3, 0.4, 0.5, 0.02, -0.03, 0.05],
      markers: {p: [0.05, L, 0.1], q: [0.3, 0.2, L**2], v: {vector: [1, tilt, 0.2]}},
      point_masses: {tip: {mass: 0.2, at: [0.1, 0.3, L]}}}
  b: {mass: 0.8, com: [0, 0.1, L/2], inertia: {axis: [1, tilt, 0], along: 0.1, across: 0.2},
      markers: {p: [-0.1, 0.2, tilt], q: [L, 0.3, -0.2], v: {vector: [0.3, 0.1, 1]}}}
  d: {mass: 1.1, com: [0.2, 0, 0.1], inertia: [0.2, 0.3, 0.25], markers: {p: [0.1, 0.1, 0.2], q: [0.4, -0.3, L]}}
  e: {mass: 0.6, com: [0.1, 0.2, 0], inertia: [0.1, 0.1, 0.15], markers: {p: [0, L/5, 0.1], q: [0.2, 0.5, 0.3]}}
  f: {mass: 0.9, com: [0, 0.1, -0.1], inertia: [0.12, 0.2, 0.25], markers: {p: [0.3, 0.1, 0], q: [0.1, -0.2, 0.5]}}
  g: {mass: 0.7, com: [0.1, -0.1, 0.2], inertia: [0.22, 0.21, 0.25], markers: {p: [0.3, 0, L], q: [0.1, 0.2, 0.5]}}
  h: {mass: 0.5, com: [0.1, -0.1, 0.2], inertia: [0.12, 0.21, 0.15], markers: {p: [0.3, 0, L], q: [0.1, 0.2, 0.5]}}
  w: {mass: 0.4, com: [0.2, 0.1, -L/4], inertia: [0.15, 0.2, 0.1, 0.01, 0.02, 0], markers: {p: [0.2, 0, L], q: [0, 0.2, 0.4]}}
  z: {mass: 0.3, com: [0.1, L/2, 0.2], inertia: [0.11, 0.15, 0.1, 0, 0.02, 0.01], markers: {p: [L, 0.1, 0], q: [0.2, 0.1, 0.3]}}
joints:
  ja: {type: floating, between: [ground.O, a.p]}
  jb: {type: revolute, between: [a.q, b.p], axis: [1, tilt, 0.4]}
  jd: {type: cardan, between: [d.p, b.q], axes: [[0, 0, 1], [1, tilt, 0]]}
  je: {type: spherical, between: [b.q, e.p]}
  jf: {type: cylindrical, between: [f.q, e.q], axis: [[1, tilt, 0], [0, 1, tilt]], zero: [[0, 0, 1], [1, 0, L]]}
  jg: {type: planar, between: [a.p, g.p], axis: [0, tilt, 1], x_axis: [1, 0, 0]}
  jh: {type: prismatic, between: [g.q, h.p], axis: [tilt, 1, 0.2]}
  jw: {type: screw, between: [h.q, w.p], axis: [0.2, 1, tilt], pitch: lead*L}
  jz: {type: screw, between: [z.p, w.q], axis: [[tilt, 1, 0], [0, 1, L]], zero: [[0, 0, 1], [1, 0, tilt]], pitch: -lead/2}
forces:
  gravity: {type: gravity, acceleration: [0.3, -9.81, 1]}
  moon: {type: gravity, acceleration: [0, 0, tilt]}
  s1: {type: spring, between: [ground.S, e.q], stiffness: k, damping: c, natural_length: L}
  s2: {type: spring, between: [d.q, f.p], stiffness: 12, damping: 0.4, natural_length: 0.3}
  s3: {type: spring, acts_on: jb.angle, stiffness: k, damping: c, natural_value: tilt}
  s4: {type: spring, acts_on: reach, stiffness: 3, damping: c, natural_value: 0.5}
  f1: {type: force, at: d.q, value: [1, "tau*sin(2*t)", "-c*d.q.velocity.x"], frame: body}
  f2: {type: force, at: f.q, value: [tau, "jb.angle*3", "f.q.position.y**2"]}
  t1: {type: torque, at: h.q, value: [tau, 0.2, "-c*jh.distance.velocity"], frame: body}
  t2: {type: torque, at: b.q, value: [0.3, tau, "b.v.position.x"]}
  t3: {type: torque, acts_on: jd.angle1, value: "-c*jd.angle1.velocity + tau*tanh(jd.angle2)"}
  s5: {type: spring, between: [ground.S, z.q], stiffness: 9, damping: c, natural_length: 0.2}
  t4: {type: torque, acts_on: jw.angle, value: "-c*jw.angle.velocity + lead*jz.angle"}
  sp: {type: spline, acts_on: jb.angle, times: [0, 0.3, 0.5, 0.9, 1.2], values: u}
constraints:
  k1: {type: coincidence, between: [e.q, ground.S]}
  k2: {type: distance, between: [f.p, h.q], distance: 2*L}
  k3: {type: dot, between: [a.v, b.v], value: tilt/2}
  k4: {type: angle, between: [ground.n, b.v], value: 1 + tilt}
  k5: {type: linear, terms: {jb.angle: 2, jd.angle2: -tilt, jh.distance: L}, value: 0.1*L}
  k6: {type: guidance, measure: reach, value: "0.5 + L*sin(3*t)"}
  k8: {type: distance, between: [z.q, f.p], distance: L}
  k7: {type: guidance, marker: h.q, value: [t, "L*t**2", tilt]}
measures:
  reach: "norm(d.q.position - h.q.position) + 0.2*jb.angle*a.q.x"
  swing: "atan2(dot(a.v.position, b.v.position), L + dot(a.v.position, ground.n.position))"
drivers:
  go: {measure: jh.distance, value: "0.2*t + tilt*t**3"}
degrees_of_freedom:
  jb.angle: {position: tilt, velocity: 0.1}
  d.q.y: {position: L, velocity: c}
  swing: {position: 0.3}
  ja: {rotation: [0.1, tilt, -0.3], angular_velocity: [0.2, L, 0.1], position: [L, 0, 0.1], velocity: [0, 0.2, c]}
objectives:
  o1: {integral: "norm2(f.p.acceleration - vec(L, 0, t)) + jb.angle.acceleration*tilt"}
  o2: {integral: "dot(e.q.velocity, d.q.position)*c + reach.velocity**2"}
  o3: {final: "swing + h.q.position.x*tau + norm2(z.q.acceleration)*lead"}
simulation: {t_end: 1}
"""

LOOPS = """
kinegrad: 1
parameters: {L: 0.7, tilt: 0.3, m1: 1.2, lead: 0.4}
ground: {markers: {O: [0.1, -0.2, 0.3], S: [0.5, 0.4, -0.2], T: [L, 0, 0.1]}}
bodies:
  a: {mass: m1, com: [0.1, L/3, -0.2], inertia: [0.3, 0.4, 0.5, 0.02, -0.03, 0.05],
      markers: {p: [0.05, L, 0.1], q: [0.3, 0.2, L**2], r: [0.2, 0.1, 0.4]}}
  b: {mass: 0.8, com: [0, 0.1, L/2], inertia: {axis: [1, tilt, 0], along: 0.1, across: 0.2},
      markers: {p: [-0.1, 0.2, tilt], q: [L, 0.3, -0.2], r: [0.1, 0.5, 0.2]}}
joints:
  ja: {type: floating, between: [ground.O, a.p]}
  jb: {type: revolute, between: [a.q, b.p], axis: [1, tilt, 0.4]}
  x1: {type: KIND, between: [ground.S, b.q], OPTIONS, cut: true}
  x2: {type: KIND, between: [a.r, b.r], OPTIONS, cut: true}
  ln: {type: link, between: [ground.T, b.r], length: L}
forces:
  gravity: {type: gravity, acceleration: [0.3, -9.81, 1]}
degrees_of_freedom:
  MEASURES
"""

CLOSED = {
    "revolute": ("axis: [1, tilt, 0.2]", "x1.angle: {position: 0.2}"),
    "revolute pair": (
        "axis: [[1, tilt, 0.2], [0, 1, tilt]], zero: [[0, 0, 1], [1, 0, 0]]",
        "x1.angle: {position: 0.2}",
    ),
    "prismatic": ("axis: [1, tilt, 0.2]", "x1.distance: {position: 0.2}"),
    "cylindrical": ("axis: [1, tilt, 0.2]", "x1.distance: {position: 0.2}\n  x1.angle: {position: L}"),
    "screw": ("axis: [1, tilt, 0.2], pitch: lead", "x1.angle: {position: L}"),
    "screw pair": (
        "axis: [[1, tilt, 0.2], [0, 1, tilt]], zero: [[0, 0, 1], [1, 0, 0]], pitch: -lead/3",
        "x1.angle: {position: L}",
    ),
    "cardan": ("axes: [[0, 0, 1], [1, tilt, 0]]", "x1.angle1: {position: 0.2}\n  x1.angle2: {position: L}"),
    "planar": (
        "axis: [0, tilt, 1], x_axis: [1, 0, 0]",
        "x1.x: {position: 0.2}\n  x1.y: {position: L}\n  x1.angle: {position: 0.3}",
    ),
    "spherical": ("cut: true", ""),
    "fixed": ("cut: true", ""),
}


def tree() -> Model:
    """Nine bodies, eight kinds of joints (three of them reversed), every force, constraint and measure."""
    return Model.from_yaml_text(TREE)


def closed(kind: str) -> Model:
    """Two bodies with two cut joints of one kind, measured by their coordinates."""
    options, measures = CLOSED[kind]
    text = LOOPS.replace("KIND", kind.split()[0]).replace("MEASURES", measures or "{}")
    text = text.replace("OPTIONS, cut: true", "cut: true" if options == "cut: true" else f"{options}, cut: true")
    return Model.from_yaml_text(text)


#: Every joint but the floating one, with its options.
JOINTS = {
    "revolute": {"axis": [0.2, 1, 0.3]},
    "prismatic": {"axis": [1, 0.4, 0.1]},
    "cylindrical": {"axis": [0.3, 0.1, 1]},
    "screw": {"axis": [0.2, 0.4, 1], "pitch": 0.3},
    "cardan": {"axes": [[1, 0, 0], [0, 0, 1]]},
    "planar": {"axis": [0, 0, 1], "x_axis": [1, 0, 0]},
    "spherical": {},
    "fixed": {},
}


def random_tree(seed: int, at=(0.0, 0.0, 0.0)) -> Model:
    """A floating body that carries every joint twice, normal and reversed, on random bodies; `at` moves the ground's marker.

    Markers c, e0, e1, e2 of a body are its centre of mass and the axes of its frame.
    """
    rng = np.random.default_rng(seed)

    def vector(size):
        return np.round(rng.uniform(-size, size, 3), 3).tolist()

    def body():
        com = vector(0.5)
        inertia = [*np.round(rng.uniform(0.2, 0.35, 3), 3).tolist(), 0.02, -0.01, 0.03]
        axes = {f"e{k}": {"vector": np.eye(3)[k].tolist()} for k in range(3)}
        markers = {"p": vector(1.0), "q": vector(1.0), "c": com, **axes}
        return {"mass": round(rng.uniform(0.5, 2.0), 3), "com": com, "inertia": inertia, "markers": markers}

    bodies, joints = {"b0": body()}, {"j0": {"type": "floating", "between": ["ground.O", "b0.p"]}}
    pairs = [(kind, order) for kind in JOINTS for order in (1, -1)]
    for i, k in enumerate(rng.permutation(len(pairs)), 1):
        kind, order = pairs[k]
        bodies[f"b{i}"] = body()
        joints[f"j{i}"] = {"type": kind, "between": [f"b{rng.integers(i)}.q", f"b{i}.p"][::order], **JOINTS[kind]}
    bodies["b3"]["point_masses"] = {"tip": {"mass": 0.4, "at": vector(1.0)}}
    bodies["b3"]["markers"]["tip"] = bodies["b3"]["point_masses"]["tip"]["at"]
    return Model.from_dict(
        {
            "kinegrad": 1,
            "ground": {"markers": {"O": [float(x + y) for x, y in zip((0.2, -0.1, 0.3), at, strict=True)]}},
            "bodies": bodies,
            "joints": joints,
            "forces": {"gravity": {"type": "gravity", "acceleration": [0.3, -9.81, 1.0]}},
        }
    )
