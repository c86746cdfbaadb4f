"""``kinegrad precompile``: all compiled code ahead of its first use."""

from __future__ import annotations

from kinegrad.cli.contract import Report
from kinegrad.cli.options import Json


def precompile(json: Json = False) -> Report:
    """Compile all kernels ahead of their first use.

    What is compiled already is only loaded. Example: kinegrad precompile
    """
    import sys

    from kinegrad.precompile import precompile as compile_all

    def tell(feature: str, seconds: float) -> None:
        print(f"{feature}: {seconds:.1f} s", file=sys.stderr, flush=True)

    seconds = compile_all(tell)
    data = {"seconds": {feature: round(value, 3) for feature, value in seconds.items()}}
    total = sum(seconds.values())
    return Report(data, lambda console: console.print(f"All {len(seconds)} features are ready after {total:.1f} s."))
