"""Record types of the natural set: entities, bases, frames, places of bodies in them, masses.

The frame F = [e1 e2 e3 r] of a group of bodies, three axes and a point, is an affine function of the coordinates (NAT-1).  For
every vector like q, such as v or mu, it has a *field*: F at q, and what the linear part of F makes of the other vectors.  A
field is twelve numbers, column by column.
"""

# Fields: at q; at v and a of the residual; at vp and ap; at dv, da, mu, eta_v, eta_a.
AT, VS, AS, V, AC, DV, DA, MU, EV, EA = range(0, 120, 12)
SIZE = 12
N_FIELDS = 120

# A point or a unit vector: for each component its coordinate k, or -1 and the slot of its value.
ENTITY = [("point", "i8"), ("k", "i8", 3), ("val", "i8", 3)]

# A column of a basis: an entity e with slots loc of its local coordinates, or the product n × d of two columns, whose place in
# the table they give; its row of weights W; where its coordinates stand among those of the frame.
BASIS = [("type", "i8"), ("e", "i8"), ("loc", "i8"), ("n", "i8"), ("d", "i8"), ("at", "i8", 3), ("W", "num", 4)]
POINT, VECTOR, CROSS = range(3)

# A frame: the one whose axes it has, itself or its leader; columns b0:b1 of its basis, the first a point; its coordinates y0:y1
# in the table of columns.  Z: moments of its mass.  T: fields; D: what is dual to them; E: their changes in one direction;
# S: changes of what is dual to the fields mu, eta_v, eta_a.
FRAME = [
    ("lead", "i8"), ("b0", "i8"), ("b1", "i8"), ("y0", "i8"), ("y1", "i8"), ("want", "i8"),
    ("Z", "num", 16), ("T", "num", N_FIELDS), ("D", "num", N_FIELDS), ("E", "num", N_FIELDS), ("S", "num", 36),
]  # fmt: skip

# What four adjoints make of a frame, a column each: fields of mu, eta_v, eta_a, and what is dual to all fields.
FRAME_DUAL = [("T", "num", (36, 4)), ("D", "num", (N_FIELDS, 4))]

# Column of a frame: the derivative of F by coordinate k.
FRAME_COLUMN = [("k", "i8"), ("Y", "num", SIZE)]

# A body in a frame: slots of its rotation, if any, and of its origin there.
PLACE = [("frame", "i8"), ("rot", "i8"), ("off", "i8")]

# Local coordinates of a marker in its frame.
LOCAL = [("l", "num", 3)]

# A mass: slots of mass, centre and inertia about it, in the axes of its frame.
MASS = [("frame", "i8"), ("m", "i8"), ("com", "i8"), ("J", "i8")]

# What a direction touches of a frame, or what a pullback is asked for there.
GEOMETRY, INERTIA = 1, 2
