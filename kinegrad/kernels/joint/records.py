"""Record types of the joint set: nodes of the tree, coordinates, masses."""

# A joint is a sequence of nodes; each turns, slides, screws or carries Euler parameters (or is rigid), after an offset
# A_parent (s[off] - s[ref]) and, if rot > 0, a constant rotation s[rot:rot+9].  s[pitch]: metres per radian of a screw.
RIGID, TURN, SLIDE, EULER, SCREW = range(5)

# k, nk: first coordinate and their number; up: the last coordinate proximal to this node, or -1.
# x: joint point; V, a: motion (spatial, about the global origin); Vs, acs: the same at unprojected velocities;
# W, U: motions of dv, da.
# I, h, X, F: moments, momentum, int x xdᵀ, inertial wrench, composite during a backward sweep; F1, F2: wrenches of W, U.
# g: covector sums (force, int x fᵀ) of the markers beyond, of f, fv, fa in lanes.  dI: changes of moments in one direction.
NODE = [
    ("parent", "i8"), ("type", "i8"), ("k", "i8"), ("nk", "i8"), ("up", "i8"),
    ("off", "i8"), ("ref", "i8"), ("rot", "i8"), ("axis", "i8"), ("sgn", "i8"), ("pitch", "i8"), ("m0", "i8"), ("m1", "i8"),
    ("A", "num", 9), ("Aj", "num", 9), ("r", "num", 3), ("x", "num", 3),
    ("V", "num", 6), ("a", "num", 6), ("Vs", "num", 6), ("acs", "num", 6), ("W", "num", 6), ("U", "num", 6),
    ("I", "num", 10), ("Ib", "num", 10), ("h", "num", 3), ("X", "num", 9),
    ("F", "num", 6), ("F1", "num", 6), ("F2", "num", 6), ("Fb", "num", 6),
    ("g", "num", (12, 4)),
    ("dI", "num", 10),
    ("Xp", "num", 6), ("Xi", "num", 6), ("Xid", "num", 6), ("Xidd", "num", 6), ("dW", "num", 6), ("dU", "num", 6),
    ("S", "num", 6), ("S1", "num", 6), ("S2", "num", 6),
]  # fmt: skip

# What four adjoints make of a node, a column each: tm, tv, ta: motions of mu, eta_v, eta_a; D: ten dual wrenches.
N_DUAL = 60
NODE_DUAL = [("tm", "num", (6, 4)), ("tv", "num", (6, 4)), ("ta", "num", (6, 4)), ("D", "num", (N_DUAL, 4))]

# up: the next proximal coordinate; b, bd, bdd: screw and its time derivatives; w, u: its derivative along dv, da.  E: lanes of
# bdd, 2 bd, w, u, and then of the angular parts of bd, b.
COORDINATE = [
    ("node", "i8"), ("up", "i8"),
    ("b", "num", 6), ("bd", "num", 6), ("bdd", "num", 6), ("w", "num", 6), ("u", "num", 6), ("E", "num", (9, 4)),
]  # fmt: skip

# A mass on a node: slots of mass, centre, body reference point, inertia (six numbers; 0 for a point mass).
MASS = [("node", "i8"), ("m", "i8"), ("com", "i8"), ("ref", "i8"), ("J", "i8")]

# Of a node whose motion is taken at its centre of mass: g from the node's point r to that centre, d to it from the centre of
# the parent; V, a, moments and wrench about it.  CENTRED_SCREW: the screw of a coordinate about the centre of its node.
CENTRED = [("g", "num", 3), ("d", "num", 3), ("V", "num", 6), ("a", "num", 6), ("I", "num", 10), ("F", "num", 6)]
CENTRED_SCREW = [("b", "num", 6)]

# What a direction touches at a node (bits of `touch`), or what a pullback is asked for (bits of `want`): its joint's
# geometry, its masses, anything proximal; at node 0: anything of that kind in the tree, only markers, or gravity.
GEOMETRY, INERTIA, CARRIED, MARKERS, WEIGHT = 1, 2, 4, 8, 16
