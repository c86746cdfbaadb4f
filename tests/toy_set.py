"""A coordinate set that kinegrad does not have: bodies that only translate, by the positions of their origins.

All orientations are the identity, so x = r + l for points and x = l for unit vectors: columns are unit vectors, nothing is
curved and M is m on a diagonal.  Every joint is closed by its rows, and its coordinates are measured from markers.

`register` puts it where sets are looked for; nothing of kinegrad is edited.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from kinegrad.coordinates import sets
from kinegrad.coordinates.arrays import element_arrays, records
from kinegrad.coordinates.coordinate_set import METRE, Coordinate, CoordinateSet
from kinegrad.coordinates.elements import Elements
from kinegrad.coordinates.lowered import lowered
from kinegrad.coordinates.system import System
from kinegrad.errors import ModelError, Problem
from kinegrad.kernels import products as functions
from kinegrad.kernels.clearing import clear_flat, clear_products
from kinegrad.kernels.elements import stages
from kinegrad.kernels.elements.kinds import link_stages
from kinegrad.kernels.elements.laws import scalar_values
from kinegrad.kernels.elements.layout import ELEMENTS, GRAVITY
from kinegrad.kernels.elements.stages import (
    LINEAR_FORCES,
    run_stage,
)
from kinegrad.kernels.four_adjoints import collect_one, one_of_four
from kinegrad.kernels.jit import cfunction, kernel, record
from kinegrad.kernels.pattern import place
from kinegrad.kernels.products import AT_POSITION, BLOCK, OBJECTIVE
from kinegrad.kernels.records import COLUMN, MARKER
from kinegrad.kernels.set_functions import (
    bias_of_rows,
    energies,
    forces,
    keep_rates,
    linear_rows_and_objectives,
    objectives,
    pull,
    rows,
    run_part,
    tangent,
)
from kinegrad.kernels.table import Parts
from kinegrad.kernels.vec3 import add, dot, inc_at, mul, put, sub, vec, vec_at
from kinegrad.kernels.vec4 import gain4, inc4_at, set4, vec4, vec4_at
from kinegrad.model import simulation
from kinegrad.model.parameters import Parameters
from kinegrad.model.poses import placed

GROUND = "ground"
ON_GROUND = -1  # in the place of a body's first coordinate
JOINTS = ("prismatic", "fixed")

# Three carriages: one is driven, a rope holds the last, one freedom is left.
CARRIAGES = """
kinegrad: 1
title: Three carriages
parameters: {m1: 3.0, m2: 1.2, m3: 0.7, tip: 0.2, k: 40, c: 0.6, L0: 0.5, push: 1.5, tilt: 0.1, D: 0.9, g: 9.81, w: 2.0,
             z0: 0.15, zd0: 0.3, h: 0.4, lag: 0.05}
ground: {markers: {O: [0.1, 0, h], S: [0.8, 0.5, 0.3], A: [0.3, 0.4, -0.9]}}
bodies:
  bridge: {mass: m1, com: [0.1, 0.2, 0], inertia: [0.1, 0.1, 0.1], markers: {O: [0, 0.1, 0], P: [0.2, h, 0.1]},
           pose: {origin: [0.1, -0.1, 0.4]}}
  trolley: {mass: m2, com: [0, 0, 0.1], inertia: [0.1, 0.1, 0.1], markers: {O: [0.05, 0, 0], P: [0, 0.1, -0.1]},
            pose: {origin: [0.25, 0.45, 0.5]}}
  hoist: {mass: m3, com: [0, 0.1, 0], inertia: [0.1, 0.1, 0.1], markers: {O: [0, 0, 0], tip: [0.05, 0.02, -tip]},
          point_masses: {load: {mass: 0.2, at: [0, 0, -tip]}}, pose: {origin: [0.25, 0.55, 0.2]}}
joints:
  rail: {type: prismatic, between: [ground.O, bridge.O], axis: [1, tilt, 0]}
  beam: {type: prismatic, between: [bridge.P, trolley.O], axis: [tilt, 1, 0.05]}
  lift: {type: prismatic, between: [hoist.O, trolley.P], axis: [0.02, tilt, 1]}
