"""Gradient: what any method of differentiation gives."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kinegrad.errors import KinegradError, place_of
from kinegrad.motion import Motion
from kinegrad.simulate import simulate

if TYPE_CHECKING:
    from kinegrad.sensitivity.certificate import Certificate
    from kinegrad.sensitivity.differences import GradientCheck
    from kinegrad.sensitivity.histories import StateSensitivities
    from kinegrad.sensitivity.pulled_apart import Apart


class Ranked(NamedTuple):
    """A number of the model: its path and value, and its derivatives and relative sensitivities by objective."""

    path: str
    value: float
    derivatives: dict[str, float]
    relative: dict[str, float]


@dataclass(frozen=True)
class Gradient:
    """Derivatives of objectives by parameters.

    Attributes
    ----------
    values : dict objective -> value
    wrt : tuple of str
        Labels of the independent parameters.
    matrix : (objectives, parameters) array
    by_slot : (objectives, slots) array or None
        Discrete adjoint: the derivative by every slot of the model.
    cpu_s : float
        Processor time of everything, the simulation included.
    simulation_cpu_s : float
        Processor time of the plain simulation the motion came from.
    certificate : Certificate or None
        What `certified` found of it.
    history_t : (k,) array or None
        With `history`: times.
    no_meaning : dict parameter -> time
        Parameters with other values of which the mechanism would not pass a singular position that it passes at this time:
        there is no derivative by them.
    runs : float
        How often the simulation was done again for it.
    history : (k, objectives, parameters) array or None
        With `history`: by direct differentiation the gradient of the integrals and sums up to these times, NaN for other
        objectives; by the discrete adjoint that of the objectives by parameters that change at these times, and not before.
    """

    method: str
    values: dict
    wrt: tuple[str, ...]
    matrix: np.ndarray
    motion: Motion
    cpu_s: float
    simulation_cpu_s: float
    by_slot: np.ndarray | None = None
    certificate: Certificate | None = field(default=None, compare=False)
    history_t: np.ndarray | None = None
    history: np.ndarray | None = None
    no_meaning: dict = field(default_factory=dict)
    slots_without_meaning: np.ndarray | None = None
    apart: Apart | None = None
    runs: float = 0.0

    def __getitem__(self, key: tuple[str, str]) -> float:
        objective, parameter = key
        row, column = place_of(objective, self.values, "objective"), place_of(parameter, self.wrt, "parameter")
        return float(self.matrix[row, column])

    def by_number(self) -> dict[str, dict[str, float]]:
        """Derivatives by every number of the model, by its path (discrete adjoint); NaN where there is none (`no_meaning`,
        `System.held`, or redundant constraints that would be pulled apart)."""
        if self.by_slot is None:
            raise KinegradError("Derivatives by every number come with method='discrete-adjoint', every_slot=True.")
        system = self.motion.system
        J = system.slots.field_jacobian(system.rho)
        nothing = ~np.isnan(self.slots_without_meaning) if self.slots_without_meaning is not None else None
        lost = np.isin(system.slots.field_paths, system.held)
        if nothing is not None and nothing.any():
            lost |= J.pull(nothing.astype(float)) != 0.0
        if self.apart is not None:
            lost |= self.apart.of(J)
        return {
            name: dict(zip(system.slots.field_paths, np.where(lost, np.nan, J.pull(row)).tolist(), strict=True))
            for name, row in zip(self.values, self.by_slot, strict=True)
        }

    def as_dict(self) -> dict[str, dict]:
        """{objective: {parameter: value}}; a list of values for a parameter that is a list and is there as a whole."""
        return self.named(self.matrix)

    def named(self, matrix: np.ndarray) -> dict[str, dict]:
        """The same of any (objectives, parameters) array."""
        parameters = self.motion.system.parameters
        bases = dict.fromkeys(label.partition("[")[0] for label in self.wrt if "[" in label)
        there = set(self.wrt)
        whole = {base for base in bases if there.issuperset(parameters.expand(base))}
        out = {}
        for name, values in zip(self.values, matrix.tolist(), strict=True):
            row: dict = {}
            for label, value in zip(self.wrt, values, strict=True):
                base = label.partition("[")[0]
                if "[" in label and base in whole:
                    row.setdefault(base, []).append(value)
                else:
                    row[label] = value
            out[name] = row
        return out

    def check(self, *, progress: Callable[[float], None] | None = None) -> GradientCheck:
        """The gradient beside differences of whole runs, which know nothing of derivatives.

        Each parameter is made a little larger and smaller, by six step sizes from 1 % down to 0.004 %; the differences are
        extrapolated, and what changes least is taken.  What the runs lack of a smooth curve is their noise, and no more than
        it is asked of the differences.  Twelve runs for each parameter.

        Parameters
        ----------
        progress : callable, optional
            Called with the fraction done.

        Returns
        -------
        GradientCheck
            Relative differences by objective and parameter, and whether all are good.
        """
        from kinegrad.sensitivity.differences import check

        if self.method == "continuous-adjoint":
            raise KinegradError(
                "A continuous adjoint is off differences by the error of the steps; check the discrete adjoint, and compare "
                "the two at smaller steps."
            )
        return check(self, progress)

    def certified(self, **options: bool) -> Gradient:
        """The same gradient with its certificate; options are those of `kinegrad.check_gradient`."""
        from kinegrad.sensitivity.certificate import check_gradient

        return replace(self, certificate=check_gradient(self, **options))

    def to_dict(self) -> dict:
        """Values, derivatives by parameters and, where there is one, the certificate: for JSON."""
        data = {
            "method": self.method,
            "objectives": {name: float(value) for name, value in self.values.items()},
            "gradient": self.as_dict(),
        }
        return data if self.certificate is None else data | {"certificate": self.certificate.as_dict()}

    def save(self, path: str | Path) -> Path:
        """Write what `to_dict` gives to a JSON file; the path."""
        path = Path(path)
        path.write_text(json.dumps(self.to_dict(), indent=2) + "\n", encoding="utf-8")
        return path

    def objectives_with(self, rho: np.ndarray) -> np.ndarray:
        """The objectives of the same run with other values of the independent parameters."""
        motion = self.motion
        few = len(motion.hs) * motion.step if motion.stride > 1 or not motion.interval else motion.interval
        run = motion_with(motion, rho, motion.output_step if motion.scheme.adaptive else few)
        return np.array(list(run.objectives.values()), float)

    def with_steps(self, factor: float) -> Gradient:
        """The gradient of the same run with steps of `factor` times theirs."""
        from kinegrad.sensitivity.finer import with_steps

        return with_steps(self, factor)

    def states(self, signals: Sequence[str]) -> StateSensitivities:
        """Derivatives of signals over time, at up to 200 times, by the parameters of the gradient.

        Signals are expressions as objectives have them, such as ``arm.tip.x`` or ``hinge.angle.velocity``; the run is done
        again, and differentiated directly.
        """
        from kinegrad.sensitivity.histories import states

        return states(self, signals)

    def ranked(self) -> list[Ranked]:
        """Every number of the model, the most important first: by its largest relative sensitivity over the objectives.

        Relative sensitivity is the change of an objective in percent when the number grows by one percent; of an objective
        that is zero, its change.  Numbers without a derivative, and those that are zero, come last.
        """
        derivatives = self.by_number()
        system = self.motion.system
        paths, at = system.slots.field_paths, system.slots.field_values(system.rho)
        table = np.array([list(row.values()) for row in derivatives.values()])
        sizes = np.array([abs(float(value)) or 1.0 for value in self.values.values()])
        relative = at * table / sizes[:, None]
        importance = np.nan_to_num(np.abs(relative)).max(axis=0)
        return [
            Ranked(
                paths[k],
                float(at[k]),
                *(dict(zip(self.values, x[:, k].tolist(), strict=True)) for x in (table, relative)),
            )
            for k in np.argsort(-importance, kind="stable")
        ]

    def by_element(self) -> dict[str, dict[str, float]]:
        """{body or other element: {objective: sum of magnitudes of relative sensitivities of its numbers}}, largest first."""
        groups: dict[str, dict[str, float]] = {}
        for number in self.ranked():
            group = groups.setdefault(".".join(number.path.split(".")[:2]), dict.fromkeys(self.values, 0.0))
            for name, x in number.relative.items():
                group[name] += 0.0 if np.isnan(x) else abs(x)
        return dict(sorted(groups.items(), key=lambda item: -max(item[1].values(), default=0.0)))

    def plot(self, path: str | Path | None = None):
        """A matplotlib figure: relative sensitivities as bars and, with `history`, the gradient by time.

        It is also written to `path` when one is given (png, pdf or svg).
        """
        from kinegrad.plots import plot_gradient

        return plot_gradient(self, path)

    def _repr_html_(self) -> str:
        """A table for notebooks."""
        from kinegrad.display import gradient_html

        return gradient_html(self)


def some_of(gradient: Gradient, labels: Sequence[str]) -> Gradient:
    """The same gradient by some of its parameters, without its history."""
    columns = [gradient.wrt.index(label) for label in labels]
    return replace(gradient, wrt=tuple(labels), matrix=gradient.matrix[:, columns], history_t=None, history=None)


def motion_with(motion: Motion, rho: np.ndarray, output_step: float | None) -> Motion:
    """The same run with other values of the independent parameters."""
    system = motion.system.with_parameters(rho)
    run = simulate(
        system, motion.formulation, motion.integrator, t_end=end_with(motion, rho), step=motion.step, output_step=output_step,
        solver=system.solver, s=slots_with(motion, rho), guess=motion.q[0], start=motion.start,
    )  # fmt: skip
    run.follows = motion.follows
    return run


def end_with(motion: Motion, rho: np.ndarray) -> float:
    """The end of the same run with other values of the independent parameters."""
    end = (motion.follows or {}).get("t_end")
    return motion.t_end if end is None else float(motion.system.parameters.evaluate(end, rho))


def slots_with(found, rho: np.ndarray) -> np.ndarray:
    """Slots of a motion or an equilibrium with other values of the parameters; what was given beside these stays."""
    system = found.system
    return system.slots.values(rho) + (found.s - system.s)
