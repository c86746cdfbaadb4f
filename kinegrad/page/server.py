"""A page that can ask for other parameter values: a small server on this machine, from the standard library.

======== ==================== ====================================================================================
method   path                 answer
======== ==================== ====================================================================================
GET      ``/TOKEN/``          the page
POST     ``/TOKEN/simulate``  lines of JSON while it works: ``{progress}``, then ``{scene, seconds}`` or ``{error}``
POST     ``/TOKEN/signals``   ``{series}``: signals by name, of the motion that is shown, or ``{error}``
======== ==================== ====================================================================================

It listens to this machine only. The token in the address is known to nobody who was not told the address. Requests have to
name the server by a local name and, where they tell it, come from its own page, so that pages from elsewhere cannot reach it
through the browser. What is sent is read within limits of size and time; whatever it is, the answer is a sentence.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import math
import secrets
import socket
import sys
import threading
import time
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from kinegrad.errors import KinegradError
from kinegrad.page.html import as_json, page

LOCAL = ("localhost", "127.0.0.1", "[::1]")
MOST_BYTES = 1_000_000  # of a request
MOST_DIGITS = 7  # of its size
MOST_CONNECTIONS = 32  # at the same time
RECEIVING = 20.0  # seconds in which a request has to be there
ANSWERING = 60.0  # seconds in which a client has to take a piece of the answer
WAITING = 60.0  # seconds a request waits for the simulation before it
SIMULATING = 600.0  # seconds a simulation may take
MOST_SIGNALS = 200  # that one request may ask for
MOST_SLIDERS = 12  # when the model names no design
SPAN = 0.5  # sliders go so far to either side, of the value
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


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

    `signals(names, number)` gives series of the motion with that number.

    Parameters
    ----------
    document : dict
        The scene shown first, with its key ``live``.
    port : int
        0 takes any that is free.
    """

    daemon_threads = True

    def __init__(
        self,
        document: dict,
        simulate: Callable[[dict, Callable], dict],
        port: int = 0,
        signals: Callable[[list[str], int], list[dict]] | None = None,
    ):
        self.text = page(document).encode()
        self.names = {parameter["name"] for parameter in document["live"]["parameters"]}
        self.simulate, self.signals = simulate, signals
        self.token = secrets.token_urlsafe(16)
        self.one_at_a_time = threading.Lock()
        self.free = threading.Semaphore(MOST_CONNECTIONS)
        try:
            super().__init__(("127.0.0.1", port), Handler)
        except OSError as error:
            raise KinegradError(
                f"--port {port} cannot be used: {error.strerror or error}; name another one, or 0 for any that is free."
            ) from None

    @property
    def address(self) -> str:
        return f"http://localhost:{self.server_port}/{self.token}/"

    def process_request(self, request, client_address) -> None:
        """A thread for a connection, as long as there are not too many."""
        if self.free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request, client_address) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.free.release()

    def handle_error(self, request, client_address) -> None:
        """A word on what no answer could be given to; clients that leave are no fault."""
        error = sys.exception()
        if not isinstance(error, OSError):
            print(f"Note: a request failed ({type(error).__name__}).", file=sys.stderr, flush=True)


