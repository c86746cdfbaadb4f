"""What is compared: coordinate sets and body points, formulations with integrators, methods of differentiation."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import product

from kinegrad.coordinates.sets import SETS, lower
from kinegrad.coordinates.system import System
from kinegrad.dynamics.schemes import SCHEMES, formulation_of, integrator_of, takes_only
from kinegrad.errors import KinegradError
from kinegrad.model.model import Model
from kinegrad.model.simulation import BODY_POINTS
from kinegrad.sensitivity.methods import ALSO, METHODS

MOST_INDEPENDENT = 300  # coordinates up to which matrix-r, whose matrices are dense, is tried without being asked for


@dataclass(frozen=True)
class Way:
    """One combination; `system` is the reason where the model has none in this set."""

    coordinates: str
    body_point: str
    system: System | KinegradError
    formulation: object
    integrator: object
    method: str = ""

    @property
    def about(self) -> dict[str, str]:
        """Its names."""
        chosen = {"formulation": self.formulation.type, "integrator": self.integrator.type, "method": self.method}
        return {"coordinates": self.coordinates, "body_point": self.body_point, **chosen}

    @property
    def pair(self):
        """Formulation and integrator as they go together; None where they do not."""
        return SCHEMES.get((self.formulation.type, self.integrator.type))


@dataclass(frozen=True)
class Choices:
    """What a user asks for; None stands for all, or for a few where the answer shall be quick.

    The attributes are those of `compare`.
    """

    coordinates: Sequence[str] | None = None
    body_points: Sequence[str] | None = None
    formulations: Sequence | None = None
    integrators: Sequence | None = None
    methods: Sequence[str] | None = None
    cut: Collection[str] = ()
    quick: bool = False
    gradient: bool = False

    def ways(self, model: Model) -> tuple[list[Way], list[str]]:
        """The combinations, and sentences on what was left out; raises when the model has no system in any set."""
        kinds = list(SETS) if self.coordinates is None else once("coordinate set", self.coordinates)
        points, left_out = self._body_points(model)
        pairs = self._pairs(model)
        if self.quick and self.integrators is None:
            few = _few(pairs, model)
            dropped = {i.type for _, i in pairs} - {i.type for _, i in few}
            if dropped:
                left_out.append(f"The integrators {', '.join(sorted(dropped))} are left out.")
            pairs = few
        found, large = [], {}
        for (kind, point), system in self._systems(model, kinds, points).items():
            for formulation, integrator in pairs:
                if self.formulations is None and takes_only(formulation) not in (None, kind):
                    continue
                if self.formulations is None and self._is_too_large(formulation, system):
                    large[kind] = system.n
                    continue
                found += [Way(kind, point, system, formulation, integrator, method) for method in self._methods()]
        left_out += [
            f"matrix-r is left out in {kind} coordinates, of which there are {n} (it is tried up to {MOST_INDEPENDENT})."
            for kind, n in large.items()
        ]
        return found, left_out

    def _body_points(self, model: Model) -> tuple[list[str | None], list[str]]:
        if self.body_points is not None:
            return once("body point", self.body_points), []
        own = model.simulation.coordinates.options().get("body_point", BODY_POINTS[0])
        rest = [point for point in BODY_POINTS if point != own]
        if self.quick:
            return [own], [f"The body point {', '.join(rest)} is left out."]
        return [own, *rest], []

    def _methods(self) -> list[str]:
        """Methods of differentiation; one that has no name where motions are compared."""
        if not self.gradient:
            return [""]
        exact = [name for name, method in METHODS.items() if method.exact]
        given = exact if self.methods is None else [ALSO.get(m, m) for m in once("method", self.methods)]
        unknown = [method for method in given if method not in METHODS]
        if unknown:
            raise KinegradError(f"The method {unknown[0]!r} is not available; choose from {', '.join(METHODS)}.")
        return given

    def _pairs(self, model: Model) -> list[tuple]:
        """Formulations with integrators: those that exist, or all of two lists that were given."""
        tables = []
        for k, (kind, given, own, choose) in enumerate(
            (
                ("formulation", self.formulations, model.simulation.formulation, formulation_of),
                ("integrator", self.integrators, model.simulation.integrator, integrator_of),
            )
        ):
            offered = list(dict.fromkeys(key[k] for key in SCHEMES))
            entries = offered if given is None else once(kind, given)
            chosen = [own if entry == own.type else choose(entry) for entry in entries]
            unknown = [entry.type for entry in chosen if entry.type not in offered]
            if unknown:
                raise KinegradError(f"The {kind} {unknown[0]!r} is not available; choose from {', '.join(offered)}.")
            tables.append({entry.type: entry for entry in chosen})
        keys = list(product(*tables))
        if self.formulations is None or self.integrators is None:
            keys = [key for key in SCHEMES if key in keys]
        return [(tables[0][f], tables[1][i]) for f, i in keys]

    def _systems(self, model: Model, kinds: Sequence[str], points: Sequence[str]) -> dict:
        """A system for each set and body point, or why there is none; raises that when there is none at all.

        Among several sets, one that cuts nothing is not asked to.
        """
        found: dict[tuple[str, str], System | KinegradError] = {}
        for kind in kinds:
            known = SETS[kind].option_names if kind in SETS else ("cut", "body_point")
            options = {"cut": tuple(self.cut) or None} if len(kinds) == 1 or "cut" in known else {}
            for point in points if "body_point" in known else [""]:
                chosen = options | ({"body_point": point} if point else {})
                try:
                    found[kind, point] = lower(model, kind, **{k: v for k, v in chosen.items() if v is not None})
                except KinegradError as error:
                    if any(chosen.values()) and (self.cut or self.body_points is not None):
                        raise  # what was asked for by name is told, not only that a set is missing
                    found[kind, point] = error
        if not any(isinstance(system, System) for system in found.values()):
            raise next(iter(found.values()))
        return found

    @staticmethod
    def _is_too_large(formulation, system: System | KinegradError) -> bool:
        return formulation.type == "matrix-r" and isinstance(system, System) and system.n > MOST_INDEPENDENT


def _few(pairs: Sequence[tuple], model: Model) -> list[tuple]:
    """One implicit and one explicit integrator with each formulation: that of the model, else the first with fixed steps."""
    own, chosen = model.simulation.integrator.type, {}
    for formulation, integrator in pairs:
        pair = SCHEMES[formulation.type, integrator.type]
        key = formulation.type, pair.integrator.explicit
        if key not in chosen or integrator.type == own or (SCHEMES[_names(chosen[key])].adaptive and not pair.adaptive):
            chosen[key] = (formulation, integrator)
    return [pair for pair in pairs if pair in chosen.values()]


def _names(pair: tuple) -> tuple[str, str]:
    return pair[0].type, pair[1].type


def once(what: str, given: Sequence) -> list:
    """The entries of a list of choices, which must be there, once each."""
    given = [given] if isinstance(given, str) else list(given)
    labels = [getattr(entry, "type", entry) for entry in given]
    twice = [label for k, label in enumerate(labels) if label in labels[:k]]
    if twice or not labels:
        found = f"The {what} {twice[0]!r} is named twice" if twice else f"No {what} is named"
        raise KinegradError(f"{found}; name each that shall be compared once, or leave the list out.")
    return given
