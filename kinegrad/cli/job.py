"""What a command simulates: a system, how, for how long, and where the motion goes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinegrad.errors import KinegradError, Problem, SimulationError

if TYPE_CHECKING:
    from kinegrad.coordinates.system import System
    from kinegrad.model.model import Model
    from kinegrad.motion import Motion


@dataclass(frozen=True)
class Choices:
    """What the command line says about a simulation; None leaves the choice to the file."""

    coordinates: str | None = None
    formulation: str | None = None
    integrator: str | None = None
    body_point: str | None = None
    step: float | None = None
    t_end: float | None = None
    output_step: float | None = None
    tolerance: float | None = None
    penalty: float | None = None

    def check(self, model: Model) -> None:
        """Refuse by name what the joint set, the only one there is, does not offer."""
        for option, key, given, offered in (
            ("--coordinates", "coordinates", self.coordinates, "joint"),
            ("--body-point", "body_point", self.body_point, "com"),
        ):
            chosen = given or getattr(model.simulation, key)
            if chosen != offered:
                source = option if given else f"simulation.{key} of the model"
                raise KinegradError(
                    f"{source} is {chosen!r}, which is not available; use {option} {offered}, the only choice so far."
                )
        for option in ("step", "t_end", "output_step", "tolerance", "penalty"):
            value = getattr(self, option)
            if value is not None and not 0.0 < value < float("inf"):
                name = "--" + option.replace("_", "-")
                raise KinegradError(f"{name} is {value:g}; it must be a finite number larger than zero.")

    def chosen_formulation(self, model: Model):
        """The formulation of the file, or the one named, with the options given."""
        chosen = _named("formulation", self.formulation, model.simulation.formulation, 0)
        changes = {} if self.tolerance is None else {"tolerance": self.tolerance}
        if self.penalty is not None:
            if "penalty" not in type(chosen).model_fields:
                raise KinegradError(
                    f"--penalty does not apply: the formulation {chosen.type} has no penalty; leave it out."
                )
            changes["penalty"] = self.penalty
        return chosen.with_(**changes) if changes else chosen

    def chosen_integrator(self, model: Model):
        """The integrator of the file, or the one named."""
        return _named("integrator", self.integrator, model.simulation.integrator, 1)


def _named(kind: str, name: str | None, default, position: int):
    """`default`, or the object of that name, if a simulation can use it."""
    from kinegrad.dynamics.schemes import SCHEMES
    from kinegrad.model.simulation import FORMULATIONS, INTEGRATORS

    offered = sorted({key[position] for key in SCHEMES})
    if name is None or name == default.type:
        name, chosen = default.type, default
    else:
        chosen = None
    if name not in offered:
        source = f"--{kind}" if chosen is None else f"simulation.{kind} of the model"
        raise KinegradError(
            f"{source} is {name!r}, which is not available; use --{kind} with one of {', '.join(offered)}."
        )
    return chosen or (FORMULATIONS, INTEGRATORS)[position][name]()


@dataclass(frozen=True)
class Job:
    """A simulation that is ready to start."""

    system: System
    arguments: dict[str, Any]
    out: Path | None = None
    plot: Path | None = None

    def simulate(self, progress: Callable[[float], None] | None = None, **changes: Any) -> Motion:
        """The motion; what was done before a failure is saved, and the sentence tells where."""
        from kinegrad.simulate import simulate

        try:
            return simulate(self.system, **self.arguments | changes, progress=progress)
        except SimulationError as error:
            if self.out is None or error.motion is None:
                raise
            error.motion.save(self.out)
            sentence = f"{error.problems[0].sentence} The motion up to then is in {str(self.out)!r}."
            raise SimulationError(Problem(sentence), motion=error.motion) from None

    def write(self, motion: Motion) -> None:
        """Save and draw the motion where that was asked for."""
        if self.out is not None:
            motion.save(self.out)
        if self.plot is not None:
            motion.plot(path=self.plot)

    def show_files(self, console) -> None:
        """Tell where files were written."""
        from rich.text import Text

        for what, path in (("motion", self.out), ("figure", self.plot)):
            if path is not None:
                console.print(Text(f"The {what} is in {path}."))


def prepare(
    model: Model,
    choices: Choices,
    cut: Sequence[str],
    out: Path | None,
    plot: Path | None,
    keep: Sequence[Path] = (),
) -> Job:
    """A job with everything checked that can be checked before it starts.

    Parameters
    ----------
    keep : paths
        Files that must not be overwritten, such as the model.
    """
    from kinegrad.coordinates.joint import joint
    from kinegrad.dynamics.recursive import advice

    choices.check(model)
    arguments = {
        "formulation": choices.chosen_formulation(model),
        "integrator": choices.chosen_integrator(model),
        "step": choices.step,
        "t_end": choices.t_end,
        "output_step": choices.output_step,
    }
    out, plot = _check_files(out, plot, keep)
    system = joint(model, cut=cut)
    hint = advice(system, arguments["formulation"])
    if hint:
        warn(hint)
    return Job(system, arguments, out, plot)


def _check_files(out: Path | None, plot: Path | None, keep: Sequence[Path]) -> tuple[Path | None, Path | None]:
    """The paths of the files to write, after a look whether they can be written."""
    from kinegrad.plots import check_suffix
    from kinegrad.results import check_writable

    if plot is not None:
        check_suffix(plot)
    taken = {path.resolve(): "the model" for path in keep}
    for option, path in (("--out", out), ("--plot", plot)):
        if path is None:
            continue
        found = check_writable(path)
        if found in taken:
            raise KinegradError(f"{option} {str(path)!r} would overwrite {taken[found]}; name another file.")
        taken[found] = "what --out writes"
    return out, plot


def warn(sentence: str) -> None:
    """Tell something on standard error that is no failure."""
    print(f"Note: {sentence}", file=sys.stderr, flush=True)
