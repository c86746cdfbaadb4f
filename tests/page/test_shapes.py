"""Shapes in models: what is accepted, refused by name, and how it is drawn."""

import warnings

import numpy as np
import pytest
from reading import scene_of, unpacked

import kinegrad as kg
from kinegrad.page.html import page
from kinegrad.page.meshes import read_mesh
from kinegrad.page.scene import scene

MODEL = """\
kinegrad: 1
parameters: {L: 0.5}
ground: {markers: {O: [0, 0, 0]}}
bodies:
  a:
    mass: 2
    com: [L/2, 0, 0]
    inertia: [0.1, 0.2, 0.2]
    markers: {P: [0, 0, 0], Q: [L, 0, 0], v: {vector: [1, 0, 0]}}
    shape: SHAPE
joints: {j: {type: revolute, between: [ground.O, a.P], axis: [0, 0, 1]}}
degrees_of_freedom: {j.angle: {position: 0, velocity: 1}}
simulation: {t_end: 0.02, step: 0.01}
"""
TETRAHEDRON = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float)
FACES = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]


def drawn(shape, tmp_path, **options):
    """The solids of body a in the page of the model."""
    motion = kg.simulate(kg.joint(kg.Model.from_yaml_text(MODEL.replace("SHAPE", shape))))
    return scene_of(motion.to_html(tmp_path / "a.html", **options))["bodies"][1]["solids"]


@pytest.mark.parametrize(
    ("shape", "named"),
    [
        ("{type: rod, between: [P, R]}", ["shape.between[1]", "'R'", "P, Q, v"]),
        ("{type: rod, between: [P, v]}", ["shape.between[1]", "vector"]),
        ("{type: rod, between: [P, P]}", ["shape.between", "twice"]),
        (
            "[{type: sphere, radius: L}, {type: sphere, radius: -L}]",
            ["shape[1].radius", "(= -0.5)", "larger than zero"],
        ),
        ("{type: cylinder, radius: 1}", ["neither between nor length"]),
        ("{type: cylinder, radius: 1, between: [P, Q], at: [0, 0, 0]}", ["leave at out"]),
        ("{type: box, size: [1, 0, 2]}", ["shape.size[1]", "larger than zero"]),
        ("{type: box, size: [1, K, 2]}", ["shape.size[1]", "'K'"]),
        ("{type: box, size: [1, 1, 2], x_axis: [0, 0, 2]}", ["shape.x_axis", "give another z_axis"]),
        ("{type: cone}", ["'cone'", "box, cylinder, rod, sphere, mesh"]),
        ("3", ["shape is 3", "type"]),
        ("{type: sphere, radius: 1, colour: red}", ["shape.colour", "'red'", "#3366cc"]),
        ("{type: mesh, file: a.step}", ["shape.file", "a.step", ".obj or .stl"]),
        ("{type: mesh, vertices: [[0, 0, 0], [1, 0, 0], [0, 1, 0]], faces: [[0, 1, 3]]}", ["face 0", "vertex 3"]),
        ("{type: mesh, scale: 2}", ["neither vertices nor file"]),
    ],
)
def test_refused_by_name(shape, named):
    with pytest.raises(kg.ModelError) as error:
        kg.Model.from_yaml_text(MODEL.replace("SHAPE", shape))
    (problem,) = error.value.problems
    assert problem.line == 10
    for text in ("bodies.a.shape", *named):
        assert text in problem.sentence


def test_shapes_follow_parameters_and_survive_a_file():
    model = kg.Model.from_yaml_text(MODEL.replace("SHAPE", "{type: box, size: [L, 0.1, 0.2], colour: '#102030'}"))
    assert kg.Model.from_yaml_text(model.to_yaml()) == model
    motion = kg.simulate(kg.joint(model.with_values(L=0.8)))
    from kinegrad.page.scene import scene

    (solid,) = scene(motion)["bodies"][1]["solids"]
    assert (solid["kind"], solid["colour"]) == ("box", "#102030")
    np.testing.assert_allclose(solid["matrix"], [0.8, 0, 0, 0, 0.1, 0, 0, 0, 0.2, 0.4, 0, 0], atol=1e-15)


def test_rods_and_cylinders_lie_between_their_markers(tmp_path):
    cylinder, first, second = drawn("{type: rod, between: [P, Q], radius: 0.03}", tmp_path)
    m = np.array(cylinder["matrix"]).reshape(4, 3)
    np.testing.assert_allclose(m[3] - m[2] / 2, [0, 0, 0], atol=1e-15)
    np.testing.assert_allclose(m[3] + m[2] / 2, [0.5, 0, 0], atol=1e-15)
    np.testing.assert_allclose(np.linalg.norm(m[:2], axis=1), 0.03)
    assert [s["kind"] for s in (cylinder, first, second)] == ["cylinder", "sphere", "sphere"]
    (solid,) = drawn("{type: cylinder, radius: 0.2, length: 0.1, axis: [0, 3, 0]}", tmp_path)
    m = np.array(solid["matrix"]).reshape(4, 3)
    np.testing.assert_allclose(m[2:], [[0, 0.1, 0], [0.25, 0, 0]], atol=1e-15)
    assert np.linalg.det(m[:3]) == pytest.approx(0.2**2 * 0.1)


