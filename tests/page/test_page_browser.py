"""The page in a browser: it loads without complaint, draws, moves, and its parts stay together in time."""

from dataclasses import replace

import numpy as np
import pytest

import kinegrad as kg
from kinegrad.sensitivity.certificate import Certificate

SIZES = [(1280, 720), (390, 844)]

#: How many pixels of the view differ from its background, read right after it is drawn.
INK = """(() => {
  const { page } = kinegrad;
  page.draw();
  const copy = document.createElement("canvas");
  [copy.width, copy.height] = [page.view.canvas.width / 2, page.view.canvas.height / 2];
  const context = copy.getContext("2d", { willReadFrequently: true });
  context.drawImage(page.view.canvas, 0, 0, copy.width, copy.height);
  const data = context.getImageData(0, 0, copy.width, copy.height).data;
  const [r, g, b] = page.theme.background.map((x) => 255 * x);
  let count = 0, sum = 0;
  for (let k = 0; k < data.length; k += 4)
    if (Math.abs(data[k] - r) + Math.abs(data[k + 1] - g) + Math.abs(data[k + 2] - b) > 40) {
      count++;
      sum = (sum * 31 + k) % 1000003;
    }
  return [count / (data.length / 4), sum];
})()"""


def middle(browser, selector):
    """Middle of an element, in the coordinates of the window."""
    program = f"(() => {{ const b = document.querySelector('{selector}').getBoundingClientRect(); "
    return browser.run(program + "return [b.left + b.width / 2, b.top + b.height / 2, b.left, b.width]; })()")


@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize("dark", [False, True])
def test_loads_draws_and_nothing_overlaps(browser, five_bar_page, width, height, dark):
    browser.open(five_bar_page[0], width, height, dark)
    assert browser.problems == []
    share, _ = browser.run(INK)
    assert 0.01 < share < 0.6  # neither blank nor covered
    boxes = browser.run(
        "['header', '.stage', 'footer', 'aside'].map((name) => { const b = document.querySelector(name)"
        ".getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; })"
    )
    for i, a in enumerate(boxes):
        assert a[0] >= 0 and a[1] >= 0 and a[2] <= width and a[3] <= height and a[2] - a[0] > 100 and a[3] - a[1] > 30
        for b in boxes[i + 1 :]:
            assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
    assert browser.run("document.documentElement.scrollWidth") <= width
    texts = "[...document.querySelectorAll('h1, h2, #facts, footer > *, .legend')]"
    assert browser.run(f"{texts}.filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.outerHTML)") == []


def test_bodies_are_where_the_motion_says(browser, five_bar, five_bar_page):
    browser.open(five_bar_page[0])
    for t, row in ((0.0, 0), (0.25, 250), (0.5, 500)):
        browser.run(f"kinegrad.setTime({t})")
        for name in ("bar_A1.P1", "bar_12.P2", "bar_3B.P3"):
            expected = five_bar.marker(name).position[row]
            assert np.abs(np.subtract(browser.run(f"kinegrad.point('{name}')"), expected)).max() < 2e-6
    browser.run("kinegrad.setTime(0.2525)")  # half way between two frames
    expected = five_bar.marker("bar_12.P2").position[252:254].mean(axis=0)
    assert np.abs(np.subtract(browser.run("kinegrad.point('bar_12.P2')"), expected)).max() < 2e-5


def test_the_slider_moves_bodies_and_cursors(browser, five_bar_page):
    browser.open(five_bar_page[0])
    before = browser.run("kinegrad.point('bar_12.P2')"), browser.run(INK)[1]
    where = "[...document.querySelectorAll('.cursor')].map((c) => c.getBoundingClientRect().left)"
    first = browser.run(where)
    program = (
        "(() => { const s = document.getElementById('time'); s.value = 600; s.dispatchEvent(new Event('input')); })()"
    )
    browser.run(program)
    assert browser.run("kinegrad.time") == pytest.approx(0.3)
    after = browser.run("kinegrad.point('bar_12.P2')"), browser.run(INK)[1]
    assert np.linalg.norm(np.subtract(before[0], after[0])) > 0.05 and before[1] != after[1]
    moved = np.subtract(browser.run(where), first)
    left, right = np.array(browser.run("kinegrad.page.plots.plots.map((p) => [p.box.left, p.box.right])")).T
    np.testing.assert_allclose(moved, 0.6 * (right - left), atol=0.6)
    assert np.ptp(left) == 0  # so that times stand below each other
    assert browser.run("document.getElementById('now').textContent") == "0.3000 s"


