"""The problems A01 to A05 of the benchmark library of the multibody community: kinegrad beside Exudyn and MuJoCo.

    kinegrad bench iftomm [--repeats N] [--only WORD]          or          python benchmarks/iftomm.py

Every program takes a step with which its error is near that of the others, or the largest with which it runs. A first run of
each tells error and energy; then the turns begin, in one process and one thread, and the least time of each counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from kinegrad.bench import iftomm_exudyn as exudyn
from kinegrad.bench import iftomm_mujoco as mujoco
from kinegrad.bench.iftomm_problems import PIECES, Problem, Run, problems
from kinegrad.bench.machine import is_installed


@dataclass(frozen=True)
class IftommRow:
    """One program on one problem: largest error of the watched point [m], of the energy [J], and cost.

    `realtime` is simulated time over processor time; `note` says why numbers are missing.
    """

    problem: str
    program: str
    step: float
    error: float | None
    energy: float | None
    us_per_step: float | None
    realtime: float | None
    asked: str
    note: str


@dataclass(frozen=True)
class Kinegrad:
    """kinegrad in joint coordinates, with the options that come by themselves."""

    formulation: str
    integrator: str
    package = "kinegrad"

    def watch(self, problem: Problem, step: float) -> Run:
        """The run."""
        motion = self._motion(problem, step)
        energies = motion.energies
        note = f"stops at {motion.ts[-1]:.3f} s" if motion.status else ""
        energy = energies.kinetic + energies.potential - energies.work
        return Run(motion.t, motion.marker(problem.marker).position, energy, note)

    def seconds(self, problem: Problem, step: float) -> float:
        """Processor time of the time loop."""
        return self._motion(problem, step).cpu_s

    def _motion(self, problem, step):
        from kinegrad.simulate import simulate

        system = _system(problem)
        kept = max(step, problem.t_end / PIECES)
        return simulate(
            system, self.formulation, self.integrator, step=step, t_end=problem.t_end, output_step=kept, throw=False
        )


@cache
def _system(problem):
    from kinegrad.coordinates.sets import joint

    model = problem.build()
    model.objectives.clear()  # the peers have none
    return joint(model)


@dataclass(frozen=True)
class Exudyn:
    """Exudyn with a model of `iftomm_exudyn`."""

    build: Callable
    settings: exudyn.Settings = exudyn.Settings()  # noqa: RUF009
    package = "exudyn"

    def watch(self, problem: Problem, step: float) -> Run:
        """A run with sensors."""
        return exudyn.watch(self.build, self.settings, step, problem.t_end)

    def seconds(self, problem: Problem, step: float) -> float:
        """Processor time of the solver, without sensors."""
        return exudyn.seconds(self.build, self.settings, step, problem.t_end)


@dataclass(frozen=True)
class MuJoCo:
    """MuJoCo with a scene of `iftomm_mujoco`."""

    scene: Callable
    integrator: str = "RK4"
    package = "mujoco"

    def watch(self, problem: Problem, step: float) -> Run:
        """A run in pieces."""
        return mujoco.watch(self.scene(), self.integrator, step, problem.t_end)

    def seconds(self, problem: Problem, step: float) -> float:
        """Processor time of all steps in one call."""
        return mujoco.seconds(self.scene(), self.integrator, step, problem.t_end)


@dataclass(frozen=True)
class Entry:
    """A program with its step on a problem."""

    problem: str
    name: str
    program: Kinegrad | Exudyn | MuJoCo
    step: float


def _exudyn(build, *arguments, **settings):
    return Exudyn(lambda: build(*arguments), exudyn.Settings(**settings))


def _mujoco(scene, *arguments):
    return MuJoCo(lambda: scene(*arguments))


ALPHA = "GeneralizedAlpha"
ALI3P = ("kinegrad ALI3-P, trapezoidal", Kinegrad("ali3p", "newmark"))
INDEX_1 = ("kinegrad index 1, RK4", Kinegrad("index1", "rk4"))
MATRIX_R = ("kinegrad Matrix-R, RK4", Kinegrad("matrix-r", "rk4"))
EXUDYN = "Exudyn, trapezoidal"
EXUDYN_ALPHA = "Exudyn, generalized-alpha"
MUJOCO = "MuJoCo RK4"

ENTRIES = [
    Entry("A01", *ALI3P, 1e-3),
    Entry("A01", EXUDYN, _exudyn(exudyn.pendulum), 1e-3),
    Entry("A01", *INDEX_1, 1e-2),
    Entry("A01", MUJOCO, _mujoco(mujoco.pendulum), 1e-2),
    Entry("A02, N = 2", *ALI3P, 1e-3),
    Entry("A02, N = 2", *ALI3P, 5e-3),
    Entry("A02, N = 2", EXUDYN_ALPHA, _exudyn(exudyn.windows, 2, solver=ALPHA), 2.5e-4),
    Entry("A02, N = 2", MUJOCO, _mujoco(mujoco.windows, 2), 2e-3),
    Entry("A02, N = 40", *ALI3P, 1e-3),
    Entry("A02, N = 40", *ALI3P, 5e-3),
    Entry("A02, N = 40", EXUDYN_ALPHA, _exudyn(exudyn.windows, 40, solver=ALPHA, linear="EigenSparse"), 1e-3),
    Entry("A02, N = 40", MUJOCO, _mujoco(mujoco.windows, 40), 1e-3),
    Entry("A03", *ALI3P, 1e-5),
    Entry("A03", EXUDYN, _exudyn(exudyn.squeezer), 1e-5),
    Entry("A03", *MATRIX_R, 5e-5),
    Entry("A03", MUJOCO, _mujoco(mujoco.squeezer), 2.5e-5),
    Entry("A04", *ALI3P, 1e-3),
    Entry("A04", EXUDYN_ALPHA, _exudyn(exudyn.bricard, solver=ALPHA, keeps=True, redundant=True), 1e-3),
    Entry("A04", *MATRIX_R, 1e-2),
    Entry("A04", MUJOCO, _mujoco(mujoco.bricard), 1e-3),
    Entry("A05", *ALI3P, 1e-3),
    Entry("A05", EXUDYN, _exudyn(exudyn.governor), 1e-3),
    Entry("A05", *INDEX_1, 2.5e-4),
    Entry("A05", MUJOCO, _mujoco(mujoco.governor), 2.5e-4),
]


def run(repeats: int = 5, only: str = "", progress: Callable[[float], None] | None = None) -> list[IftommRow]:
    """Rows of all problems; `only` keeps those whose problem or program contains this word.

    A peer that is not installed is told on standard error, once, and left out.
    """
    word = only.lower()
    chosen = [entry for entry in ENTRIES if word in f"{entry.problem} {entry.name}".lower()]
    installed = {name: is_installed(*name) for name in dict.fromkeys(map(_package, chosen))}
    chosen = [entry for entry in chosen if installed[_package(entry)]]
    runs = [entry.program.watch(problems()[entry.problem], entry.step) for entry in chosen]
    best = [np.inf] * len(chosen)
    for turn in range(repeats):
        for k, (entry, first) in enumerate(zip(chosen, runs, strict=True)):
            if not first.note:
                best[k] = min(best[k], entry.program.seconds(problems()[entry.problem], entry.step))
        if progress is not None:
            progress((turn + 1) / repeats)
    return [_row(*found) for found in zip(chosen, runs, best, strict=True)]


def _package(entry) -> tuple[str, str]:
    return entry.program.package, type(entry.program).__name__


def _row(entry, first, seconds):
    problem = problems()[entry.problem]
    asked = problem.asked if isinstance(entry.program, Kinegrad) else ""
    if first.note:
        return IftommRow(entry.problem, entry.name, entry.step, None, None, None, None, asked, first.note)
    us = seconds * entry.step / problem.t_end * 1e6
    cost = (us, problem.t_end / seconds)
    return IftommRow(entry.problem, entry.name, entry.step, problem.error(first), first.drift, *cost, asked, "")


def table(rows) -> str:
    """The rows as a Markdown table."""
    lines = [
        "| problem | program | step [s] | error [m] | energy [J] | µs/step | × real time | asked |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        numbers = ["" if x is None else f"{x:.1e}" for x in (row.error, row.energy)]
        numbers += ["" if row.us_per_step is None else f"{row.us_per_step:.2f}"]
        numbers += ["" if row.realtime is None else f"{row.realtime:.{0 if row.realtime > 100 else 2}f}"]
        words = "; ".join(filter(None, (row.note, row.asked)))
        lines.append(f"| {row.problem} | {row.program} | {row.step:.3g} | {' | '.join(numbers)} | {words} |")
    return "\n".join(lines)
