"""The view of the page: arrows to scale, points picked, bodies hidden, a camera that follows, two motions, files."""

import base64
import csv
import io

import numpy as np
import pytest
from reading import scene_of
from test_page_browser import INK

import kinegrad as kg

CAPTURE = """(() => { kinegrad.files = [];
  URL.createObjectURL = (blob) => { kinegrad.files.push(blob); return "data:,"; }; })()"""
TEXT = """(async () => { const blob = kinegrad.files[%d];
  const bytes = new Uint8Array(await blob.arrayBuffer());
  return btoa(Array.from(bytes, (b) => String.fromCharCode(b)).join("")); })()"""
ALL = "{ velocities: true, forces: true, weights: true, reactions: true, moments: true, length: 1 }"


def arrows(browser):
    found = browser.run(f"kinegrad.page.drawing.arrows.now({ALL})")
    return {(a["kind"], a["name"], a["body"]): (np.array(a["from"]), np.array(a["vector"])) for a in found}


def test_arrows_are_the_vectors_of_the_motion(browser, five_bar, five_bar_page):
    browser.open(five_bar_page[0])
    browser.run("kinegrad.setTime(0.25)")
    found = arrows(browser)
    point = five_bar.marker("bar_A1.P1")
    at, vector = found["velocity", "bar_A1.P1", 1]
    assert np.abs(at - point.position[250]).max() < 1e-6
    speed = np.abs(point.velocity).max()
    assert np.abs(vector - point.velocity[250]).max() < 2e-4 * speed
    reaction = five_bar.reactions("J1")[:, :3]
    assert np.abs(found["reaction", "J1", 1][1] - reaction[250]).max() < 1e-4 * np.abs(reaction).max()
    ends = [five_bar.marker(name).position[250] for name in five_bar.system.model.forces["spring_1"].between]
    force = five_bar["spring_1.force"]
    u = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
    body = list(five_bar.system.model.bodies).index(five_bar.system.model.forces["spring_1"].between[1].split(".")[0])
    assert np.abs(found["force", "spring_1", body + 1][1] + force[250] * u).max() < 1e-4 * np.abs(force).max()
    weights = [vector for (kind, _, _), (_, vector) in found.items() if kind == "weight"]
    assert len(weights) == 4 and all(w[1] < 0 and w[0] == w[2] == 0 for w in weights)
    scales = browser.run(f"kinegrad.page.drawing.arrows.scales({ALL})")
    longest = max(np.linalg.norm(five_bar.reactions(name)[::5, :3], axis=1).max() for name in five_bar.reactions())
    longest = max(longest, *(np.abs(five_bar[f"spring_{k}.force"]).max() for k in (1, 2)))
    reach = browser.run("kinegrad.page.drawing.reach")
    assert scales["N"] * longest == pytest.approx(0.25 * reach, rel=1e-3)


def test_arrows_are_drawn_and_have_a_length(browser, five_bar_page):
    browser.open(five_bar_page[0] + ".3")
    marks = [browser.run(INK)[1]]
    for name in ("velocities", "forces", "reactions", "weights"):
        browser.run(f"document.querySelector('#arrows [name={name}]').click()")
        marks.append(browser.run(INK)[1])
    browser.run("(() => { const s = document.getElementById('arrow-length'); s.value = 75; s.oninput(); })()")
    marks.append(browser.run(INK)[1])
    assert len(set(marks)) == 6 and browser.run("kinegrad.page.shown.length") == pytest.approx(2)


def test_a_click_picks_a_marker(browser, five_bar, five_bar_page):
    browser.open(five_bar_page[0], 1280, 720)
    browser.run("kinegrad.setTime(0.1)")
    where = """(() => { const { page } = kinegrad, m = page.camera.matrix;
      const b = page.labels.canvas.getBoundingClientRect();
      const p = kinegrad.point('%s'), h = [0, 1, 3].map((i) => m[i] * p[0] + m[4 + i] * p[1] + m[8 + i] * p[2] + m[12 + i]);
      return [b.left + (h[0] / h[2] + 1) * b.width / 2, b.top + (1 - h[1] / h[2]) * b.height / 2]; })()"""
    x, y = browser.run(where % "bar_12.P2")
    picked = []
    for _ in range(2):  # two bodies have a marker there
        for kind in ("mousePressed", "mouseReleased"):
            browser.mouse(kind, x + 3, y - 2)
        picked.append(browser.run("kinegrad.page.picked.name"))
        assert browser.run("kinegrad.page.plots.list[0].marker") == picked[-1]
    assert sorted(picked) == ["bar_12.P2", "bar_23.P2"]
    card = browser.run("document.querySelector('#picked span').textContent").replace("−", "-")
    expected = five_bar.marker("bar_12.P2")
    told = [float(text) for text in card[1:].split("]")[0].split(",")]
    np.testing.assert_allclose(told, expected.position[100], rtol=1e-3, atol=1e-6)
    assert float(card.split()[-2]) == pytest.approx(np.linalg.norm(expected.velocity[100]), rel=6e-3)
    for kind in ("mousePressed", "mouseReleased"):
        browser.mouse(kind, 20, 300)
    assert browser.run("document.getElementById('picked').hidden") and browser.problems == []


