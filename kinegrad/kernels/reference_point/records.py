"""Records of a body in reference-point coordinates."""

# k: first of its seven coordinates, -1 of the ground; slots of mass, centre of mass (first of three) and inertia about it
# (first of six); want: whether a pullback is asked for mass or inertia.
# A: orientation; Ad, Add: its first and second rate; Ads, Adds: the same at unprojected velocities and accelerations; W, U:
# its change along dv, da.  Matrices are kept by rows.
# F, F1, F2: sums of the covectors of its markers, Σ f and Σ f (l - c)ᵀ.
BODY = [
    ("k", "i8"), ("m", "i8"), ("com", "i8"), ("J", "i8"), ("want", "i8"),
    ("A", "num", 9), ("Ad", "num", 9), ("Add", "num", 9), ("Ads", "num", 9), ("Adds", "num", 9),
    ("W", "num", 9), ("U", "num", 9),
    ("F", "num", 12), ("F1", "num", 12), ("F2", "num", 12),
]  # fmt: skip

# What four adjoints make of a body, a column each: the change of A along mu, eta_v, eta_a.
BODY_DUAL = [("Tm", "num", (9, 4)), ("Tv", "num", (9, 4)), ("Ta", "num", (9, 4))]

TURN = 3  # the Euler parameters of a body come after the three coordinates of its centre
SIZE = 7
