"""Many runs: the same optima wherever they are done, nothing lost when a process dies, nothing done twice."""

import json
import os
import signal
import socketserver
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from pushed_mass import PUSHED_MASS

import kinegrad as kg
from kinegrad.optimize import jobs, multistart
from kinegrad.optimize.jobs import BACKENDS, backend_of

#: A mass pushed by a force F is at 2 F after 2 s; the polynomial has minima at x = 1 and x = 3, the second one is lower.
HILLS = (
    """
kinegrad: 1
title: Two valleys
parameters: {F: 0.2}"""
    + PUSHED_MASS
)


@pytest.fixture
def study():
    return kg.Study(
        kg.Model.from_yaml_text(HILLS), variables={"F": {"bounds": [0, 2], "scale": 1}},
        minimise="((x - 1)*(x - 3))**2 - 0.1*x", solver={"type": "l-bfgs-b", "tolerance": 1e-9},
    )  # fmt: skip


def optima(found):
    return [(one.count, one.result.variables["F"]) for one in found.optima]


def valleys():
    """Roots of the derivative of ((x - 1)(x - 3))² - 0.1 x, as forces."""
    roots = np.roots(np.polyder(np.polyadd(np.polymul([1, -4, 3], [1, -4, 3]), [-0.1, 0])))
    return sorted((r.real / 2 for r in roots), reverse=True)


def test_optima_by_frequency(study):
    found = study.multistart(8, seed=3)
    deep, _, shallow = valleys()
    assert [F for _, F in optima(found)] == pytest.approx([deep, shallow], abs=1e-6)
    assert sum(count for count, _ in optima(found)) == 8 and found.failed == found.redrawn == found.others == 0
    assert found.best.values["minimise"] < found.optima[1].result.values["minimise"]
    assert optima(study.multistart(8, seed=3)) == optima(found)  # the seed decides
    document = found.to_dict()
    assert document["status"] == "optimum" and [one["count"] for one in document["optima"]] == [
        c for c, _ in optima(found)
    ]
    assert json.dumps(document, allow_nan=False)


def test_the_same_optima_in_threads(study):
    assert optima(study.multistart(6, seed=3, workers=2, backend="threads")) == optima(study.multistart(6, seed=3))


def test_a_process_that_dies_is_replaced(study, monkeypatch):
    """The first job kills its process once; all jobs come back."""
    pool = jobs.Processes._pool
    made = []
    monkeypatch.setattr(jobs.Processes, "_pool", lambda self: made.append(pool(self)) or made[-1])
    todo = [{"kind": "start", "job": k, "seed": 1, "values": [0.3 + 0.2 * k]} for k in range(3)]
    run = BACKENDS["processes"](2).run(study, todo)
    first = next(run)
    for process in list(made[0]._processes.values()):
        os.kill(process.pid, signal.SIGKILL)
    found = [first, *run]
    assert sorted(job["job"] for job, _ in found) == [0, 1, 2] and len(made) <= 2
    here = {job["job"]: result for job, result in BACKENDS["serial"]().run(study, todo)}
    for job, result in found:
        assert result["outcomes"][0]["status"] == "optimum"
        assert result["outcomes"][0]["values"] == here[job["job"]]["outcomes"][0]["values"]


def test_a_log_is_gone_on_with(study, tmp_path, monkeypatch):
    path, done = tmp_path / "many.jsonl", []
    one_start = multistart.one_start

    def counted(study, job):
        if len(done) == 3:
            raise KeyboardInterrupt
        done.append(job["job"])
        return one_start(study, job)

    monkeypatch.setattr(multistart, "one_start", counted)
    with pytest.raises(KeyboardInterrupt):
        study.multistart(6, seed=3, log=path)
    assert done == [1, 2, 3]
    done.append("again")
    found = study.multistart(6, seed=3, log=path)
    assert done == [1, 2, 3, "again", 4, 5, 6]
    monkeypatch.undo()
    assert optima(found) == optima(study.multistart(6, seed=3))
    with pytest.raises(kg.KinegradError, match="is the log of another study"):
        study.multistart(6, seed=4, log=path)


