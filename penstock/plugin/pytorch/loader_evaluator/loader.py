"""`LoaderEvaluator`: times a DataLoader, or stands in for one that takes no time."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import Any

from penstock.errors import ArgumentError, GraphError


class LoaderEvaluator:
    """Wraps a loader of batches, to find out what training loses to it.

    Train an epoch over ``LoaderEvaluator(loader)``, and one with ``mode="replay"``, which gives batches that it has in
    memory, again and again. If the second one is no faster, then it is not the loader that is slow.

    Args:
        dataloader: a ``torch.utils.data.DataLoader``, an iterator of this package, or anything else that has ``len()``
            and can be iterated.
        mode: "log": gives the loader's batches, and times how long each was waited for; "replay": gives as many batches
            as an epoch has, of those that it took from the loader when it was made.
        num_cached_batches: how many it takes then: the first ones. (DALI's reads a whole epoch, and keeps the last.)
        metrics_file: where `save_metrics` writes.

    Attributes:
        cached_batches: those that are replayed.
        cache_ready: whether there are some.
        batch_times: seconds that each batch of the last epoch was waited for.

    Raises:
        ArgumentError: another mode, or less than one batch to replay.

    Example:
        >>> from torch.utils.data import DataLoader
        >>> evaluator = LoaderEvaluator(DataLoader(range(8), batch_size=4), mode="replay", num_cached_batches=1)
        >>> [batch.tolist() for batch in evaluator]
        [[0, 1, 2, 3], [0, 1, 2, 3]]
        >>> evaluator.get_metrics()["total_batches"]
        2
    """

    def __init__(
        self, dataloader: Any, mode: str = "log", num_cached_batches: int = 20, metrics_file: str | None = None
    ) -> None:
        if mode not in ("log", "replay"):
            raise ArgumentError(f'mode={mode!r} is none of "log" and "replay"')
        if num_cached_batches < 1:
            raise ArgumentError(f"num_cached_batches={num_cached_batches}: at least one is needed")
        self.dataloader, self.mode = dataloader, mode
        self.num_cached_batches, self.metrics_file = num_cached_batches, metrics_file
        self.cached_batches: deque[Any] = deque(maxlen=num_cached_batches)
        self.batch_times: list[float] = []
        self.start_time: float | None = None
        self.end_time: float | None = None
        if mode == "replay":
            self.cached_batches.extend(islice(dataloader, num_cached_batches))

    @property
    def cache_ready(self) -> bool:
        return bool(self.cached_batches)

    def __len__(self) -> int:
        """Batches in an epoch."""
        return len(self.dataloader)

    def __iter__(self) -> Iterator[Any]:
        """An epoch. GraphError (a RuntimeError) where there is nothing to replay."""
        if self.mode == "replay" and not self.cached_batches:
            raise GraphError("LoaderEvaluator: there are no batches to replay: the loader gave none")
        return self._timed(self._replayed() if self.mode == "replay" else iter(self.dataloader))

    def _replayed(self) -> Iterator[Any]:
        for i in range(len(self)):
            yield self.cached_batches[i % len(self.cached_batches)]

    def _timed(self, batches: Iterator[Any]) -> Iterator[Any]:
        self.batch_times, self.end_time = [], None
        self.start_time = asked = time.perf_counter()
        for batch in batches:
            self.batch_times.append(time.perf_counter() - asked)
            yield batch
            asked = time.perf_counter()
        self.end_time = time.perf_counter()

    def get_metrics(self) -> dict[str, Any]:
        """Of the last epoch; an empty dictionary before the first batch.

        ``mode``, ``total_batches``, ``total_time`` (seconds from the first batch that was asked for to the end of the
        epoch, training included; 0 before its end), ``avg_batch_time``, ``min_batch_time``, ``max_batch_time`` and
        ``batch_times`` (seconds that batches were waited for), ``cached_batches`` (their number), ``cache_ready``.
        """
        times = list(self.batch_times)
        if not times:
            return {}
        total = self.end_time - self.start_time if self.end_time is not None and self.start_time is not None else 0
        return {
            "mode": self.mode, "total_batches": len(times), "total_time": total,
            "avg_batch_time": sum(times) / len(times), "min_batch_time": min(times), "max_batch_time": max(times),
            "batch_times": times, "cached_batches": len(self.cached_batches), "cache_ready": self.cache_ready,
        }  # fmt: skip

    def save_metrics(self, filename: str | None = None) -> None:
        """Writes `get_metrics` into a file, as JSON; to ``metrics_file``, or else says that there is none."""
        filename = filename or self.metrics_file
        if filename is None:
            print("No filename provided for saving metrics")
            return
        with open(filename, "w", encoding="utf-8") as file:
            json.dump(self.get_metrics(), file, indent=2)
        print(f"Metrics saved to: {filename}")

    def print_summary(self) -> None:
        """Prints what the loader is and what was found."""
        lines = [f"Mode: {self.mode}"]
        if hasattr(self.dataloader, "dataset") and hasattr(self.dataloader.dataset, "__len__"):
            lines.append(f"Dataset size: {len(self.dataloader.dataset)}")
        lines += [
            f"Number of batches: {len(self)}",
            f"Cache size: {len(self.cached_batches)}/{self.num_cached_batches}",
            f"Cache ready: {self.cache_ready}",
        ]
        if metrics := self.get_metrics():
            lines += [
                f"Total batches processed: {metrics['total_batches']}",
                f"Total time: {metrics['total_time']:.2f}s",
                f"Average batch time: {metrics['avg_batch_time']:.4f}s",
                f"Min batch time: {metrics['min_batch_time']:.4f}s",
                f"Max batch time: {metrics['max_batch_time']:.4f}s",
            ]
        print("\n  ".join(["Loader Evaluator Summary:", *lines]))
