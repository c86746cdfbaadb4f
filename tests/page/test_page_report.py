"""The table of an optimum on the page of its motions."""

from pathlib import Path

import pytest
from reading import scene_of

import kinegrad as kg
from kinegrad.optimize.report import units

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def found():
    """The slide with a bound that holds: without it the force is 5 - 9 t."""
    model = kg.Model.from_yaml(ROOT / "examples" / "slide" / "model.yaml")
    return kg.Study(
        model, variables={"u": {"bounds": [-20, 4], "scale": 10}}, minimise="effort",
        constraints={"arrives": {"value": "x", "equals": 1}, "slow": {"value": "v", "at_least": 0.0, "at_most": 0.5}},
    ).optimize()  # fmt: skip


@pytest.fixture(scope="module")
def page(found, tmp_path_factory):
    return found.to_html(tmp_path_factory.mktemp("page") / "slide.html", check=True, frames=11)


def test_what_the_page_has(found, page):
    report = scene_of(page)["report"]
    assert report["status"] == "optimum" and report["good"] and report["message"] == found.message
    values, constraints, variables = report["tables"]
    assert [row["cells"][0] for row in values["rows"]] == ["minimise", "effort", "x [m]", "v [m/s]"]
    assert values["rows"][0]["cells"][1:3] == ["0", f"{found.values['minimise']:.6g}"]
    assert [(row["cells"][0], row["held"]) for row in constraints["rows"]] == [
        ("arrives [m]", "from"),
        ("slow [m/s]", "to"),
    ]
    assert constraints["rows"][0]["cells"][3:] == ["= 1", "", f"{found.multipliers['arrives']:.3g}"]
    first = variables["rows"][0]
    assert first["cells"] == [
        "u[0]", "0", "4", "-20", "4", f"{found.multipliers['u[0]']:.3g}", f"{found.sensitivity['u[0]']:.3g}",
    ]  # fmt: skip
    assert first["held"] == "to" and len(variables["rows"]) == 8
    told = " ".join(report["notes"])
    assert f"slsqp: {found.evaluations} evaluations" in told and "agrees with differences of whole runs" in told
    assert "A minimum" in told and f"Gradient left {found.outcome.residual:.1e}" in told


@pytest.mark.parametrize(
    ("objective", "unit"),
    [({"final": "mass.O.x"}, "m"), ({"integral": "mass.O.velocity.x"}, "m"), ({"maximum": "mass.O.x**2", "sharpness": 9}, "m2"),
     ({"final": "1000*mass.O.x"}, None), ({"final": "mass.O.x/1.0e-3"}, None), ({"final": "mass.O.x**0.3"}, None)],
)  # fmt: skip
def test_units_that_are_sure(objective, unit):
    model = kg.Model.from_yaml(ROOT / "examples" / "slide" / "model.yaml")
    model.objectives = {"one": objective}
    assert units(model).get("one") == unit


def test_a_page_without_a_study_has_no_report(five_bar, tmp_path):
    assert scene_of(five_bar.to_html(tmp_path / "a.html", frames=5))["report"] is None


def test_positions_at_rest_have_a_page(tmp_path):
    """A spring of which the load rests at 1 m/s² · m/k."""
    model = kg.Model.from_yaml_text(
        "{kinegrad: 1, parameters: {k: 10.0}, ground: {markers: {O: [0, 0, 0]}}, bodies: {mass: {mass: 1, inertia: [1, 1, 1], "
        "markers: {O: [0, 0, 0]}}}, joints: {slide: {type: prismatic, between: [ground.O, mass.O], axis: [1, 0, 0]}}, forces: "
        "{push: {type: force, acts_on: slide.distance, value: 1 - k*slide.distance}}, degrees_of_freedom: {slide.distance: "
        "{position: 0}}, objectives: {x: {final: mass.O.x}}, simulation: {t_end: 1, step: 0.1}}"
    )
    study = kg.Study(model, analysis="equilibrium", variables={"k": {"bounds": [1, 20]}}, minimise="(x - 0.5)**2")
    found = study.optimize()
    before, after = found.motions()
    assert before["mass.O.x"] == pytest.approx([0.1]) and after["mass.O.x"] == pytest.approx([0.5], abs=1e-5)
    scene = scene_of(found.to_html(tmp_path / "rest.html"))
    assert scene["count"] == 1 and scene["beside"][0]["count"] == 1 and scene["report"]["status"] == "optimum"


def test_the_table_is_seen(browser, found, page):
    browser.open(f"{page.as_uri()}#t=0", 1400, 900)
    rows = "[...document.querySelectorAll('.report tbody tr')].map((r) => [...r.children].map((c) => c.textContent))"
    shown = browser.run(rows)
    expected = [row["cells"] for table in scene_of(page)["report"]["tables"] for row in table["rows"]]
    assert shown == expected
    active = browser.run("[...document.querySelectorAll('.report .active')].map((c) => c.textContent)")
    assert active == ["= 1", "0.5", "4", "4"] and {k for k in found.active if "[" in k} == {"u[0]", "u[1]"}
    assert "Study" in browser.run("document.querySelector('.report summary').innerText")
    wide = "(() => { const b = document.querySelector('.report-body'); return b.scrollWidth - b.clientWidth; })()"
    assert browser.run(wide) <= 0 and browser.problems == []
