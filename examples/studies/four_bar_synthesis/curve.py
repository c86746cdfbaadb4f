"""Writes path.csv and free.csv: points of a coupler curve by the intersection of two circles, with and without their timing."""

from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
TRUE = {"Ax": 0.1, "Ay": -0.2, "Dx": 2.8, "Dy": 0.3, "a": 0.8, "b": 2.3, "c": 2.2, "px": 1.4, "py": 0.9, "phase": 1.3}


def curve(phi, Ax, Ay, Dx, Dy, a, b, c, px, py, **_):
    """Points, slope of the coupler and angle of the rocker at angles of the crank."""
    B = np.stack([Ax + a * np.cos(phi), Ay + a * np.sin(phi)])
    d = np.array([[Dx], [Dy]]) - B
    r = np.hypot(*d)
    slope = np.arctan2(d[1], d[0]) + np.arccos((b**2 + r**2 - c**2) / (2.0 * b * r))
    P = B + np.stack([px * np.cos(slope) - py * np.sin(slope), px * np.sin(slope) + py * np.cos(slope)])
    C = B + b * np.stack([np.cos(slope), np.sin(slope)])
    return P, slope, np.arctan2(C[1] - Dy, C[0] - Dx)


def write(name, t, phi):
    P, slope, swing = curve(phi, **TRUE)
    columns = np.column_stack([t, *P, slope, swing])
    np.savetxt(HERE / name, columns, delimiter=",", header="t,x,y,slope,swing", comments="", fmt="%.15g")


if __name__ == "__main__":
    write("path.csv", np.arange(12.0), TRUE["phase"] + np.pi / 6.0 * np.arange(12))
    turns = TRUE["phase"] + np.array([0.0, 0.5, 0.9, 1.6, 2.1, 2.5, 3.1, 3.8, 4.2, 4.9, 5.4, 5.9])
    write("free.csv", np.arange(12.0), turns)
