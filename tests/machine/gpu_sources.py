"""Collects the sources of GPU kernels, without compiling one: all operators' cases, alone and between other operators.

A program, since kernels that were refused once stay refused in their process. It writes a list as JSON.
"""

from __future__ import annotations

import contextlib
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from penstock import DataNode, Pipeline, fn, math, types
from penstock.errors import DeviceError, PenstockError
from penstock.graph.constants import constant
from penstock.machine import kernels
from penstock.op import registry
from tests.augment.arithmetic import ARITHMETIC, BITS, COMPARISONS, REAL
from tests.augment.test_sweep import CASES
from tests.cases import pictures
from tests.runners import Nodes, ours
from tools.photographs import Style, write_folder

found: set[str] = set()


def note(source: str, arch: int) -> NoReturn:
    """In the compiler's place."""
    found.add(source)
    raise DeviceError("only the source is wanted")


def attempt(do: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Every pipeline fails, since its kernels are refused, or since an operator takes no such input."""
    with contextlib.suppress(PenstockError):
        do(*args, **kwargs)


def run(make: Callable[[], DataNode]) -> None:
    pipe = Pipeline(batch_size=2, num_threads=1, device_id=0, prefetch_queue_depth=1)
    with pipe:
        pipe.set_outputs(make())
    pipe.run()


def flipped(inputs: Nodes) -> Nodes:
    return [fn.flip(inputs[0].gpu()), *inputs[1:]]


def normalized(output: DataNode) -> DataNode:
    return fn.crop_mirror_normalize(output.gpu(), dtype=types.FLOAT16)


def operators() -> None:
    ways: list[dict[str, Any]] = [{}, {"then": normalized}, {"first": flipped}, {"first": flipped, "then": normalized}]
    for case in CASES:
        if "gpu" in registry.ops[case.op].devices:
            for way in ways if case.inputs else ways[:2]:
                attempt(ours, case, device="gpu", **way)


def arithmetic() -> None:
    def there(dtype: str, *shape: int) -> DataNode:
        return constant(np.ones(shape, dtype), device="gpu")

    for function in {**ARITHMETIC, **BITS, **COMPARISONS}.values():
        for a, b in (("u1", "i4"), ("i8", "u8"), ("f4", "f2"), ("f8", "?")):
            attempt(run, lambda f=function, a=a, b=b: f(there(a, 4, 1), there(b, 3)))
        attempt(run, lambda f=function: normalized(f(fn.flip(pictures().node().gpu()), 3)))
    for name in REAL:
        for dtype in ("f4", "f8"):
            attempt(run, lambda name=name, dtype=dtype: getattr(math, name)(there(dtype, 3)))


def decoders(folder: Path) -> None:
    assert sum(write_folder(folder / "photographs", 2, Style()))

    def image(**arguments: Any) -> DataNode:
        files, _ = fn.readers.file(file_root=str(folder / "photographs"))
        return fn.decoders.image(files, device="mixed", **arguments)

    for arguments in ({}, {"output_type": types.GRAY}):
        one = dict(mean=[1.0], std=[1.0]) if arguments else {}
        attempt(run, lambda a=arguments, one=one: fn.crop_mirror_normalize(fn.resize(image(**a), size=200), **one))
        attempt(run, lambda a=arguments: fn.resize(fn.flip(image(**a)), size=200))
    attempt(run, lambda: normalized(fn.resize(image(), size=200)))
    attempt(run, lambda: normalized(image()))


if __name__ == "__main__":
    kernels.machine_code = note
    operators()
    arithmetic()
    with tempfile.TemporaryDirectory() as name:
        decoders(Path(name))
    json.dump(sorted(found), sys.stdout)
