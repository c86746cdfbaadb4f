"""Writes measured.csv: a run of the five-bar linkage with other parameters, and noise."""

from pathlib import Path

import numpy as np

import kinegrad as kg

HERE = Path(__file__).parent
TRUE = {"L_s1": 2.2, "L_s2": 2.1, "m_A1": 1.1, "r_G": 0.75}

model = kg.Model.from_yaml(HERE / "../../five_bar/model.yaml").with_values(**TRUE)
motion = kg.simulate(kg.joint(model), t_end=1.0, step=2.5e-4)
rng = np.random.default_rng(3)
t = np.round(np.sort(rng.uniform(0.01, 0.99, 60)), 5)
columns = [np.interp(t, motion.t, motion[name]) + 1e-3 * rng.normal(size=60) for name in ("bar_12.P2.x", "bar_12.P2.y")]
rows = np.column_stack([t, *columns])
np.savetxt(HERE / "measured.csv", rows, delimiter=",", header="t,x,y", comments="", fmt="%.5f")
