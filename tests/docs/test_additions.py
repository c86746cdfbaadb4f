"""The files and lists that `docs/theory/architecture.md`, section 5, names for each addition exist and belong together."""

import importlib
import re
from pathlib import Path

import kinegrad
from kinegrad.coordinates import forces as force_lowerings
from kinegrad.coordinates.joints import KINDS as JOINT_KINDS
from kinegrad.coordinates.sets import SETS
from kinegrad.dynamics.schemes import BY_FORMULATION, BY_INTEGRATOR, SCHEMES
from kinegrad.kernels.elements.kinds import KINDS
from kinegrad.kernels.records import RECORDS
from kinegrad.model.constraints import CONSTRAINTS
from kinegrad.model.forces import FORCES
from kinegrad.model.joints import JOINTS
from kinegrad.model.simulation import COORDINATES, FORMULATIONS, INTEGRATORS

ROOT = Path(__file__).parents[2]
SECTION = re.search(
    r"^## 5\. .*?(?=^## 6\.)", (ROOT / "docs/theory/architecture.md").read_text(encoding="utf-8"), re.M | re.S
)[0]


def test_every_file_that_is_named_exists():
    named = set(re.findall(r"`((?:[a-z_]+/)+[A-Za-z_]*(?:\.py|\.md)?|[a-z_]+\.py)`", SECTION))
    assert len(named) > 20
    missing = []
    for name in named:
        # a name in capitals stands for the new one, `__init__.py` for that of the package itself
        path = Path(name.replace("NAME.py", "").replace("NAME/", ""))
        found = [base / path for base in (ROOT, ROOT / "kinegrad") if (base / path).exists()]
        if not found:
            near = [p for p in (ROOT / "kinegrad").rglob(path.name) if p.name == name]
            missing += [] if near else [name]
    assert not missing


def test_every_list_that_is_named_exists():
    """As in: `coordinates/sets.py` | its place in `SETS`."""
    pairs = []
    for files, text in re.findall(r"^\|([^|]*\.py`)\s*\|([^|]*)\|$", SECTION, re.M):
        lists = re.findall(r"`([A-Z_]{4,})`", text)
        modules = re.findall(r"`([a-z_/]+\.py)`", files)
        pairs += [
            (modules, name)
            for name in lists
            if name not in ("FORCES", "STIFFNESS", "PULL", "ENERGY") or "place" in text
        ]
    assert {name for _, name in pairs} >= {
        "KINDS",
        "RECORDS",
        "LOWERINGS",
        "SETS",
        "COORDINATES",
        "ELEMENTS",
        "JOINTS",
        "BY_FORMULATION",
        "FORMULATIONS",
    }
    for modules, name in pairs:
        loaded = [
            importlib.import_module("kinegrad." + m[:-3].replace("/", ".").replace(".__init__", "")) for m in modules
        ]
        assert any(hasattr(module, name) for module in loaded), (modules, name)


def test_the_lists_belong_together():
    assert set(JOINT_KINDS) == set(JOINTS)
    assert set(force_lowerings.LOWERINGS) == set(FORCES)
    assert set(SETS) == set(COORDINATES)
    assert set(BY_FORMULATION) == {formulation for formulation, _ in SCHEMES} == set(FORMULATIONS)
    assert set(BY_INTEGRATOR) == {integrator for _, integrator in SCHEMES} == set(INTEGRATORS)
    assert {name for kind in KINDS for name in kind.tables} <= {*RECORDS, "callback"}


def test_every_kind_has_a_public_name_and_a_section():
    pages = {
        "forces": (ROOT / "docs/modelling/forces.md").read_text(encoding="utf-8"),
        "joints": (ROOT / "docs/modelling/joints.md").read_text(encoding="utf-8"),
        "constraints": (ROOT / "docs/modelling/constraints.md").read_text(encoding="utf-8"),
    }
    for section, kinds in (("forces", FORCES), ("joints", JOINTS), ("constraints", CONSTRAINTS)):
        for name, kind in kinds.items():
            assert getattr(kinegrad, kind.__name__) is kind
            assert f"type: {name}" in pages[section], name
