"""The five-bar beside Exudyn and MuJoCo: the same as `kinegrad bench`."""

from kinegrad.cli import main

if __name__ == "__main__":
    main(["bench"])
