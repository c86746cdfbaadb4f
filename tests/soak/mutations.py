"""Damaged model files: only errors of kinegrad may come of them, whatever is then asked of the model."""

import contextlib
import copy

import kinegrad as kg
from kinegrad.dynamics.schemes import SCHEMES
from kinegrad.errors import KinegradError
from soak.findings import guarded

STEPS = 3
NUMBERS = (
    0,
    0.0,
    -0.0,
    -1,
    1e-300,
    1e300,
    -1e300,
    1e-20,
    1e20,
    1e-9,
    1e9,
    2**63,
    3.0,
    "1/0",
    "0/0",
    "sqrt(-1)",
    "q0",
    "-q0",
)
VALUES = (
    *NUMBERS,
    None,
    True,
    "",
    "x",
    [],
    {},
    [1, 2],
    [1, 2, 3],
    [0, 0, 0],
    "ground",
    "t",
    ".nan",
    "log(0)",
    "1e400",
    "q3**1e3",
)
CHARACTERS = ":{}[],-#&*!'\"x0.e\t\x00 \n|>%@`é"


def paths_in(value, path=()):
    """Paths of all values below a document."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in entries:
        yield (*path, key)
        yield from paths_in(entry, (*path, key))


def at(document, path):
    for key in path:
        document = document[key]
    return document


def mutated(document, rng):
    """Copy of a document with one to three changes."""
    document = copy.deepcopy(document)
    for _ in range(rng.integers(1, 4)):
        change(document, rng)
    return document


def change(document, rng):
    """One change: of a number or another value, of a key, of a reference, of a type; of what there is and how often."""
    paths = list(paths_in(document))
    numbers = [path for path in paths if isinstance(at(document, path), int | float) and len(path) > 1]
    action = rng.integers(9)
    path = pick(rng, numbers if action < 3 and numbers else paths)
    holder, key = at(document, path[:-1]), path[-1]
    if action == 0:
        holder[key] = pick(rng, NUMBERS)
    elif action == 1:
        holder[key] = holder[key] * float(pick(rng, (-1.0, 1e3, 1e-3, 1e8, 1e-8, 2.0, 1.0 + 1e-9)))
    elif action == 2:
        holder[key] = at(document, pick(rng, numbers))
    elif action == 3:
        holder[key] = pick(rng, VALUES)
    elif action == 4:
        del holder[key]
    elif action == 5:
        holder[key] = copy.deepcopy(at(document, pick(rng, paths)))
    elif action == 6 and isinstance(holder, dict):
        holder[f"{key}_"] = copy.deepcopy(holder[key])
    else:
        change_reference(document, rng, action)


def change_reference(document, rng, action):
    """Another marker, type, measure or cut in one of the elements."""
    sections = [
        s for s in ("joints", "forces", "constraints", "drivers") if isinstance(document.get(s), dict) and document[s]
    ]
    if not sections:
        return
    section = document[pick(rng, sections)]
    element = section[pick(rng, list(section))]
    if not isinstance(element, dict):
        return
    kinds = (
        "revolute",
        "prismatic",
        "cylindrical",
        "screw",
        "cardan",
        "spherical",
        "planar",
        "floating",
        "fixed",
        "link",
    )
    ends = [
        end
        for joint in (document.get("joints") or {}).values()
        if isinstance(joint, dict)
        for end in (joint.get("between") or [])
    ]
    if "between" in element and isinstance(element["between"], list) and ends and action == 7:
        element["between"][rng.integers(len(element["between"]))] = pick(rng, ends)
    elif "type" in element and rng.random() < 0.5:
        element["type"] = pick(rng, kinds)
    elif "measure" in element or "acts_on" in element:
        starts = list(document.get("degrees_of_freedom") or {"reach": 0})
        element["measure" if "measure" in element else "acts_on"] = pick(rng, starts)
    else:
        element["cut"] = True


def pick(rng, things):
    return things[rng.integers(len(things))]


def damaged(text, rng):
    """The text of a file with one to three characters or lines changed."""
    for _ in range(rng.integers(1, 4)):
        k = int(rng.integers(len(text) + 1))
        action = rng.integers(4)
        if action == 0:
            text = text[:k] + pick(rng, CHARACTERS) + text[k:]
        elif action == 1:
            text = text[:k] + text[k + int(rng.integers(1, 30)) :]
        elif action == 2:
            end = k + int(rng.integers(1, 60))
            text = text[:end] + text[k:end] + text[end:]
        else:
            lines = text.split("\n")
            i, j = rng.integers(len(lines), size=2)
            lines[i], lines[j] = lines[j], lines[i]
            text = "\n".join(lines)
    return text


def check_mutations(mechanism, rng, count=10):
    """Findings on damaged copies of a mechanism; each is run, its reactions are asked for, and it is differentiated."""
    found = []
    text = kg.Model.from_dict(mechanism.document).to_yaml()
    for k in range(count):
        by_text = rng.random() < 0.3
        entry = damaged(text, rng) if by_text else mutated(mechanism.document, rng)
        pair = pick(rng, list(SCHEMES))
        here = guarded("mutations", f"{k}: {' + '.join(pair)}", exercise, entry, pair, mechanism.step)
        found += [finding for finding in here if finding.kind == "fault"]
    return found


def exercise(entry, pair, step):
    """What a user may ask of a model, one after the other; errors of one do not keep from the next. No findings."""
    model = (kg.Model.from_yaml_text if isinstance(entry, str) else kg.Model.from_dict)(entry)
    system = kg.joint(model)
    kg.Model.from_yaml_text(model.to_yaml())
    with contextlib.suppress(KinegradError):
        motion = kg.simulate(system, *pair, step=step, t_end=STEPS * step)
        motion.reactions_at_end()
        if system.objectives:
            kg.gradient(motion, method="discrete-adjoint", every_slot=True)
    with contextlib.suppress(KinegradError):
        kg.equilibrium(system)
    return []