forces:
  weight: {type: gravity, acceleration: [0.2, -0.1, -g]}
  coil: {type: spring, between: [ground.S, hoist.tip], stiffness: k, damping: c, natural_length: L0}
  tie: {type: spring, between: [bridge.P, hoist.O], stiffness: 25, damping: 0.3, natural_length: 0.2}
  buffer: {type: spring, acts_on: beam.distance, stiffness: k/2, damping: c, natural_value: z0/2}
  wind: {type: force, at: hoist.tip, value: [push, "push*sin(5*t)", "-c*hoist.tip.velocity.z"]}
  winch: {type: actuator, acts_on: lift.distance, value: "push*cos(3*t)", time_constant: lag, start: 0.4}
constraints:
  rope: {type: distance, between: [ground.A, hoist.tip], distance: D}
measures: {way: rail.distance + beam.distance/2}
drivers:
  go: {measure: way, value: "0.1 + 0.1*sin(w*t) + 0.02*t"}
degrees_of_freedom:
  beam.distance: {position: z0, velocity: zd0}
objectives:
  path: {integral: "norm2(hoist.tip.position - ground.S.position) + lift.distance.velocity**2"}
  shake: {integral: "norm2(trolley.P.acceleration)*tilt + k*1e-3*hoist.tip.velocity.x"}
  end: {final: "hoist.tip.position.z + beam.distance.velocity*c"}
simulation: {t_end: 0.3, step: 2.0e-3}
"""

# A second rail, which closes a loop and holds nothing that the first does not.
RAILS = """
kinegrad: 1
parameters: {m: 2.0, k: 30}
ground: {markers: {O: [0, 0, 0], G: [0, 1, 0.2], S: [1, 0, 0]}}
bodies:
  bridge: {mass: m, com: [0.1, 0.4, 0], inertia: [0.1, 0.1, 0.1], markers: {O: [0, 0, 0], G: [0, 1, 0.2], P: [0, 0.5, 0]},
           pose: {origin: [0.2, 0, 0]}}
  trolley: {mass: 1, com: [0, 0, 0], inertia: [0.1, 0.1, 0.1], markers: {O: [0, 0, 0], H: [0.1, 0.2, 0]},
            pose: {origin: [0.2, 0.6, 0]}}
  clip: {mass: 0.3, com: [0.1, 0, 0], inertia: [0.1, 0.1, 0.1], markers: {H: [0, 0, 0], P: [0.1, 0, 0.1]},
         pose: {origin: [0.3, 0.8, 0]}}
joints:
  rail: {type: prismatic, between: [ground.O, bridge.O], axis: [1, 0, 0]}
  guide: {type: prismatic, between: [ground.G, bridge.G], axis: [1, 0, 0]}
  beam: {type: prismatic, between: [bridge.P, trolley.O], axis: [0, 1, 0]}
  weld: {type: fixed, between: [trolley.H, clip.H]}
forces:
  weight: {type: gravity, acceleration: [0, 0, -9.81]}
  coil: {type: spring, between: [ground.S, clip.P], stiffness: k, damping: 0.5, natural_length: 0.4}
degrees_of_freedom:
  rail.distance: {position: 0.2, velocity: 0.4}
  trolley.H.y: {position: 0.8, velocity: -0.2}
objectives:
  reach: {integral: "norm2(clip.P.position)"}
