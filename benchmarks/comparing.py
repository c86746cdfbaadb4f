"""The table of `docs/comparing.md`: examples in every set, by every formulation, and which of them agree.

``python benchmarks/comparing.py [EXAMPLE ...]`` prints it as Markdown; ``--quick`` and ``--t-end=0.02`` shorten the runs.
"""

import sys
from pathlib import Path

import kinegrad as kg

EXAMPLES = Path(__file__).parents[1] / "examples"
NAMES = ("five_bar", "slider_crank", "bricard", "bennett", "gyroscope", "bicycle", "buggy", "anchor_chain")
SETS = ("joint", "reference-point", "natural")


def main(arguments: list[str]) -> None:
    quick = "--quick" in arguments
    t_end = next((float(x.removeprefix("--t-end=")) for x in arguments if x.startswith("--t-end=")), None)
    names = [name for name in arguments if not name.startswith("--")] or NAMES
    print(
        "| example | to t [s] | set | ali3p | matrix-r | index1 | penalty | recursive | udwadia-kalaba | cost by joint |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    said = []
    for name in names:
        path = EXAMPLES / name / "model.yaml"
        if path.exists():
            found = kg.compare(kg.Model.from_yaml(path), quick=quick, t_end=t_end, body_points=["origin"])
            for kind in SETS:
                print(line(name, kind, found), flush=True)
            said += [f"{name}: {sentence}" for sentence in found.sentences() if " are left out" not in sentence]
    print("\n" + "\n".join(said))


def line(name: str, kind: str, found: kg.Comparison) -> str:
    """A row: with how many integrators each formulation agrees, and the cost of ali3p with newmark."""
    cells = []
    for formulation in ("ali3p", "matrix-r", "index1", "penalty", "recursive", "udwadia-kalaba"):
        rows = [row for row in found.rows if (row.coordinates, row.formulation) == (kind, formulation)]
        cells.append(f"{sum(row.agrees is True for row in rows)} of {len(rows)}" if rows else "")
    ratio = found.ratios.get(kind, {}).get("ali3p with newmark")
    return f"| {name} | {found.t_end:g} | {kind} | {' | '.join(cells)} | {'1' if ratio is None else f'{ratio:.2g}'} |"


if __name__ == "__main__":
    main(sys.argv[1:])
