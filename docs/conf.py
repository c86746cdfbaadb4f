"""Settings of the documentation site: ``sphinx-build -W -b html docs OUT``, without network."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "docs" / "extensions")]

import kinegrad  # noqa: E402

project = "kinegrad"
author = "The kinegrad developers"
copyright = author
version = release = kinegrad.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "equation_labels",
    "element_keys",
    "repository_pages",
    "contents",
    "reference",
]
source_suffix = {".md": "markdown"}
exclude_patterns = ["extensions", "pictures"]
language = "en_GB"

# Markdown: headings are link targets, and nothing is guessed. Formulas are written in Unicode, so that they read the
# same on the site, in an editor and in a docstring; no renderer and no fonts have to be fetched.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "html_image"]
suppress_warnings = ["myst.strikethrough", "ref.python"]  # attributes such as q belong to several classes

# Docstrings: NumPy style; `name` in single backquotes is code.
default_role = "literal"
napoleon_google_docstring = False
napoleon_use_rtype = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_use_ivar = True
toc_object_entries = False

html_theme = "pydata_sphinx_theme"
html_title = "kinegrad"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_sidebars = {"**": ["globaltoc.html"]}  # all pages by group, on every page
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "navbar_center": [],
    "navbar_persistent": [],
    "navbar_end": ["search-field", "theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
