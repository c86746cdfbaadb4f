"""Whether HDF5 comes to an end with a file: it is read in a process of its own, since damage can hang or crash HDF5.

Only files without a checksum need that. The process runs this file as a script, and imports h5py alone.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PATIENCE = 10.0  # seconds
BYTES_A_SECOND = 2e7  # for large files there is so much more time
BLOCK = 1 << 24  # bytes read at once


def comes_to_an_end(path: Path) -> bool:
    """Whether everything in an HDF5 file can be asked for; what is wrong in it may still be an error."""
    command = [sys.executable, "-P", __file__, str(path)]
    try:
        seconds = PATIENCE + path.stat().st_size / BYTES_A_SECOND
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        return False
    except OSError:  # no process can be started here
        return True
    return done.returncode >= 0


def ask_for_everything(path: str) -> None:
    """Reads all attributes and arrays at the top of a file."""
    import h5py

    with h5py.File(path, "r") as file:
        dict(file.attrs)
        for name in file:
            if isinstance(file.get(name, getlink=True), h5py.HardLink) and isinstance(file[name], h5py.Dataset):
                _read(file[name])


def _read(dataset) -> None:
    if dataset.is_virtual or dataset.external or not dataset.nbytes:
        return
    if not dataset.shape:
        dataset[()]
        return
    rows = max(1, BLOCK * dataset.shape[0] // dataset.nbytes)
    stored = max(dataset.id.get_storage_size(), 1 << 20)
    for first in range(0, min(dataset.shape[0], rows * (1 + stored // BLOCK)), rows):
        dataset[first : first + rows]


if __name__ == "__main__":
    try:
        ask_for_everything(sys.argv[1])
    except Exception:  # told by the reader of the file
        sys.exit(3)
