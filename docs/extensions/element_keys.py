"""The keys of a model's elements in their reference: taken from the classes, which describe each key once."""

from __future__ import annotations


def add_keys(app, what: str, name: str, obj, options, lines: list[str]) -> None:
    """Append a NumPy section with the fields of an element, their defaults and descriptions."""
    fields = getattr(obj, "model_fields", None)
    if what != "class" or not fields:
        return
    lines += ["", "Parameters", "----------"]
    for key, field in fields.items():
        if key == "type":
            continue
        default = "" if field.is_required() else f", default {_shown(field.get_default(call_default_factory=True))}"
        lines.append(f"{key} : {'required' if field.is_required() else 'optional'}{default}")
        lines.append(f"    {field.description or ''}".replace("*", r"\*"))
    lines.append("")


def _shown(value) -> str:
    """A default as a model file has it."""
    kind = getattr(value, "type", None)
    return f"`{kind}`" if kind else f"`{value}`"


def no_signature(app, what, name, obj, options, signature, returns):
    """Elements take their keys by name; the section of keys says it better than a line of types."""
    return ("", None) if what == "class" and hasattr(obj, "model_fields") else None


def setup(app) -> dict:
    """Register with Sphinx, before NumPy sections are read."""
    app.connect("autodoc-process-docstring", add_keys, priority=100)
    app.connect("autodoc-process-signature", no_signature)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
