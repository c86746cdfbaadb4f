"""Theory pages as they should read: labels of equations are links, and formulas are set as text with subscripts.

(ALI-3) on any page, and in docstrings, leads to the row that defines it: the first cell of a table row, or bold text, on a
theory page, as `tests/test_docs_labels.py` reads it. A formula is inline code with a letter beyond ASCII or, on a theory
page, with an equals sign.
"""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

SUBSCRIPT = re.compile(r"_([0-9A-Za-zΑ-Ωα-ωϖς]{1,3}(?:,[a-zα-ω])?)(?![0-9A-Za-zΑ-Ωα-ω_])")
LETTER = re.compile(r"(?<![\w])\w[^\w\s]?_[0-9A-Za-zΑ-ω]{1,3}(?![0-9A-Za-z_])")  # a letter with a subscript, in prose
CODE = {nodes.literal, nodes.literal_block, nodes.reference, nodes.title, nodes.comment, nodes.raw}
LABEL = re.compile(r"\b([A-Z]{2,3}-\d+)\b")


def _defined_by(node: nodes.Node) -> str | None:
    """The label that a table cell or a bold text defines."""
    if isinstance(node, nodes.entry):
        if node.parent.index(node) != 0:
            return None
    elif not isinstance(node, nodes.strong):
        return None
    match = re.fullmatch(r"\(?([A-Z]{2,3}-\d+)\)?", node.astext().strip())
    return match and match[1]


def collect(app, doctree: nodes.document) -> None:
    """Set formulas; give the place that defines a label an anchor, and remember it."""
    page = app.env.docname
    theory = page.startswith("theory/")
    for literal in list(doctree.findall(nodes.literal)):
        if not literal.astext().isascii() or (theory and " = " in literal.astext()):
            literal["classes"].append("formula")
            literal.children = _with_subscripts(literal.astext(), literal)
    if not theory:
        return
    for text in list(doctree.findall(nodes.Text)):
        if not {type(n) for n in _ancestors(text)} & CODE and LETTER.search(text.astext()):
            text.parent.replace(text, _with_subscripts(text.astext(), text.parent))
    for node in list(doctree.findall(lambda n: isinstance(n, nodes.entry | nodes.strong))):
        label = _defined_by(node)
        if label:
            node["ids"].append(f"eq-{label.lower()}")
            node["classes"].append("equation-label")
            _places(app.env)[label] = page


def _with_subscripts(text: str, parent: nodes.Element) -> list[nodes.Node]:
    """The text in pieces, with subscripts in place of Φ_q and the like."""
    pieces: list[nodes.Node] = []
    end = 0
    for match in SUBSCRIPT.finditer(text):
        pieces += [nodes.Text(text[end : match.start()]), nodes.subscript("", match[1])]
        end = match.end()
    pieces.append(nodes.Text(text[end:]))
    for piece in pieces:
        piece.parent = parent
    return pieces


def _places(env) -> dict[str, str]:
    if not hasattr(env, "equation_places"):
        env.equation_places = {}
    return env.equation_places


class LinkLabels(SphinxPostTransform):
    """Replaces each label in running text by a reference to its definition."""

    default_priority = 600

    def run(self, **_):
        for text in list(self.document.findall(nodes.Text)):
            within = {type(n) for n in _ancestors(text)}
            if within & CODE:
                continue
            pieces = LABEL.split(text.astext())
            if len(pieces) == 1 or any("equation-label" in n.get("classes", ()) for n in _ancestors(text)):
                continue
            text.parent.replace(text, [piece for k, part in enumerate(pieces) for piece in self._piece(k, part)])

    def _piece(self, k: int, part: str) -> list[nodes.Node]:
        page = _places(self.env).get(part) if k % 2 else None
        if page is None:
            return [nodes.Text(part)] if part else []
        here, there = self.env.docname, page
        return [make_refnode(self.app.builder, here, there, f"eq-{part.lower()}", nodes.Text(part), "equation")]


def _ancestors(node: nodes.Node) -> list[nodes.Element]:
    found = []
    while node.parent is not None:
        node = node.parent
        found.append(node)
    return found


def _purge(app, env, docname: str) -> None:
    for label in [label for label, page in _places(env).items() if page == docname]:
        del env.equation_places[label]


def _merge(app, env, docnames, other) -> None:
    _places(env).update({label: page for label, page in _places(other).items() if page in docnames})


def setup(app) -> dict:
    """Register with Sphinx."""
    app.connect("doctree-read", collect)
    app.connect("env-purge-doc", _purge)
    app.connect("env-merge-info", _merge)
    app.add_post_transform(LinkLabels)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
