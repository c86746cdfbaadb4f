"""What a command simulates: a system, how, for how long, and where the motion goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinegrad.cli.contract import Stopped, warn
from kinegrad.cli.options import lowered, start_from
from kinegrad.errors import AssemblyError, KinegradError, Problem, SimulationError
from kinegrad.interrupts import Interrupts

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
    start: str | None = None
    start_time: float | None = None
    solver: str | None = None

    def check(self) -> None:
        """Refuse numbers that are none by the names of their options."""
        for option in ("step", "t_end", "output_step", "tolerance", "penalty"):
            value = getattr(self, option)
            if value is not None and not 0.0 < value < float("inf"):
                name = "--" + option.replace("_", "-")
                raise KinegradError(f"{name} is {value:g}; it must be a finite number larger than zero.")

    def chosen_formulation(self, model: Model):
        """The formulation of the file, or the one named, with the options given."""
        chosen = _named("formulation", self.formulation, model.simulation.formulation, 0)
        changes = {"tolerance": self.tolerance} if self._tolerance_of(model) == "iterations" else {}
        if self.penalty is not None:
            if "penalty" not in type(chosen).model_fields:
                raise KinegradError(
                    f"--penalty does not apply: the formulation {chosen.type} has no penalty; leave it out."
                )
            changes["penalty"] = self.penalty
        return chosen.with_(**changes) if changes else chosen

    def chosen_integrator(self, model: Model):
        """The integrator of the file, or the one named, with the tolerance given if it controls its error."""
        chosen = _named("integrator", self.integrator, model.simulation.integrator, 1)
        return chosen.with_(tolerance=self.tolerance) if self._tolerance_of(model) == "error" else chosen

    def _tolerance_of(self, model: Model) -> str | None:
        """What --tolerance is for: "error" of a step where the integrator controls it, else "iterations"; None without."""
        from kinegrad.dynamics.schemes import SCHEMES

        if self.tolerance is None:
            return None
        formulation = _named("formulation", self.formulation, model.simulation.formulation, 0).type
        integrator = _named("integrator", self.integrator, model.simulation.integrator, 1).type
        scheme = SCHEMES.get((formulation, integrator))
        if scheme is not None and scheme.adaptive:
            return "error"
        if scheme is None or scheme.iterates:  # a combination that does not exist is refused when it is used
            return "iterations"
        raise KinegradError(
            f"--tolerance does not apply: {formulation} with {integrator} has no iterations and no error control; "
            "leave it out, or change --step."
        )


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
    html: Path | None = None
    folder: Path = Path()

    def simulate(self, progress: Callable[[float], None] | None = None, **changes: Any) -> Motion:
        """The motion; what was done before a failure is saved, and the sentence tells where."""
        from kinegrad.simulate import simulate

        try:
            return simulate(self.system, **self.arguments | changes, progress=progress)
        except (SimulationError, KeyboardInterrupt) as error:
            motion = getattr(error, "motion", None)
            if self.out is None or motion is None:
                raise
            motion.save(self.out)
            saved = f"The motion up to then is in {str(self.out)!r}."
            if isinstance(error, KeyboardInterrupt):
                raise Stopped(f"stopped at t = {motion.ts[-1]:.6g} s. {saved}") from None
            raise SimulationError(Problem(f"{error.problems[0].sentence} {saved}"), motion=motion) from None

    def drive(self, progress: Callable[[float], None] | None = None) -> Motion:
        """The motion by drivers; what was found before a lock-up is saved and drawn, and the sentence tells where."""
        from kinegrad.statics.drive import drive

        try:
            return drive(self.system, **self.arguments, progress=progress)
        except (AssemblyError, KeyboardInterrupt) as error:
            motion = getattr(error, "motion", None)
            files = [str(path) for path in (self.out, self.plot, self.html) if path is not None]
            if motion is None or not files:
                raise
            self.write(motion)
            saved = f"The motion up to then is in {', '.join(map(repr, files))}."
            if isinstance(error, KeyboardInterrupt):
                raise Stopped(f"stopped at t = {motion.ts[-1]:.6g} s. {saved}") from None
            raise AssemblyError(Problem(f"{error.problems[0].sentence} {saved}"), motion=motion) from None

    def times_that_follow(self) -> dict:
        """Times of the simulation that follow from parameters, by name, with their expressions."""
        from kinegrad.times import times_that_follow

        return times_that_follow(
            self.system, **{name: self.arguments[name] for name in ("t_end", "step", "output_step")}
        )

    def write(self, motion: Motion, reactions: bool = False, signals: str | None = None) -> None:
        """Save and draw the motion where that was asked for; with the signals of --signals."""
        self.write_data(motion, reactions, signals)
        self.write_page(motion, signals=signals)

    def write_data(self, motion: Motion, reactions: bool = False, signals: str | None = None) -> None:
        """Save the motion, and draw its figure, where that was asked for."""
        if self.out is not None:
            with Interrupts() as interrupts:  # what was computed is not lost to a late Ctrl-C
                names = [] if signals is None else [name.strip() for name in signals.replace(";", ",").split(",")]
                motion.save(self.out, reactions=reactions, signals=list(filter(None, names)))
            if interrupts.came:
                raise Stopped(f"stopped. The motion is in {str(self.out)!r}.")
        if self.plot is not None:
            motion.plot(*([] if signals is None else [signals]), path=self.plot)

    def write_page(self, motion: Motion, gradient=None, signals: str | None = None) -> None:
        """Write the animated page where that was asked for."""
        if self.html is not None:
            motion.to_html(self.html, gradient=gradient, folder=self.folder, signals=signals or ())

    def show_files(self, console) -> None:
        """Tell where files were written."""
        from rich.text import Text

        for what, path in (("motion", self.out), ("figure", self.plot), ("page", self.html)):
            if path is not None:
                console.print(Text(f"The {what} is in {path}."))


def prepare(
    model: Model,
    choices: Choices,
    cut: Sequence[str],
    out: Path | None,
    plot: Path | None,
    html: Path | None = None,
    keep: Sequence[Path] = (),
) -> Job:
    """A job with everything checked that can be checked before it starts.

    Parameters
    ----------
    keep : paths
        Files that must not be overwritten, such as the model; mesh files are looked for from the folder of the first.
    """
    from kinegrad.dynamics.recursive import advice

    choices.check()
    arguments = {
        "formulation": choices.chosen_formulation(model),
        "integrator": choices.chosen_integrator(model),
        "step": choices.step,
        "t_end": choices.t_end,
        "output_step": choices.output_step,
        "start": start_from(choices.start, choices.start_time),
        "solver": choices.solver,
    }
    check_files({"--out": out, "--plot": plot, "--html": html}, keep)
    folder = keep[0].parent if keep else Path()
    system = lowered(model, choices.coordinates, cut, choices.body_point)
    hint = advice(system, arguments["formulation"])
    if hint:
        warn(hint)
    return Job(system, arguments, out, plot, html, folder)


def check_files(files: dict[str, Path | None], keep: Sequence[Path] | Mapping[Path, str]) -> None:
    """Look whether the files to write, by option, have names of their kind, can be written, and are different ones.

    `keep` are models, or other files with what they are.
    """
    from kinegrad.files import check_writable
    from kinegrad.page.html import check_suffix as check_page
    from kinegrad.plots import check_suffix as check_figure

    kept = keep if isinstance(keep, Mapping) else dict.fromkeys(keep, "the model")
    taken = {path.resolve(): what for path, what in kept.items()}
    for option, path in files.items():
        if path is None:
            continue
        if option in ("--plot", "--html"):
            (check_figure if option == "--plot" else check_page)(path)
        found = check_writable(path)
        if found in taken:
            raise KinegradError(f"{option} {str(path)!r} would overwrite {taken[found]}; name another file.")
        taken[found] = f"what {option} writes"
