"""A headless Chromium driven over its DevTools pipe: just what the tests of the page need."""

import base64
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
PATIENCE = float(
    os.environ.get("KINEGRAD_PATIENCE", 600)
)  # seconds for one answer, after which nothing is to be expected any more
#: The browser reads commands from descriptor 3 and writes answers to 4; either may be taken, so both move out of the way first.
START = """import fcntl, os, sys
read, write = (fcntl.fcntl(int(fd), fcntl.F_DUPFD, 5) for fd in sys.argv[1:3])
os.dup2(read, 3), os.dup2(write, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


def find():
    """Path of an installed browser, or None."""
    given = os.environ.get("KINEGRAD_BROWSER")
    return given or next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One browser with one page; a context that ends the process."""

    def __init__(self, profile: Path, *options: str):
        read_here, write_there = os.pipe()
        read_there, write_here = os.pipe()
        command = [
            find(), "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
            "--disable-background-networking", "--disable-component-update", "--remote-debugging-pipe", "--mute-audio",
            f"--user-data-dir={profile}", *options, "about:blank",
        ]  # fmt: skip
        start = [sys.executable, "-c", START, str(read_there), str(write_there), *command]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL}
        self.process = subprocess.Popen(start, pass_fds=(read_there, write_there), **quiet)
        os.close(read_there)
        os.close(write_there)
        os.set_blocking(read_here, False)
        self.incoming, self.outgoing = read_here, write_here
        self.waiting = b""
        self.number = 0
        self.session = None
        self.problems = []  # what the console or the page complained about
        self.loaded = 0
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
        os.close(self.incoming)
        os.close(self.outgoing)

    # --- the protocol ---

    def ask(self, method, **parameters):
        """The answer of the browser to one command."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.outgoing, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]

    def receive(self):
        """The next message; events are noted."""
        end = time.monotonic() + PATIENCE
        while b"\0" not in self.waiting:
            assert self.process.poll() is None, "the browser ended"
            assert time.monotonic() < end, "the browser does not answer"
            try:
                self.waiting += os.read(self.incoming, 1 << 20)
            except BlockingIOError:
                time.sleep(0.005)
        text, _, self.waiting = self.waiting.partition(b"\0")
        message = json.loads(text)
        kind, what = message.get("method"), message.get("params", {})
        if kind == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(what["exceptionDetails"]))
        elif kind == "Runtime.consoleAPICalled" and what["type"] in ("error", "warning", "assert"):
            self.problems.append(json.dumps(what["args"]))
        elif kind == "Log.entryAdded" and what["entry"]["level"] == "error":
            self.problems.append(what["entry"]["text"])
        elif kind == "Page.loadEventFired":
            self.loaded += 1
        return message

    # --- what tests do ---

    def open(self, address, width=860, height=480, dark=False):
        """Load a page at a size of the window, and wait until it runs."""
        mobile = width < 600
        size = {"width": width, "height": height, "deviceScaleFactor": 2 if mobile else 1, "mobile": mobile}
        self.ask("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])
        self.navigate("about:blank")
        self.run("window.name = ''")
        self.problems.clear()
        self.navigate(address)
        self.wait("window.kinegrad !== undefined")

    def navigate(self, address):
        """Load what is at an address."""
        before = self.loaded
        self.ask("Page.navigate", url=address)
        while self.loaded <= before:
            self.receive()

    def reload(self):
        """Load the page again in the same window."""
        before = self.loaded
        self.ask("Page.reload")
        while self.loaded <= before:
            self.receive()
        self.wait("window.kinegrad !== undefined")

    def run(self, program):
        """The value of a JavaScript expression, a promise awaited."""
        found = self.ask("Runtime.evaluate", expression=program, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait(self, condition, seconds=PATIENCE):
        """Wait until a JavaScript expression is true."""
        end = time.monotonic() + seconds
        while not self.run(condition):
            assert time.monotonic() < end, f"still not: {condition}; {self.problems}"
            time.sleep(0.05)

    def mouse(self, kind, x, y, button="left"):
        """One event of the mouse: mousePressed, mouseMoved or mouseReleased."""
        held = 0 if kind == "mouseReleased" else 1
        self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, buttons=held, clickCount=1)

    def key(self, key, code, number):
        """Press and release a key."""
        text = {"text": key} if len(key) == 1 else {}
        what = {"key": key, "code": code, "windowsVirtualKeyCode": number}
        self.ask("Input.dispatchKeyEvent", type="keyDown", **what, **text)
        self.ask("Input.dispatchKeyEvent", type="keyUp", **what)

    def screenshot(self, path):
        """Save a picture of the window."""
        Path(path).write_bytes(base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"]))
