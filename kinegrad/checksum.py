"""A checksum behind the last byte of a file: any damage shows before the file is opened by what would trip over it.

HDF5 does not look behind the end that its header names, so that the file opens elsewhere as it is. A program that writes
into the file cuts the checksum off, and it then counts as a file without one.
"""

from __future__ import annotations

import zlib
from pathlib import Path

MARK = b"\nkinegrad crc32 "
SIZE = len(MARK) + 16 + 1 + 8 + 1  # the mark, the number of bytes before it, a blank, their checksum, a line feed
PIECE = 1 << 20


def append(path: Path) -> None:
    """Put the checksum of a file behind it."""
    size = path.stat().st_size
    line = MARK + b"%016d %08x\n" % (size, _crc32(path, size))
    with path.open("ab") as file:
        file.write(line)


def is_sound(path: Path) -> bool | None:
    """Whether a file is as it was when its checksum was made; None when it has none."""
    size = path.stat().st_size - SIZE
    if size < 0:
        return None
    with path.open("rb") as file:
        file.seek(size)
        line = file.read(SIZE)
    if not line.startswith(MARK):
        return None
    return line == MARK + b"%016d %08x\n" % (size, _crc32(path, size))


def _crc32(path: Path, size: int) -> int:
    """Of the first `size` bytes."""
    value = 0
    with path.open("rb", buffering=0) as file:
        while size > 0 and (piece := file.read(min(PIECE, size))):
            value = zlib.crc32(piece, value)
            size -= len(piece)
    return value
