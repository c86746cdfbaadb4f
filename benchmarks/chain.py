"""Spatial chains beside Pinocchio, MuJoCo and Exudyn: the same as `kinegrad bench chain`, with a choice of sizes."""

import argparse

from kinegrad.bench.chain import SIZES, run, table
from kinegrad.bench.machine import machine


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=20, help="turns that count (20)")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="numbers of links")
    options = parser.parse_args()
    print("\n".join(machine()), end="\n\n")
    print(table(run(options.repeats, sizes=options.sizes)))


if __name__ == "__main__":
    main()
