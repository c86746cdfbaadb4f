"""Matrices of a fixed pattern: where their entries are, and how sets and elements write them.

A matrix is one flat array, kept by rows.  Its pattern says which columns each row has: runs of consecutive ones.  That of a
dense matrix has one run in every row, and entry (i, j) is at i n + j; otherwise the run that holds the column is looked for.
Two patterns serve all matrices of a system (`kinegrad.kernels.products`): `square` those of coordinates by coordinates, and
`wide` those of rows by coordinates.

A derivative by z = (q, ρ) has two parts: by coordinates, of a pattern, and by directions, an array with a column each.  Whoever
writes it counts columns through, coordinates first, and adds to both by `add`; the three belong together as a tuple
(pattern, by coordinates, by directions).
"""

import numpy as np

from kinegrad.kernels.jit import inlined, kernel

# A pattern is an array of whole numbers.  Header: whether it is dense, rows, columns, and where the following begin: the
# places of the rows (and of the end); of each row, its first run and the one after its last; of each run, its first
# column, its length and where it begins in the row.
DENSE, ROWS, COLUMNS, PLACES, OF_ROW, RUNS = range(6)
N_HEADER = 6


def dense(rows: int, columns: int) -> np.ndarray:
    """The pattern of a matrix that has every entry."""
    return np.array([1, rows, columns, 0, 0, 0], np.int64)


def size(pattern: np.ndarray) -> int:
    """How many entries a matrix of this pattern has."""
    if pattern[DENSE]:
        return int(pattern[ROWS] * pattern[COLUMNS])
    return int(pattern[pattern[PLACES] + pattern[ROWS]])


def of_columns(rows, columns: int) -> np.ndarray:
    """The pattern of a matrix whose rows have these columns, in increasing order; equal rows share their runs."""
    known: dict[tuple, tuple[int, int]] = {}
    places, of_row, runs, place = [], [], [], 0
    for row in rows:
        row = tuple(int(j) for j in row)
        if row not in known:
            first = len(runs)
            for at, j in enumerate(row):
                if at and j == row[at - 1] + 1:
                    runs[-1][1] += 1
                else:
                    runs.append([j, 1, at])
            known[row] = first, len(runs)
        places.append(place)
        of_row.append(known[row])
        place += len(row)
    tables = [np.array(table, np.int64).ravel() for table in ([*places, place], of_row, runs)]
    begin = N_HEADER + np.cumsum([0, *(len(table) for table in tables)])
    return np.concatenate([np.array([0, len(places), columns, *begin[:3]], np.int64), *tables])


def spread(pattern: np.ndarray, values: np.ndarray) -> np.ndarray:
    """A matrix of this pattern with its zeros: a view of the values where it is dense, otherwise a copy of them."""
    rows, columns = pattern[ROWS], pattern[COLUMNS]
    if pattern[DENSE]:
        return values.reshape(rows, columns)
    full = np.zeros((rows, columns), values.dtype)
    for i in range(rows):
        begin, at = pattern[PLACES] + i, pattern[OF_ROW] + 2 * i
        for k in range(pattern[at], pattern[at + 1]):
            first, count, offset = pattern[pattern[RUNS] + 3 * k : pattern[RUNS] + 3 * k + 3]
            full[i, first : first + count] = values[pattern[begin] + offset : pattern[begin] + offset + count]
    return full


@inlined
def place(P, i, j):
    """Where entry (i, j), which the pattern has, is."""
    return i * P[COLUMNS] + j if P[DENSE] else place_in_runs(P, i, j)


@kernel
def place_in_runs(P, i, j):
    """Where entry (i, j) is, by a search through the runs of the row."""
    low = P[P[OF_ROW] + 2 * i]
    high = P[P[OF_ROW] + 2 * i + 1]
    while high - low > 1:
        middle = (low + high) // 2
        if P[P[RUNS] + 3 * middle] <= j:
            low = middle
        else:
            high = middle
    run = P[RUNS] + 3 * low
    return P[P[PLACES] + i] + P[run + 2] + j - P[run]


@inlined
def end_of(P, rows):
    """Where the entries of the first `rows` rows end."""
    return rows * P[COLUMNS] if P[DENSE] else P[P[PLACES] + rows]


@inlined
def add(A, i, k, x):
    """A_ik += x, where k counts coordinates and then directions; A: the pattern and both parts."""
    P, by_q, by_s = A
    if k < P[COLUMNS]:
        by_q[place(P, i, k)] += x
    else:
        by_s[i, k - P[COLUMNS]] += x
