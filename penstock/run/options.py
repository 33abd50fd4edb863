"""A pipeline's constructor arguments, checked once."""

from __future__ import annotations

import enum
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

from penstock import types
from penstock._values import whole_number
from penstock.errors import ArgumentError, ArgumentTypeError, DeviceError
from penstock.graph.blame import warn
from penstock.run import checkpoint

# Beyond these nothing but memory is used up.
MOST_AHEAD = 1024  # batches
_MOST_SAMPLES, _MOST_THREADS = 1 << 20, 1024
_INT32 = 1 << 31

# What DALI's properties say of arguments that were left out.
_FILLED_IN = {"max_streams": -1, "default_cuda_stream_priority": 0}

# What DALI warns of.
_DEPRECATED = {"max_streams": "it has no effect", "experimental_exec_dynamic": "use exec_dynamic"}


class PipelineArguments(TypedDict, total=False):
    """The arguments of `Pipeline` as keywords, for type checkers of what passes them on."""

    batch_size: int | None
    num_threads: int | None
    device_id: int | None
    seed: int | None
    exec_pipelined: bool
    prefetch_queue_depth: int | dict[str, int]
    exec_async: bool
    bytes_per_sample: int
    set_affinity: bool
    max_streams: int | None
    default_cuda_stream_priority: int | None
    enable_memory_stats: bool
    enable_checkpointing: bool
    checkpoint: str | Mapping[str, Any] | None
    py_num_workers: int
    py_start_method: str
    py_callback_pickler: Any
    output_dtype: Any
    output_ndim: Any
    output_layout: Any
    exec_dynamic: bool | None
    experimental_exec_dynamic: bool | None
    stream_policy: Any
    concurrency: Any


class StreamPolicy(enum.Enum):
    """DALI's ways to give operators CUDA streams. Here they change nothing, see `penstock.pipeline.Pipeline`."""

    UNSPECIFIED = 0
    SINGLE = 1
    PER_BACKEND = 2
    PER_OPERATOR = 3


class OperatorConcurrency(enum.Enum):
    """Which operators DALI runs at the same time. Here it changes nothing, see `penstock.pipeline.Pipeline`."""

    UNSPECIFIED = 0
    NONE = 1
    BACKEND = 2
    FULL = 3


