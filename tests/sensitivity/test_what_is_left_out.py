"""The table of what does not go together, against what the schemes refuse; certificates that go with a gradient."""

import json
import re
import warnings
from pathlib import Path

import pytest
from constraint_force_models import BODIES, SIMULATION

import kinegrad as kg
from kinegrad.coordinates.sets import SETS
from kinegrad.dynamics.schemes import scheme_for
from kinegrad.errors import KinegradError
from kinegrad.model.simulation import FORMULATIONS, INTEGRATORS

PAGE = Path(__file__).parents[2] / "docs" / "sensitivities.md"
OBJECTIVE = "objectives:\n  path: {integral: norm2(rod.B.velocity)}\n"


@pytest.fixture(scope="module")
def model():
    return kg.Model.from_yaml_text(BODIES + OBJECTIVE + SIMULATION)


def told() -> set[tuple[str, str, str]]:
    """Combinations in the table of the page."""
    text = PAGE.read_text(encoding="utf-8").split("## What is left out")[1].split("##")[0]
    found = set()
    for line in text.splitlines():
        if line.startswith("| `"):
            cells = [re.findall(r"`([^`]*)`", cell) for cell in line.split("|")[1:4]]
            lists = [cell or list(every) for cell, every in zip(cells, (FORMULATIONS, INTEGRATORS, SETS), strict=True)]
            found |= {(f, i, s) for f in lists[0] for i in lists[1] for s in lists[2]}
    return found


def test_the_page_has_what_is_refused(model):
    refused = set()
    for kind in SETS:
        system = kg.lower(model, kind)
        for f, formulation in FORMULATIONS.items():
            for i, integrator in INTEGRATORS.items():
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        scheme_for(system, formulation(), integrator())
                except KinegradError:
                    refused.add((f, i, kind))
    assert told() == refused


def test_a_certificate_goes_with_its_gradient(model, tmp_path):
    motion = kg.simulate(kg.joint(model), "index1", "rk4")
    plain = kg.gradient(motion, wrt=["m", "k"], method=kg.DiscreteAdjoint(every_slot=True))
    found = plain.certified()
    assert plain.certificate is None and found.certificate.good and "Certificate" in found._repr_html_()
    saved = json.loads(found.save(tmp_path / "gradient.json").read_text())
    assert saved["certificate"]["good"] and saved["gradient"]["path"]["k"] == plain["path", "k"]
    assert "certificate" not in plain.to_dict()
    titles = [axes.get_title() for axes in plain.plot().axes]
    assert any("by body and element" in title for title in titles)
