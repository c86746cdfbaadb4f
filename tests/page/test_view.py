"""``kinegrad view``: the page served live, and what it refuses."""

import json
import os
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request

import numpy as np
import pytest

import kinegrad as kg
from kinegrad.cli import main
from kinegrad.page.scene import scene
from kinegrad.page.server import LiveServer, sliders

MODEL = """\
kinegrad: 1
title: Pendulum
parameters: {L: 0.5, m: 2.0}
design: [L]
ground: {markers: {O: [0, 0, 0]}}
bodies:
  rod: {mass: m, com: [L/2, 0, 0], inertia: [0, m*L**2/12, m*L**2/12], markers: {O: [0, 0, 0], tip: [L, 0, 0]}}
joints: {hinge: {type: revolute, between: [ground.O, rod.O], axis: [0, 0, 1]}}
forces: {gravity: {type: gravity, acceleration: [0, -9.81, 0]}, twist: {type: torque, acts_on: hinge.angle, value: log(L)}}
degrees_of_freedom: {hinge.angle: {position: -pi/4, velocity: 0}}
simulation: {t_end: 0.2}
"""


def simulated(**values):
    return kg.simulate(kg.joint(kg.Model.from_yaml_text(MODEL).with_values(**values)))


@pytest.fixture
def server():
    motion = simulated()

    def simulate(values, progress):
        if values["L"] > 0.7:
            raise kg.KinegradError("'L' is too long.")
        return scene(kg.simulate(motion.system.with_parameters(values), progress=progress))

    document = scene(motion) | {"live": {"parameters": sliders(motion.system)}}
    with LiveServer(document, simulate) as made:
        thread = threading.Thread(target=made.serve_forever, args=(0.05,))
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def post(server, body, **headers):
    headers = {"Content-Type": "application/json"} | headers
    request = urllib.request.Request(f"{server.address}simulate", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        return [json.loads(line) for line in answer]


def test_sliders_are_the_design_half_to_either_side(server):
    assert sliders(simulated().system) == [{"name": "L", "value": 0.5, "low": 0.25, "high": 0.75}]
    *rest, last = post(server, {"values": {"L": 0.6}})
    assert [row["progress"] for row in rest] == [1.0] and last["seconds"] > 0
    assert last["scene"]["markers"][2] == {"name": "rod.tip", "body": 1, "at": [0.6, 0, 0]}
    assert post(server, {"values": {"L": 0.72}}) == [{"error": "'L' is too long."}]


@pytest.mark.parametrize(
    ("body", "headers", "code"),
    [
        ({"values": {"m": 1}}, {}, 400),
        ({"values": {"L": "x"}}, {}, 400),
        ({"values": {"L": float("nan")}}, {}, 400),
        ([], {}, 400),
        ({"values": {"L": 0.5}}, {"Content-Type": "text/plain"}, 404),
        ({"values": {"L": 0.5}}, {"Host": "elsewhere.example"}, 403),
    ],
)
def test_other_requests_are_refused(server, body, headers, code):
    with pytest.raises(urllib.error.HTTPError) as error:
        post(server, body, **headers)
    assert error.value.code == code


def test_a_slider_of_the_page_simulates_anew(server, browser):
    browser.open(f"{server.address}#t=0.2")
    assert browser.problems == []
    expected = simulated().marker("rod.tip").position[-1]
    assert np.abs(np.subtract(browser.run("kinegrad.point('rod.tip')"), expected)).max() < 1e-6
    slider = "kinegrad.page.slider = document.querySelector('.design input')"
    move = f"{slider}; kinegrad.page.slider.value = %d; kinegrad.page.slider.dispatchEvent(new Event('input'))"
    browser.run(move % 700)
    browser.wait("kinegrad.page.drawing.marker('rod.tip').at[0] > 0.59")
    browser.wait("!kinegrad.page.live.busy")
    expected = simulated(L=0.6).marker("rod.tip").position[-1]
    assert np.abs(np.subtract(browser.run("kinegrad.point('rod.tip')"), expected)).max() < 1e-6
    assert browser.run("kinegrad.time") == pytest.approx(0.2)
    fitted = "(() => { const { camera, drawing } = kinegrad.page, { high, radius } = drawing.scene; "
    fitted += "return camera.fitted && Math.abs(camera.corners[7][0] - high[0] - 3 * radius) < 1e-9; })()"
    assert browser.run(fitted)  # to the longer rod
    layout = "[...document.querySelectorAll('.stage, #live, .plot, footer')].map((e) => e.getBoundingClientRect().top)"
    before = browser.run(layout)
    browser.run(move % 1000)
    browser.wait("document.getElementById('told').textContent.startsWith(\"'L' is too long.\")")
    assert browser.run("kinegrad.page.drawing.marker('rod.tip').at[0]") == pytest.approx(0.6)
    assert browser.run(layout) == before  # a sentence pushes nothing apart
    assert browser.run("document.querySelector('.design input').ariaLabel") == "L"
    assert browser.problems == []


def interruptible():
    """A process started in the background of a shell ignores interrupts; this one shall not."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.parametrize("kind", ["model", "result"])
def test_the_command_serves_until_it_is_interrupted(kind, tmp_path):
    path = tmp_path / "pendulum.yaml"
    path.write_text(MODEL)
    if kind == "result":
        path = simulated(L=0.55).save(tmp_path / "motion.nc")
    command = [sys.executable, "-c", "from kinegrad.cli import main; main()", "view", str(path), "--no-open", "--json"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ, preexec_fn=interruptible
    ) as process:
        guard = threading.Timer(600.0, process.kill)  # a server that does not end must not hold up the tests
        guard.start()
        said = next(line for line in process.stderr if "localhost" in line)
        address = said.split()[4]
        with urllib.request.urlopen(address) as answer:
            text = answer.read().decode()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=600)
        guard.cancel()
    assert (process.returncode, err.strip()) == (0, "")
    assert json.loads(out) == {"address": address, "simulations": 0}
    length = 0.5 if kind == "model" else 0.55
    assert f'{{"name":"L","value":{length}' in text and "<title>Pendulum</title>" in text


def test_refused_by_name(tmp_path, capsys):
    result = simulated().save(tmp_path / "motion.nc")
    for options, words in (
        ([result, "--t-end", "1"], ["--t-end", "saved motion"]),
        ([result, "--set", "L=1"], ["--set", "saved motion"]),
        ([result, "--port", "99999"], ["--port", "99999"]),
        ([tmp_path / "none.yaml"], ["none.yaml"]),
    ):
        with pytest.raises(SystemExit) as exit:
            main(["view", *map(str, options), "--no-open"])
        err = capsys.readouterr().err
        assert exit.value.code == 2 and err.count("\n") == 1
        assert all(word in err for word in words)


def test_a_port_in_use_is_told(server):
    with pytest.raises(kg.KinegradError, match=f"--port {server.server_port} cannot be used"):
        LiveServer({"title": "", "live": {"parameters": []}}, None, server.server_port)