@dataclass(frozen=True)
class Options:
    """What the engine needs of them, and all of them as they were given."""

    batch_size: int | None
    num_threads: int | None
    seed: int
    depth: int  # batches prepared ahead; where the CPU's and the GPU's are counted apart, those on the CPU
    gpu_depth: int
    separated: bool
    device_id: int | None
    given: dict[str, Any]
    asked: dict[str, Any]  # before any of them was filled in: no seed where one was drawn

    @classmethod
    def checked(cls, given: dict[str, Any]) -> Options:
        """Refuses values that make no sense, naming argument and value."""
        batch_size = _positive("batch_size", given["batch_size"], _MOST_SAMPLES)
        num_threads = _positive("num_threads", given["num_threads"], _MOST_THREADS)
        asked, seed = given, given["seed"]
        if given["checkpoint"] is not None:
            seed = checkpoint.seed_of(given["checkpoint"])
        if seed is not None and whole_number("Pipeline: seed", seed) < 0:
            warn(
                f"Pipeline: seed={seed}: negative seeds are deprecated: use None for another seed each time",
                UserWarning,
            )
            seed = None
        for name, advice in _DEPRECATED.items():
            if given[name] is not None:
                warn(f"Pipeline: {name} is deprecated: {advice}", Warning)
        seed = int.from_bytes(os.urandom(4), "little") >> 1 if seed is None else int(seed)
        depth = given["prefetch_queue_depth"]
        gpu_depth = None
        separated = isinstance(depth, dict)
        if isinstance(depth, dict):
            if not {"cpu_size", "gpu_size"} >= set(depth) or "cpu_size" not in depth:
                raise ArgumentError(
                    f"Pipeline: prefetch_queue_depth={depth!r}: expected the keys 'cpu_size' and 'gpu_size'"
                )
            gpu_depth = _positive("prefetch_queue_depth", depth.get("gpu_size"), MOST_AHEAD)
            depth = depth["cpu_size"]
        depth = _positive("prefetch_queue_depth", depth, MOST_AHEAD) or 1
        gpu_depth = gpu_depth or depth
        if given["exec_async"] and not given["exec_pipelined"]:
            raise ArgumentError("Pipeline: exec_async=True needs exec_pipelined=True")
        if not (given["exec_pipelined"] and given["exec_async"]):
            depth = gpu_depth = 1
        device_id = given["device_id"]
        if device_id is not None and not (isinstance(device_id, int) and -_INT32 <= device_id < _INT32):
            raise DeviceError(f"Pipeline: device_id={device_id!r}: expected the number of a GPU, or None")
        for name, kind in (("stream_policy", StreamPolicy), ("concurrency", OperatorConcurrency)):
            if not (given[name] is None or isinstance(given[name], kind)):
                raise ArgumentTypeError(f"Pipeline: {name}={given[name]!r}: expected a {kind.__name__}")
        priority = given["default_cuda_stream_priority"]
        if priority is not None:
            _within("default_cuda_stream_priority", priority, -_INT32, _INT32 - 1)
        device_id = None if device_id in (None, types.CPU_ONLY_DEVICE_ID) else int(device_id)
        if separated and not given["exec_async"]:
            raise ArgumentError("Pipeline: a prefetch_queue_depth of two sizes needs exec_async=True")
        given = {**given, "seed": seed}
        if given["exec_dynamic"] is None and given["experimental_exec_dynamic"] is not None:
            given["exec_dynamic"] = given["experimental_exec_dynamic"]
        if given["exec_dynamic"] is None and given["exec_pipelined"] and given["exec_async"] and not separated:
            given["exec_dynamic"] = True
        return cls(batch_size, num_threads, seed, depth, gpu_depth, separated, device_id, given, asked)

    def sizes(self) -> tuple[int, int]:
        """Batch size and number of threads; ArgumentError where one is missing, as it must not when a pipeline runs."""
        for name, value in (("batch_size", self.batch_size), ("num_threads", self.num_threads)):
            if value is None:
                raise ArgumentError(f"Pipeline: {name} is needed to build it")
        if self.device_id is not None and self.device_id < 0:
            raise DeviceError(f"Pipeline: device_id={self.device_id}: expected the number of a GPU, or None")
        assert self.batch_size is not None
        assert self.num_threads is not None
        return self.batch_size, self.num_threads

    def ahead(self, uses_gpu: bool) -> int:
        """Batches that are prepared ahead: of two sizes, the GPU's are behind the CPU's."""
        return self.depth + self.gpu_depth if uses_gpu and self.separated else self.depth

    @staticmethod
    def names() -> frozenset[str]:
        """The names of `Pipeline`'s arguments."""
        return PipelineArguments.__optional_keys__

    @classmethod
    def attributes(cls) -> frozenset[str]:
        """The names that `attribute` knows."""
        return cls.names() | {"max_batch_size", "cpu_queue_size", "gpu_queue_size", "exec_separated"}

    def attribute(self, name: str) -> Any:
        """An argument by its name, as an attribute of the pipeline."""
        if name == "batch_size":
            warn("Pipeline.batch_size is deprecated: use max_batch_size", Warning)
        if name == "max_batch_size":
            name = "batch_size"
        if name == "cpu_queue_size":
            return self.depth
        if name == "gpu_queue_size":
            return self.gpu_depth
        if name == "exec_separated":
            return self.separated
        if name in self.given:
            return _FILLED_IN.get(name) if self.given[name] is None else self.given[name]
        raise AttributeError(f"Pipeline has no attribute {name!r}")


def _positive(name: str, value: Any, most: int) -> int | None:
    return None if value is None else _within(name, value, 1, most)


def _within(name: str, value: Any, least: int, most: int) -> int:
    number = whole_number(f"Pipeline: {name}", value, least)
    if number > most:
        raise ArgumentError(f"Pipeline: {name}={value!r}: expected at most {most}")
    return number