def test_a_click_in_a_plot_sets_the_time(browser, five_bar_page):
    browser.open(five_bar_page[0])
    _, y, start, _ = middle(browser, ".field")
    left, right = browser.run("(({ left, right }) => [left, right])(kinegrad.page.plots.plots[0].box)")
    for kind in ("mousePressed", "mouseReleased"):
        browser.mouse(kind, start + left + 0.4 * (right - left), y)
    assert browser.run("kinegrad.time") == pytest.approx(0.2, abs=0.002)
    reading = browser.run("document.querySelector('.entry b').textContent").replace("−", "-")
    point = browser.run("kinegrad.point(kinegrad.page.plots.list[0].marker)")
    assert float(reading.split()[0]) == pytest.approx(point[0], rel=5e-3)


def test_keys(browser, five_bar_page):
    browser.open(five_bar_page[0])
    browser.key("ArrowRight", "ArrowRight", 39)
    assert browser.run("kinegrad.time") == pytest.approx(0.005)
    browser.key("End", "End", 35)
    assert browser.run("kinegrad.time") == pytest.approx(0.5)
    browser.key("ArrowLeft", "ArrowLeft", 37)
    assert browser.run("kinegrad.time") == pytest.approx(0.495)
    browser.key(" ", "Space", 32)
    assert browser.run("document.getElementById('play').getAttribute('aria-label')") == "Pause"
    browser.wait("kinegrad.time !== 0.495")
    browser.key(" ", "Space", 32)
    assert browser.run("document.getElementById('play').getAttribute('aria-label')") == "Play"


