"""Mechanisms of any number of bodies: chains, windows, trees and grids of loops, each with a parameter and an objective."""

from __future__ import annotations

from math import cos, pi, sin

from kinegrad.bench import windows as rows_of_windows

LINK = {"mass": 1.1, "com": [0.05, 0.01, 0.02], "inertia": [0.01, 0.02, 0.015]}
NEXT = [0.1, 0.02, 0.03]  # where the next joint of a link is
SLACK = 0.1  # by how much rods of a grid stand off its axes [rad]


def chain(n: int):
    """A chain of n links that turn about x, y and z in turn."""
    return _tree(n, lambda i: i - 1)


def tree(n: int):
    """Links as in a chain, each of which carries two others."""
    return _tree(n, lambda i: (i - 1) // 2 if i else -1)


def windows(n: int):
    """Windows in a row (`kinegrad.bench.windows`), of n rods or one more."""
    return rows_of_windows.windows(max(1, n // 2))


def grid(n: int):
    """Square meshes of rods with pins at their corners, hung up by one corner: about n rods.

    A grid of k × k meshes has 2k(k + 1) rods and 2k freedoms: each row and each column of rods turns as one.
    """
    k = max(1, round((n / 2 + 0.25) ** 0.5 - 0.5))
    along = [SLACK * (-1) ** i for i in range(k)]
    down = [-0.5 * pi + SLACK * (-1) ** j for j in range(k)]
    at = {
        (i, j): [sum(map(cos, along[:i])) + sum(map(cos, down[:j])), sum(map(sin, along[:i])) + sum(map(sin, down[:j]))]
        for i in range(k + 1)
        for j in range(k + 1)
    }
    bodies, joints, ends = {}, {}, {corner: [] for corner in at}
    for i, j in sorted(at):  # rods that come from corners before stand first in the list of a corner
        for name, angle, other in (
            (f"h_{i}_{j}", along[i] if i < k else None, (i + 1, j)),
            (f"v_{i}_{j}", down[j] if j < k else None, (i, j + 1)),
        ):
            if angle is not None:
                pose = {"origin": [*at[i, j], 0], "x_axis": [cos(angle), sin(angle), 0]}
                rod = {"mass": 1, "com": [0.5, 0, 0], "inertia": [0, "1/12", "1/12"]}
                bodies[name] = rod | {"markers": {"a": [0, 0, 0], "b": [1, 0, 0]}, "pose": pose}
                ends[i, j].append(f"{name}.a")
                ends[other].append(f"{name}.b")
    joints["O"] = {"type": "revolute", "between": ["ground.O", "h_0_0.a"], "axis": [0, 0, 1]}
    for corner in ends.values():
        first = next((end for end in corner if end.endswith(".b") and end[0] == "h"), corner[0])
        for end in corner:
            if end != first:
                name = f"{first.partition('.')[0]}__{end.partition('.')[0]}"
                joints[name] = {"type": "revolute", "between": [first, end], "axis": [0, 0, 1]}
    starts = {"O.angle": along[0], "h_0_0__v_0_0.angle": down[0] - along[0]}
    starts |= {f"h_{i - 1}_0__h_{i}_0.angle": along[i] - along[i - 1] for i in range(1, k)}
    starts |= {f"v_0_{j - 1}__v_0_{j}.angle": down[j] - down[j - 1] for j in range(1, k)}
    return _model(
        bodies, joints, {name: {"position": value} for name, value in starts.items()}, [0, "-g", 0], "h_0_0.b"
    )


def _tree(n: int, parent):
    joints = {}
    for i in range(n):
        before = f"b{parent(i)}.q" if parent(i) >= 0 else "ground.O"
        axis = [int(i % 3 == k) for k in range(3)]
        joints[f"j{i}"] = {"type": "revolute", "between": [before, f"b{i}.p"], "axis": axis}
    bodies = {f"b{i}": LINK | {"markers": {"p": [0, 0, 0], "q": NEXT}} for i in range(n)}
    starts = {f"j{i}.angle": {"position": 0} for i in range(n)}
    return _model(bodies, joints, starts, [0, 0, "-g"], f"b{n - 1}.q")


def _model(bodies: dict, joints: dict, starts: dict, gravity: list, watched: str):
    from kinegrad.model.model import Model

    return Model(
        parameters={"g": 9.81},
        design=["g"],
        ground={"markers": {"O": [0, 0, 0]}},
        bodies=bodies,
        joints=joints,
        forces={"gravity": {"type": "gravity", "acceleration": gravity}},
        degrees_of_freedom=starts,
        objectives={"path": {"integral": f"norm2({watched}.velocity)"}},
    )


FAMILIES = {"chain": chain, "windows": windows, "tree": tree, "grid": grid}
