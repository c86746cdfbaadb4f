"""An HDF5 file in the layout of netCDF-4: dimensions, variables over them, and texts.

HDF5 cannot end in order after a failed write: it complains on standard error, and may crash. So it writes into a file that
never fails: what went wrong is kept, and told as soon as HDF5 is out of the way.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

UNITS = {"time": "s", "step_end": "s", "interval_end": "s"}
BLOCK = 1 << 19  # bytes that are written, read and checked as one piece


@contextmanager
def new_file(path: Path) -> Iterator[Layout]:
    """A file to be filled inside the block; raises what went wrong with the disk, when HDF5 has closed it."""
    import h5py

    with open(path, "wb+", buffering=0) as raw:
        disk = _Disk(raw)
        try:
            with h5py.File(disk, "w") as file:
                yield Layout(file, disk)
        except Exception:
            disk.check()  # what HDF5 says is then a consequence
            raise
        disk.check()


class _Disk:
    """A file as HDF5 sees it, whose writes always succeed; `check` tells whether they did."""

    def __init__(self, raw):
        self.raw = raw
        self.error: BaseException | None = None

    def check(self) -> None:
        """Raise what went wrong first."""
        if self.error is not None:
            raise self.error

    def write(self, data) -> int:
        self._try(self._write_all, memoryview(data))
        return len(data)

    def _write_all(self, data: memoryview) -> None:
        while len(data):
            data = data[self.raw.write(data) :]

    def read(self, size: int = -1) -> bytes:
        return self.raw.read(size)

    def readinto(self, buffer) -> int:
        return self.raw.readinto(buffer)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self.raw.seek(offset, whence)

    def tell(self) -> int:
        return self.raw.tell()

    def truncate(self, size: int | None = None) -> int:
        self._try(self.raw.truncate, size)
        return size

    def flush(self) -> None:
        pass

    def _try(self, do: Callable, *arguments) -> None:
        if self.error is None:
            try:
                do(*arguments)
            except BaseException as error:  # an interrupt too: HDF5 would take it for a failed write
                self.error = error


class Layout:
    """Dimensions and variables: each dimension is a scale, each variable names its own. Numbers have HDF5's checksums."""

    def __init__(self, file, disk: _Disk):
        import h5py

        self.file, self.disk = file, disk
        self.string = h5py.string_dtype("utf-8")

    def dimension(self, name: str, labels, text: str) -> None:
        """A dimension with labels or values along it; none at all is no dimension."""
        labels = list(labels) if not isinstance(labels, np.ndarray) else labels
        if len(labels) == 0:
            return
        if isinstance(labels[0], str):
            scale = self.file.create_dataset(name, data=labels, dtype=self.string)
        else:
            scale = self._dataset(name, np.asarray(labels))
        scale.make_scale(name)
        scale.attrs["_Netcdf4Dimid"] = np.int32(sum("_Netcdf4Dimid" in d.attrs for d in self.file.values()))
        self._describe(scale, UNITS.get(name, ""), text)

    def variable(self, name: str, dimensions: tuple[str, ...], values, unit: str, text: str) -> None:
        """An array over dimensions; one without entries is left out."""
        if any(d not in self.file for d in dimensions):
            return
        self._attach(self._dataset(name, np.ascontiguousarray(values)), dimensions, unit, text)

    def variables_by_rows(
        self, kinds: Iterable[tuple[str, tuple[str, ...], str, str]], rows: Callable[[slice], Iterable[np.ndarray]]
    ) -> None:
        """Arrays of numbers that are computed and written a block of rows at a time.

        Parameters
        ----------
        kinds : (name, dimensions, unit, text) of each
        rows : callable
            Values of these rows for each of them.
        """
        kinds = list(kinds)
        dimensions = kinds[0][1]
        if any(d not in self.file for d in dimensions):
            return
        shape = tuple(len(self.file[d]) for d in dimensions)
        made = []
        for name, _, unit, text in kinds:
            dataset = self._new(name, shape, np.dtype(float))
            self._attach(dataset, dimensions, unit, text)
            made.append(dataset)
        step = made[0].chunks[0]
        for first in range(0, shape[0], step):
            part = slice(first, min(first + step, shape[0]))
            for dataset, values in zip(made, rows(part), strict=True):
                dataset[part] = values
            self.disk.check()

    def text(self, name: str, value: str, text: str) -> None:
        """A text of any length."""
        self._describe(self.file.create_dataset(name, data=value, dtype=self.string), "", text)

    def _new(self, name: str, shape: tuple[int, ...], dtype: np.dtype):
        """An empty dataset, in pieces of whole rows that are checked each for itself."""
        row = max(1, dtype.itemsize * int(np.prod(shape[1:])))
        chunks = (max(1, min(shape[0], BLOCK // row)), *shape[1:])
        return self.file.create_dataset(name, shape, dtype, chunks=chunks, fletcher32=True)

    def _dataset(self, name: str, values: np.ndarray):
        dataset = self._new(name, values.shape, values.dtype)
        dataset[...] = values
        self.disk.check()
        return dataset

    def _attach(self, dataset, dimensions: tuple[str, ...], unit: str, text: str) -> None:
        for axis, d in enumerate(dimensions):
            dataset.dims[axis].attach_scale(self.file[d])
        self._describe(dataset, unit, text)

    @staticmethod
    def _describe(dataset, unit: str, text: str) -> None:
        if unit:
            dataset.attrs["units"] = unit
        dataset.attrs["long_name"] = text