simulation: {t_end: 0.3, step: 2.0e-3}
"""

# --- kernels ---

# A mass: first coordinate of its body, slots of mass and centre.
MASS = [("k", "i8"), ("m", "i8"), ("com", "i8")]

LAYOUT = ELEMENTS.extend([("mass", record(MASS), 1)])
mass_, zero_, mk_, col_, sc_, count_ = LAYOUT.viewers(*"mass zero mk col sc count".split())
flag_, s_, ds_, dual_, psi4_ = LAYOUT.viewers(*"flag s ds dual psi4".split())
q_, v_, a_, vp_, ap_, dv_, da_, f_, mu4_, eta_v4_, eta_a4_ = LAYOUT.viewers(
    *"q v a vp ap dv da f mu4 eta_v4 eta_a4".split()
)
M_, square_ = LAYOUT.viewers(*"M square".split())
R_s_, Nv_s_, Na_s_ = LAYOUT.viewers(*"R_s Nv_s Na_s".split())


MARKERS_AND_ROWS, FOUR_ADJOINTS = 0, 1  # the first is the number that AT_POSITIONS has in the joint set
PARTS = Parts()


@kernel
def moves(m):
    """Whether coordinates move a marker."""
    return m["point"] and m["node"] >= 0


@kernel
def rates(mk, v, a):
    """xd, xdd of every marker."""
    for i in range(mk.shape[0]):
        m = mk[i]
        if moves(m):
            put(m["xd"], vec_at(v, m["node"]))
            put(m["xdd"], vec_at(a, m["node"]))


@kernel
def clear_covectors(mk):
    """f, fv, fa of the markers = 0."""
    zero = (0.0, 0.0, 0.0)
    for i in range(mk.shape[0]):
        m = mk[i]
        put(m["f"], zero)
        put(m["fv"], zero)
        put(m["fa"], zero)


@kernel
def inertia(mass, s, S, M):
    """M."""
    clear_flat(M)
    for i in range(mass.shape[0]):
        for j in range(mass[i]["k"], mass[i]["k"] + 3):
            M[place(S, j, j)] += s[mass[i]["m"]]


@PARTS.part(MARKERS_AND_ROWS)
@cfunction(what="the toy set")
def markers_and_rows(ctx):
    """Markers, and Phi, Phi_t, Phi_q."""
    mk, s, q = mk_(ctx), s_(ctx), q_(ctx)
    for i in range(mk.shape[0]):
        m = mk[i]
        x = vec_at(s, m["loc"])
        put(m["x"], add(x, vec_at(q, m["node"])) if moves(m) else x)
    rows(ctx)


@cfunction(what="the toy set")
def position(ctx):
    """Phi, Phi_t, Phi_q at q."""
    run_part(ctx, MARKERS_AND_ROWS)


@cfunction(what="the toy set")
def evaluate(ctx):
    """M, f, Phi, Phi_t, Phi_q and the approximate tangent at (q, v)."""
    mk, mass, s, f = mk_(ctx), mass_(ctx), s_(ctx), f_(ctx)
    if not flag_(ctx)[AT_POSITION]:
        run_part(ctx, MARKERS_AND_ROWS)
    inertia(mass, s, square_(ctx), M_(ctx))
    rates(mk, v_(ctx), zero_(ctx))
    clear_covectors(mk)
    for i in range(f.shape[0]):
        f[i] = 0.0
    for i in range(mass.shape[0]):
        inc_at(f, mass[i]["k"], mul(-s[mass[i]["m"]], vec_at(s, count_(ctx)[GRAVITY])))
    forces(ctx)
    for i in range(mk.shape[0]):
        if moves(mk[i]):
            inc_at(f, mk[i]["node"], vec(mk[i]["f"]))
    tangent(ctx)


@cfunction(what="the toy set")
def bias(ctx):
    """c = Phidd(q, vp, 0)."""
    rates(mk_(ctx), vp_(ctx), zero_(ctx))
    bias_of_rows(ctx)


@cfunction(what="the toy set")
def observe(ctx):
    """g, and the motion of the markers."""
    rates(mk_(ctx), vp_(ctx), ap_(ctx))
    objectives(ctx)


@cfunction(what="the toy set")
def linearise(ctx):
    """Every first derivative of a step; columns of coordinates are constant, their rates zero."""
    mk, col, sc, mass, s, ds = mk_(ctx), col_(ctx), sc_(ctx), mass_(ctx), s_(ctx), ds_(ctx)
    q, a, R_s, Nv_s, Na_s, n = q_(ctx), a_(ctx), R_s_(ctx), Nv_s_(ctx), Na_s_(ctx), q_(ctx).shape[0]
    clear_products(ctx)
    clear_covectors(mk)
    inertia(mass, s, square_(ctx), M_(ctx))
    for i in range(mk.shape[0]):
        m = mk[i]
        x = vec_at(s, m["loc"])
        put(m["x"], add(x, vec_at(q, m["node"])) if moves(m) else x)
        for c in range(m["c1"], m["c2"]):
            put(col[c]["xq"], vec_at(ds[col[c]["k"] - n], m["loc"]))
    rates(mk, v_(ctx), a)
    scalar_values(sc, mk, q, v_(ctx), a)
    keep_rates(ctx)
    run_stage(ctx, LINEAR_FORCES)
    gravity = count_(ctx)[GRAVITY]
    for p in range(ds.shape[0]):
        for i in range(mass.shape[0]):
            e, m = ds[p, mass[i]["m"]], s[mass[i]["m"]]
            for j in range(3):
                k = mass[i]["k"] + j
                R_s[k, p] += e * (a[k] - s[gravity + j]) - m * ds[p, gravity + j]
                Nv_s[k, p] += e * dv_(ctx)[k]
                Na_s[k, p] += e * da_(ctx)[k]
    rates(mk, vp_(ctx), ap_(ctx))
    scalar_values(sc, mk, q, vp_(ctx), ap_(ctx))
    linear_rows_and_objectives(ctx)


@cfunction(what="the toy set")
def pullback(ctx):
    """Adds to psi_s of one objective, after linearise at the same point."""
    one_of_four(ctx)
    run_part(ctx, FOUR_ADJOINTS)
    collect_one(ctx, flag_(ctx)[OBJECTIVE])


@PARTS.part(FOUR_ADJOINTS)
@cfunction(what="the toy set")
def pullback4(ctx):
    """Adds to psi4 of the objectives of a block, after linearise at the same point."""
    mk, dual, mass, s, mu, eta_v, eta_a = (
        mk_(ctx),
        dual_(ctx),
        mass_(ctx),
        s_(ctx),
        mu4_(ctx),
        eta_v4_(ctx),
        eta_a4_(ctx),
    )
    psi, gravity = psi4_(ctx)[flag_(ctx)[BLOCK]], count_(ctx)[GRAVITY]
    for i in range(mk.shape[0]):
        m, D = mk[i], dual[i]
        if moves(m):
            set4(D["dm"], vec4_at(mu, m["node"]))
            set4(D["dv"], vec4_at(eta_v, m["node"]))
            set4(D["da"], vec4_at(eta_a, m["node"]))
    pull(ctx)
    for i in range(mk.shape[0]):
        inc4_at(psi, mk[i]["loc"], vec4(dual[i]["X"]))
    for i in range(mass.shape[0]):
        k, m, g = mass[i]["k"], mass[i]["m"], vec_at(s, gravity)
        t = dot(vec4_at(mu, k), sub(vec_at(a_(ctx), k), g))
        t = t + dot(vec4_at(eta_v, k), vec_at(dv_(ctx), k)) + dot(vec4_at(eta_a, k), vec_at(da_(ctx), k))
        gain4(psi, m, t)
        inc4_at(psi, gravity, mul(-s[m], vec4_at(mu, k)))


@cfunction(what="the toy set")
def energy(ctx):
    """Kinetic energy, potential of weight and elements, and the power of all else, after evaluate."""
    mass, s, q, v = mass_(ctx), s_(ctx), q_(ctx), v_(ctx)
    kinetic, potential = 0.0 * s[0], 0.0 * s[0]
    for i in range(mass.shape[0]):
        k, m = mass[i]["k"], s[mass[i]["m"]]
        kinetic += 0.5 * m * dot(vec_at(v, k), vec_at(v, k))
        centre = add(vec_at(q, k), vec_at(s, mass[i]["com"]))
        potential -= m * dot(vec_at(s, count_(ctx)[GRAVITY]), centre)
    energies(ctx, kinetic, potential)


FUNCTIONS = (evaluate, bias, observe, linearise, pullback, energy, position, pullback4)
STAGES = {
    functions.POSITION: (stages.ROWS,),
    functions.EVALUATE: (stages.ROWS, stages.FORCES, stages.STIFFNESS),
    functions.BIAS: (stages.BIAS,),
    functions.OBSERVE: (stages.OBJECTIVES,),
    functions.LINEARISE: (stages.LINEAR_FORCES, stages.LINEAR_ROWS, stages.LINEAR_OBJECTIVES),
    functions.PULLBACK: (stages.PULL,),
    functions.PULLBACK4: (stages.PULL,),
    functions.ENERGY: (stages.ENERGY,),
}


# --- the set ---


@dataclass(frozen=True, eq=False)
class GantrySet(CoordinateSet):
    """Positions of bodies that only translate.

    Attributes
    ----------
    masses : tuple of records
    first : dict body -> number of its first coordinate
    """

    masses: tuple[dict, ...]
    first: dict[str, int]

    kind = "gantry"
    option_names = ()

    @classmethod
    def lower(cls, model, values: Mapping | None = None) -> System:
        return carriages(model, values)

    @property
    def options(self) -> dict:
        return {}

    @property
    def functions(self) -> tuple:
        return FUNCTIONS

    @property
    def layout(self):
        return LAYOUT

    def link(self, which: int, arrays: dict) -> None:
        link_stages(arrays, STAGES[which])
        if which in (functions.POSITION, functions.EVALUATE):
            PARTS.link(arrays["links"], (MARKERS_AND_ROWS,))
        if which == functions.PULLBACK:
            PARTS.link(arrays["links"], (FOUR_ADJOINTS,))

    def arrays(self, system: System, ds: np.ndarray, wanted: np.ndarray, number: str, every_marker: bool) -> dict:
        n, tables = system.n, system.tables
        used = len(tables["markers"])
        markers, columns = [], []
        for i, (body, loc, point) in enumerate(tables["every_marker" if every_marker else "markers"]):
            node = self.first.get(body, ON_GROUND)
            first = len(columns)
            if i < used and point and node >= 0:
                columns += [{"k": node + j, "xq": np.eye(3)[j]} for j in range(3)]
            middle = len(columns)
            if i < used:
                columns += [{"k": n + j} for j in range(len(ds)) if ds[j, loc : loc + 3].any()]
            marker = {"node": node, "loc": loc, "point": int(point)}
            markers.append(marker | {"c0": first, "c1": middle, "c2": len(columns)})
        return {
            "mass": records(MASS, self.masses, number),
            "mk": records(MARKER, markers, number),
            "col": records(COLUMN, columns, number),
            "zero": np.zeros(n, number),
            "links": np.zeros(len(PARTS), np.int64),
            **element_arrays(system, number, n + len(ds)),
        }

    def guess(self, system: System, s: np.ndarray, close=None) -> np.ndarray:
        origins = [placed(body.pose, system.parameters.evaluate) for body in system.model.bodies.values()]
        return np.concatenate([np.zeros(3) if pose is None else pose[0] for pose in origins])

    def bodies(self, system: System, work) -> tuple[np.ndarray, ...]:
        b = len(self.first)
        r, v, a = (work[name][: 3 * b].reshape(b, 3) for name in ("q", "vp", "ap"))
        still = np.zeros((b, 3))
        return np.tile(np.eye(3), (b, 1, 1)), r, np.hstack([v, still]), np.hstack([a, still])

    def from_bodies(self, system: System, work, A, r, V, a, near: np.ndarray) -> tuple[np.ndarray, ...]:
        own = np.zeros(system.n - r.size)
        return tuple(np.concatenate([x.ravel(), own]) for x in (r, V[:, :3], a[:, :3]))


def carriages(model, values: Mapping | None) -> System:
    """A model of carriages as a system."""
    for name, joint in model.joints.items():
        if joint.type not in JOINTS:
            sentence = f"joint {name!r} ({joint.type}) lets bodies turn, and gantry coordinates only move them along."
            raise ModelError(Problem(sentence, f"joints.{name}"))
    e = Elements(model, Parameters(model.parameters), lambda joint, part: None)
    first, masses = {}, []
    for body, b in model.bodies.items():
        k = first[body] = len(e.coordinates)
        e.coordinates += [Coordinate(body, c, METRE) for c in "xyz"]
        parts = [(f"bodies.{body}", b.mass, "com", b.com)]
        parts += [(f"bodies.{body}.point_masses.{name}", p.mass, "at", p.at) for name, p in b.point_masses.items()]
        for path, mass, where, centre in parts:
            com = e.slots.vector(f"{path}.{where}", centre)
            masses.append({"k": k, "m": e.slots.number(f"{path}.mass", mass), "com": com})
    for name in model.joints:
        e.close(name)
    return lowered(e, GantrySet(tuple(masses), first), values, {}.__getitem__, {}.__getitem__)


class GantryCoordinates(simulation.Coordinates):
    """Positions of bodies that only translate."""

    type: Literal["gantry"] = "gantry"


def register(monkeypatch) -> None:
    """Put the set where models and systems look for sets, for one test."""
    monkeypatch.setitem(sets.SETS, GantrySet.kind, GantrySet)
    monkeypatch.setitem(simulation.COORDINATES, GantrySet.kind, GantryCoordinates)
