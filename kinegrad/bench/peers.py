"""The five-bar of `examples/five_bar/model.yaml` in Exudyn and in MuJoCo, each set up to do its best.

The data are written out here a second time on purpose: a peer that read our model through our reader would share its
mistakes. Both functions time the stepping alone, by the CPU time of the calling thread.
"""

import contextlib
import io
import sys
import time
from dataclasses import dataclass
from math import atan2, copysign, cos, hypot, sin, sqrt
from typing import NamedTuple

# Position at the start of each point, then the bars between them: ends, mass, moment of inertia about the middle.
POINTS = {"A": (0.0, 0.0), "P1": (-1.0, -1.0), "P2": (0.5, -2.0), "P3": (2.0, -1.0), "B": (1.0, 0.0)}
BARS = [("A", "P1", 1.0, 1 / 6), ("P1", "P2", 1.5, 13 / 32), ("P2", "P3", 1.5, 13 / 32), ("P3", "B", 1.0, 1 / 6)]
STIFFNESS = 100.0  # of the springs from B to P1 and to P2
GRAVITY = 9.81
L_12, L_23, L_3B = sqrt(13) / 2, sqrt(13) / 2, sqrt(2)
ANGLES = atan2(-1.0, -1.0), atan2(-1.0, 1.5)  # of the bars A-1 and 1-2 at the start

# Point 2 at 5 s, from two angles as independent coordinates and an explicit Runge-Kutta method of order 8; steps of
# at most 10, 5 and 2.5 ms agree to 1e-12 m.
REFERENCE = (0.884031681698, -2.303783444225)


@dataclass(frozen=True)
class Result:
    """Cost of one run and where point 2 is at its end."""

    cpu_s: float
    us_per_step: float
    position: tuple[float, float]

    @property
    def error(self):
        """Distance of point 2 from its converged place [m]; meaningful for runs of 5 s."""
        return hypot(self.position[0] - REFERENCE[0], self.position[1] - REFERENCE[1])


class Numbers(NamedTuple):
    """Numbers that gradients are taken by: natural lengths of the springs; mass, centre and length of the bar A-1."""

    L_s1: float = sqrt(5)
    L_s2: float = sqrt(17) / 2
    m_A1: float = 1.0
    r_G: float = sqrt(2) / 2
    L_A1: float = sqrt(2)


def points_of(numbers):
    """Places of all points at the start: the first two angles are held, circles about point 2 and B give point 3."""
    x1, y1 = numbers.L_A1 * cos(ANGLES[0]), numbers.L_A1 * sin(ANGLES[0])
    x2, y2 = x1 + L_12 * cos(ANGLES[1]), y1 + L_12 * sin(ANGLES[1])
    dx, dy = POINTS["B"][0] - x2, POINTS["B"][1] - y2
    far = dx * dx + dy * dy
    along = 0.5 * (far + L_23**2 - L_3B**2)
    across = copysign(sqrt(L_23**2 * far - along * along), side())
    P3 = (x2 + (along * dx + across * dy) / far, y2 + (along * dy - across * dx) / far)
    return POINTS | {"P1": (x1, y1), "P2": (x2, y2), "P3": P3}


def side():
    """Positive or negative: on which side of the line from point 2 to B point 3 lies."""
    (x2, y2), (x3, y3), (xb, yb) = (POINTS[name] for name in ("P2", "P3", "B"))
    return (x3 - x2) * (yb - y2) - (y3 - y2) * (xb - x2)


def exudyn_five_bar(step, t_end):
    """Result of Exudyn with planar rigid bodies and its implicit trapezoidal rule (index 2).

    Its build without range checks is used, dense factors, and one Jacobian per step: of the settings that keep
    Exudyn's own Newton tolerance (1e-8, two iterations a step) none was found to be faster beyond the noise.
    """
    exu, items = import_exudyn()
    # The container owns the system: letting it go while the system is in use would be an error.
    container = exu.SystemContainer()
    mbs = container.AddSystem()
    bar_12, tip = build_exudyn(mbs, items, Numbers())
    settings, n_steps = exudyn_settings(exu, step, t_end), round(t_end / step)
    begin = time.thread_time()
    mbs.SolveDynamic(settings, solverType=exu.DynamicSolverType.TrapezoidalIndex2)
    cpu_s = time.thread_time() - begin
    x, y, _ = mbs.GetObjectOutputBody(bar_12, exu.OutputVariableType.Position, localPosition=[tip, 0, 0])
    return Result(cpu_s, cpu_s / n_steps * 1e6, (float(x), float(y)))


def exudyn_settings(exu, step, t_end):
    """How Exudyn steps."""
    settings = exu.SimulationSettings()
    settings.timeIntegration.numberOfSteps = round(t_end / step)
    settings.timeIntegration.endTime = t_end
    settings.timeIntegration.newton.modifiedNewtonJacUpdatePerStep = True
    settings.linearSolver.solverType = exu.LinearSolverType.EXUdense
    settings.solution.file.write = False
    return settings


def import_exudyn():
    """Exudyn and its item classes, without the line that its fast build prints when it loads."""
    sys.exudynFast = True
    with contextlib.redirect_stdout(io.StringIO()):
        import exudyn
        import exudyn.itemInterface
    return exudyn, exudyn.itemInterface


