"""The memory of a GPU that pipelines keep from batch to batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from penstock import backend, fn, pipeline_def

pytestmark = pytest.mark.usefixtures("software_gpu")
MB = 1 << 20


def held_after(sizes: list[int]) -> list[int]:
    """Bytes of device memory held after each batch of one array of so many bytes."""
    arrays = iter([[np.zeros(size, np.uint8)] for size in sizes])

    @pipeline_def(batch_size=1, num_threads=1, device_id=0, exec_async=False, exec_pipelined=False,
                  enable_memory_stats=True)  # fmt: skip
    def copied() -> Any:
        return fn.copy(fn.external_source(lambda: next(arrays)).gpu())

    backend.ReleaseUnusedMemory()
    pipe = copied()
    held = []
    for _ in sizes:
        pipe.run()
        held.append(pipe.statistics()["memory"]["device"]["held"])
    pipe.close()
    return held


def test_what_no_batch_asks_for_any_more_is_freed() -> None:
    held = held_after([8 * MB] * 3 + [MB // 4] * 800)
    assert held[10] > 8 * MB
    assert held[-1] < 2 * MB
