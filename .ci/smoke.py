"""A short simulation of the five-bar linkage and its gradients, to compare versions of Numba and ways of compiling.

    python .ci/smoke.py NUMBERS.json

The first use writes the numbers, every later one compares with them, to 1e-12.
"""

import json
import sys
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np

import kinegrad as kg

TOLERANCE = 1e-12


def numbers() -> dict[str, list]:
    """Positions at the end, and the derivatives by direct differentiation and by the discrete adjoint."""
    model = kg.Model.from_yaml(Path(__file__).parents[1] / "examples" / "five_bar" / "model.yaml")
    motion = kg.simulate(kg.joint(model), t_end=0.5)
    found = {method: kg.gradient(motion, method=method).matrix for method in ("direct", "discrete-adjoint")}
    return {name: np.ravel(value).tolist() for name, value in {"q": motion.q[-1], **found}.items()}


def difference(found: dict, expected: dict) -> float:
    """The largest difference, of the largest number of its kind."""
    return max(
        np.abs(np.subtract(found[name], expected[name])).max() / np.abs(expected[name]).max() for name in expected
    )


def main(path: Path) -> int:
    start = time.process_time()
    found = numbers()
    told = f"Numba {version('numba')}: {time.process_time() - start:.0f} s of processor time"
    if not path.exists():
        path.write_text(json.dumps(found))
        print(told)
        return 0
    apart = difference(found, json.loads(path.read_text()))
    print(f"{told}, {apart:.1e} from the first")
    return 0 if apart <= TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
