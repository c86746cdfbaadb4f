"""The five-bar beside Exudyn and MuJoCo: the same as `kinegrad bench five-bar`."""

from kinegrad.cli import main

if __name__ == "__main__":
    main(["bench", "five-bar"])
