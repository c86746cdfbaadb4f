"""Panels of the page: signals are chosen, remembered and fetched; numbers at the cursor; labels that fit."""

import threading

import numpy as np
import pytest

import kinegrad as kg
from kinegrad.page.live import LiveMotion
from kinegrad.page.server import LiveServer

#: Checks or unchecks a signal in the list of the panel whose list is open.
CHECK = "document.querySelector('#picker-list input[value=\"%s\"]').click()"
OPEN = "document.querySelectorAll('#plots .panel-tools > button')[%d].click()"


def names(browser, panel=0):
    return browser.run(f"kinegrad.page.plots.list[{panel}].names")


def number(text):
    return float(text.replace("−", "-").split()[0])


def names_after_reload(browser, panel):
    browser.reload()
    return names(browser, panel)


def test_signals_are_chosen_and_remembered(browser, five_bar, five_bar_page):
    browser.open(five_bar_page[0])
    first, chosen = ["spring_1.force", "spring_2.force"], ["spring_1.force", "spring_1.rate"]
    assert names(browser, 1) == first
    browser.run(OPEN % 2)
    assert browser.run("document.getElementById('picker').open")
    browser.run(CHECK % "spring_2.force")
    browser.run(CHECK % "spring_1.rate")
    browser.run("document.getElementById('picker-done').click()")
    assert names(browser, 1) == chosen
    units = "kinegrad.page.plots.list[1].plots.map((plot) => plot.curves.map((curve) => curve.unit))"
    assert browser.run(units) == [["N"], ["m/s"]]  # one unit an axis
    assert names_after_reload(browser, 1) == chosen
    browser.run("kinegrad.setTime(0.25)")
    readings = browser.run("kinegrad.page.plots.list[1].plots.map((plot) => plot.readings[0].textContent)")
    expected = [five_bar[name][250] for name in chosen]
    np.testing.assert_allclose([number(text) for text in readings], expected, rtol=6e-4)
    browser.run("document.getElementById('reset-panels').click()")
    assert names(browser, 1) == first
    assert names_after_reload(browser, 1) == first and browser.problems == []


def test_search_add_and_remove(browser, five_bar_page):
    browser.open(five_bar_page[0])
    count = browser.run("kinegrad.page.plots.list.length")
    browser.run("document.getElementById('add-panel').click()")
    type_in = "(() => { const s = document.getElementById('picker-search'); s.value = '%s'; s.oninput(); })()"
    browser.run(type_in % "J2 velocity")
    listed = "[...document.querySelectorAll('#picker-list input')].map((box) => box.value)"
    assert browser.run(listed) == ["J2.angle.velocity"]
    browser.run(CHECK % "J2.angle.velocity")
    browser.run(type_in % "no such thing")
    assert browser.run(listed) == [] and "280 signals" in browser.run(
        "document.getElementById('picker-note').textContent"
    )
    assert names(browser, count) == ["J2.angle.velocity"]
    browser.run("[...document.querySelectorAll('#plots .panel-tools > button')].at(-1).click()")
    assert browser.run("kinegrad.page.plots.list.length") == count


def test_numbers_under_the_mouse(browser, five_bar, five_bar_page):
    browser.open(five_bar_page[0], 1280, 720)
    field = "kinegrad.page.plots.list[1].plots[0].field.getBoundingClientRect()"
    x, y = browser.run(f"(() => {{ const b = {field}; return [b.left, b.top + 50]; }})()")
    left, right = browser.run("(({ left, right }) => [left, right])(kinegrad.page.plots.plots[0].box)")
    browser.ask("Input.dispatchMouseEvent", type="mouseMoved", x=x + left + 0.6 * (right - left), y=y)
    rows = browser.run("[...document.querySelectorAll('.tip:not([hidden]) div')].map((row) => row.textContent)")
    assert rows[0] == "t = 0.3 s" and browser.run("kinegrad.time") == 0
    expected = [five_bar[name][300] for name in ("spring_1.force", "spring_2.force")]
    np.testing.assert_allclose([number(text) for text in rows[1:]], expected, rtol=6e-3)


@pytest.mark.parametrize(
    ("ticks", "labels", "note"),
    [
        ([0, 0.5, 1], ["0", "0.5", "1.0"], ""),
        ([-2e-11, 0, 2e-11], ["−20", "0", "20"], "×10⁻¹²"),
        ([1e6, 2e6], ["1", "2"], "×10⁶"),
        ([1000.001, 1000.002, 1000.003], ["0", "1", "2"], "×10⁻³ +1000.001"),
        ([1200, 1400, 1600], ["1200", "1400", "1600"], ""),
        ([-0.2, 0, 0.2], ["−0.2", "0", "0.2"], ""),
        ([-1e300, 0, 1e300], ["−1", "0", "1"], "×10³⁰⁰"),
    ],
)
def test_labels_of_ticks(browser, five_bar_page, ticks, labels, note):
    if not browser.run("window.kinegrad !== undefined"):
        browser.open(five_bar_page[0])
    assert browser.run(f"kinegrad.tickLabels({ticks})") == {"labels": labels, "note": note}


