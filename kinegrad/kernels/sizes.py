"""The sizes of a model: how far points of one body are apart, the heaviest body, and a time."""

from kinegrad.kernels.jit import entry, sqrt


@entry(what="the start")
def largest(x, points, masses, moments, poses, time, found):
    """Fill found (3) with length, mass and time of numbers x, of which groups begin at some places.

    points: three coordinates of each point of a body; moments: of inertia about axes; poses: origins of bodies.
    """
    length, mass = 0.0, 0.0
    for b in range(points.shape[0] - 1):
        for j in range(3):
            low, high = x[points[b] + j], x[points[b] + j]
            for k in range(points[b] + j, points[b + 1], 3):
                low, high = min(low, x[k]), max(high, x[k])
            length = max(length, high - low)
    for b in range(masses.shape[0] - 1):
        m = x[masses[b]]
        mass = max(mass, m)
        most = 0.0
        for k in range(moments[b], moments[b + 1]):
            most = max(most, x[k])
        if m > 0.0:
            length = max(length, sqrt(most / m))
    if not length > 0.0:
        for k in range(poses[0], poses[poses.shape[0] - 1]):
            length = max(length, abs(x[k]))
    found[0], found[1], found[2] = length, mass, x[time[0]]