def test_the_mouse_turns_the_view_and_fit_brings_it_back(browser, five_bar_page):
    browser.open(five_bar_page[0])
    start = browser.run(INK)[1]
    x, y, _, _ = middle(browser, "#labels")
    browser.mouse("mousePressed", x, y)
    browser.mouse("mouseMoved", x + 90, y + 30)
    browser.mouse("mouseReleased", x + 90, y + 30)
    assert browser.run(INK)[1] != start
    browser.ask("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=-300)
    browser.wait("!kinegrad.page.camera.fitted")
    browser.run("document.querySelector('.tools [data-look=start]').click()")
    assert browser.run(INK)[1] == start


def test_menu_shows_and_hides(browser, five_bar_page):
    browser.open(five_bar_page[0])
    marks = {browser.run(INK)[1]}
    names = browser.run("[...document.querySelectorAll('#shown input')].map((box) => box.name)")
    assert names == ["grid", "joints", "centres", "traces", "frames", "names"]
    for name in names[:5]:
        browser.run(f"document.querySelector('#shown [name={name}]').click()")
        marks.add(browser.run(INK)[1])
    assert len(marks) == 6


def test_the_plain_canvas_shows_the_same(browser, five_bar_page):
    browser.open(five_bar_page[0].replace("#", "#view=canvas&"))
    assert browser.run("kinegrad.renderer") == "canvas" and browser.problems == []
    plain = browser.run(INK)[0]
    browser.open(five_bar_page[0])
    if browser.run("kinegrad.renderer") == "webgl":
        assert plain == pytest.approx(browser.run(INK)[0], rel=0.25)
    assert plain > 0.01


def test_faces_look_outward(browser, five_bar_page):
    """Both views leave out faces that look away, by the order of their corners."""
    browser.open(five_bar_page[0].replace("#", "#view=canvas&"))
    for kind in ("box", "cylinder", "sphere", "cone"):
        shape = browser.run(f"kinegrad.page.view.shapes.{kind}")
        points, normals = (np.array(shape[key]).reshape(-1, 3) for key in ("points", "normals"))
        a, b, c = np.moveaxis(points[np.array(shape["corners"]).reshape(-1, 3)], 1, 0)
        outward = np.einsum(
            "ij,ij->i", np.cross(b - a, c - a), normals[np.array(shape["corners"]).reshape(-1, 3)[:, 0]]
        )
        assert (outward > 1e-3).all(), kind
        shown = "{ ...kinegrad.page.shown, weights: true }"
        matrices = browser.run(f"kinegrad.page.drawing.lists({shown}, kinegrad.page.theme).solids.{kind}")
        assert all(np.linalg.det(np.array(m[:9]).reshape(3, 3)) > 0 for m, *_ in matrices), kind


def test_a_browser_without_webgl_gets_the_plain_canvas(browser, five_bar_page):
    """The page replaces the canvas that was refused, and goes on."""
    program = """const real = HTMLCanvasElement.prototype.getContext;
    HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
      return kind === "webgl2" ? null : real.call(this, kind, ...rest);
    };"""
    number = browser.ask("Page.addScriptToEvaluateOnNewDocument", source=program)["identifier"]
    try:
        browser.open(five_bar_page[0])
        assert browser.run("kinegrad.renderer") == "canvas" and browser.problems == []
        assert browser.run(INK)[0] > 0.01
        assert "does not offer WebGL 2" in browser.run("document.getElementById('told').textContent")
        assert not browser.run("document.getElementById('told').hidden")
    finally:
        browser.ask("Page.removeScriptToEvaluateOnNewDocument", identifier=number)


def test_gradient_bars(browser, five_bar_page):
    address, gradient = five_bar_page
    browser.open(address)
    bars = "[...document.querySelectorAll('.bars')].map((t) => [...t.querySelectorAll('.bar')].map((b) => "
    widths = np.array(browser.run(bars + "parseFloat(b.style.width) * (b.classList.contains('minus') ? -1 : 1)))"))
    rho = np.array(
        [gradient.motion.system.rho[list(gradient.motion.system.parameters.independent).index(n)] for n in gradient.wrt]
    )
    relative = gradient.matrix * rho / np.array(list(gradient.values.values()))[:, None]
    expected = 50 * relative / np.abs(relative).max(axis=1, keepdims=True)
    np.testing.assert_allclose(widths, expected, rtol=1e-4, atol=1e-3)


def test_the_certificate_and_every_number_are_shown(browser, five_bar, tmp_path):
    plain = kg.gradient(five_bar, method=kg.DiscreteAdjoint(every_slot=True))
    limits = {"entries": 1e-5, "half the step": 0.1}
    sentence = "The derivative of 'psi2' by 'r_G' differs."
    found = Certificate(plain, {"entries": 0.02, "half the step": 1e-3}, (sentence,), limits=limits)
    page = five_bar.to_html(tmp_path / "a.html", gradient=replace(plain, certificate=found), frames=11)
    browser.open(f"{page.as_uri()}#t=0")
    text = browser.run("document.querySelector('.certificate').innerText")
    assert "not right" in text and sentence in text
    cells = "[r.className, ...[...r.children].map((c) => c.textContent)]"
    rows = f"[...document.querySelectorAll('.certificate tr')].map((r) => {cells})"
    assert browser.run(rows)[1:] == [["bad", "entries", "2.0e-2", "1e-5"], ["", "half the step", "1.0e-3", "1e-1"]]
    names = (
        "[...document.querySelectorAll('.bars')].map((t) => [...t.querySelectorAll('.bar-name')].map((n) => n.title))"
    )
    for o, shown in enumerate(browser.run(names)):
        objective = list(plain.values)[o]
        largest = sorted(plain.ranked(), key=lambda number: -abs(np.nan_to_num(number.relative[objective])))[:16]
        assert shown[:5] == [number.path for number in largest][:5] and len(shown) == 16
    choose = "s.value = 'element'; s.dispatchEvent(new Event('change'));"
    browser.run(f"(() => {{ const s = document.querySelectorAll('.gradient select')[1]; {choose} }})()")
    assert browser.run(names)[0] == list(plain.by_element())[:12]


def test_everything_has_a_name_for_screen_readers(browser, five_bar_page):
    browser.open(five_bar_page[0])
    program = """[...document.querySelectorAll('button, select, input, canvas[role=img], summary')].filter((e) =>
      !(e.getAttribute('aria-label') || e.ariaLabel || e.textContent.trim() || e.closest('label'))).map((e) => e.outerHTML)"""
    assert browser.run(program) == []
    assert "4 bodies, 5 joints, 2 springs" in browser.run(
        "document.getElementById('labels').getAttribute('aria-label')"
    )