def children(pid):
    """Processes that a pool of workers has, by their numbers."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((path / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == pid and b"spawn_main" in (path / "cmdline").read_bytes():
                found.append(path)
        except OSError:
            continue
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at the processes of Linux")
@pytest.mark.parametrize("end", ["SIGKILL", "SIGTERM"])
def test_workers_end_with_the_process_that_has_the_log(study, tmp_path, end):
    (tmp_path / "study.yaml").write_text(json.dumps(study.to_dict() | {"multistart": {"starts": 64, "seed": 3}}))
    command = [
        sys.executable,
        "-c",
        "from kinegrad.cli import main; main()",
        "optimize",
        "study.yaml",
        "--workers",
        "2",
    ]
    running = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    log = tmp_path / "study.jsonl"
    while running.poll() is None and not (log.exists() and log.read_text().count('"result"') >= 2):
        time.sleep(0.005)
    workers = children(running.pid)
    running.send_signal(getattr(signal, end))
    assert len(workers) == 2 and running.wait(timeout=60) == (143 if end == "SIGTERM" else -signal.SIGKILL)
    for _ in range(6000):
        if not any(path.exists() for path in workers):
            return
        time.sleep(0.01)
    raise AssertionError(f"still there: {workers}")


@pytest.mark.parametrize("end", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_real_interrupt(study, tmp_path, end):
    """Ctrl-C in the middle of many searches: exit code 130, a whole log; the same command does the rest, and nothing twice.

    So do SIGTERM of batch systems, and SIGHUP of a terminal that closes.
    """
    (tmp_path / "study.yaml").write_text(json.dumps(study.to_dict() | {"multistart": {"starts": 24, "seed": 3}}))
    command = [sys.executable, "-c", "from kinegrad.cli import main; main()", "optimize", "study.yaml", "--json"]
    running = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    log = tmp_path / "study.jsonl"

    def finished():
        lines = log.read_text().splitlines() if log.exists() else []
        return [record["job"] for record in map(json.loads, lines) if record["kind"] == "result"]

    while running.poll() is None and not (log.exists() and log.read_text().count('"result"') >= 2):
        time.sleep(0.005)
    running.send_signal(getattr(signal, end))
    _, err = running.communicate(timeout=120)
    assert running.returncode == 128 + getattr(signal, end) and b"the same command goes on from there" in err
    done = finished()
    assert 2 <= len(done) < 24 and log.read_text().endswith("\n")
    again = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=240)
    assert again.returncode == 0, again.stderr
    assert finished()[: len(done)] == done and sorted(finished()) == list(range(1, 25))
    found = json.loads(again.stdout)
    assert found["starts"] == 24 and sum(one["count"] for one in found["optima"]) + found["others"] == 24


def test_starts_that_fail_are_drawn_again():
    """Of the starts for d within 1 to 10, those beyond the reach of the linkage are drawn again."""
    model = kg.Model.from_yaml(Path(__file__).parent / "four_bar.yaml")
    study = kg.Study(
        model, variables={"d": {"bounds": [2.5, 9]}}, minimise="(d - 3.5)**2 + 1e-6*reach", solver={"type": "l-bfgs-b"}
    )
    found = study.multistart(3, seed=1)
    assert found.redrawn > 0 and found.failed == 0 and optima_of(found) == pytest.approx([3.5], abs=1e-3)
    assert found.problem == ""


def test_starts_that_fail_tell_why(monkeypatch):
    """Where only one draw is allowed, starts beyond the reach of the linkage fail, and the first of them says so."""
    monkeypatch.setattr(multistart, "DRAWS", 1)
    model = kg.Model.from_yaml(Path(__file__).parent / "four_bar.yaml")
    found = kg.Study(model, variables={"d": {"bounds": [2.5, 9]}}, minimise="(d - 3.5)**2 + 1e-6*reach").multistart(3)
    assert found.failed > 0 and "cannot be assembled" in found.problem and found.to_dict()["problem"] == found.problem


def optima_of(found):
    return [one.result.variables["d"] for one in found.optima]


def test_what_is_refused(study):
    with pytest.raises(kg.ModelError, match=r"multistart\.backend .*'processes', 'threads', 'serial' or 'dask'"):
        study.multistart(2, backend="cloud")
    with pytest.raises(TypeError, match=r"sweep\(\) takes no 'worker'; it takes type, points, seed, workers"):
        study.sweep("grid", 2, worker=2)
    with pytest.raises(kg.KinegradError, match="a scheduler goes with dask"):
        study.multistart(2, backend="threads", scheduler="tcp://127.0.0.1:1")
    with pytest.raises(kg.ModelError, match=r"multistart\.starts is missing"):
        study.multistart()


def test_a_scheduler_that_does_not_answer(study, monkeypatch):
    monkeypatch.setattr(jobs, "PATIENCE", 1)
    with pytest.raises(kg.KinegradError, match=r"The scheduler 'tcp://127.0.0.1:9' does not answer .*scheduler: local"):
        study.multistart(2, scheduler="tcp://127.0.0.1:9")
    with pytest.raises(kg.KinegradError, match=r"The scheduler 'nowhere' does not answer .*tcp://HOST:PORT"):
        study.multistart(2, scheduler="nowhere")


def test_something_else_that_answers(study, monkeypatch):
    """A server that speaks another protocol, whatever a client makes of it."""
    monkeypatch.setattr(jobs, "PATIENCE", 2)
    with socketserver.TCPServer(("127.0.0.1", 0), _Web) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        with pytest.raises(kg.KinegradError, match="does not answer as one"):
            study.multistart(2, scheduler=f"tcp://127.0.0.1:{server.server_address[1]}")


class _Web(socketserver.BaseRequestHandler):
    def handle(self):
        self.request.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")


def test_a_missing_library(study, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(kg.KinegradError, match=r"pip install 'kinegrad\[cluster\]'"):
        study.multistart(2, scheduler="local")


def test_the_library_of_a_solver_is_looked_for_first(study, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "nlopt", None)
    with pytest.raises(kg.KinegradError, match=r"needs nlopt, .*pip install 'kinegrad\[opt\]'"):
        study.with_solver(type="nlopt-lbfgs").multistart(2, log=tmp_path / "log.jsonl")
    assert not (tmp_path / "log.jsonl").exists()


@pytest.fixture
def cluster(tmp_path):
    """A scheduler and the command that starts a worker, each in a process of its own, on loopback."""
    started = []

    def start(*words):
        command = [sys.executable, "-m", "distributed.cli." + words[0], *words[1:]]
        started.append(subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        return started[-1]

    file = tmp_path / "scheduler.json"
    start("dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file))
    for _ in range(600):
        if file.exists() and file.read_text().strip().endswith("}"):
            break
        time.sleep(0.1)
    address = json.loads(file.read_text())["address"]

    def worker():
        return start("dask_worker", address, "--nthreads", "1", "--no-dashboard", "--no-nanny", "--host", "127.0.0.1")

    yield address, worker
    for process in started:
        process.kill()
        process.wait()


def test_a_cluster_whose_worker_is_killed(study, cluster):
    """Two workers in processes of their own; one is killed after the first result, and a third one joins."""
    address, worker = cluster
    first, _ = worker(), worker()
    todo = [{"kind": "start", "job": k, "seed": 1, "values": [0.1 + 0.3 * k]} for k in range(6)]
    run = backend_of(None, 1, address).run(study, todo)
    found = [next(run)]
    first.kill()
    worker()
    found += run
    assert sorted(job["job"] for job, _ in found) == list(range(6))
    here = {job["job"]: result for job, result in BACKENDS["serial"]().run(study, todo)}
    for job, result in found:
        assert result["outcomes"][0]["values"] == here[job["job"]]["outcomes"][0]["values"]


def test_sweeps(study):
    grid = study.sweep("grid", 5)
    assert grid.values[:, 0].tolist() == [0.0, 0.5, 1.0, 1.5, 2.0] and grid.failures == 0
    x = 2.0 * grid.values[:, 0]
    assert grid.goals[:, 0] == pytest.approx(((x - 1) * (x - 3)) ** 2 - 0.1 * x, abs=1e-12)
    table = study.sweep("sobol", 8, workers=2, backend="threads").to_dataframe()
    assert len(table) == 8 and table["F"].between(0, 2).all() and list(table.columns) == ["F", "minimise", "problem"]


def test_tolerances():
    """Of x = 2 F with a deviation s of F: 2 s, by first order exactly, by 400 samples within their own error."""
    study = kg.Study(
        kg.Model.from_yaml_text(HILLS), variables={"F": {"bounds": [0, 0.21]}}, minimise="x", tolerances={"F": {"sigma": 0.01}},
        sweep={"type": "monte-carlo", "points": 400, "seed": 2},
    )  # fmt: skip
    found = study.sweep()
    assert found.first_order == pytest.approx({"minimise": 0.02}, rel=1e-10)
    seen = found.statistics["minimise"]
    assert seen["deviation"] == pytest.approx(0.02, rel=3 / np.sqrt(800)) and seen["mean"] == pytest.approx(
        0.4, abs=3 * 0.02 / 20
    )
    assert found.values.max() > 0.21  # bounds are those of the search


def test_sweeps_tell_designs_that_do_not_work(tmp_path):
    model = kg.Model.from_yaml(Path(__file__).parent / "four_bar.yaml")
    study = kg.Study(model, variables={"d": {"bounds": [3, 7]}}, minimise="reach", sweep={"type": "grid", "points": 5})
    found = study.sweep(log=tmp_path / "log.jsonl")
    assert [bool(problem) for problem in found.problems] == [np.hypot(d, 1) > 5 for d in found.values[:, 0]]
    again = study.sweep(log=tmp_path / "log.jsonl")
    assert np.array_equal(again.goals, found.goals, equal_nan=True)
