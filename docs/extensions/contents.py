"""The table of contents, from the lists of index.md: each section a group, each linked page an entry.

So that a new page is linked once, in index.md, which also reads well without a site. Pages that it does not list are the
last group.
"""

from __future__ import annotations

import re

ENTRY = re.compile(r"^- \[[^\]]+\]\(([\w/]+)\.md\)", re.MULTILINE)


def add_toctrees(app, docname: str, source: list[str]) -> None:
    """Append a hidden toctree for each section of the index."""
    if docname != "index":
        return
    groups = {
        section.splitlines()[0]: ENTRY.findall(section)
        for section in re.split(r"^## ", source[0], flags=re.MULTILINE)[1:]
    }
    listed = {"index", *(page for pages in groups.values() for page in pages)}
    groups["More"] = sorted(app.env.found_docs - listed)
    for caption, pages in groups.items():
        pages = [page for page in pages if page != "index"]
        if pages:
            source[0] += "\n".join(["\n\n```{toctree}", f":hidden:\n:caption: {caption}\n", *pages, "```\n"])


def setup(app) -> dict:
    """Register with Sphinx, after links to pages of the repository are those of the site."""
    app.connect("source-read", add_toctrees, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
