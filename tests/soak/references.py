"""The end of a run against the integration in absolute coordinates."""

import kinegrad as kg
from soak.absolute import Instant
from soak.ends import Runs, apart, in_units
from soak.findings import compared
from soak.paths import follow
from soak.starts import markers_of

STEPS = 10
FLOOR = 1e-8


class AbsoluteRuns(Runs):
    """Ends of one mechanism in absolute coordinates."""

    def __init__(self, mechanism):
        super().__init__(mechanism, None, None, kg.RungeKutta4())

    def at(self, level, penalty=1.0):
        if level not in self.found:
            path = follow(self.mechanism, STEPS * 2**level)
            document, t = self.mechanism.document, self.mechanism.t_end
            instant = Instant(document, path.poses, path.motion, t, self.mechanism.size)
            jets = [instant.marker(name) for name in markers_of(document)]
            self.found[level] = in_units(self.mechanism, [jet.v for jet in jets], [jet.d[:, -1] for jet in jets])
        return self.found[level]


def check_path(mechanism):
    """Findings on positions and velocities at the end, by matrix-r with rk4, against absolute coordinates."""
    system = kg.joint(kg.Model.from_dict(mechanism.document))
    seen = Runs(mechanism, system, kg.MatrixR(), kg.RungeKutta4())
    return compared(
        "path", "matrix-r + rk4", "differs from absolute coordinates", *apart(seen, AbsoluteRuns(mechanism), FLOOR)
    )
