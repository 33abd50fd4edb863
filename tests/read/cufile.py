"""The software GPU's cuFile, and readers of NumPy's files that use it."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from penstock import fn
from tests.read.test_numpy import npy
from tests.small import made

_RNG = np.random.default_rng(0)
OPEN, REGISTER, BUFFER, READ = range(4)  # calls that cuFile can be told to refuse


class Counts(NamedTuple):
    """What the software GPU's cuFile has noted."""

    uses: int
    files: int  # registered now
    buffers: int
    registered: int  # so far
    reads: int
    whole_pages: int
    most_files: int  # at a time
    opened: int
    asked: int  # to register files


class CuFile:
    """The software GPU's."""

    def __init__(self, path: str) -> None:
        self.library = ctypes.CDLL(path)

    def counts(self) -> Counts:
        rows = (ctypes.c_int * len(Counts._fields))()
        self.library.software_cufile_counts(rows, len(rows))
        return Counts(*rows)

    def fail(self, call: int, code: int) -> None:
        self.library.software_cufile_fail(call, code)

    def hang(self, milliseconds: int) -> None:
        self.library.software_cufile_hang(milliseconds)

    def limit(self, size: int) -> None:
        self.library.software_cufile_short(size)


def write(folder: Path, arrays: list[Any]) -> list[Path]:
    names = [folder / f"{i:05}.npy" for i in range(len(arrays))]
    for name, array in zip(names, arrays, strict=True):
        name.write_bytes(array if isinstance(array, bytes) else npy(array))
    return names


def on_gpu(names: Any, batch_size: int = 4, ahead: bool = True, **arguments: Any) -> Any:
    def define() -> Any:
        return fn.readers.numpy(device="gpu", files=names, name="Reader", **arguments)

    return made(define, batch_size=batch_size, device_id=0, exec_pipelined=ahead, exec_async=ahead)


def arrays(pipe: Any, batches: int = 1) -> list[Any]:
    found: list[Any] = []
    for _ in range(batches):
        (batch,) = pipe.run()
        found += [np.array(one) for one in batch.as_cpu()]
    return found


def reads(pipe: Any) -> Any:
    """How its reader's samples came there so far."""
    (found,) = pipe._built().executor.reads().values()
    return found


def large(dtype: str, *shape: int, fortran: bool = False) -> Any:
    array = (_RNG.random(shape) * 100).astype(dtype)
    return np.asfortranarray(array) if fortran else array