def test_bodies_are_hidden_and_made_transparent(browser, five_bar_page):
    browser.open(five_bar_page[0])
    names = browser.run("[...document.querySelectorAll('#bodies input[type=checkbox]')].map((box) => box.name)")
    assert names == ["bar_A1", "bar_12", "bar_23", "bar_3B"]
    full, mark = browser.run(INK)
    browser.run("document.querySelector('#bodies [name=bar_12]').click()")
    hidden, _ = browser.run(INK)
    assert hidden < 0.97 * full
    browser.run("document.querySelector('#bodies [name=bar_12]').click()")
    assert browser.run(INK)[1] == mark
    slide = "(() => { const s = document.querySelectorAll('#bodies input[type=range]')[1]; s.value = 30; "
    slide += "s.dispatchEvent(new Event('input')); return s.ariaLabel; })()"
    assert browser.run(slide) == "Opacity of bar_12"
    opacities = browser.run(
        "Object.values(kinegrad.page.drawing.lists(kinegrad.page.shown, kinegrad.page.theme).solids).flat().map((s) => s[2])"
    )
    assert set(opacities) == {1, 0.3}


def test_the_camera_follows_a_body(browser, five_bar_page):
    browser.open(five_bar_page[0])
    browser.run("(() => { const s = document.getElementById('follow'); s.value = 2; s.onchange(); })()")
    gap = "(() => { const p = kinegrad.page, c = p.drawing.centre(2); return p.camera.target.map((x, i) => x - c[i]); })()"
    before, target = browser.run(gap), browser.run("kinegrad.page.camera.target")
    browser.run("kinegrad.setTime(0.4)")
    np.testing.assert_allclose(browser.run(gap), before, atol=1e-9)
    assert np.linalg.norm(np.subtract(browser.run("kinegrad.page.camera.target"), target)) > 0.05
    browser.run("kinegrad.page.follow(0)")
    browser.run("kinegrad.setTime(0)")
    assert browser.run("kinegrad.page.camera.fitted")


def test_what_goes_far_is_followed(tmp_path):
    model = kg.Model(
        bodies={
            "light": kg.Body(mass=1.0, inertia=(1, 1, 1), markers={"c": (0, 0, 0), "p": (0.5, 0, 0)}),
            "heavy": kg.Body(mass=3.0, inertia=(1, 1, 1), markers={"p": (0, 0, 0)}),
        },
        ground={"markers": {"o": (0, 0, 0)}},
        joints={
            "free": kg.Floating(between=("ground.o", "light.c")),
            "pin": kg.Revolute(between=("light.p", "heavy.p"), axis=(0, 0, 1)),
        },
        degrees_of_freedom={
            "free": {"position": [0, 0, 0], "velocity": [5, 0, 0], "rotation": [0, 0, 0]},
            "pin.angle": {"position": 0},
        },
    )
    motion = kg.simulate(kg.joint(model), t_end=1.0, step=0.01)
    assert scene_of(motion.to_html(tmp_path / "a.html"))["follow"] == 2
    assert scene_of(kg.simulate(kg.joint(model), t_end=0.05, step=0.01).to_html(tmp_path / "a.html"))["follow"] == 0


@pytest.fixture(scope="module")
def two(five_bar, tmp_path_factory):
    other = kg.simulate(five_bar.system.with_parameters({"L_s1": 2.0}), t_end=0.3)
    path = five_bar.to_html(tmp_path_factory.mktemp("two") / "two.html", frames=101, beside={"longer": other})
    return f"{path.as_uri()}#t=0.2", other


