"""A browser, where one is installed, and small motions to show."""

from pathlib import Path

import pytest
from browser import Browser, find

import kinegrad as kg

ROOT = Path(__file__).parents[2]
#: WebGL without a graphics card; the page falls back to a plain canvas where even that is missing.
SOFTWARE = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader")

#: The storage of a page, in its window: it outlives a reload as that of the browser does, which a busy machine writes late,
#: and `Browser.open` empties it.
STORAGE = """Object.defineProperty(window, "localStorage", { value: {
  getItem: (key) => JSON.parse(window.name || "{}")[key] ?? null,
  setItem: (key, value) => { window.name = JSON.stringify({ ...JSON.parse(window.name || "{}"), [key]: String(value) }); },
} });"""


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    if find() is None:
        pytest.skip("no Chromium or Chrome is installed; install one, or name it by KINEGRAD_BROWSER")
    with Browser(tmp_path_factory.mktemp("profile"), *SOFTWARE) as opened:
        opened.ask("Page.addScriptToEvaluateOnNewDocument", source=STORAGE)
        yield opened


@pytest.fixture(scope="session")
def five_bar():
    """Half a second of the five-bar linkage."""
    model = kg.Model.from_yaml(ROOT / "examples/five_bar/model.yaml")
    return kg.simulate(kg.joint(model), t_end=0.5)


@pytest.fixture(scope="session")
def five_bar_page(five_bar, tmp_path_factory):
    """Address of its page, with a gradient, standing still."""
    gradient = kg.gradient(five_bar)
    path = five_bar.to_html(tmp_path_factory.mktemp("page") / "five_bar.html", gradient=gradient, frames=101)
    return f"{path.as_uri()}#t=0", gradient
