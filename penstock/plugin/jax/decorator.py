"""`data_iterator`: makes a function that defines a pipeline into one that gives iterators."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax

from penstock.errors import ArgumentError
from penstock.pipeline import pipeline_def
from penstock.plugin.base import AutoReset, LastBatchPolicy

if TYPE_CHECKING:
    from penstock.plugin.jax.iterator import DALIGenericIterator

THREADS = 4  # of each pipeline, unless the call says otherwise


def data_iterator(
    pipeline_fn: Callable[..., Any] | None = None,
    output_map: Sequence[str] = (),
    size: int = -1,
    reader_name: str | None = None,
    auto_reset: AutoReset = False,
    last_batch_padded: bool = False,
    last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
    prepare_first_batch: bool = True,
    sharding: jax.sharding.Sharding | None = None,
    devices: Sequence[jax.Device] | None = None,
    pmap_compatible: bool | None = None,
) -> Callable[..., Any]:
    """Makes a function that defines a pipeline, as for `pipeline_def`, into one that gives a `DALIGenericIterator`.

    The call takes the function's own arguments, and by name those of `Pipeline`: ``batch_size`` is needed,
    ``num_threads`` is 4 where it is not given, and ``device_id`` 0, or None where JAX has no GPU. It also takes
    ``checkpoints``, which `DALIGenericIterator.checkpoints` gave: the iterator goes on there.

    With ``sharding`` or ``devices`` there is a pipeline for each device, and ``batch_size`` is that of all devices
    together. The function then has arguments ``shard_id`` and ``num_shards``, for its reader.

    Args:
        pipeline_fn: the function; None: a decorator is returned that has the other arguments.
        output_map: a name for each output.
        sharding: for global arrays: a pipeline for each local device of it, ``shard_id`` is the device's ``id``.
        devices: for ``jax.pmap``: a pipeline for each of these, all of this process.
        pmap_compatible: whether arrays have a leading axis of devices; None: if ``devices`` are given.

    The other arguments are those of `DALIGenericIterator`. Raises ArgumentError for ``sharding`` together with
    ``devices``, for a batch size that they do not divide, and for another number of checkpoints.

    Example:
        >>> @data_iterator(output_map=["number"], reader_name="Reader")
        ... def numbers():
        ...     return fn.readers.file(files=["a.jpg"] * 8, file_root=folder, name="Reader")[1]
        >>> [batch["number"].ravel().tolist() for batch in numbers(batch_size=4, num_threads=1)]
        [[0, 1, 2, 3], [4, 5, 6, 7]]
    """
    from penstock.plugin.jax.iterator import DALIGenericIterator  # whose module has this decorator, too

    arguments = {
        "output_map": output_map, "size": size, "reader_name": reader_name, "auto_reset": auto_reset,
        "last_batch_padded": last_batch_padded, "last_batch_policy": last_batch_policy,
        "prepare_first_batch": prepare_first_batch, "sharding": sharding, "pmap_compatible": pmap_compatible,
    }  # fmt: skip
    return decorator(DALIGenericIterator, pipeline_fn, devices, arguments)


def decorator(
    iterator: type[DALIGenericIterator],
    pipeline_fn: Callable[..., Any] | None,
    devices: Sequence[jax.Device] | None,
    arguments: dict[str, Any],
) -> Callable[..., Any]:
    """The decorator that makes functions give such iterators, or what it makes of a function."""
    sharding = arguments["sharding"]
    if sharding is not None and devices is not None:
        raise ArgumentError("sharding and devices exclude each other")
    if devices is not None and arguments["pmap_compatible"] is None:
        arguments = {**arguments, "pmap_compatible": True}

    def decorate(define: Callable[..., Any]) -> Callable[..., DALIGenericIterator]:
        make = pipeline_def(define)

        @functools.wraps(define)
        def create(
            *args: Any, checkpoints: Sequence[str] | None = None, num_threads: int = THREADS, **kwargs: Any
        ) -> DALIGenericIterator:
            parts = _parts(sharding, devices, kwargs)
            if checkpoints and len(checkpoints) != len(parts):
                raise ArgumentError(f"{len(checkpoints)} checkpoints are given for {len(parts)} pipelines")
            states: Sequence[str | None] = checkpoints or [None] * len(parts)
            pipelines = [
                make(*args, num_threads=num_threads, **kwargs | part | ({"checkpoint": state} if state else {}))
                for part, state in zip(parts, states, strict=True)
            ]
            return iterator(pipelines, **arguments) if devices is None else _on(devices, iterator, pipelines, arguments)

        return create

    return decorate(pipeline_fn) if pipeline_fn is not None else decorate


def _parts(sharding: Any, devices: Sequence[jax.Device] | None, given: dict[str, Any]) -> list[dict[str, Any]]:
    """For each pipeline, the arguments that are its own."""
    if sharding is None and devices is None:
        return [{} if "device_id" in given else {"device_id": 0 if jax.default_backend() == "gpu" else None}]
    if devices is None:
        used, shards = [d for d in jax.local_devices() if d in sharding.addressable_devices], len(sharding.device_set)
    else:
        used, shards = list(devices), len(devices)
        if jax.local_device_count() != jax.device_count():
            raise ArgumentError("devices are for a single process: where there are several, use sharding")
    if "batch_size" not in given:
        raise ArgumentError(f"batch_size is missing: that of all {shards} devices together")
    if given["batch_size"] % shards:
        raise ArgumentError(f"batch_size={given['batch_size']} cannot be divided by the number of devices, {shards}")
    local = jax.local_devices()
    order = {device: shard for shard, device in enumerate(used)} if devices is not None else None
    return [
        {
            "batch_size": given["batch_size"] // shards,
            "device_id": local.index(device) if device.platform == "gpu" else None,
            "shard_id": order[device] if order is not None else _place(device, sharding),
            "num_shards": shards,
        }
        for device in used
    ]


def _place(device: jax.Device, sharding: Any) -> int:
    """Which of the sharding's devices this is, the same in all processes."""
    return sorted(d.id for d in sharding.device_set).index(device.id)


def _on(
    devices: Sequence[jax.Device], iterator: type[DALIGenericIterator], pipelines: list[Any], arguments: dict[str, Any]
) -> DALIGenericIterator:
    made = iterator(pipelines, **arguments)
    made._devices = devices
    return made
