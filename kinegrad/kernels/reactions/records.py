"""Record types of the balance of bodies: what a topology is made of, and scratch of one state (REA-1 to REA-4).

Body 0 is the ground; the others follow in the order of the tree, so body i is the end of edge i.  Joints of the tree come first
and in the same order: their free directions are the rows of the balance.  Points of a body are told from its centre of mass.
Wrenches, and the motions S that are their duals, are taken about the global origin.
"""

# Where the axis of a free direction is fixed: in the first body, in the second, nowhere, or in a frame whose x axis leads from
# the first marker to the second.
FIRST, SECOND, GLOBAL, BAR = range(4)

# First of its four markers (centre of mass, three axes), parent, joint that leads to it, -1 where the joint leads back;
# mass, inertia about the centre of mass; then A, centre, wrench w that is needed beyond it, wrench e that unknowns give there.
BODY = [
    ("mark", "i8"), ("parent", "i8"), ("joint", "i8"), ("sign", "f8"), ("m", "num"), ("J", "num", 6),
    ("A", "num", 9), ("c", "num", 3), ("w", "num", 6), ("e", "num", 6),
]  # fmt: skip

# Its bodies and markers, its free directions d0:d1, whether it tells the size of the mechanism; points of both markers.
JOINT = [
    ("first", "i8"), ("second", "i8"), ("d0", "i8"), ("d1", "i8"), ("tells", "i8"), ("p1", "num", 3), ("p2", "num", 3),
    ("x1", "num", 3), ("x2", "num", 3),
]  # fmt: skip

# A slide, turn or screw along an axis of a frame, the entry k of q that it is, or -1; then the axis u, the dual g (a force for
# a slide, a moment for the others) and the motion S.
DIRECTION = [
    ("type", "i8"), ("frame", "i8"), ("k", "i8"), ("axis", "num", 3), ("pitch", "num"),
    ("u", "num", 3), ("g", "num", 3), ("S", "num", 6),
]  # fmt: skip

# What an element can exert: n wrenches from w0 on, which are the columns from c0 on; a measure has one column for all of them.
# Joint and first direction; terms i0:i1; expression `law` or -1, place of its rate or -1; bodies and points; vectors a, b of
# bodies; the point that the reaction is told about.
UNKNOWN = [
    ("kind", "i8"), ("w0", "i8"), ("n", "i8"), ("c0", "i8"), ("joint", "i8"), ("dir", "i8"), ("i0", "i8"), ("i1", "i8"),
    ("law", "i8"), ("rate", "i8"), ("body1", "i8"), ("body2", "i8"), ("of_a", "i8"), ("of_b", "i8"),
    ("p1", "num", 3), ("p2", "num", 3), ("a", "num", 3), ("b", "num", 3), ("about", "num", 3),
]  # fmt: skip
(
    CUT, POINT, LINE, ACROSS_LINE, ALONG_VECTOR, MOMENT_OF_TWO, MOMENTS_ACROSS, DIRECTIONS, MEASURE,
) = range(9)  # fmt: skip

# Scalar of a measure: input of its law, number of the scalar; then a component of a marker of a body, or a free direction: of
# an angle that is measured (w >= 0), or of an entry of q (at: its place in the balance).  Neither where only its rate counts.
TERM = [
    ("input", "i8"),
    ("scalar", "i8"),
    ("marker", "i8"),
    ("comp", "i8"),
    ("point", "i8"),
    ("dir", "i8"),
    ("joint", "i8"),
]
TERM += [("w", "i8"), ("at", "i8")]

# A wrench counts for the edge of a body: `at` is the place of the first direction of its joint in the column.
HIT = [("body", "i8"), ("w", "i8"), ("at", "i8"), ("sign", "f8")]

# A wrench acts on a body as part of a column.
MEMBER = [("body", "i8"), ("w", "i8"), ("column", "i8"), ("sign", "f8")]

# Loads: of a marker on a body (0 is left out), and of a measured angle k along a direction of a joint.
LOAD = [("marker", "i8"), ("body", "i8"), ("point", "i8")]
ANGLE = [("k", "i8"), ("dir", "i8"), ("joint", "i8")]

# What has a reaction: the joint of a body's edge, an unknown, or neither (-1).
ELEMENT = [("body", "i8"), ("unknown", "i8")]

RECORDS = {
    "body": BODY,
    "joint": JOINT,
    "direction": DIRECTION,
    "unknown": UNKNOWN,
    "term": TERM,
    "hit": HIT,
    "member": MEMBER,
    "load": LOAD,
    "angle": ANGLE,
    "element": ELEMENT,
}
