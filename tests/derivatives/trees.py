"""Trees of any size: chains of hinged links, and random trees of all joints."""

import numpy as np

from kinegrad.model.model import Model


def chain(n, gravity="[0.3, -0.2, -9.81]", more=""):
    """n links one after the other, turning about x, y, z in turn, stretched out at rest; `more`: further text."""
    axes = ["[1, 0, 0]", "[0, 1, 0]", "[0, 0, 1]"]
    bodies = "\n".join(
        f"  b{i}: {{mass: 1.1, com: [0.05, 0.01, 0.02], inertia: [0.01, 0.02, 0.015, 0.001, 0.002, -0.001], "
        "markers: {p: [0, 0, 0], q: [0.1, 0.02, 0.03]}}"
        for i in range(n)
    )
    joints = "\n".join(
        f"  j{i}: {{type: revolute, between: [{f'b{i - 1}.q' if i else 'ground.O'}, b{i}.p], axis: {axes[i % 3]}}}"
        for i in range(n)
    )
    freedoms = "\n".join(f"  j{i}.angle: {{position: 0}}" for i in range(n))
    return Model.from_yaml_text(
        f"kinegrad: 1\nground: {{markers: {{O: [0.2, 0, 0.1]}}}}\nbodies:\n{bodies}\njoints:\n{joints}\n"
        f"degrees_of_freedom:\n{freedoms}\nforces: {{gravity: {{type: gravity, acceleration: {gravity}}}}}\n" + more
    )


OPTIONS = {
    "revolute": "axis: [{}, {}, {}]",
    "prismatic": "axis: [{}, {}, {}]",
    "cylindrical": "axis: [{}, {}, {}]",
    "screw": "axis: [{}, {}, {}], pitch: 0.3",
    "cardan": "axes: [[{}, {}, 0], [0, 0, {}]]",
    "planar": "axis: [0, 0, 1], x_axis: [{}, {}, 0]",
    "spherical": "",
    "fixed": "",
    "floating": "",
}


def random_tree(seed, bodies=9, roots=1):
    """Bodies on random parents by random joints, about half of them reversed; the first `roots` float, without gravity."""
    rng = np.random.default_rng(seed)

    def vector(k=3):
        return "[" + ", ".join(f"{x:.3f}" for x in rng.uniform(0.2, 1.0, k) * rng.choice([-1, 1], k)) + "]"

    lines, joints = [], []
    for i in range(bodies):
        inertia = ", ".join(f"{x:.3f}" for x in rng.uniform(0.2, 0.4, 3))
        lines.append(
            f"  b{i}: {{mass: {rng.uniform(0.5, 2):.3f}, com: {vector()}, inertia: [{inertia}, 0.02, -0.01, 0.03], "
            f"markers: {{p: {vector()}, q: {vector()}}}}}"
        )
        kind = "floating" if i < roots else str(rng.choice([k for k in OPTIONS if k != "floating"]))
        ends = ["ground.O" if i < roots else f"b{rng.integers(i)}.q", f"b{i}.p"]
        ends = ends[::-1] if kind != "floating" and rng.random() < 0.5 else ends
        options = OPTIONS[kind].format(*(f"{x:.3f}" for x in rng.uniform(0.3, 1, 3)))
        joints.append(f"  j{i}: {{type: {kind}, between: [{', '.join(ends)}]{', ' * bool(options)}{options}}}")
    return Model.from_yaml_text(
        "kinegrad: 1\nground: {markers: {O: [0.2, 0, 0.1]}}\nbodies:\n"
        + "\n".join(lines)
        + "\njoints:\n"
        + "\n".join(joints)
    )
