"""Accelerations of spatial chains and their derivatives: kinegrad beside Pinocchio and MuJoCo.

    python benchmarks/chain.py [--repeats N] [--sizes 4 16 64 256 1024]

A chain has N links that turn about x, y, z in turn, one after the other. In each turn of the loop every program is timed
once, in one process and one thread, by the CPU time of the thread and with the call from Python included; the least time
of each counts. Beside it stands how far its result is from kinegrad's, of the largest entry.
"""

import argparse
import importlib.metadata
import importlib.util
import time

import numpy as np

from kinegrad.bench.five_bar import machine

# One link: mass, centre, moments of inertia about the centre, the place of the next joint. Written once more for each peer.
MASS, CENTRE, INERTIA, NEXT = 1.1, (0.05, 0.01, 0.02), (0.01, 0.02, 0.015), (0.1, 0.02, 0.03)
GRAVITY = (0.0, 0.0, -9.81)
SIZES = [4, 16, 64, 256, 1024]
PINOCCHIO_LIMIT = 256  # its data grow as N³: 1 GB for 256 links
MUJOCO_LIMIT = 256  # its reader refuses the XML of 512 links: nested too deep
SLICE = 0.01  # seconds of one timing, at least
INSTALL_PEERS = 'python -m pip install "kinegrad[bench]"'


def kinegrad_chain(n):
    """Functions of (q, v, tau) that return q̈, and q̈ with its derivatives by q, v and tau."""
    from kinegrad.coordinates.joint import joint
    from kinegrad.coordinates.recursive import Recursive
    from kinegrad.model.model import Model

    bodies = {
        f"b{i}": f"{{mass: {MASS}, com: {list(CENTRE)}, inertia: {list(INERTIA)}, markers: {{p: [0, 0, 0], q: {list(NEXT)}}}}}"
        for i in range(n)
    }
    joints = {
        f"j{i}": f"{{type: revolute, between: [{f'b{i - 1}.q' if i else 'ground.O'}, b{i}.p], "
        f"axis: {[int(i % 3 == k) for k in range(3)]}}}"
        for i in range(n)
    }
    lines = ["kinegrad: 1", "ground: {markers: {O: [0, 0, 0]}}"]
    for title, items in (("bodies", bodies), ("joints", joints)):
        lines += [f"{title}:", *(f"  {name}: {text}" for name, text in items.items())]
    lines.append(f"forces: {{gravity: {{type: gravity, acceleration: {list(GRAVITY)}}}}}")
    recursive = Recursive(joint(Model.from_yaml_text("\n".join(lines))))
    return recursive.accelerations, recursive.derivatives


def pinocchio_chain(n):
    """`aba` and `computeABADerivatives`, in the form of `kinegrad_chain`; the latter leaves its results in `data`."""
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


def mujoco_chain(n):
    """`mj_forward`; it also looks for contacts and tendons, of which there are none, and factors M."""
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
        f'<mujoco><compiler angle="radian"/><option gravity="{" ".join(map(str, GRAVITY))}">'
        f'<flag contact="disable"/></option><worldbody>{xml}{"</body>" * n}</worldbody></mujoco>'
    )
    data = mujoco.MjData(model)

    def forward(q, v, tau):
        data.qpos[:] = q
        data.qvel[:] = v
        data.qfrc_applied[:] = tau
        mujoco.mj_forward(model, data)
        return data.qacc

    return forward


def least_times(functions, repeats, *arguments):
    """µs of a call of each function: the least over `repeats` turns, each of which times every function once."""
    calls = {}
    for name, function in functions.items():
        function(*arguments)
        start = time.perf_counter()
        function(*arguments)
        calls[name] = max(1, int(SLICE / (time.perf_counter() - start)))
    best = dict.fromkeys(functions, np.inf)
    for _ in range(repeats):
        for name, function in functions.items():
            start = time.thread_time_ns()
            for _ in range(calls[name]):
                function(*arguments)
            best[name] = min(best[name], (time.thread_time_ns() - start) / calls[name] * 1e-3)
    return best


def difference(found, expected):
    """The largest difference, of the largest entry; of several arrays the worst."""
    if isinstance(found, tuple):
        return max(difference(a, b) for a, b in zip(found, expected, strict=True))
    return float(np.abs(found - expected).max() / np.abs(expected).max())


def measure(n, repeats, peers):
    """Rows (what, program, µs, × kinegrad, difference) of one chain."""
    state = np.random.default_rng(n).normal(size=(3, n))
    accelerations, derivatives = kinegrad_chain(n)
    forward, differentiate, results = {"kinegrad": accelerations}, {"kinegrad": derivatives}, {}
    if "pinocchio" in peers and n <= PINOCCHIO_LIMIT:
        forward["Pinocchio aba"], differentiate["Pinocchio computeABADerivatives"], results = pinocchio_chain(n)
    if "mujoco" in peers and n <= MUJOCO_LIMIT:
        forward["MuJoCo mj_forward"] = mujoco_chain(n)
    rows = []
    a = accelerations(*state).copy()
    times = least_times(forward, repeats, *state)
    for name, function in forward.items():
        rows.append(
            ("accelerations", name, times[name], times[name] / times["kinegrad"], difference(function(*state), a))
        )
    found = tuple(x.copy() for x in derivatives(*state))
    times = least_times(differentiate, repeats, *state)
    for name in differentiate:
        error = 0.0 if name == "kinegrad" else difference(results(*state), found)
        rows.append(("with derivatives", name, times[name], times[name] / times["kinegrad"], error))
    return rows


def installed(package):
    """Whether a peer can take part; if not, a line says how to change that."""
    if importlib.util.find_spec(package):
        return True
    print(f"{package} is left out: it is not installed. To install it: {INSTALL_PEERS}")
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=20, help="turns that count (20)")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="numbers of links")
    options = parser.parse_args()
    peers = [package for package in ("pinocchio", "mujoco") if installed(package)]
    print("\n".join(machine()))
    if "pinocchio" in peers:
        print(f"Pinocchio {importlib.metadata.version('pin')}")
    print(f"\n{'links':>5}  {'what':<16} {'program':<32} {'µs':>10} {'× ours':>7} {'difference':>11}")
    for n in options.sizes:
        for what, program, us, ratio, error in measure(n, options.repeats, peers):
            print(f"{n:>5}  {what:<16} {program:<32} {us:>10.2f} {ratio:>7.2f} {error:>11.1e}", flush=True)


if __name__ == "__main__":
    main()
