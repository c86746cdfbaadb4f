"""The chain of `kinegrad.bench.chain` in Pinocchio, MuJoCo and Exudyn.

A chain has N links that turn about x, y, z in turn, one after the other. The data are written out for each program; what
the functions return takes (q, v, tau) as arrays.
"""

import time

import numpy as np

from kinegrad.bench.peers import import_exudyn

# One link: mass, centre, moments of inertia about the centre, the place of the next joint.
MASS, CENTRE, INERTIA, NEXT = 1.1, (0.05, 0.01, 0.02), (0.01, 0.02, 0.015), (0.1, 0.02, 0.03)
GRAVITY = (0.0, 0.0, -9.81)


def pinocchio_chain(n):
    """`aba`, `computeABADerivatives`, and a function that returns what the latter leaves behind."""
    import pinocchio as pin

    model = pin.Model()
    model.gravity.linear = np.array(GRAVITY)
    turns = [pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ]
    parent = 0
    for i in range(n):
        place = pin.SE3(np.eye(3), np.array(NEXT if i else (0.0, 0.0, 0.0)))
        parent = model.addJoint(parent, turns[i % 3](), place, f"j{i}")
        model.appendBodyToJoint(parent, pin.Inertia(MASS, np.array(CENTRE), np.diag(INERTIA)), pin.SE3.Identity())
    data = model.createData()

    def results(q, v, tau):
        pin.computeABADerivatives(model, data, q, v, tau)
        inverse = np.triu(data.Minv) + np.triu(data.Minv, 1).T
        return data.ddq, data.ddq_dq, data.ddq_dv, inverse

    return (
        lambda q, v, tau: pin.aba(model, data, q, v, tau),
        lambda q, v, tau: pin.computeABADerivatives(model, data, q, v, tau),
        results,
    )


def mujoco_chain(n, step):
    """`mj_forward`, and a function of a number of steps that returns seconds and q after them, by RK4 from rest.

    `mj_forward` also looks for contacts and tendons, of which there are none, and factors M.
    """
    import mujoco

    axes = ["1 0 0", "0 1 0", "0 0 1"]
    numbers = {"pos": CENTRE, "diaginertia": INERTIA}
    inertial = " ".join(f'{key}="{" ".join(map(str, value))}"' for key, value in numbers.items())
    xml = "".join(
        f'<body pos="{" ".join(map(str, NEXT)) if i else "0 0 0"}"><joint axis="{axes[i % 3]}"/>'
        f'<inertial mass="{MASS}" {inertial}/>'
        for i in range(n)
    )
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><compiler angle="radian"/><option gravity="{" ".join(map(str, GRAVITY))}" timestep="{step!r}" '
        f'integrator="RK4"><flag contact="disable"/></option><worldbody>{xml}{"</body>" * n}</worldbody></mujoco>'
    )
    data = mujoco.MjData(model)

    def forward(q, v, tau):
        data.qpos[:] = q
        data.qvel[:] = v
        data.qfrc_applied[:] = tau
        mujoco.mj_forward(model, data)
        return data.qacc

    def run(steps):
        mujoco.mj_resetData(model, data)
        begin = time.thread_time()
        mujoco.mj_step(model, data, steps)
        return time.thread_time() - begin, np.array(data.qpos)

    return forward, run


def exudyn_chain(n, step):
    """A function of a number of steps that returns seconds and q after them, by RK44 from rest, of a kinematic tree."""
    exu, items = import_exudyn()
    kinds = [exu.JointType.RevoluteX, exu.JointType.RevoluteY, exu.JointType.RevoluteZ]

    def run(steps):
        # The container owns the system: letting it go while the system is in use would be an error.
        container = exu.SystemContainer()
        mbs = container.AddSystem()
        zeros = [0.0] * n
        node = mbs.AddNode(
            items.NodeGenericODE2(
                referenceCoordinates=zeros,
                initialCoordinates=zeros,
                initialCoordinates_t=zeros,
                numberOfODE2Coordinates=n,
            )
        )
        mbs.AddObject(
            items.ObjectKinematicTree(
                nodeNumber=node, gravity=list(GRAVITY), jointTypes=[kinds[i % 3] for i in range(n)],
                linkParents=np.arange(n) - 1, jointTransformations=exu.Matrix3DList([np.eye(3)] * n),
                jointOffsets=exu.Vector3DList([np.array(NEXT if i else (0.0, 0.0, 0.0)) for i in range(n)]),
                linkInertiasCOM=exu.Matrix3DList([np.diag(INERTIA)] * n), linkCOMs=exu.Vector3DList([np.array(CENTRE)] * n),
                linkMasses=[MASS] * n,
            )
        )  # fmt: skip
        mbs.Assemble()
        settings = exu.SimulationSettings()
        settings.timeIntegration.numberOfSteps = steps
        settings.timeIntegration.endTime = steps * step
        settings.linearSolver.solverType = exu.LinearSolverType.EXUdense
        settings.solution.file.write = False
        begin = time.thread_time()
        mbs.SolveDynamic(settings, solverType=exu.DynamicSolverType.RK44)
        return time.thread_time() - begin, np.array(mbs.systemData.GetODE2Coordinates())

    return run
