"""One file of HTML: the document of a scene, style and program put together, with nothing to load from elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from importlib.resources import files
from pathlib import Path

from kinegrad.errors import KinegradError
from kinegrad.files import complete
from kinegrad.page.scene import FRAMES, scene

SUFFIXES = (".html", ".htm")
#: The program in the order in which it is read: each file may use what stands before it.
SCRIPTS = (
    *(
        "algebra.js",
        "elements.js",
        "ticks.js",
        "solids.js",
        "camera.js",
        "arrows.js",
        "drawing.js",
        "webgl.js",
        "canvas.js",
    ),
    *(
        "labels.js",
        "memory.js",
        "series.js",
        "exports.js",
        "plot.js",
        "picker.js",
        "panels.js",
        "gradient.js",
        "report.js",
        "controls.js",
    ),
    *("menu.js", "pick.js", "topology.js", "notices.js", "live.js", "main.js"),
)


def check_suffix(path: str | Path) -> Path:
    """`path`; raises when its name is not that of a page."""
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise KinegradError(f"{str(path)!r} is no name of a page; end it with .html.")
    return path


def to_html(motion, path: str | Path, *, frames: int = FRAMES, **options) -> Path:
    """Where the page of `motion` was written; a file that was there is replaced, and only by a complete one.

    `options` are those of `scene`.
    """
    path = check_suffix(path)
    document = scene(motion, most=frames, **options)
    with complete(path) as part, part.open("w", encoding="utf-8") as file:
        file.writelines(pieces(document))
    return path


def page(document: dict) -> str:
    """The text of a page."""
    return "".join(pieces(document))


def pieces(document: dict) -> Iterator[str]:
    """The same, piece by piece: of large models it is large."""
    web = files("kinegrad.page") / "web"
    parts = {
        "title": escape(document["title"]),
        "style": (web / "page.css").read_text(encoding="utf-8"),
        "program": "\n".join((web / name).read_text(encoding="utf-8") for name in SCRIPTS),
    }
    text = (web / "page.html").read_text(encoding="utf-8")
    first, *rest = text.split("{{")
    yield first
    for piece in rest:
        name, _, after = piece.partition("}}")
        yield from as_script_texts(document) if name == "scene" else (parts[name],)
        yield after


def as_json(document: dict) -> str:
    """JSON; raises KinegradError when a number is none, for which JSON has no word."""
    try:
        return json.dumps(document, allow_nan=False, separators=(",", ":"))
    except ValueError:
        raise KinegradError(
            "The motion has numbers that are infinite or not a number, which a page cannot show; look for numbers of the "
            "model that are too large or too small."
        ) from None


def as_script_texts(document: dict) -> Iterator[str]:
    """JSON that may stand in a script element whatever texts it holds: a piece for each entry."""
    between = "{"
    for key, value in document.items():
        yield between
        yield as_script_text({key: value})[1:-1]
        between = ","
    yield "}"


def as_script_text(document: dict) -> str:
    """The same of a part of a document."""
    text = as_json(document)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
