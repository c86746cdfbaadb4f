"""What is sent to the page's server: whoever sends whatever, it answers in a sentence and prints no traceback."""

import contextlib
import json
import random
import socket
import threading
import time

import pytest

from kinegrad.errors import KinegradError
from kinegrad.page import server as module
from kinegrad.page.server import Handler, LiveServer

DOCUMENT = {"title": "Nothing", "live": {"parameters": [{"name": "L", "value": 0.5, "low": 0.25, "high": 0.75}]}}


@pytest.fixture
def live(monkeypatch, capfd):
    """A server whose simulation answers with the values; nothing may be printed on standard error."""
    monkeypatch.setattr(module, "page", lambda document: "the page")

    def simulate(values, progress):
        if values.get("L") == 1.0:
            raise KinegradError("'L' is too long.")
        if values.get("L") == 2.0:
            raise ZeroDivisionError("by zero")
        progress(0.5)
        return {"values": values}

    with LiveServer(DOCUMENT, simulate) as made:
        made.simulate = simulate
        thread = threading.Thread(target=made.serve_forever, args=(0.02,))
        thread.start()
        yield made
        made.shutdown()
        thread.join()
    assert capfd.readouterr().err == ""


def send(server, data: bytes, more: bool = False) -> tuple[int | None, dict[str, str], bytes]:
    """Code, headers and body of the answer to these bytes, after which nothing more is sent."""
    answer = b""
    with (
        socket.create_connection(("127.0.0.1", server.server_port), timeout=30) as client,
        contextlib.suppress(ConnectionError, BrokenPipeError),
    ):
        client.sendall(data)
        if not more:
            with contextlib.suppress(OSError):  # it may be closed by now
                client.shutdown(socket.SHUT_WR)
        while part := client.recv(1 << 16):
            answer += part
    if not answer:
        return None, {}, b""
    head, _, body = answer.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    return int(first.split()[1]), dict(line.split(": ", 1) for line in lines), body


def request(server, body=b'{"values":{"L":0.6}}', method="POST", path=None, **headers) -> bytes:
    path = f"/{server.token}/simulate" if path is None else path
    fields = {"Host": "localhost", "Content-Type": "application/json", "Content-Length": str(len(body))}
    fields |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [f"{name}: {value}" for name, value in fields.items() if value is not None]
    return "\r\n".join([f"{method} {path} HTTP/1.1", *lines, "", ""]).encode() + body


def error(answer) -> str:
    return json.loads(answer[2])["error"]


def test_a_request_of_the_page(live):
    own = f"http://localhost:{live.server_port}"
    code, _, body = send(live, request(live, Origin=own, Sec_Fetch_Site="same-origin"))
    rows = [json.loads(line) for line in body.splitlines()]
    assert code == 200 and rows[0] == {"progress": 0.5} and rows[1]["scene"] == {"values": {"L": 0.6}}
    code, _, body = send(live, request(live, b"", "GET", f"/{live.token}/", Sec_Fetch_Site="none"))
    assert (code, body) == (200, b"the page")


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://elsewhere.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:1"},
        {"Origin": ""},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
        {"Host": "elsewhere.example"},
        {"Host": "localhost.elsewhere.example:80"},
        {"Host": None},
    ],
    ids=str,
)
def test_pages_from_elsewhere(live, headers):
    answer = send(live, request(live, **headers))
    assert answer[0] == 403 and "only" in error(answer)