def build_exudyn(mbs, items, numbers):
    """Number of the body 1-2 and where point 2 is on it, after filling `mbs` with the mechanism at rest."""
    points = points_of(numbers)

    def point_marker(body, place):
        return mbs.AddMarker(items.MarkerBodyPosition(bodyNumber=body, localPosition=[*place, 0.0]))

    ground = mbs.AddObject(items.ObjectGround())
    fixed = {name: point_marker(ground, points[name]) for name in "AB"}
    bodies, joints, tips = [], [], {}
    previous = fixed["A"]
    for first, last, mass, inertia in BARS:
        (xa, ya), (xb, yb) = points[first], points[last]
        length = hypot(xb - xa, yb - ya)
        mass, centre = (numbers.m_A1, numbers.r_G) if first == "A" else (mass, length / 2)
        part = centre / length
        pose = [xa + part * (xb - xa), ya + part * (yb - ya), atan2(yb - ya, xb - xa)]
        node = mbs.AddNode(items.NodeRigidBody2D(referenceCoordinates=pose))
        body = mbs.AddObject(items.ObjectRigidBody2D(mass=mass, inertia=inertia, nodeNumber=node))
        whole = mbs.AddMarker(items.MarkerBodyMass(bodyNumber=body))
        mbs.AddLoad(items.LoadMassProportional(markerNumber=whole, loadVector=[0, -GRAVITY, 0]))
        joints.append([previous, point_marker(body, (-centre, 0.0))])
        previous = tips[last] = point_marker(body, (length - centre, 0.0))
        bodies.append((body, length - centre))
    joints.append([previous, fixed["B"]])
    for markers in joints:
        mbs.AddObject(items.ObjectJointRevolute2D(markerNumbers=markers))
    for point, natural_length in (("P1", numbers.L_s1), ("P2", numbers.L_s2)):
        mbs.AddObject(
            items.ObjectConnectorSpringDamper(
                markerNumbers=[fixed["B"], tips[point]], stiffness=STIFFNESS, referenceLength=natural_length
            )
        )
    mbs.Assemble()
    return bodies[1]


def mujoco_five_bar(step, t_end, integrator="implicitfast"):
    """Result of MuJoCo with hinges from both ends and the loop closed at point 2; integrator implicitfast or RK4.

    The closure is as hard as MuJoCo allows (impedance 0.9999) and its gap decays within a step (stiffness 1/h²,
    damping 1/h); harder still, the implicit integrator becomes unstable.
    """
    import mujoco

    model = mujoco.MjModel.from_xml_string(mujoco_xml(step, integrator, Numbers()))
    data = mujoco.MjData(model)
    n_steps = round(t_end / step)
    begin = time.thread_time()
    mujoco.mj_step(model, data, n_steps)
    cpu_s = time.thread_time() - begin
    mujoco.mj_kinematics(model, data)  # a step leaves the site positions at its beginning
    x, y, _ = data.site("P2").xpos
    return Result(cpu_s, cpu_s / n_steps * 1e6, (float(x), float(y)))


def mujoco_xml(step, integrator, numbers, sensors=""):
    """Model file in which all angles are zero at the start, so that every frame begins parallel to the ground.

    Only the moment of inertia about z acts in the plane; the other two are set equal to it.
    """

    points = points_of(numbers)

    def bar(origin, tip, mass, inertia, tip_site, inner="", part=0.5):
        """A bar that hangs by its point `origin` on the body around it; `part`: of its length, to its centre."""
        dx, dy = points[tip][0] - points[origin][0], points[tip][1] - points[origin][1]
        return (
            f'<joint axis="0 0 1"/><site name="{tip_site}" pos="{dx!r} {dy!r} 0"/>'
            f'<inertial pos="{part * dx!r} {part * dy!r} 0" mass="{mass!r}"'
            f' diaginertia="{inertia!r} {inertia!r} {inertia!r}"/>'
            + (f'<body pos="{dx!r} {dy!r} 0">{inner}</body>' if inner else "")
        )

    (_, _, _, J_A1), (_, _, m_12, J_12), (_, _, m_23, J_23), (_, _, m_3B, J_3B) = BARS
    inner = bar("P1", "P2", m_12, J_12, "P2")
    left = bar("A", "P1", numbers.m_A1, J_A1, "P1", inner, numbers.r_G / numbers.L_A1)
    right = bar("B", "P3", m_3B, J_3B, "P3", bar("P3", "P2", m_23, J_23, "P2_right"))
    springs = "".join(
        f'<spatial stiffness="{STIFFNESS!r}" springlength="{natural_length!r}">'
        f'<site site="B"/><site site="{point}"/></spatial>'
        for point, natural_length in (("P1", numbers.L_s1), ("P2", numbers.L_s2))
    )
    return f"""
    <mujoco>
      <option timestep="{step!r}" gravity="0 {-GRAVITY!r} 0" integrator="{integrator}"
              solver="PGS" iterations="50" tolerance="1e-10" jacobian="dense">
        <flag contact="disable" island="disable"/>
      </option>
      <worldbody>
        <site name="B" pos="{POINTS["B"][0]!r} {POINTS["B"][1]!r} 0"/>
        <body>{left}</body>
        <body pos="{POINTS["B"][0]!r} {POINTS["B"][1]!r} 0">{right}</body>
      </worldbody>
      <tendon>{springs}</tendon>
      <equality>
        <connect site1="P2" site2="P2_right" solref="{-1 / step**2!r} {-1 / step!r}"
                 solimp="0.9999 0.9999 0.001 0.5 2"/>
      </equality>
      <sensor>{sensors}</sensor>
    </mujoco>"""