class Refused(Exception):
    """A request that is not answered: the code of HTTP, and a sentence."""

    def __init__(self, code: HTTPStatus, sentence: str):
        self.code = code
        super().__init__(sentence)


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: LiveServer
    server_version, sys_version = "kinegrad", ""
    timeout = RECEIVING
    begun = False

    def setup(self) -> None:
        super().setup()
        self.clock = threading.Timer(RECEIVING, self._stop_receiving)
        self.clock.daemon = True
        self.clock.start()

    def finish(self) -> None:
        self.clock.cancel()
        super().finish()

    def _stop_receiving(self) -> None:
        """End a request that comes byte by byte."""
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RD)

    def _received(self) -> None:
        self.clock.cancel()
        self.connection.settimeout(ANSWERING)

    def log_message(self, *_) -> None:
        """Requests are not told on the terminal."""

    def do_GET(self) -> None:
        self._answer(self._send_page)

    def do_POST(self) -> None:
        self._answer(self._post)

    def _answer(self, act: Callable[[], None]) -> None:
        """Whatever happens, an answer, unless the client left."""
        try:
            self._check_sender()
            act()
        except Refused as refusal:
            self._refuse(refusal.code, str(refusal))
        except KinegradError as error:
            self._fail(" ".join(problem.sentence for problem in error.problems))
        except OSError:  # the page was closed
            self.close_connection = True
        except Exception as error:
            self._fail(
                f"this is a fault in kinegrad, not in the page ({type(error).__name__}: {error}). Please report it."
            )

    # --- what is asked ---

    def _check_sender(self) -> None:
        """Only who knows the token, by a local name, and no page from elsewhere."""
        host = self.headers.get("Host", "")
        if (host.rpartition(":")[0] or host) not in LOCAL:
            raise Refused(HTTPStatus.FORBIDDEN, "this server answers to local names only.")
        origin = self.headers.get("Origin")
        if origin is not None and origin not in [f"http://{name}:{self.server.server_port}" for name in LOCAL]:
            raise Refused(HTTPStatus.FORBIDDEN, "this server answers to its own page only.")
        if self.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            raise Refused(HTTPStatus.FORBIDDEN, "this server answers to its own page only.")
        token, slash, rest = self.path.partition("?")[0].removeprefix("/").partition("/")
        if not hmac.compare_digest(token.encode(errors="replace"), self.server.token.encode()):
            raise Refused(HTTPStatus.FORBIDDEN, "the address lacks the token; take the one that kinegrad view told.")
        self.asked = slash + rest

    def _send_page(self) -> None:
        if self.asked != "/":
            raise Refused(HTTPStatus.NOT_FOUND, "there is nothing at this address.")
        self._received()
        self._begin("text/html; charset=utf-8", len(self.server.text))
        self.wfile.write(self.server.text)

    def _post(self) -> None:
        acts = {"/simulate": self._simulate} | ({"/signals": self._signals} if self.server.signals else {})
        if self.asked not in acts or self.headers.get_content_type() != "application/json":
            raise Refused(HTTPStatus.NOT_FOUND, "there is nothing at this address for what was sent.")
        acts[self.asked]()

    def _signals(self) -> None:
        try:
            sent = json.loads(self._body())
            names, number = list(sent["names"]), int(sent["motion"])
            if len(names) > MOST_SIGNALS:
                raise ValueError
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
            raise Refused(
                HTTPStatus.BAD_REQUEST,
                f'the request is not {{"names": [NAME, ...], "motion": N}} with at most {MOST_SIGNALS} names.',
            ) from None
        self._received()
        with self._turn():
            self._tell(series=self.server.signals(names, number))

    @contextlib.contextmanager
    def _turn(self):
        """One at a time."""
        if not self.server.one_at_a_time.acquire(timeout=WAITING):
            raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, "another simulation is running; try again when it is done.")
        try:
            yield
        finally:
            self.server.one_at_a_time.release()

    def _simulate(self) -> None:
        values = self._values()
        self._received()
        with self._turn():
            begin = time.perf_counter()

            def progress(fraction: float) -> None:
                if time.perf_counter() - begin > SIMULATING:
                    raise KinegradError(
                        f"the simulation was stopped after {SIMULATING:g} s; simulate it without a page."
                    )
                self._tell(progress=fraction)

            scene = self.server.simulate(values, progress)
            self._tell(scene=scene, seconds=time.perf_counter() - begin)

    def _values(self) -> dict[str, float]:
        """Parameter values from the request."""
        try:
            values = json.loads(self._body())["values"]
            if not all(isinstance(value, int | float) and not isinstance(value, bool) for value in values.values()):
                raise ValueError
            values = {name: float(value) for name, value in values.items()}
            if not all(map(math.isfinite, values.values())):
                raise ValueError
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
            raise Refused(
                HTTPStatus.BAD_REQUEST, 'the request is not {"values": {NAME: NUMBER}} with finite numbers.'
            ) from None
        if values.keys() - self.server.names:
            raise Refused(HTTPStatus.BAD_REQUEST, "the request names other parameters than those of the page.")
        return values

    def _body(self) -> bytes:
        """What was sent, whole."""
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()):
            raise Refused(HTTPStatus.LENGTH_REQUIRED, "the request does not tell its size.")
        if len(length) > MOST_DIGITS or int(length) > MOST_BYTES:
            raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the request is larger than {MOST_BYTES} bytes.")
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            raise Refused(HTTPStatus.REQUEST_TIMEOUT, "the request ended, or took too long, before it was complete.")
        return body

    # --- what is answered ---

    def _begin(self, kind: str, length: int | None = None, code: HTTPStatus = HTTPStatus.OK) -> None:
        self.begun = True
        self.send_response(code)
        self.send_header("Content-Type", kind)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.end_headers()

    def _tell(self, **row) -> None:
        if not self.begun:
            self._begin("application/x-ndjson")
        self.wfile.write(_line(row))
        self.wfile.flush()

    def _fail(self, sentence: str) -> None:
        """Tell what went wrong, if the client is still there."""
        with contextlib.suppress(OSError):
            self._tell(error=sentence)

    def send_error(self, code, message=None, explain=None) -> None:
        """What the base class refuses; its words would repeat what was sent."""
        code = HTTPStatus(code)
        self._refuse(code, f"the request is not understood ({code.phrase}).")

    def _refuse(self, code: HTTPStatus, sentence: str) -> None:
        """A line of JSON, and the end of the connection."""
        self.close_connection = True
        self.request_version = "HTTP/1.0"  # also where no version was told: the code and the headers are sent
        body = _line({"error": sentence})
        with contextlib.suppress(OSError):
            self._begin("application/x-ndjson", len(body), code)
            if self.command != "HEAD":
                self.wfile.write(body)


def _line(row: dict) -> bytes:
    return as_json(row).encode() + b"\n"