@pytest.mark.parametrize("path", ["/", "/simulate", "/wrong/simulate", "//simulate", "/%00/simulate", "*"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_address_without_the_token(live, method, path):
    answer = send(live, request(live, method=method, path=path))
    assert answer[0] == 403 and "token" in error(answer) and live.token.encode() not in answer[2]


def test_tokens_differ_and_are_long():
    tokens = set()
    for _ in range(3):
        with LiveServer(DOCUMENT | {"live": {"parameters": []}}, None) as made:
            tokens.add(made.token)
    assert len(tokens) == 3 and all(len(token) >= 20 for token in tokens)


@pytest.mark.parametrize("code", [200, 400, 403, 404, 501])
def test_headers_of_every_answer(live, code):
    data = {
        200: request(live, b"", "GET", f"/{live.token}/"),
        400: request(live, b"{}"),
        403: request(live, Origin="null"),
        404: request(live, path=f"/{live.token}/other"),
        501: request(live, method="PUT"),
    }[code]
    found, headers, _ = send(live, data)
    assert found == code
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "connect-src 'self'" in policy
    assert headers["X-Frame-Options"] == "DENY" and headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer" and headers["Cache-Control"] == "no-store"
    assert "Python" not in headers["Server"]


@pytest.mark.parametrize(
    "body",
    [
        b"{}", b"[]", b"null", b"3", b"", b"\xff\xfe", b"\0" * 100, b'{"values": []}', b'{"values": null}',
        b'{"values": {"L": true}}', b'{"values": {"L": "0.5"}}', b'{"values": {"L": NaN}}', b'{"values": {"L": 1e999}}',
        b'{"values": {"L": 1' + b"0" * 400 + b"}}", b'{"values": {"L": 1' + b"0" * 5000 + b"}}", b"[" * 200_000,
        b'{"values":' * 50_000, '{"values": {"Ł漢": 1}}'.encode(), b'{"values": {"L": 0.6}} and more',
    ],
    ids=lambda body: str(body[:24]),
)  # fmt: skip
def test_bodies_that_are_no_values(live, body):
    answer = send(live, request(live, body))
    assert answer[0] == 400 and error(answer).startswith("the request ")


def test_errors_of_the_simulation_are_sentences(live):
    assert error(send(live, request(live, b'{"values": {"L": 1}}'))) == "'L' is too long."
    assert "ZeroDivisionError: by zero" in error(send(live, request(live, b'{"values": {"L": 2}}')))
    assert send(live, request(live))[0] == 200  # and the server goes on


@pytest.mark.parametrize(
    ("length", "code"),
    [(None, 411), ("-1", 411), ("²", 411), ("1_0", 411), ("x", 411), ("1000001", 413), ("9" * 400, 413), ("21", 408)],
)
def test_sizes(live, length, code):
    answer = send(live, request(live, Content_Length=length))
    assert answer[0] == code and error(answer).startswith("the request ")


def test_requests_that_come_too_slowly(live, monkeypatch):
    """Byte by byte, in the head or in the body: the connection ends after its time, whatever still comes."""
    monkeypatch.setattr(module, "RECEIVING", 0.5)
    monkeypatch.setattr(Handler, "timeout", 0.5)
    data = request(live, Content_Length="1000")
    for first in (4, len(data)):
        answer = send(live, data[:first], more=True)
        assert answer[0] in (None, 400, 408)
    with socket.create_connection(("127.0.0.1", live.server_port), timeout=30) as client:
        begin, sent = time.monotonic(), 0
        with pytest.raises(OSError):
            while time.monotonic() - begin < 60.0:
                client.sendall(b"G")
                sent += 1
                time.sleep(0.05)
        assert sent > 1


def test_too_many_at_once(live, monkeypatch):
    live.free = threading.Semaphore(2)
    held = [socket.create_connection(("127.0.0.1", live.server_port)) for _ in range(2)]
    try:
        for _ in range(200):  # until both were accepted
            if live.free.acquire(blocking=False):
                live.free.release()
                time.sleep(0.02)
            else:
                break
        with socket.create_connection(("127.0.0.1", live.server_port), timeout=30) as third:
            assert third.recv(1) == b""
    finally:
        for client in held:
            client.close()
    for _ in range(200):
        if send(live, request(live))[0] == 200:
            break
        time.sleep(0.02)
    else:
        pytest.fail("the server does not answer any more")


def test_simulations_that_take_too_long(live, monkeypatch):
    monkeypatch.setattr(module, "SIMULATING", -1.0)
    assert "stopped after" in error(send(live, request(live)))
    monkeypatch.setattr(module, "WAITING", 0.05)
    with live.one_at_a_time:
        answer = send(live, request(live))
    assert answer[0] == 503 and "another simulation is running" in error(answer)


def test_clients_that_leave(live):
    for data in (request(live), request(live)[:40], b"", b"G"):
        for _ in range(20):
            client = socket.create_connection(("127.0.0.1", live.server_port))
            client.sendall(data)
            client.close()
    assert send(live, request(live))[0] == 200


def test_random_bytes(live):
    rng, good = random.Random(3), request(live)
    for _ in range(300):
        data = bytearray(good)
        kind = rng.choice(["flip", "cut", "insert", "random"])
        if kind == "flip":
            data[rng.randrange(len(data))] = rng.randrange(256)
        elif kind == "cut":
            del data[rng.randrange(len(data)) :]
        elif kind == "insert":
            data[rng.randrange(len(data)) : 0] = rng.randbytes(20)
        else:
            data = rng.randbytes(rng.randrange(1, 200))
        code, _, body = send(live, bytes(data))
        assert code in (None, 200, 400, 403, 404, 408, 411, 413, 414, 431, 501, 505), (code, bytes(data))
        assert code in (None, 200) or b"Traceback" not in body
    assert send(live, good)[0] == 200