def test_two_motions_have_one_clock(browser, five_bar, two):
    address, other = two
    browser.open(address, 1280, 720)
    assert browser.problems == [] and "longer" in browser.run("document.getElementById('facts').textContent")
    places = browser.run("kinegrad.page.all.map((d) => d.at(d.marker('bar_12.P2')))")
    expected = [motion.marker("bar_12.P2").position[200] for motion in (five_bar, other)]
    assert np.abs(np.subtract(places, expected)).max() < 2e-5
    plot = "kinegrad.page.plots.list[1].plots[0]"
    readings = browser.run(f"{plot}.readings.map((e) => e.textContent)")
    forces = [motion[f"spring_{k}.force"][200] for k in (1, 2) for motion in (five_bar, other)]
    np.testing.assert_allclose([float(text.replace("−", "-").split()[0]) for text in readings], forces, rtol=2e-3)
    assert browser.run(f"{plot}.curves.map((curve) => curve.dash.length > 0)") == [False, True, False, True]
    browser.run("kinegrad.setTime(0.45)")  # the other one has ended
    assert browser.run(f"{plot}.readings.map((e) => e.textContent)")[1].startswith("–")
    np.testing.assert_allclose(
        browser.run("kinegrad.point('bar_12.P2')"), five_bar.marker("bar_12.P2").position[450], atol=1e-6
    )


def test_files_from_the_page(browser, five_bar, two):
    browser.open(two[0], 1280, 720)
    browser.run(CAPTURE)
    browser.run("document.getElementById('save-csv').click()")
    browser.run("document.getElementById('save-png').click()")
    browser.run("[...document.querySelectorAll('.panel-menu button')][3].click()")
    browser.wait("kinegrad.files.length === 3")
    text = base64.b64decode(browser.run(TEXT % 0)).decode()
    head, *rows = csv.reader(io.StringIO(text))
    assert head[0] == "t [s]" and "spring_1.force, longer [N]" in head and len(rows) == 101
    found = {name: np.array([float(row[k] or "nan") for row in rows]) for k, name in enumerate(head)}
    np.testing.assert_allclose(found["t [s]"], five_bar.t[::5], atol=1e-7)
    force = five_bar["spring_1.force"][::5]
    assert np.abs(found["spring_1.force [N]"] - force).max() < 1e-6 * np.abs(force).max()
    assert np.isnan(found["spring_1.force, longer [N]"]).sum() == 40  # it ended before
    for k in (1, 2):
        picture = base64.b64decode(browser.run(TEXT % k))
        assert picture[:8] == b"\x89PNG\r\n\x1a\n" and len(picture) > 4000


def test_other_results_have_a_page(browser, five_bar, tmp_path):
    """A position at rest, and a motion in other coordinates, whose multipliers are not known."""
    rest = kg.equilibrium(five_bar.system)
    scene = scene_of(rest.to_html(tmp_path / "rest.html"))
    assert scene["count"] == 1 and "one position" in scene["facts"]
    browser.open((tmp_path / "rest.html").as_uri(), 1280, 720)
    assert browser.problems == [] and browser.run(INK)[0] > 0.01
    force = browser.run("kinegrad.page.plots.main.at('spring_1.force', 0)")
    assert force == pytest.approx(rest["spring_1.force"], rel=1e-6)
    short = kg.simulate(five_bar.system, t_end=0.02)
    given = scene_of(short.in_coordinates("reference-point").to_html(tmp_path / "given.html"))
    assert "given" in given["facts"] and given["count"] == len(short.t)


def test_the_topology_is_drawn(browser, five_bar_page):
    browser.open(five_bar_page[0])
    browser.run("document.getElementById('topology').open = true")
    assert browser.run("document.querySelectorAll('#topology .body-node').length") == 5
    told = browser.run("document.querySelector('#topology svg').getAttribute('aria-label')")
    assert "J2 (revolute, cut joint) between bar_12 and bar_23" in told and "joint of the tree" in told
    browser.run("document.querySelectorAll('#topology .body-node')[1].dispatchEvent(new MouseEvent('click'))")
    assert browser.run("kinegrad.page.followed") > 0


def test_keeping_a_motion_and_letting_go(browser, five_bar_page):
    browser.open(five_bar_page[0])
    browser.run("kinegrad.page.keep('before')")
    assert browser.run("kinegrad.page.others.length") == 1
    assert browser.run("kinegrad.page.plots.list[1].plots[0].curves.map((c) => c.label)")[1] == "spring_1.force, before"
    browser.run("kinegrad.page.keep(null)")
    assert browser.run("kinegrad.page.others.length") == 0 and browser.problems == []
