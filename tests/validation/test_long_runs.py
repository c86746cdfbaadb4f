"""Long runs whose states are kept at an interval: memory depends on what is kept, results on every step."""

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import kinegrad as kg
from kinegrad.kernels.jit import JIT
from kinegrad.recorders import SCRATCH

FIVE_BAR = Path(__file__).parents[2] / "examples" / "five_bar" / "model.yaml"

PEAKS = """
import json, resource, sys
import kinegrad as kg

model = kg.Model.from_yaml(sys.argv[1])
model.forces["drag"] = kg.Torque(acts_on="JA.angle", value="-0.01*JA.angle.velocity")
system = kg.joint(model)
peaks = []
for steps in (2000, 20000, 200000):  # with 20 states kept each time
    motion = kg.simulate(system, step=1e-3, t_end=steps*1e-3, output_step=steps*5e-5)
    assert len(motion.hs) == steps and len(motion.t) == 21 and motion.energies.drift < 1e-1
    peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0)
print(json.dumps(peaks))
"""


@pytest.mark.skipif(not JIT or sys.platform != "linux", reason="resident memory of compiled runs, as Linux counts it")
def test_resident_memory_does_not_grow_with_steps():
    done = subprocess.run([sys.executable, "-c", PEAKS, str(FIVE_BAR)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    first, _, last = json.loads(done.stdout)
    assert last - first < 2.0  # MiB; a state is 38 numbers: all states of the last run would be 58


def five_bar_with_drag():
    model = kg.Model.from_yaml(FIVE_BAR)
    model.forces["drag"] = kg.Torque(acts_on="JA.angle", value="-0.5*JA.angle.velocity")
    return kg.joint(model)


@pytest.mark.parametrize("scheme", [("ali3p", "newmark"), ("matrix-r", "rk4"), ("index1", "rk4")], ids="-".join)
def test_what_is_kept_is_what_was_computed(scheme, tmp_path):
    steps = 2 * SCRATCH + 77 if JIT else 30
    stride = 50 if JIT else 7
    times = {"step": 1e-3, "t_end": (steps + 0.4) * 1e-3}
    system = five_bar_with_drag()
    every = kg.simulate(system, *scheme, **times)
    some = kg.simulate(system, *scheme, **times, output_step=stride * 1e-3)
    kept = [*range(0, steps + 1, stride), steps + 1]
    np.testing.assert_array_equal(some.t, every.t[kept])
    np.testing.assert_array_equal(some.traj, every.traj[kept])
    assert some.objectives == every.objectives
    np.testing.assert_allclose(some.energies.work, every.energies.work[kept], rtol=1e-12, atol=1e-14)
    assert some.energies.work[-1] < -1e-6 and some.energies.drift <= every.energies.drift + 1e-14
    np.testing.assert_allclose(some.ts, every.ts, rtol=0, atol=0)
    np.testing.assert_allclose(some.hs, every.hs, rtol=0, atol=1e-18)
    assert len(some.hs) == len(every.hs) and some.hs[-1] == every.hs[-1] and some.ts[-1] == every.ts[-1]
    groups = [every.iterations[a:b] for a, b in pairwise(kept)]
    assert some.iterations.tolist() == [int(group.sum()) for group in groups]
    assert some.flags.tolist() == [int(np.bitwise_or.reduce(every.flags[a:b])) for a, b in pairwise(kept)]
    loaded = kg.load(some.save(tmp_path / "motion.nc"))
    np.testing.assert_array_equal(loaded.energies.work, some.energies.work)
    np.testing.assert_array_equal(loaded.iterations, some.iterations)
    assert len(loaded.hs) == len(every.hs) and loaded.hs[-1] == every.hs[-1] and loaded.ts[-1] == every.ts[-1]


def test_failure_between_two_states():
    model = kg.Model.from_yaml(FIVE_BAR)
    model.forces["drag"] = kg.Torque(acts_on="JA.angle", value="sqrt(0.0205 - t)")
    motion = kg.simulate(kg.joint(model), t_end=0.1, output_step=1e-2, throw=False)
    assert motion.status != 0
    assert motion.t.tolist() == [0.0, 0.01, 0.02] and len(motion.iterations) == 2
    assert motion.ts[-1] == pytest.approx(0.02) and len(motion.hs) == 20
