"""The problems of `kinegrad.bench.iftomm` in Exudyn.

The data are written out here a second time on purpose: a peer that read our models through our reader would share its
mistakes. Planar problems are made of its planar bodies and joints, the others of rigid bodies with rotation vectors (the
governor) or Euler parameters (Bricard's linkage).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from math import cos, pi, sin, sqrt

import numpy as np

from kinegrad.bench.iftomm_problems import GRAVITY, PIECES, Run
from kinegrad.bench.peers import import_exudyn

EYE = np.eye(3)


@dataclass
class Assembly:
    """A system of Exudyn, and what its energy is made of: mass and inertia by body, springs, a constant torque on a body."""

    container: object  # it owns the system: letting it go while the system is in use would be an error
    mbs: object
    gravity: np.ndarray
    masses: dict[int, tuple[float, np.ndarray]] = field(default_factory=dict)
    springs: list = field(default_factory=list)
    torque: tuple[int, float] | None = None
    damped: bool = False  # its energy is not looked at
    watched: tuple = ()


@dataclass(frozen=True)
class Settings:
    """How Exudyn solves a problem: names of its solver and of its linear solver, and how long it keeps a Jacobian.

    `keeps`: as long as it converges with it; otherwise for one step. `redundant`: singular pivots are ignored.
    """

    solver: str = "TrapezoidalIndex2"
    linear: str = "EigenDense"
    spectral_radius: float = 0.95
    keeps: bool = False
    redundant: bool = False


def _system(gravity=(0.0, -GRAVITY, 0.0)):
    exu, items = import_exudyn()
    container = exu.SystemContainer()
    return Assembly(container, container.AddSystem(), np.array(gravity)), items


def _weight(new, items, number):
    if new.gravity.any():
        whole = new.mbs.AddMarker(items.MarkerBodyMass(bodyNumber=number))
        new.mbs.AddLoad(items.LoadMassProportional(markerNumber=whole, loadVector=list(new.gravity)))


# --- planar ---


def _planar(bodies, joints, springs=(), torque=None, gravity=(0.0, -GRAVITY, 0.0)):
    """Bodies by name: mass, inertia, pose (x, y, angle) and rates of the centre; joints: pairs of (name or None, place)."""
    new, items = _system(gravity)
    mbs = new.mbs
    ground = mbs.AddObject(items.ObjectGround())
    numbers = {None: ground}
    for name, (mass, inertia, pose, rates) in bodies.items():
        node = mbs.AddNode(items.NodeRigidBody2D(referenceCoordinates=list(pose), initialVelocities=list(rates)))
        number = mbs.AddObject(items.ObjectRigidBody2D(mass=mass, inertia=inertia, nodeNumber=node))
        numbers[name] = number
        new.masses[number] = (mass, np.diag([0.0, 0.0, inertia]))
        _weight(new, items, number)

    def marker(place):
        name, at = place
        return mbs.AddMarker(items.MarkerBodyPosition(bodyNumber=numbers[name], localPosition=[*at, 0.0]))

    for first, second in joints:
        mbs.AddObject(items.ObjectJointRevolute2D(markerNumbers=[marker(first), marker(second)]))
    for first, second, stiffness, length in springs:
        mbs.AddObject(
            items.ObjectConnectorSpringDamper(
                markerNumbers=[marker(first), marker(second)], stiffness=stiffness, referenceLength=length
            )
        )
        ends = [(numbers[name], [*at, 0.0]) for name, at in (first, second)]
        new.springs.append((*ends, stiffness, length))
    if torque is not None:
        turned = mbs.AddMarker(items.MarkerBodyRigid(bodyNumber=numbers[torque[0]], localPosition=[0, 0, 0]))
        mbs.AddLoad(items.LoadTorqueVector(markerNumber=turned, loadVector=[0, 0, torque[1]]))
        new.torque = (numbers[torque[0]], torque[1])
    return new, numbers


def pendulum():
    """A mass point of two coordinates that keeps its distance from the ground."""
    new, items = _system()
    mbs = new.mbs
    node = mbs.AddNode(items.NodePoint2D(referenceCoordinates=[1.0, 0.0]))
    bob = mbs.AddObject(items.ObjectMassPoint2D(mass=1.0, nodeNumber=node))
    at_bob = mbs.AddMarker(items.MarkerBodyPosition(bodyNumber=bob))
    at_pivot = mbs.AddMarker(items.MarkerBodyPosition(bodyNumber=mbs.AddObject(items.ObjectGround())))
    mbs.AddObject(items.ObjectConnectorDistance(markerNumbers=[at_pivot, at_bob], distance=1.0))
    mbs.AddLoad(items.LoadForceVector(markerNumber=at_bob, loadVector=[0, -GRAVITY, 0]))
    new.masses[bob] = (1.0, np.zeros((3, 3)))
    new.watched = (bob, [0.0, 0.0, 0.0])
    return new


def windows(n):
    """Cranks and bars of `n` windows, upright."""
    bodies, joints = {}, []
    for i in range(n + 1):
        bodies["crank", i] = (1.0, 1 / 12, (i, 0.5, pi / 2), (0.5, 0.0, -1.0))
        joints.append(((None, (i, 0.0)), (("crank", i), (-0.5, 0.0))))
    for i in range(1, n + 1):
        bodies["bar", i] = (1.0, 1 / 12, (i - 0.5, 1.0, 0.0), (1.0, 0.0, 0.0))
        joints.append(((("crank", i - 1), (0.5, 0.0)), (("bar", i), (-0.5, 0.0))))
        joints.append(((("bar", i), (0.5, 0.0)), (("crank", i), (0.5, 0.0))))
    new, numbers = _planar(bodies, joints)
    new.watched = (numbers["crank", 0], [0.5, 0.0, 0.0])
    return new


#: The squeezer at its start: angles beta, Theta, gamma, Phi, delta, Omega, epsilon as published.
SQUEEZER = (
    -0.0617138900142764496, 0.0, 0.455279819163070380, 0.222668390165885885, 0.487364979543842550, -0.222668390165885885,
    1.23054744454982119,
)  # fmt: skip


def squeezer():
    """Seven bodies; each is given by its joint, its angle, mass, inertia, centre and the ends in its own frame."""
    beta, theta, gamma, phi, delta, omega, epsilon = SQUEEZER
    A, B, C = (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)

    def turned(origin, angle, place):
        x, y = place
        return (origin[0] + cos(angle) * x - sin(angle) * y, origin[1] + sin(angle) * x + cos(angle) * y)

    F = turned((0.0, 0.0), beta, (0.007, 0.0))
    G, H = turned(A, delta, (0.04, 0.0)), turned(A, epsilon, (0.0, -0.04))
    data = {  # joint, angle, mass, inertia, centre, places
        "K1": ((0.0, 0.0), beta, 0.04325, 2.194e-6, (9.2e-4, 0.0), {"O": (0.0, 0.0), "F": (0.007, 0.0)}),
        "K2": (F, beta + theta, 0.00365, 4.41e-7, (-0.0115, 0.0), {"F": (0.0, 0.0), "E": (-0.028, 0.0)}),
        "K3": (B, gamma, 0.02373, 5.255e-6, (0.01043, -0.01874),
               {"B": (0.0, 0.0), "D": (0.02, -0.018), "E": (0.0, -0.035)}),
        "K4": (G, phi + delta, 0.00706, 5.667e-7, (0.0, -0.00579), {"G": (0.0, 0.0), "E": (0.0, -0.02)}),
        "K5": (A, delta, 0.0705, 1.169e-5, (0.02308, 0.00916), {"A": (0.0, 0.0), "G": (0.04, 0.0)}),
        "K6": (H, omega + epsilon, 0.00706, 5.667e-7, (0.00579, 0.0), {"H": (0.0, 0.0), "E": (0.02, 0.0)}),
        "K7": (A, epsilon, 0.05498, 1.912e-5, (-0.00449, -0.01228), {"A": (0.0, 0.0), "H": (0.0, -0.04)}),
    }  # fmt: skip
    bodies = {
        name: (mass, inertia, (*turned(origin, angle, centre), angle), (0.0, 0.0, 0.0))
        for name, (origin, angle, mass, inertia, centre, _) in data.items()
    }

    def at(name, point):
        centre, places = data[name][4:]
        return name, (places[point][0] - centre[0], places[point][1] - centre[1])

    hinges = [
        ("K1", "K2", "F"),
        ("K5", "K4", "G"),
        ("K7", "K6", "H"),
        ("K2", "K3", "E"),
        ("K2", "K4", "E"),
        ("K2", "K6", "E"),
    ]
    joints = [((None, place), at(name, point)) for place, name, point in (((0.0, 0.0), "K1", "O"), (B, "K3", "B"))]
    joints += [((None, A), at(name, "A")) for name in ("K5", "K7")]
    joints += [(at(first, point), at(second, point)) for first, second, point in hinges]
    spring = ((None, C), at("K3", "D"), 4530.0, 0.07785)
    new, numbers = _planar(bodies, joints, [spring], ("K1", 0.033), gravity=(0.0, 0.0, 0.0))
    new.watched = (numbers["K1"], [*at("K1", "F")[1], 0.0])
    return new


# --- in space ---


def _rigid(new, items, mass, inertia, position, rotation, velocity, spin, kind):
    """Number of a rigid body: mass, tensor about the centre in its own axes, place and rates of the centre, as it begins."""
    import exudyn.rigidBodyUtilities as utilities

    inertia6 = [inertia[0, 0], inertia[1, 1], inertia[2, 2], inertia[1, 2], inertia[0, 2], inertia[0, 1]]
    rates = list(velocity)
    if kind == "RotationEulerParameters":
        reference = [float(x) for x in utilities.RotationMatrix2EulerParameters(rotation)]
        rates += [float(x) for x in utilities.AngularVelocity2EulerParameters_t(spin, np.array(reference))]
        make = items.NodeRigidBodyEP
    else:
        reference = [float(x) for x in utilities.RotationMatrix2RotationVector(rotation)]
        rates += [float(x) for x in rotation.T @ spin]
        make = items.NodeRigidBodyRotVecLG
    node = new.mbs.AddNode(make(referenceCoordinates=[*position, *reference], initialVelocities=rates))
    number = new.mbs.AddObject(items.ObjectRigidBody(mass=mass, inertia=inertia6, nodeNumber=node))
    new.masses[number] = (mass, inertia)
    return number


def _frame(new, items, body, place, rotation):
    """A marker with axes of its own."""
    exu, _ = import_exudyn()
    placed = exu.HT(rotation=rotation, translation=[float(x) for x in place])
    return new.mbs.AddMarker(items.MarkerBodyRigid(bodyNumber=body, localHT=placed))


def bricard():
    """Five rods along edges of a cube; the last hinge keeps all rows, and redundant ones are left to the linear solver."""
    new, items = _system()
    corners = np.array([[0, 0, 0], [1, 0, 0], [1, -1, 0], [1, -1, 1], [0, -1, 1], [0, 0, 1]], float)
    axes = EYE[[1, 2, 0, 1, 2, 0]]
    ground = new.mbs.AddObject(items.ObjectGround())
    numbers, middles = [], []
    for start, end in pairwise(corners):
        along = np.outer(end - start, end - start)
        middles.append(0.5 * (start + end))
        # a hair of inertia about its own axis, without which Exudyn's mass matrix is singular
        inertia = (EYE - along) / 12 + 1e-9 * along
        number = _rigid(new, items, 1.0, inertia, middles[-1], EYE, np.zeros(3), np.zeros(3), "RotationEulerParameters")
        _weight(new, items, number)
        numbers.append(number)

    def frame(axis):
        """A rotation whose third column is the axis."""
        k = int(np.argmax(axis))
        return EYE[:, [(k + 1) % 3, (k + 2) % 3, k]]

    for i, (place, axis) in enumerate(zip(corners, axes, strict=True)):
        ends = [(ground if i == 0 else numbers[i - 1], i - 1), (ground if i == 5 else numbers[i], i)]
        markers = [
            _frame(new, items, body, place - (middles[k] if body != ground else 0.0), frame(axis)) for body, k in ends
        ]
        new.mbs.AddObject(items.ObjectJointGeneric(markerNumbers=markers, constrainedAxes=[1, 1, 1, 1, 1, 0]))
    new.watched = (numbers[2], list(corners[3] - middles[2]))
    return new


def governor():
    """Shaft, slider and two rods with their balls, whose centre and inertia are summed here."""
    new, items = _system((0.0, 0.0, -GRAVITY))
    ball, mass, width, cube = 5.0, 0.3, 0.01, 0.1
    thin, across = mass * width**2 / 6, mass * (1.0 + width**2) / 12
    whole = mass + ball
    centre = (0.5 * mass + ball) / whole
    about = across + mass * (0.5 - centre) ** 2 + ball * (1.0 - centre) ** 2
    spin = np.array([0.0, 0.0, 2.0 * pi])
    ground = new.mbs.AddObject(items.ObjectGround())
    parts = {
        "shaft": (mass, np.diag([across, across, thin]), np.array([0.0, 0.0, 0.5]), EYE),
        "slider": (3.0, EYE * 3.0 * cube**2 / 6, np.array([0.0, 0.0, 0.5]), EYE),
    }
    for name, side in (("A", 1.0), ("B", -1.0)):
        direction = np.array([side * sqrt(0.75), 0.0, -0.5])
        rotation = np.stack([direction, [0.0, 1.0, 0.0], np.cross(direction, [0.0, 1.0, 0.0])], axis=1)
        place = np.array([0.05 * side, 0.0, 1.0]) + centre * direction
        parts[name] = (whole, np.diag([thin, about, about]), place, rotation)
    numbers = {}
    for name, (m, inertia, place, rotation) in parts.items():
        velocity = np.cross(spin, place)
        numbers[name] = _rigid(new, items, m, inertia, place, rotation, velocity, spin, "RotationRotationVector")
        _weight(new, items, numbers[name])

    def joint(first, second, axes, turn=EYE):
        """Rows of `axes` between two places; `turn` takes the axes of the first body into the second."""
        markers = [_frame(new, items, *first, EYE), _frame(new, items, *second, turn)]
        new.mbs.AddObject(items.ObjectJointGeneric(markerNumbers=markers, constrainedAxes=axes))

    shaft, slider = numbers["shaft"], numbers["slider"]
    joint((ground, (0, 0, 0)), (shaft, (0, 0, -0.5)), [1, 1, 1, 1, 1, 0])
    joint((shaft, (0, 0, 0)), (slider, (0, 0, 0)), [1, 1, 0, 1, 1, 1])
    for name, side in (("A", 1.0), ("B", -1.0)):
        rod, rotation = numbers[name], parts[name][3]
        joint((shaft, (0.05 * side, 0, 0.5)), (rod, (-centre, 0, 0)), [1, 1, 1, 1, 0, 1], rotation.T)
        new.mbs.AddObject(
            items.ObjectConnectorSpringDamper(
                markerNumbers=[
                    _frame(new, items, slider, (0.05 * side, 0, 0), EYE), _frame(new, items, rod, (0.5 - centre, 0, 0), EYE)
                ],
                stiffness=8e5, damping=4e4, referenceLength=0.5,
            )
        )  # fmt: skip
    new.damped = True
    new.watched = (slider, [0.0, 0.0, 0.0])
    return new


# --- runs ---


def _solve(new, settings, step, t_end, sampling=None):
    """CPU time of the solver."""
    exu, _ = import_exudyn()
    options = exu.SimulationSettings()
    options.timeIntegration.numberOfSteps = round(t_end / step)
    options.timeIntegration.endTime = t_end
    options.timeIntegration.newton.useModifiedNewton = True
    options.timeIntegration.newton.modifiedNewtonJacUpdatePerStep = not settings.keeps
    options.timeIntegration.generalizedAlpha.spectralRadius = settings.spectral_radius
    options.linearSolver.solverType = getattr(exu.LinearSolverType, settings.linear)
    options.linearSolver.ignoreSingularJacobian = settings.redundant
    options.solution.file.write = False
    options.solution.sensors.writePeriod = t_end if sampling is None else sampling
    begin = time.thread_time()
    new.mbs.SolveDynamic(options, solverType=getattr(exu.DynamicSolverType, settings.solver))
    return time.thread_time() - begin


def seconds(build: Callable[[], Assembly], settings: Settings, step: float, t_end: float) -> float:
    """CPU time of a run, the solver alone, without any output."""
    new = build()
    new.mbs.Assemble()
    return _solve(new, settings, step, t_end)


def watch(build: Callable[[], Assembly], settings: Settings, step: float, t_end: float) -> Run:
    """Where the watched point is, and the energy, at `PIECES` times of a run."""
    exu, items = import_exudyn()
    new = build()
    kinds = exu.OutputVariableType

    def sensor(body, place, kind):
        number = new.mbs.AddSensor(
            items.SensorBody(bodyNumber=body, localPosition=list(place), outputVariableType=kind, storeInternal=True)
        )
        return lambda: np.array(new.mbs.GetSensorStoredData(number))

    point = sensor(*new.watched, kinds.Position)
    energy = None if new.damped else _energy(new, kinds, sensor)
    new.mbs.Assemble()
    _solve(new, settings, step, t_end, t_end / PIECES)
    found = point()
    return Run(found[:, 0], found[:, 1:], energy and energy())


def _energy(new, kinds, sensor):
    """A function that returns the energy less the work of the torque, from sensors that are added here."""
    spatial = any(np.count_nonzero(inertia) > 1 for _, inertia in new.masses.values())
    turning = kinds.AngularVelocityLocal if spatial else kinds.AngularVelocity
    rates = {body: sensor(body, (0, 0, 0), turning) for body, (_, inertia) in new.masses.items() if inertia.any()}
    motions = {
        body: [sensor(body, (0, 0, 0), kind) for kind in (kinds.Position, kinds.Velocity)] for body in new.masses
    }
    ends = [[sensor(*end, kinds.Position) for end in spring[:2]] for spring in new.springs]
    turned = sensor(new.torque[0], (0, 0, 0), kinds.Rotation) if new.torque else None

    def total():
        energy = 0.0
        for body, (mass, inertia) in new.masses.items():
            position, velocity = (get()[:, 1:] for get in motions[body])
            energy = energy + mass * (0.5 * (velocity**2).sum(axis=1) - position @ new.gravity)
            if body in rates:
                omega = rates[body]()[:, 1:]
                energy = energy + 0.5 * np.einsum("ki,ij,kj->k", omega, inertia, omega)
        for (first, second), (_, _, stiffness, length) in zip(ends, new.springs, strict=True):
            stretch = np.linalg.norm(first()[:, 1:] - second()[:, 1:], axis=1) - length
            energy = energy + 0.5 * stiffness * stretch**2
        return energy if turned is None else energy - new.torque[1] * turned()[:, -1]

    return total
