"""Small pipelines over small files, for the tests of pipelines and of the engine."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import penstock
from penstock import DataNode, Pipeline, fn


def ten_files(folder: Path) -> list[str]:
    """Writes ten files; file i has i + 1 bytes of value i."""
    for i in range(10):
        (folder / f"{i}").write_bytes(bytes([i]) * (i + 1))
    return [str(folder / f"{i}") for i in range(10)]


def numbers(files: list[str], **arguments: Any) -> DataNode:
    """The files' numbers, of shape (1,), from a reader named "Reader"."""
    return fn.readers.file(files=files, **{"name": "Reader", **arguments})[1]


@cache
def _patience() -> Callable[..., DataNode]:
    """An operator that does nothing, and takes its time."""

    @penstock.operator
    class patience:  # noqa: N801
        inputs = 0
        header = "#include <chrono>\n#include <thread>"
        setup = 'out.set_dtype(penstock::DType::int32); out.set_shape({}, "");'
        run = """
            std::this_thread::sleep_for(std::chrono::milliseconds(25));
            *out.data<int32_t>() = 0;
        """

    return patience


def slow() -> DataNode:
    """A zero per sample, for which a thread of the engine needs 25 ms, however fast the machine is."""
    return _patience()()


def made(define: Callable[[], Any], **arguments: Any) -> Pipeline:
    """A pipeline of 4 samples and 2 threads, unless the arguments say otherwise."""
    pipe = Pipeline(**{"batch_size": 4, "num_threads": 2, "device_id": None, "seed": 1, **arguments})
    with pipe:
        outputs = define()
        pipe.set_outputs(*(outputs if isinstance(outputs, (list, tuple)) else [outputs]))
    return pipe


def values(output: Any) -> list[Any]:
    """All numbers of an output."""
    return output.as_array().ravel().tolist()
