"""The equations of a model document at one instant, in absolute coordinates: nothing of kinegrad is used.

Each body has six motions: the velocity of its frame's origin and its angular velocity, in global components. Rows of
joints, constraints and drivers are written with `Jet`, which gives their derivatives; accelerations are found on the
motions that the rows leave, by a singular value decomposition, and multipliers by least squares.
"""

from functools import cached_property

import numpy as np
from scipy.interpolate import CubicSpline

from soak import jets
from soak.jets import Jet, dot, vec
from soak.rotations import across, cross, frame, rotation_vector, skew, unit

RANK = 1e-8  # of the largest singular value
AXIS_JOINTS = ("revolute", "prismatic", "cylindrical", "screw")


class Names:
    """An object whose attributes are looked up by a function."""

    def __init__(self, find):
        self._find = find

    def __getattr__(self, name):
        return self._find(name)


class Instant:
    """A document at given poses {body: (r, A)} and motions (6 a body)."""

    def __init__(self, document, poses, motion=None, t=0.0, size=1.0):
        self.document, self.poses = document, {"ground": (np.zeros(3), np.eye(3)), **poses}
        self.bodies = list(document["bodies"])
        self.n = 6 * len(self.bodies)
        self.motion = np.zeros(self.n) if motion is None else motion
        self.size = size
        lane = np.zeros(self.n + 1)
        lane[-1] = 1.0
        self.t = Jet(t, lane, np.zeros(self.n + 1))
        self.parameters = {}
        for name, value in document.get("parameters", {}).items():  # in an order in which each knows those it mentions
            value = [self.number(x) for x in value] if isinstance(value, list) else self.number(value)
            self.parameters[name] = value

    # --- numbers ---

    def number(self, x):
        return jets.number(x, self.parameters)

    def vector(self, x):
        return np.array([self.number(entry) for entry in x])

    def value(self, x):
        """An expression in anything, as a jet."""
        if isinstance(x, str):
            x = jets.run(x, self.names)
        return x if isinstance(x, Jet) else Jet.constant(x, self.n + 1)

    @cached_property
    def names(self):
        constants = {
            name: [self.value(x) for x in value] if isinstance(value, list) else self.value(value)
            for name, value in self.parameters.items()
        }
        bodies = {b: Names(lambda m, b=b: self.marker(f"{b}.{m}")) for b in ("ground", *self.bodies)}
        joints = {j: Names(lambda c, j=j: self.coordinate(j, c)) for j in self.document["joints"]}
        names = {**jets.FUNCTIONS, **constants, **bodies, **joints, "t": self.t, "pi": np.pi}
        for name, text in self.document.get("measures", {}).items():
            names[name] = jets.run(text, names)
        return names

    # --- markers ---

    def fixed(self, body, s, is_point):
        """A point or a vector of a body by its body components."""
        r, A = self.poses[body]
        u = A @ s
        d, dd = np.zeros((3, self.n + 1)), np.zeros((3, self.n + 1))
        if body != "ground":
            k = 6 * self.bodies.index(body)
            d[:, k : k + 3] = np.eye(3) * is_point
            d[:, k + 3 : k + 6] = -skew(u)
            omega = self.motion[k + 3 : k + 6]
            d[:, -1] = self.motion[k : k + 3] * is_point + cross(omega, u)
            dd[:, -1] = cross(omega, cross(omega, u))
        return Jet(r * is_point + u, d, dd)

    def marker(self, name):
        """The jet of a point or direction, or of the origin of a frame."""
        body, _, marker = name.partition(".")
        place = self.document["ground"] if body == "ground" else self.document["bodies"][body]
        entry = place["markers"][marker]
        if isinstance(entry, dict) and "vector" in entry:
            return self.fixed(body, unit(self.vector(entry["vector"])), False)
        return self.fixed(body, self.vector(entry["origin"] if isinstance(entry, dict) else entry), True)

    def spin(self, body):
        """(3, n) angular velocity of a body by all motions."""
        W = np.zeros((3, self.n))
        if body != "ground":
            k = 6 * self.bodies.index(body) + 3
            W[:, k : k + 3] = np.eye(3)
        return W

    # --- joints ---

    def joint_vectors(self, name):
        """Axis u1, u2, and the directions z1 (angle zero) and w1 = u1 × z1 of the first body, z2 of the second."""
        joint = self.document["joints"][name]
        bodies = [marker.partition(".")[0] for marker in joint["between"]]
        a1, a2 = (unit(self.vector(x)) for x in pair(joint["axis"]))
        zero = joint.get("zero") or joint.get("x_axis")
        if zero:
            z1, z2 = (across(self.vector(z), a) for z, a in zip(pair(zero), (a1, a2), strict=True))
        elif is_pair(joint["axis"]):
            z1, z2 = across(a1[[1, 2, 0]] + 0.3, a1), across(a2[[1, 2, 0]] + 0.3, a2)
        else:
            z1 = z2 = across(a1[[1, 2, 0]] + 0.3, a1)
        first, second = bodies
        jet = self.fixed
        return (
            *(jet(first, a1, False), jet(second, a2, False), jet(first, z1, False)),
            *(jet(first, cross(a1, z1), False), jet(second, z2, False)),
        )

    def gap(self, name):
        x1, x2 = (self.marker(marker) for marker in self.document["joints"][name]["between"])
        return x2 - x1

    def cardan_axes(self, name):
        joint = self.document["joints"][name]
        return [unit(self.vector(a)) for a in joint["axes"]], [m.partition(".")[0] for m in joint["between"]]

    def coordinate(self, name, part):
        """The jet of a joint coordinate."""
        kind = self.document["joints"][name]["type"]
        if kind == "cardan":
            (a1, a2), (first, second) = self.cardan_axes(name)
            w = cross(a1, a2)
            if part == "angle1":
                u2 = self.fixed(second, a2, False)
                return jets.atan2(dot(self.fixed(first, w, False), u2), dot(self.fixed(first, a2, False), u2))
            u1 = self.fixed(first, a1, False)  # seen from the second body, turned back by angle2 about a2
            return jets.atan2(dot(self.fixed(second, w, False), u1), dot(self.fixed(second, a1, False), u1))
        u1, _, z1, w1, z2 = self.joint_vectors(name)
        if part in ("distance", "x", "y"):
            return dot({"distance": u1, "x": z1, "y": w1}[part], self.gap(name))
        angle = jets.atan2(dot(w1, z2), dot(z1, z2))
        if kind == "screw":
            pitch = self.number(self.document["joints"][name]["pitch"])
            along = float(dot(u1, self.gap(name)).v) / pitch
            angle = angle + 2.0 * np.pi * round((along - float(angle.v)) / (2.0 * np.pi))
        return angle

    def joint_rows(self, name):
        """The rows of a joint as one jet."""
        joint = self.document["joints"][name]
        kind, gap = joint["type"], self.gap(name)
        if kind == "floating":
            return None
        if kind == "link":
            return vec(jets.norm(gap) - self.number(joint["length"]))
        first, second = (marker.partition(".")[0] for marker in joint["between"])
        point = [gap[0], gap[1], gap[2]]
        if kind == "spherical":
            return vec(*point)
        if kind == "fixed":
            e, f = ([self.fixed(body, row, False) for row in np.eye(3)] for body in (first, second))
            return vec(*point, dot(e[0], f[1]), dot(e[0], f[2]), dot(e[1], f[2]))
        if kind == "cardan":
            (a1, a2), _ = self.cardan_axes(name)
            return vec(*point, dot(self.fixed(first, a1, False), self.fixed(second, a2, False)))
        u1, u2, z1, w1, z2 = self.joint_vectors(name)
        parallel = [dot(z1, u2), dot(w1, u2)]
        if kind == "planar":
            return vec(dot(u1, gap), *parallel)
        if kind == "revolute":
            return vec(*point, *parallel)
        rows = [dot(z1, gap), dot(w1, gap), *parallel]
        if kind == "prismatic":
            rows.append(dot(w1, z2))
        if kind == "screw":
            rows.append(dot(u1, gap) - self.coordinate(name, "angle") * self.number(joint["pitch"]))
        return vec(*rows)

    def across(self, name):
        """Two directions of a body across its vector marker, as jets."""
        body = name.partition(".")[0]
        u = self.poses[body][1].T @ self.marker(name).v
        x = across(u[[1, 2, 0]] + 0.3, u)
        return self.fixed(body, x, False), self.fixed(body, cross(u, x), False)

    # --- all rows ---

    def constraint_rows(self, constraint):
        kind = constraint["type"]
        if kind == "linear":
            terms = [self.value(m) * self.number(factor) for m, factor in constraint["terms"].items()]
            return vec(sum(terms[1:], terms[0]) - self.number(constraint["value"]))
        if kind == "guidance" and "marker" in constraint:
            return self.marker(constraint["marker"]) - vec(*(self.value(x) for x in constraint["value"]))
        if kind == "guidance":
            return vec(self.value(constraint["measure"]) - self.value(constraint["value"]))
        a, b = (self.marker(name) for name in constraint["between"])
        if kind == "coincidence":
            return b - a
        if kind in ("parallel", "same-direction"):
            return vec(*(dot(x, b) for x in self.across(constraint["between"][0])))
        if kind == "point-on-line":
            return vec(*(dot(x, b - a) for x in self.across(constraint["along"])))
        if kind == "point-in-plane":
            return vec(dot(self.marker(constraint["normal"]), b - a) - self.number(constraint.get("distance", 0.0)))
        if kind == "distance":
            return vec(jets.norm(b - a) - self.number(constraint["distance"]))
        if kind == "dot":
            return vec(dot(a, b) - self.number(constraint["value"]))
        return vec(jets.acos(dot(a, b)) - self.number(constraint["value"]))

    @cached_property
    def rows(self):
        """{element: its rows} of joints, constraints and drivers."""
        rows = {name: self.joint_rows(name) for name in self.document["joints"]}
        for name, constraint in self.document.get("constraints", {}).items():
            rows[name] = self.constraint_rows(constraint)
        for name, driver in self.document.get("drivers", {}).items():
            rows[name] = vec(self.value(driver["measure"]) - self.value(driver["value"]))
        return {name: row for name, row in rows.items() if row is not None}

    def stacked(self, part):
        return np.concatenate(
            [np.zeros((0, *getattr(self.t, part).shape)), *(getattr(r, part) for r in self.rows.values())]
        )

    @cached_property
    def scale(self):
        """(n,) length of each motion, so that a turn counts as much as a shift by the size of the mechanism."""
        return np.tile([1.0, 1.0, 1.0, *[1.0 / self.size] * 3], len(self.bodies))

    def scaled(self, J):
        """Rows of unit length in the scaled motions, and their lengths."""
        J = J * self.scale
        length = np.linalg.norm(J, axis=1, keepdims=True)
        length[length < 1e-14] = 1.0
        return J / length, length[:, 0]

    @cached_property
    def jacobian(self):
        return self.stacked("d")[:, : self.n]

    # --- starts ---

    def freedom_rows(self, name):
        """(k, n) what a degree of freedom measures, by all motions; three rows for a spherical joint, six for a floating."""
        if name not in self.document["joints"]:
            return self.value(name).d[None, : self.n]
        first, second = (marker.partition(".")[0] for marker in self.document["joints"][name]["between"])
        A1 = self.poses[first][1]
        turn = A1.T @ (self.spin(second) - self.spin(first))
        if self.document["joints"][name]["type"] == "spherical":
            return turn
        gap = self.gap(name)
        shift = A1.T @ (gap.d[:, : self.n] + skew(gap.v) @ self.spin(first))
        return np.concatenate([shift, turn])

    def freedom_position(self, name):
        """The value of a measure, or the rotation vector, after the position of a floating joint."""
        if name not in self.document["joints"]:
            return [float(self.value(name).v)]
        first, second = (marker.partition(".")[0] for marker in self.document["joints"][name]["between"])
        A1, A2 = self.poses[first][1], self.poses[second][1]
        rho = rotation_vector(A1.T @ A2).tolist()
        return rho if self.document["joints"][name]["type"] == "spherical" else [*(A1.T @ self.gap(name).v), *rho]

    def velocities(self, rates):
        """The motion in which rows hold and the degrees of freedom {name: rates} have these rates, and what is left."""
        still = Instant(self.document, self.poses, None, float(self.t.v), self.size)
        J = [still.jacobian, *(still.freedom_rows(name) for name in rates)]
        right = [-still.stacked("d")[:, -1], *(np.atleast_1d(rate) for rate in rates.values())]
        J, length = self.scaled(np.concatenate(J))
        right = np.concatenate(right) / length
        y, *_ = np.linalg.lstsq(J, right, rcond=RANK)
        y += np.linalg.lstsq(J, right - J @ y, rcond=RANK)[0]
        return self.scale * y, float(np.abs(J @ y - right).max(initial=0.0))

    # --- loads, inertia ---

    def loads(self):
        """(n,) generalised forces."""
        Q = np.zeros(self.n)
        for force in self.document.get("forces", {}).values():
            Q += self.load(force)
        return Q

    def load(self, force):
        kind = force["type"]
        if kind == "gravity":
            g = self.vector(force["acceleration"])
            return sum(m * (g @ c.d[:, : self.n]) for m, c, _, _ in self.masses)
        if "at" in force:
            body = force["at"].partition(".")[0]
            value = vec(*(self.value(x) for x in force["value"])).v
            value = self.poses[body][1] @ value if force.get("frame") == "body" else value
            return value @ (self.marker(force["at"]).d[:, : self.n] if kind == "force" else self.spin(body))
        if kind == "spring":
            if "between" in force:
                a, b = (self.marker(name) for name in force["between"])
                z, rest = jets.norm(b - a), self.number(force["natural_length"])
            else:
                z, rest = self.value(force["acts_on"]), self.number(force.get("natural_value", 0.0))
            pull = self.number(force["stiffness"]) * (z.v - rest) + self.number(force.get("damping", 0.0)) * z.d[-1]
            return -pull * z.d[: self.n]
        if kind == "bushing":
            return self.bushing(force)
        z = self.value(force["acts_on"])
        if kind == "spline":
            values = force["values"]
            values = self.parameters[values] if isinstance(values, str) else self.vector(values)
            value = CubicSpline(self.vector(force["times"]), values, bc_type="natural")(self.t.v)
        else:
            value = self.value(force["value"]).v
        return value * z.d[: self.n]

    def frame(self, name):
        """The axes of a frame in global components, by columns, and those in its body."""
        body, _, marker = name.partition(".")
        entry = (self.document["ground"] if body == "ground" else self.document["bodies"][body])["markers"][marker]
        local = frame(self.vector(entry["x_axis"]), self.vector(entry["z_axis"]))
        return self.poses[body][1] @ local, local

    def bushing_turn(self, force):
        """The rotation vector from the first frame of a bushing to the second, in the first."""
        (E, _), (G, _) = (self.frame(name) for name in force["between"])
        return rotation_vector(E.T @ G)

    def bushing(self, force):
        """Generalised forces of a bushing, by the rates of place and rotation vector in the first frame."""
        a, b = force["between"]
        bodies = [name.partition(".")[0] for name in (a, b)]
        E, local = self.frame(a)
        d = self.marker(b) - self.marker(a)
        u = vec(*(dot(self.fixed(bodies[0], e, False), d) for e in local.T))
        theta = self.bushing_turn(force)
        phi, S = np.linalg.norm(theta), skew(theta)
        bend = (
            1.0 / phi**2 - (1.0 + np.cos(phi)) / (2.0 * phi * np.sin(phi))
            if phi > 1e-2
            else 1.0 / 12.0 + phi**2 / 720.0
        )
        theta_d = (np.eye(3) - 0.5 * S + bend * S @ S) @ E.T @ (self.spin(bodies[1]) - self.spin(bodies[0]))
        k, c, kt, ct, place, turned = (
            self.vector(force[key])
            for key in (
                "stiffness", "damping", "rotational_stiffness", "rotational_damping", "natural", "natural_rotation"
            )
        )  # fmt: skip
        force_ = k * (u.v - place) + c * u.d[:, -1]
        torque = kt * (theta - turned) + ct * (theta_d @ self.motion)
        return -force_ @ u.d[:, : self.n] - torque @ theta_d

    @cached_property
    def masses(self):
        """[(mass, its centre, body, tensor in body axes)] of bodies and point masses."""
        found = []
        for name, body in self.document["bodies"].items():
            com = self.fixed(name, self.vector(body.get("com", (0, 0, 0))), True)
            found.append((self.number(body["mass"]), com, name, self.tensor(body.get("inertia", (0, 0, 0)))))
            for point in body.get("point_masses", {}).values():
                found.append((self.number(point["mass"]), self.fixed(name, self.vector(point["at"]), True), name, None))
        return found

    def tensor(self, inertia):
        if isinstance(inertia, dict):
            u = unit(self.vector(inertia["axis"]))
            along, across_ = self.number(inertia["along"]), self.number(inertia["across"])
            return along * np.outer(u, u) + across_ * (np.eye(3) - np.outer(u, u))
        xx, yy, zz, xy, xz, yz = [*self.vector(inertia), 0.0, 0.0, 0.0][:6]
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])

    def inertia(self):
        """M (n, n) and the velocity terms (n,)."""
        M, f = np.zeros((self.n, self.n)), np.zeros(self.n)
        for mass, c, body, tensor in self.masses:
            Jc = c.d[:, : self.n]
            M += mass * Jc.T @ Jc
            f += mass * Jc.T @ c.dd[:, -1]
            if tensor is not None:
                A, W = self.poses[body][1], self.spin(body)
                I = A @ tensor @ A.T
                omega = W @ self.motion
                M += W.T @ I @ W
                f += W.T @ cross(omega, I @ omega)
        return M, f

    # --- solution ---

    @cached_property
    def solution(self):
        """Accelerations (n,), multipliers by element, null space of the scaled rows' transpose, condition numbers."""
        J, length = self.scaled(self.jacobian)
        bias = self.stacked("dd")[:, -1] / length
        M, f = self.inertia()
        M = self.scale[:, None] * M * self.scale
        right = self.scale * (self.loads() - f)
        U, sigma, Vt = np.linalg.svd(J)
        rank = int((sigma > RANK * sigma[0]).sum()) if len(sigma) else 0
        N = Vt[rank:].T
        inverse = Vt[:rank].T / sigma[:rank] @ U[:, :rank].T
        a = -inverse @ bias
        free = N.T @ M @ N
        for _ in range(2):
            a += inverse @ (-bias - J @ a)
            if N.shape[1]:
                a += N @ np.linalg.solve(free, N.T @ (right - M @ a))
        lam = inverse.T @ (right - M @ a)
        ends = np.cumsum([0, *(len(row.v) for row in self.rows.values())])
        return Solution(
            acceleration=self.scale * a,
            multipliers={n: (lam / length)[i:j] for n, i, j in zip(self.rows, ends[:-1], ends[1:], strict=True)},
            nothing={
                n: (U[:, rank:] / length[:, None])[i:j] for n, i, j in zip(self.rows, ends[:-1], ends[1:], strict=True)
            },
            rank=rank,
            weakest=float(sigma[rank - 1] / sigma[0]) if rank else 1.0,
            gap=float(sigma[rank] / sigma[0]) if rank < len(sigma) else 0.0,
            inertia_condition=float(np.linalg.cond(free)) if N.shape[1] else 1.0,
        )

    def accelerations(self, names):
        """(names, 3) second rates of markers."""
        a = self.solution.acceleration
        return np.array([x.d[:, : self.n] @ a + x.dd[:, -1] for x in map(self.marker, names)])

    def reaction(self, name):
        """(6,) force and moment on the second body of a joint at its first marker, and (6, k) what may be added to it."""
        markers = self.document["joints"][name]["between"]
        first, second = (marker.partition(".")[0] for marker in markers)
        body, sign = (second, 1.0) if second != "ground" else (first, -1.0)
        k = 6 * self.bodies.index(body)
        J = self.rows[name].d[:, k : k + 6]
        arm = self.poses[body][0] - self.marker(markers[0]).v
        shift = np.block([[np.eye(3), np.zeros((3, 3))], [skew(arm), np.eye(3)]])
        T = -sign * shift @ J.T
        return T @ self.solution.multipliers[name], T @ self.solution.nothing[name]


class Solution:
    """What `Instant.solution` found."""

    def __init__(self, **entries):
        self.__dict__.update(entries)


def is_pair(axis):
    return isinstance(axis[0], list | tuple)


def pair(axis):
    return axis if is_pair(axis) else (axis, axis)


def pose_of(entry):
    """(r, A) of a pose in a document."""
    return np.array(entry["origin"], float), frame(np.array(entry["x_axis"], float), np.array(entry["z_axis"], float))
