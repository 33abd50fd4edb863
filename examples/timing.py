"""Which part of a training's time the loader takes."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from penstock import Pipeline

Item = TypeVar("Item")


class LoaderTime:
    """Counts how long a training waits for its batches, and how long the pipeline's threads work meanwhile."""

    def __init__(self, pipe: Pipeline) -> None:
        self._pipe = pipe
        self._waited = self._passed = self._processor = 0.0

    def watched(self, batches: Iterable[Item]) -> Iterator[Item]:
        """The same batches."""
        begin = clock = time.perf_counter()
        processor = time.process_time()
        for batch in batches:
            self._waited += time.perf_counter() - clock
            yield batch
            clock = time.perf_counter()
        self._passed += time.perf_counter() - begin
        self._processor += time.process_time() - processor

    def __str__(self) -> str:
        threads: list[dict[str, Any]] = self._pipe.statistics()["threads"]
        busy = sum(float(row["busy_s"]) for row in threads)
        return (
            f"the loader: {self._waited:.1f} s of {self._passed:.1f} s waited for "
            f"({100 * self._waited / self._passed:.1f} %), "
            f"{busy:.1f} s of {self._processor:.1f} s of the processors ({100 * busy / self._processor:.0f} %)"
        )
