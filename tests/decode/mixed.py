"""JPEG files of several kinds, and decoding with ``device="mixed"``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from penstock import fn, pipeline_def
from tests.decode.pictures import Array, jpeg, smooth, write

RANDOM = np.random.default_rng(11)
JPEGS = {
    "4:4:4": jpeg(smooth(RANDOM, 140, 91), subsampling="4:4:4"),
    "4:2:2": jpeg(smooth(RANDOM, 101, 70), subsampling="4:2:2"),
    "4:2:0": jpeg(smooth(RANDOM, 97, 123), subsampling="4:2:0", quality=95),
    "restarts": jpeg(smooth(RANDOM, 90, 81), restart_marker_blocks=3),
    "gray": jpeg(smooth(RANDOM, 90, 81, 1), "L"),
    "progressive": jpeg(smooth(RANDOM, 90, 81), progressive=True),
    "cmyk": jpeg(smooth(RANDOM, 90, 81, 4), "CMYK"),
    "turned": jpeg(smooth(RANDOM, 90, 81), orientation=6),
    "small": jpeg(smooth(RANDOM, 20, 17)),
    "more 4:2:0": jpeg(smooth(RANDOM, 200, 150), subsampling="4:2:0"),
}


@pipeline_def(num_threads=3, device_id=0, seed=7, prefetch_queue_depth=2)
def mixed_pipeline(names: Sequence[str], make: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    encoded, _ = fn.readers.file(files=names)
    return make(encoded, device="mixed", **arguments)


def decode_mixed(
    folder: Path, files: Sequence[bytes], make: Callable[..., Any] | None = None, batches: int = 2, **arguments: Any
) -> list[Array]:
    """The last of some batches, which are all the same."""
    pipe = mixed_pipeline(write(folder, files), make or fn.decoders.image, arguments, batch_size=len(files))
    with pipe:
        for _ in range(batches):
            (out,) = pipe.run()
        on_cpu = out.as_cpu()
    pipe.close()
    return [np.array(on_cpu.at(i)) for i in range(len(files))]


def assert_alike(ours: Sequence[Array], expected: Sequence[Array], most: int = 0) -> None:
    assert len(ours) == len(expected)
    for a, b in zip(ours, expected, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a.astype(np.int64), b.astype(np.int64), rtol=0, atol=most)
