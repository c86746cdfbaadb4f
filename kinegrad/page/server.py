"""A page that can ask for other parameter values: a small server on this machine, from the standard library.

======== =========== ====================================================================================
method   path        answer
======== =========== ====================================================================================
GET      ``/``       the page
POST     ``/simulate`` lines of JSON while it works: ``{progress}``, then ``{scene, seconds}`` or ``{error}``
======== =========== ====================================================================================

It listens to this machine only, and answers only to requests that name it by a local name, so that pages from elsewhere
cannot reach it through the browser.
"""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from kinegrad.errors import KinegradError
from kinegrad.page.html import page

LOCAL = ("localhost", "127.0.0.1", "[::1]")
MOST_BYTES = 1_000_000  # of a request
MOST_SLIDERS = 12  # when the model names no design
SPAN = 0.5  # sliders go so far to either side, of the value


def sliders(system) -> list[dict]:
    """The parameters that the page lets its reader change: the design, or the first ones."""
    parameters = system.parameters
    labels = [label for name in system.model.design for label in parameters.expand(name)]
    labels = labels or list(parameters.independent)[:MOST_SLIDERS]
    values = dict(zip(parameters.independent, system.rho.tolist(), strict=True))
    found = []
    for label in labels:
        span = SPAN * abs(values[label]) or 1.0
        found.append({"name": label, "value": values[label], "low": values[label] - span, "high": values[label] + span})
    return found


class LiveServer(ThreadingHTTPServer):
    """Serves one page; `simulate(values, progress)` gives the scene of other parameter values.

    Parameters
    ----------
    document : dict
        The scene shown first, with its key ``live``.
    port : int
        0 takes any that is free.
    """

    daemon_threads = True

    def __init__(self, document: dict, simulate: Callable[[dict, Callable], dict], port: int = 0):
        self.text = page(document).encode()
        self.names = {parameter["name"] for parameter in document["live"]["parameters"]}
        self.simulate = simulate
        self.one_at_a_time = threading.Lock()
        try:
            super().__init__(("127.0.0.1", port), Handler)
        except OSError as error:
            raise KinegradError(
                f"--port {port} cannot be used: {error.strerror or error}; name another one, or 0 for any that is free."
            ) from None

    @property
    def address(self) -> str:
        return f"http://localhost:{self.server_port}/"


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: LiveServer

    def log_message(self, *_) -> None:
        """Requests are not told on the terminal."""

    def do_GET(self) -> None:
        if self._is_foreign():
            return
        if self.path != "/":
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        self._begin("text/html; charset=utf-8", len(self.server.text))
        self.wfile.write(self.server.text)

    def do_POST(self) -> None:
        if self._is_foreign():
            return
        if self.path != "/simulate" or self.headers.get_content_type() != "application/json":
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        try:
            values = self._values()
        except (ValueError, TypeError, AttributeError) as error:
            self.send_error(HTTPStatus.BAD_REQUEST, str(error))
            return
        self._begin("application/x-ndjson")
        try:
            with self.server.one_at_a_time:
                begin = time.perf_counter()
                scene = self.server.simulate(values, lambda fraction: self._tell(progress=fraction))
                self._tell(scene=scene, seconds=time.perf_counter() - begin)
        except KinegradError as error:
            self._tell(error=" ".join(problem.sentence for problem in error.problems))
        except (BrokenPipeError, ConnectionResetError):  # the page was closed
            self.close_connection = True

    def _is_foreign(self) -> bool:
        host = self.headers.get("Host", "").rpartition(":")[0] or self.headers.get("Host", "")
        if host in LOCAL:
            return False
        self.send_error(HTTPStatus.FORBIDDEN)
        return True

    def _begin(self, kind: str, length: int | None = None) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", kind)
        self.send_header("Cache-Control", "no-store")
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.end_headers()

    def _values(self) -> dict[str, float]:
        """Parameter values from the request; ValueError when they are none."""
        length = int(self.headers.get("Content-Length") or 0)
        if not 0 < length <= MOST_BYTES:
            raise ValueError("the request has no size that is allowed")
        values = {name: float(value) for name, value in json.loads(self.rfile.read(length))["values"].items()}
        unknown = sorted(values.keys() - self.server.names)
        if unknown or not all(map(math.isfinite, values.values())):
            raise ValueError("the request names other parameters, or values that are not finite")
        return values

    def _tell(self, **row) -> None:
        self.wfile.write(json.dumps(row, separators=(",", ":")).encode() + b"\n")
        self.wfile.flush()