def test_labels_of_ticks_are_never_cut(browser, five_bar_page):
    """Whatever the numbers are, labels start inside the picture."""
    browser.open(five_bar_page[0])
    for scale, offset in ((1e-11, 0), (1e9, 0), (1e-3, 12345.678), (3e-40, 0), (1, -1e7)):
        program = f"""(() => {{ const plots = kinegrad.page.plots, plot = plots.plots[0], curve = plot.curves[0];
          const y = curve.series.values(curve.name);
          curve.series.known.get(curve.name).numbers = Float64Array.from(y, (v, k) => {scale} * Math.sin(k) + {offset});
          plots.redraw();
          const context = plot.canvas.getContext("2d");
          return [plot.left - 6 - Math.max(...plot.labels.map((label) => context.measureText(label).width)),
            new Set(plot.labels).size - plot.labels.length]; }})()"""
        room, same = browser.run(program)
        assert room >= 0 and same == 0


@pytest.mark.parametrize(("first", "last"), [(0, 0.02), (0, 1e-7), (0, 0.5), (0, 3e6), (100, 100.02)])
def test_labels_of_times_stand_beside_each_other(browser, five_bar_page, first, last):
    browser.open(five_bar_page[0])
    program = f"""(() => {{ const plot = kinegrad.page.plots.plots[0];
      Object.assign(plot.clock, {{ first: {first}, last: {last} }});
      const context = plot.canvas.getContext("2d");
      const {{ ticks, labels }} = plot.timeTicks(context);
      return ticks.map((t, k) => [plot.place(t), context.measureText(labels[k]).width]); }})()"""
    found = np.array(browser.run(program))
    assert len(found) > 1 and (np.diff(found[:, 0]) > (found[1:, 1] + found[:-1, 1]) / 2 + 4).all()


@pytest.fixture
def served(five_bar):
    def again(values, progress):
        progress(1.0)
        return kg.simulate(five_bar.system.with_parameters(values), t_end=0.1)

    live = LiveMotion(five_bar, again, folder=None)
    with LiveServer(live.document(), live.simulate, signals=live.signals) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_a_served_page_asks_for_further_signals(browser, five_bar, served):
    """Also after its motion was simulated anew, which the panel then shows."""
    browser.open(f"{served.address}#t=0.1")
    name = "bar_12.P2.y.acceleration"
    browser.run(OPEN % 2)
    browser.run(CHECK % name)
    has = f"kinegrad.page.plots.main.values('{name}') !== null"
    browser.wait(has)
    found = browser.run(f"kinegrad.page.plots.main.at('{name}', 0.1)")
    assert found == pytest.approx(five_bar[name][100], rel=1e-5)
    browser.run("const s = document.querySelector('.design input'); s.value = 600; s.dispatchEvent(new Event('input'))")
    browser.wait("kinegrad.page.live.motion === 1 && !kinegrad.page.live.busy")
    browser.wait(has)
    value = browser.run("kinegrad.page.live.values[document.querySelector('.design span').textContent]")
    label = browser.run("document.querySelector('.design span').textContent")
    fresh = kg.simulate(five_bar.system.with_parameters({label: value}), t_end=0.1)
    found = browser.run(f"kinegrad.page.plots.main.at('{name}', 0.1)")
    assert found == pytest.approx(fresh[name][100], rel=1e-5) and found != pytest.approx(five_bar[name][100], rel=1e-4)
    assert browser.problems == []


def test_requests_for_signals_that_are_refused(served):
    from test_view_requests import send

    def ask(body):
        head = f"POST /{served.token}/signals HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        code, _, answer = send(served, f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
        return code, answer.decode()

    assert ask('{"names": ["no.signal"], "motion": 0}')[1].startswith('{"error":"There is no signal')
    assert "another page" in ask('{"names": ["work"], "motion": 7}')[1]
    for body in ("[]", '{"names": 3, "motion": 0}', '{"names": ["work"]}', f'{{"names": {["a"] * 300}, "motion": 0}}'):
        code, answer = ask(body.replace("'", '"'))
        assert code == 400 and "names" in answer
    assert "no text" in ask('{"names": [3], "motion": 0}')[1]
