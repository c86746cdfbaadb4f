"""Numbers of every example in every coordinate set and scheme, to see whether a change of the program changes any of them.

    python tests/pinned/every_number.py NUMBERS.json [EXAMPLE ...]

The first use writes the file, every later one compares with it, bit by bit, and exits with 1 where anything differs.  Each
combination that runs is run for 20 steps: the last state, the objectives, and their derivatives by direct differentiation and
by the discrete adjoint.  What is refused, and what is warned of, is kept with its words.  Equilibria, motions by drivers,
assemblies and studies are there too.  It takes about a minute with compiled kernels.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np

import kinegrad as kg

EXAMPLES = Path(__file__).parents[2] / "examples"
SETS = {"joint": kg.joint, "reference-point": kg.reference_point, "natural": kg.natural}
IMPLICIT, EXPLICIT = ("newmark", "hht", "generalized-alpha"), ("rk4", "rk54")
SCHEMES = {
    "ali3p": IMPLICIT,
    "matrix-r": (*IMPLICIT, *EXPLICIT),
    "index1": (*IMPLICIT, *EXPLICIT),
    "penalty": (*IMPLICIT, *EXPLICIT),
    "udwadia-kalaba": EXPLICIT,
    "recursive": (*IMPLICIT, *EXPLICIT),
}
METHODS = ("direct", "discrete-adjoint")
STATE = ("q", "qd", "qdd", "lam")
STUDIES = ("slide/study.yaml", "studies/four_bar_synthesis/study.yaml")
MODELS_OF_STUDIES = ("four_bar_synthesis/linkage.yaml", "crane_control/crane.yaml")
STEPS = 20
FEW = 4  # parameters of a model without a design
#: examples whose schemes are too many for their size: what each is run with
LARGE = {
    "anchor_chain": [("ali3p", "newmark"), ("recursive", "rk4")],
    "buggy": [("ali3p", "newmark"), ("matrix-r", "rk4")],
}


def examples() -> dict[str, Path]:
    """Models by the names of their folders, and of files of studies."""
    found = {path.parent.name: path for path in sorted(EXAMPLES.glob("*/model.yaml"))}
    return found | {path.stem: path for path in (EXAMPLES / "studies" / name for name in MODELS_OF_STUDIES)}


def kept(call: Callable[..., dict], *what, **scheme) -> dict:
    """The numbers of a call and its warnings, or the words of its error."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            found = {name: np.asarray(value, float).tolist() for name, value in call(*what, **scheme).items()}
        except kg.KinegradError as error:
            return {"error": str(error)}
    return found | ({"warnings": sorted({str(one.message) for one in told})} if told else {})


def with_gradients(motion) -> dict:
    """The last state of a motion, its objectives, and their derivatives."""
    found = {name: getattr(motion, name)[-1] for name in STATE}
    if motion.objectives:
        found["objectives"] = list(motion.objectives.values())
        model = motion.system.model
        wrt = model.design or list(model.parameters)[:FEW]
        for method in METHODS if wrt else ():
            found[method] = kg.gradient(motion, wrt=wrt, method=method).matrix
    return found


def times(model: kg.Model) -> tuple[float, float]:
    """The step that the file gives, as a number, and the end of 20 of them, or of as many as the file asks for."""
    step, t_end = (float(Fraction(str(number))) for number in (model.simulation.step, model.simulation.t_end))
    return step, min(STEPS * step, t_end)


def short(system, drive: bool = False, **scheme) -> dict:
    """Of 20 steps, by a scheme or by the drivers."""
    step, t_end = times(system.model)
    return with_gradients((kg.drive if drive else kg.simulate)(system, **scheme, t_end=t_end, step=step))


def position(find: Callable, system) -> dict:
    """Coordinates of an assembly or an equilibrium."""
    return {"q": find(system).q}


def optimum(study: kg.Study) -> dict:
    """Variables at the end of a study."""
    return study.optimize().variables


def of_example(name: str) -> Iterator[tuple[str, dict]]:
    """What an example gives in every set, by the name of what is done."""
    model = kg.Model.from_yaml(examples()[name])
    for set_, lower in SETS.items():
        system = lower(model)
        for formulation, integrator in schemes(name):
            what = f"{set_} {formulation} {integrator}"
            yield what, kept(short, system, formulation=formulation, integrator=integrator)
        yield f"{set_} drive", kept(short, system, drive=True)
        yield f"{set_} assembly", kept(position, kg.assemble, system)
        yield f"{set_} equilibrium", kept(position, kg.equilibrium, system)


def schemes(name: str) -> list[tuple[str, str]]:
    """Formulations with integrators that an example is run with."""
    every = [(formulation, integrator) for formulation, some in SCHEMES.items() for integrator in some]
    return [pair for pair in every if name not in LARGE or pair in LARGE[name]]


def of_studies() -> Iterator[tuple[str, dict]]:
    """The optima of some studies."""
    for path in STUDIES:
        study = kg.Study.from_yaml(EXAMPLES / path)
        yield path, kept(optimum, study)


def numbers(only: list[str]) -> dict[str, dict]:
    """All of it, by names such as `five_bar joint ali3p newmark`."""
    found, clock = {}, time.perf_counter()
    for name in only or examples():
        for what, values in of_example(name):
            found[f"{name} {what}"] = values
        print(f"{name}: {time.perf_counter() - clock:.0f} s", file=sys.stderr, flush=True)
    found |= {} if only else dict(of_studies())
    return found


def differences(found: dict, expected: dict) -> Iterator[str]:
    """A line for each array, sentence or combination that is not the same, with the difference of the largest number."""
    for key in sorted(found.keys() | expected.keys()):
        new, old = found.get(key, {}), expected.get(key, {})
        for name in sorted(new.keys() | old.keys()):
            a, b = new.get(name), old.get(name)
            if a == b or json.dumps(a) == json.dumps(b):  # numbers that are not finite are not equal to themselves
                continue
            if name in ("error", "warnings") or a is None or b is None or np.shape(a) != np.shape(b):
                yield f"{key}: {name} is {_shown(a)}, and was {_shown(b)}"
            else:
                a, b = np.array(a), np.array(b)
                yield f"{key}: {name} differs by {np.abs(a - b).max() / (np.abs(b).max() or 1.0):.1e} of its largest"


def _shown(value) -> str:
    text = str(value)
    return text if len(text) < 300 else f"{text[:300]} ..."


def text_of(found: dict) -> str:
    """A line for each combination."""
    lines = (f"{json.dumps(key)}: {json.dumps(values)}" for key, values in found.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main(path: Path, only: list[str]) -> int:
    found = numbers(only)
    if not path.exists():
        path.write_text(text_of(found))
        print(f"{len(found)} combinations written")
        return 0
    expected = json.loads(path.read_text())
    if only:
        expected = {key: value for key, value in expected.items() if key.split()[0] in only}
    lines = list(differences(json.loads(json.dumps(found)), expected))
    print("\n".join(lines))
    print(f"{len(found)} combinations, {len(lines)} differences")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
