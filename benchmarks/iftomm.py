"""The problems A01 to A05 beside Exudyn and MuJoCo: the same as `kinegrad bench iftomm`."""

from kinegrad.cli import main

if __name__ == "__main__":
    main(["bench", "iftomm"])
