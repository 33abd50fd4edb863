"""What the sweep of readers (test_sweep.py) tries each reader on.

A test module of a reader, tests/read/test_webdataset.py say, has a list of cases, each a data set made of a few files:

    CASES = [
        case("readers.file", {"a/0.jpg": b"zero", "a/1.jpg": b"one"}, [(b"zero", label(0)), (b"one", label(0))],
             lambda root: {"file_root": root}),
    ]

`samples` are what the reader gives, in order: for each sample its outputs, as bytes or arrays. From that alone each
case is checked for shards, shuffles, samplers, checkpoints and what the reader tells of itself, on the disk and in
memory, and beside DALI; and with `broken` contents of a file, for what becomes of samples that cannot be read.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from penstock import Pipeline, fn
from penstock.machine import native
from penstock.tfrecord import Feature

Array = np.ndarray[Any, Any]
Sample = tuple[Array, ...]
Contents = dict[str, bytes]


@dataclass(frozen=True, eq=False)
class DataSet:
    """One way to call a reader, the files that it reads, and what comes out."""

    reader: str
    files: Contents
    samples: list[Sample]
    arguments: Callable[[str], dict[str, Any]]  # given the folder
    broken: (
        tuple[str, bytes | None, int] | None
    )  # a file, other contents (None: it is gone), the sample that these break
    in_memory: bool  # whether all its files may be of another storage than the disk
    differs: str | None  # why DALI gives something else on purpose
    title: str

    def __str__(self) -> str:
        return f"{self.reader}({self.title})"

    def written(self, folder: Path, harmed: bool = False) -> dict[str, Any]:
        """Writes the files; the reader's arguments."""
        for name, data in self._contents(harmed).items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
        return self.arguments(str(folder))

    @contextmanager
    def remembered(self) -> Iterator[dict[str, Any]]:
        """The same in memory."""
        root = f"memory://{id(self)}"
        for name, data in self.files.items():
            remember(f"{root}/{name}", data)
        try:
            yield self.arguments(root)
        finally:
            for name in self.files:
                remember(f"{root}/{name}", None)

    def _contents(self, harmed: bool) -> Contents:
        if not harmed or self.broken is None:
            return self.files
        name, data, _ = self.broken
        return {
            key: value if key != name else data for key, value in self.files.items() if key != name or data is not None
        }


def case(
    reader: str,
    files: Contents,
    samples: Sequence[Sequence[bytes | Array]],
    arguments: Callable[[str], dict[str, Any]],
    *,
    broken: tuple[str, bytes | None, int] | None = None,
    in_memory: bool = True,
    differs: str | None = None,
    title: str = "",
) -> DataSet:
    """A case; bytes stand for arrays of uint8."""
    rows = [
        tuple(np.frombuffer(v, np.uint8) if isinstance(v, bytes) else np.asarray(v) for v in row) for row in samples
    ]
    return DataSet(reader, files, rows, arguments, broken, in_memory, differs, title)


def label(number: int) -> Array:
    """A label as readers give them."""
    return np.array([number], np.int32)


def remember(name: str, data: bytes | None) -> None:
    """Puts a file into memory, or takes it away."""
    pointer = None if data is None else ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p)
    assert native.quick().ps_memory_file(name.encode(), pointer, len(data or b"")) == 0


def reader(name: str, arguments: dict[str, Any], module: Any = fn) -> list[Any]:
    """The outputs of the reader of this name, here or in another module like `fn`."""
    operator = module
    for part in name.split("."):
        operator = getattr(operator, part)
    if not module.__name__.startswith("penstock"):
        arguments = {key: theirs(value) for key, value in arguments.items()}
    made = operator(name="Reader", **arguments)
    return [*made.values()] if isinstance(made, dict) else list(made) if isinstance(made, (list, tuple)) else [made]


def theirs(value: Any) -> Any:
    """An argument as DALI takes it: features of TFRecord are objects of its own."""
    if isinstance(value, dict):
        return {key: theirs(item) for key, item in value.items()}
    if isinstance(value, Feature):
        from nvidia.dali import tfrecord

        rest = (list(value.shape), value.dtype, value.default)
        return tfrecord.FixedLenFeature(*rest) if value.fixed else tfrecord.VarLenFeature(*rest)
    return value


def pipeline(data: DataSet, arguments: dict[str, Any], **options: Any) -> Pipeline:
    """A pipeline that reads the case, three samples at a time unless the options say otherwise."""
    pipe = Pipeline(**{"batch_size": 3, "num_threads": 2, "device_id": None, "seed": 1, **options})
    with pipe:
        pipe.set_outputs(*reader(data.reader, arguments))
    return pipe


def rows(outputs: Sequence[Any]) -> list[Sample]:
    """The samples of a batch."""
    return [tuple(np.array(o.at(i)) for o in outputs) for i in range(len(outputs[0]))]


def read(pipe: Pipeline, count: int) -> list[Sample]:
    """So many samples at least, of whole batches."""
    found: list[Sample] = []
    while len(found) < count:
        found += rows(pipe.run())
    return found


def key(sample: Sample) -> tuple[Any, ...]:
    """What two samples are compared by."""
    return tuple((a.dtype.str, a.shape, a.tobytes()) for a in sample)  # quicker than str(a.dtype)


def keys(samples: Sequence[Sample]) -> list[tuple[Any, ...]]:
    return [key(sample) for sample in samples]
