"""Whatever a file holds, reading it gives a model or a ModelError, and nothing else."""

import json
from pathlib import Path

import pytest
from bad_models import SOUND
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kinegrad.errors import ModelError
from kinegrad.model.documents import load
from kinegrad.model.model import KEYS, Model

FILES = [p for p in (Path(__file__).parents[2] / "examples").rglob("*.yaml") if "kinegrad_study" not in p.read_text()]
# Long ones, whose elements others have: each value that is replaced is a model that is read.
LONG = {
    "anchor_chain",
    "buggy",
    "crank_shaper",
    "planetary_gear",
    "quarter_car",
    "six_axis_arm",
    "stewart_platform",
    "stewart_stiffness",
}
EXAMPLES = {f"{path.parent.name} {path.stem}": path.read_text() for path in FILES if path.parent.name not in LONG}
EXAMPLES["sound"] = SOUND
DOCUMENTS = {name: load(text)[0] for name, text in EXAMPLES.items()}

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(
        ["m", "L/2", "t", "ground.O", "arm.B.x", "hinge.angle", "global", "pi*(", "u[9]", "vec(1,2,3)", "1/0"]
    ),
)
keys = st.sampled_from(
    [
        *KEYS,
        "kinegrad",
        "type",
        "between",
        "axis",
        "mass",
        "markers",
        "vector",
        "value",
        "at",
        "terms",
        "m",
        "arm",
        "x y",
    ]
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys | st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


def attempt(read, data):
    """Read, and make sure that what comes out is sound or says what is wrong."""
    try:
        model = read(data)
    except ModelError as error:
        assert error.problems
        for problem in error.problems:
            assert problem.sentence and "Traceback" not in problem.sentence and "\n" not in problem.sentence
    else:
        assert Model.from_yaml_text(model.to_yaml()) == model


@given(st.dictionaries(keys, values, max_size=6))
@example({"title": {"\n": None}})
def test_random_documents(document):
    attempt(Model.from_dict, document)


@given(st.fixed_dictionaries(dict.fromkeys(("parameters", "bodies", "joints", "forces", "simulation"), values)))
def test_random_sections(sections):
    attempt(Model.from_dict, {**DOCUMENTS["sound"], **sections})


@settings(max_examples=200)
@given(st.text(max_size=200) | st.text(alphabet="{}[]:,-?&*!|>'\"#% \n\tab1.", max_size=60))
@example("? a\n? b")
@example("a: !<tag:yaml.org,2002:str> b")
@example("&a a: *a")
@example("- - - -\n  -")
@example("%YAML 9.9\n---\na: 1")
def test_random_texts(text):
    attempt(Model.from_yaml_text, text)


def paths_in(value, path=()):
    """Paths of all values in a document."""
    yield path
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in entries:
        yield from paths_in(entry, (*path, key))


def mutate(document, path, action, value):
    """Copy of a document in which the place at `path` is deleted, replaced, doubled or exchanged."""
    document = json.loads(json.dumps(document))
    holder = document
    for key in path[:-1]:
        holder = holder[key]
    key = path[-1]
    if action == "delete":
        del holder[key]
    elif action == "replace":
        holder[key] = value
    elif action == "wrap":
        holder[key] = [holder[key]]
    elif action == "rename" and isinstance(holder, dict):
        holder[f"{key}_"] = holder.pop(key)
    elif action == "double" and isinstance(holder, list):
        holder.append(holder[key])
    elif action == "text":
        holder[key] = str(holder[key])
    return document


@settings(max_examples=300)
@given(st.data())
def test_mutated_examples(data):
    document = DOCUMENTS[data.draw(st.sampled_from(sorted(DOCUMENTS)))]
    for _ in range(data.draw(st.integers(1, 3))):
        paths = list(paths_in(document))[1:]
        action = data.draw(st.sampled_from(["delete", "replace", "wrap", "rename", "double", "text"]))
        document = mutate(document, data.draw(st.sampled_from(paths)), action, data.draw(values))
    attempt(Model.from_dict, document)


@settings(max_examples=200)
@given(st.data())
def test_mutated_texts(data):
    lines = EXAMPLES[data.draw(st.sampled_from(sorted(EXAMPLES)))].splitlines()
    for _ in range(data.draw(st.integers(1, 3))):
        i = data.draw(st.integers(0, len(lines) - 1))
        action = data.draw(st.sampled_from(["delete", "double", "swap", "cut", "indent", "character"]))
        if action == "delete":
            del lines[i]
        elif action == "double":
            lines.insert(i, lines[i])
        elif action == "swap":
            j = data.draw(st.integers(0, len(lines) - 1))
            lines[i], lines[j] = lines[j], lines[i]
        elif action == "cut":
            lines[i] = lines[i][: len(lines[i]) // 2]
        elif action == "indent":
            lines[i] = "  " + lines[i]
        else:
            at = data.draw(st.integers(0, len(lines[i])))
            lines[i] = lines[i][:at] + data.draw(st.sampled_from(":{}[],-#&*!'\"x0\0\t")) + lines[i][at:]
    attempt(Model.from_yaml_text, "\n".join(lines))


OTHERS = [None, True, 0, -1, float("nan"), "", "x", "t", "1/0", [], [[]], {}, {"type": []}, [1, 2, 3]]


@pytest.mark.parametrize("name", sorted(DOCUMENTS))
@pytest.mark.parametrize("k", range(len(OTHERS)), ids=[repr(value) for value in OTHERS])
def test_places_replaced(name, k):
    """Each place of an example replaced by a value of another kind; which one, changes from place to place."""
    document = DOCUMENTS[name]
    for path in list(paths_in(document))[1 + k :: len(OTHERS)]:
        attempt(Model.from_dict, mutate(document, path, "replace", OTHERS[k]))
