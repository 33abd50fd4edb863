"""`python -m tests.bits`: a digest of what the library makes of each case, to compare processors with.

Cases are those of the sweep (tests/augment) and pictures of all formats, whole and in windows. Nothing but NumPy and
Pillow is needed.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from penstock import Pipeline, fn, types
from tests.augment.test_sweep import CASES
from tests.fuzz.seeds import SEEDS
from tests.runners import ours


def digest(arrays: list[Any]) -> str:
    """Of shapes, types and bytes; not-a-number is one value, whatever its sign and payload."""
    text = hashlib.sha256()
    for array in arrays:
        if array.dtype.kind == "f":
            array = np.where(np.isnan(array), np.array(np.nan, array.dtype), array)
        text.update(f"{array.shape} {array.dtype}".encode())
        text.update(np.ascontiguousarray(array).tobytes())
    return text.hexdigest()[:16]


def pictures(folder: Path) -> Iterator[tuple[str, list[Any]]]:
    """Each seed of the fuzz tests, decoded in several ways."""
    for name, data in SEEDS.items():
        path = folder / "picture"
        path.write_bytes(data)
        for options in (
            {},
            {"use_fast_idct": True},
            {"jpeg_fancy_upsampling": True},
            {"output_type": types.YCbCr},
            {"output_type": types.GRAY},
        ):
            pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
            with pipe:
                encoded, _ = fn.readers.file(files=[str(path)])
                whole = fn.decoders.image(encoded, **options)
                window = fn.decoders.image_slice(encoded, (0.2, 0.3), (0.5, 0.4), **options)
                pipe.set_outputs(whole, fn.resize(window, size=(7, 9)))
            try:
                outputs = [np.array(output.at(0)) for output in pipe.run()]
            except RuntimeError as error:
                outputs = [np.frombuffer(type(error).__name__.encode(), np.uint8)]
            yield f"{name} {options}", outputs


def everything(folder: Path) -> Iterator[tuple[str, list[Any]]]:
    for case in CASES:
        yield str(case), [array for result in ours(case) for array in result.arrays]
    yield from pictures(folder)


def main() -> None:
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # where operators that write files write them
        for name, arrays in everything(Path(folder)):
            print(digest(arrays), name, flush=True)


if __name__ == "__main__":
    main()
