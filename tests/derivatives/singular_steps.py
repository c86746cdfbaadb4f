"""A few steps past a singular position in which constraints bear a load, and their derivatives by complex step.

Run as a script with ``NUMBA_DISABLE_JIT=1`` it prints a JSON object {case: {objectives, gradient, flags}}, as `whole_runs`.
"""

import json
import sys

import numpy as np
from rows_of_windows import row_of_windows
from whole_runs import H

import kinegrad as kg

STEP, BEFORE, AFTER = 1e-3, 3, 3
WRT = ("speed", "g")
#: Set, integrator, and how far past the line a state is [rad].
CASES = {
    f"{which}, {integrator}, {off:g}": (which, integrator, off)
    for which, integrator, off in (
        ("joint", "newmark", 1e-3),
        ("reference_point", "newmark", 1e-3),
        ("reference_point", "generalized-alpha", 1e-3),
        ("natural", "newmark", 3e-4),
        ("natural", "hht", 1e-3),
    )
}


def system_of(which, off):
    """Two windows that are `off` past the line after some steps."""
    at_line = row_of_windows(2, np.pi, 4.0, seed=1)
    times = -STEP * np.arange(BEFORE + 1)
    phi = at_line.angle(times)[-1] + off
    speed = 4.0 - at_line.acceleration(np.pi) * BEFORE * STEP
    model = row_of_windows(2, phi, speed, seed=1).model
    gravity = model.forces["gravity"].acceleration
    model.parameters |= {"g": 1.0}
    model.forces["gravity"] = {"type": "gravity", "acceleration": [f"{x!r}*g" for x in gravity]}
    model.objectives |= {"path": {"integral": "norm2(crank_0.B.velocity)"}}
    return getattr(kg, which)(model.check())


def run(system, integrator, tolerance, rounds, s=None):
    formulation = kg.ALI3P(tolerance=tolerance, max_iterations=rounds)
    return kg.simulate(system, formulation, integrator, step=STEP, t_end=(BEFORE + AFTER) * STEP, s=s)


def by_complex_step(which, integrator, off):
    system = system_of(which, off)
    columns = []
    for direction in system.directions(list(WRT)):
        motion = run(system, integrator, 0.0, 9, s=system.s + 1j * H * direction)
        columns.append([value.imag / H for value in motion.objectives.values()])
    values = {name: float(value.real) for name, value in motion.objectives.items()}
    return {"objectives": values, "gradient": np.array(columns).T.tolist(), "flags": motion.flags.tolist()}


if __name__ == "__main__":
    n, k = map(int, sys.argv[1:])
    json.dump({name: by_complex_step(*CASES[name]) for name in list(CASES)[k::n]}, sys.stdout)
