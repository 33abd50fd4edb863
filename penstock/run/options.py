"""A pipeline's constructor arguments, checked once."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from typing import Any

from penstock.errors import ArgumentError, ArgumentTypeError, DeviceError
from penstock.run import checkpoint

# What DALI's properties say of arguments that were left out.
_FILLED_IN = {"exec_dynamic": True, "max_streams": -1, "default_cuda_stream_priority": 0}


@dataclass(frozen=True)
class Options:
    """What the engine needs of them, and all of them as they were given."""

    batch_size: int | None
    num_threads: int | None
    seed: int
    depth: int
    given: dict[str, Any]

    @classmethod
    def checked(cls, given: dict[str, Any]) -> Options:
        """Refuses values that make no sense, naming argument and value."""
        batch_size = _positive("batch_size", given["batch_size"])
        num_threads = _positive("num_threads", given["num_threads"])
        seed = given["seed"]
        if given["checkpoint"] is not None:
            seed = checkpoint.seed_of(given["checkpoint"])
        if seed is None or seed == -1:
            seed = int.from_bytes(os.urandom(4), "little") >> 1
        elif not isinstance(seed, int):
            raise ArgumentTypeError(f"Pipeline: seed={seed!r}: expected a whole number")
        depth = given["prefetch_queue_depth"]
        if isinstance(depth, dict):
            if not {"cpu_size", "gpu_size"} >= set(depth) or "cpu_size" not in depth:
                raise ArgumentError(
                    f"Pipeline: prefetch_queue_depth={depth!r}: expected the keys 'cpu_size' and 'gpu_size'"
                )
            depth = depth["cpu_size"]
        depth = _positive("prefetch_queue_depth", depth)
        if given["exec_async"] and not given["exec_pipelined"]:
            raise ArgumentError("Pipeline: exec_async=True needs exec_pipelined=True")
        if not (given["exec_pipelined"] and given["exec_async"]):
            depth = 1
        if given["device_id"] is not None and not isinstance(given["device_id"], int):
            raise DeviceError(f"Pipeline: device_id={given['device_id']!r}: expected the number of a GPU, or None")
        return cls(batch_size, num_threads, seed, depth or 1, {**given, "seed": seed})

    @staticmethod
    @cache
    def names() -> frozenset[str]:
        """The names of `Pipeline`'s arguments."""
        import inspect

        from penstock.pipeline import Pipeline

        return frozenset(inspect.signature(Pipeline.__init__).parameters) - {"self"}

    def attribute(self, name: str) -> Any:
        """An argument by its name, as an attribute of the pipeline."""
        if name == "max_batch_size":
            name = "batch_size"
        if name in ("cpu_queue_size", "gpu_queue_size"):
            return self.depth
        if name in ("exec_separated",):
            return False
        if name in self.given:
            return _FILLED_IN.get(name) if self.given[name] is None else self.given[name]
        raise AttributeError(f"Pipeline has no attribute {name!r}")

    def cpus(self) -> list[int]:
        """The processors that threads are bound to; none: threads run anywhere."""
        if not self.given["set_affinity"]:
            return []
        mask = os.environ.get("DALI_AFFINITY_MASK")
        if not mask:
            return sorted(os.sched_getaffinity(0))
        try:
            return [int(part) for part in mask.split(",") if part.strip()]
        except ValueError as e:
            raise ArgumentError(f"DALI_AFFINITY_MASK={mask!r}: expected processor numbers, such as '3,5,6'") from e


def _positive(name: str, value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ArgumentTypeError(f"Pipeline: {name}={value!r}: expected a whole number")
    if int(value) < 1:
        raise ArgumentError(f"Pipeline: {name}={value!r}: expected 1 or more")
    return int(value)
