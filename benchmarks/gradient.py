"""Cost of gradients beside CasADi, MuJoCo, Exudyn and Pinocchio: the same as `kinegrad bench gradient`."""

from kinegrad.cli import main

if __name__ == "__main__":
    main(["bench", "gradient"])