def test_without_a_shape_rods_join_the_markers(tmp_path):
    text = MODEL.replace("    shape: SHAPE\n", "")
    scene = scene_of(kg.simulate(kg.joint(kg.Model.from_yaml_text(text))).to_html(tmp_path / "a.html"))
    assert [solid["kind"] for solid in scene["bodies"][1]["solids"]] == ["cylinder", "sphere", "sphere"]
    assert scene["bodies"][0] == {"name": "ground", "com": [0, 0, 0], "solids": []}
    alone = text.replace(", Q: [L, 0, 0], v: {vector: [1, 0, 0]}", "").replace("com: [L/2, 0, 0]", "com: [0, 0, 0]")
    scene = scene_of(kg.simulate(kg.joint(kg.Model.from_yaml_text(alone))).to_html(tmp_path / "a.html"))
    (box,) = scene["bodies"][1]["solids"]
    a, b, c = sorted(np.linalg.norm(np.array(box["matrix"]).reshape(4, 3)[:3], axis=1))
    moments = sorted(2 / 12 * s for s in (a**2 + b**2, a**2 + c**2, b**2 + c**2))
    np.testing.assert_allclose(moments, [0.1, 0.2, 0.2])  # a box with the mass and inertia of the body


def write_mesh(path):
    corners = TETRAHEDRON[FACES]
    if path.suffix == ".obj":
        lines = [f"v {x} {y} {z}" for x, y, z in TETRAHEDRON]
        lines += ["# faces by 1-based numbers, with texture numbers, and counted from the end", "f 1/1 3/2 2/3"]
        lines += ["f 1 2 4", "f -4 -1 -2", "f 2 3 4"]
        path.write_text("\n".join(lines))
    elif path.name == "text.stl":
        facets = "".join(
            "facet normal 0 0 0\nouter loop\n"
            + "".join("vertex {} {} {}\n".format(*p) for p in face)
            + "endloop\nendfacet\n"
            for face in corners
        )
        path.write_text(f"solid x\n{facets}endsolid x\n")
    else:
        record = np.zeros(4, np.dtype([("n", "<f4", 3), ("c", "<f4", (3, 3)), ("a", "<u2")]))
        record["c"] = corners
        path.write_bytes(b"made by a test".ljust(80) + np.uint32(4).tobytes() + record.tobytes())
    return path


@pytest.mark.parametrize("name", ["mesh.obj", "text.stl", "binary.stl"])
def test_mesh_files(name, tmp_path):
    vertices, triangles = read_mesh(write_mesh(tmp_path / name), "it")
    a, b, c = np.moveaxis(vertices[triangles], 1, 0)
    assert len(triangles) == 4 and len(vertices) == 4
    assert np.einsum("ij,ij", a, np.cross(b, c)) / 6 == pytest.approx(1 / 6)  # the volume: all faces look outward
    (solid,) = drawn(f"{{type: mesh, file: {name}, scale: 0.001, at: [0, 0, L]}}", tmp_path, folder=tmp_path)
    assert solid["matrix"] == [0.001, 0, 0, 0, 0.001, 0, 0, 0, 0.001, 0, 0, 0.5]
    np.testing.assert_allclose(unpacked(solid["vertices"]).reshape(-1, 3), vertices)
    assert unpacked(solid["triangles"], "<u4").reshape(-1, 3).tolist() == triangles.tolist()


def test_bad_mesh_files_are_told_by_name(tmp_path):
    with pytest.raises(kg.KinegradError, match=r"bodies\.a\.shape\.file is .*none\.obj.*cannot be read"):
        drawn("{type: mesh, file: none.obj}", tmp_path, folder=tmp_path)
    for name, content in (
        ("a.obj", "v 1 2 3\nf 1 2 3"),
        ("b.stl", "nothing"),
        ("c.obj", "v 1 2 3"),
        ("d.obj", "v a b c"),
    ):
        (tmp_path / name).write_text(content)
        with pytest.raises(kg.KinegradError, match=rf"bodies\.a\.shape\[0\]\.file is .*{name}"):
            drawn(f"[{{type: mesh, file: {name}}}]", tmp_path, folder=tmp_path)


@pytest.mark.parametrize("size", ["1.0e-300", "1.0e+300"])
def test_gravity_of_any_size(size):
    """Whose square vanishes or overflows."""
    model = kg.Model.from_yaml_text(MODEL.replace("    shape: SHAPE\n", ""))
    model.forces["g"] = kg.Gravity(acceleration=(0, 0, f"-{size}"))
    motion = kg.simulate(kg.joint(model))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        document = scene(motion)
    assert document["up"] == pytest.approx([0.0, 0.0, 1.0])
    assert np.isfinite(document["low"] + document["high"]).all() and page(document)
