"""Pages of the repository that the site has too: links to README.md, CHANGELOG.md ... stay on the site."""

from __future__ import annotations

import re

PAGES = {"README.md": "index.md", "CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
FILE = re.compile(r"\]\((?:\.\./)+(" + "|".join(map(re.escape, PAGES)) + r")(#[^)]*)?\)")


def stay_on_site(app, docname: str, source: list[str]) -> None:
    """Point links that leave docs/ for a page of the repository at the page of the site."""
    up = "../" * docname.count("/")
    source[0] = FILE.sub(lambda match: f"]({up}{PAGES[match[1]]})", source[0])


def included(app, relative_path, parent: str, content: list[str]) -> None:
    """In a page that is included from the root of the repository, links are those of docs/."""
    text = re.sub(r"\]\(docs/", "](", content[0])
    content[0] = re.sub(r"\]\((" + "|".join(map(re.escape, PAGES)) + r")\)", lambda m: f"]({PAGES[m[1]]})", text)


def setup(app) -> dict:
    """Register with Sphinx."""
    app.connect("source-read", stay_on_site)
    app.connect("include-read", included)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
