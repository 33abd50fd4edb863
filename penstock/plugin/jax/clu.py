"""Iterators for JAX that can be looked ahead, with the methods of ``PeekableIterator`` of Google's CLU."""

from __future__ import annotations

import concurrent.futures
import importlib
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from penstock.errors import GraphError, OperatorError
from penstock.plugin.base import AutoReset, LastBatchPolicy
from penstock.plugin.jax.decorator import decorator
from penstock.plugin.jax.iterator import DALIGenericIterator

__all__ = ["DALIGenericPeekableIterator", "peekable_data_iterator"]

Batch = dict[str, jax.Array]


def get_spec_for_array(array: jax.Array) -> Any:
    """Shape and type of an array: CLU's ``ArraySpec``, or a `jax.ShapeDtypeStruct` where CLU is not installed."""
    try:
        spec = importlib.import_module("clu.data.dataset_iterator").ArraySpec
    except ImportError:
        spec = jax.ShapeDtypeStruct
    return spec(shape=array.shape, dtype=array.dtype)


class DALIGenericPeekableIterator(DALIGenericIterator):
    """A `DALIGenericIterator` whose next batch can be looked at before it is taken, and which threads may share.

    All batches must have the same shapes and types: OperatorError (a ValueError, too) for one that differs.

    Example:
        >>> @pipeline_def(batch_size=4, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.readers.file(files=["a.jpg"] * 8, file_root=folder, name="Reader")[1]
        >>> iterator = DALIGenericPeekableIterator(pipeline(), ["number"], reader_name="Reader")
        >>> iterator.peek()["number"].ravel().tolist(), next(iterator)["number"].ravel().tolist()
        ([0, 1, 2, 3], [0, 1, 2, 3])
        >>> iterator.element_spec["number"].shape
        (4, 1)
    """

    _peeked: Batch | None = None
    _own: tuple[int, ...] = ()  # how many samples of the batch that was last given belong to the epoch
    _next_own: tuple[int, ...] = ()
    _spec: dict[str, Any] | None = None
    _pool: concurrent.futures.ThreadPoolExecutor | None = None
    _lock: threading.RLock

    def _begin(self) -> None:
        self._lock = getattr(self, "_lock", None) or threading.RLock()
        super()._begin()

    def __next__(self) -> Batch:  # type: ignore[override]  # as in its base
        with self._lock:
            batch = self._checked() if self._peeked is None else self._peeked
            self._peeked, self._own = None, self._next_own
            return batch

    def _checked(self) -> Batch:
        batch = super().__next__()
        spec = {name: get_spec_for_array(array) for name, array in batch.items()}
        self._spec = self._spec or spec
        if spec != self._spec:
            raise ChangedShapeError(
                "The shape or type of the output changed between iterations. This is not supported by peekable "
                f"iterators: expected {self._spec}, got {spec}"
            )
        return batch

    def _share(self, pipes: list[Any]) -> list[Sequence[Any]]:
        full = [self.batch_size] * len(self._pipes)
        self._next_own = tuple(self._epochs.own(self._epoch, self._batch) if self._epochs else full)
        return super()._share(pipes)

    def peek(self) -> Batch:
        """The batch that ``next(iterator)`` will give; StopIteration at the end of an epoch."""
        with self._lock:
            if self._peeked is None:
                self._peeked = self._checked()
            return self._peeked

    def peek_async(self) -> concurrent.futures.Future[Batch]:
        """A future of `peek`, which a thread calls. ``next`` may come before it, unless its result is waited for."""
        with self._lock:
            if self._pool is None:
                self._pool = concurrent.futures.ThreadPoolExecutor(1, "penstock peek")
            return self._pool.submit(self.peek)

    def reset(self) -> None:
        """Begins the next epoch, unless no batch of this one was taken; what was peeked at is thrown away then."""
        with self._lock:
            if self._peeked is not None and self._batch == self._start + 1:
                return
            self._peeked = None
            super().reset()

    def checkpoints(self) -> list[str]:
        """As `DALIGenericIterator.checkpoints`. GraphError while a batch was peeked at and not taken, as in DALI."""
        with self._lock:
            if self._peeked is not None:
                raise GraphError("checkpoints(): a batch was peeked at, and would be lost: take it by next() first")
            return super().checkpoints()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        with self._lock:
            super().load_state_dict(state)
            self._peeked = None

    @property
    def element_spec(self) -> dict[str, Any]:
        """Shape and type of each output; peeks at the first batch."""
        if self._spec is None:
            self.peek()
        return dict(self._spec or {})

    @property
    def is_nonpadding(self) -> Any:
        """For each sample of the batch that was last taken whether it belongs to the epoch, and does not only fill it.

        A NumPy array of shape ``(samples,)``, or, with ``sharding``, an array so sharded.
        """
        place = np.arange(self.batch_size)
        counts = self._own or (self.batch_size,) * len(self._pipes)
        flags = [place < count for count in counts]
        if self._sharding is None:
            return np.concatenate(flags)
        shape = (len(self._sharding.device_set) * self.batch_size,)
        shards = [jax.device_put(jnp.asarray(f), d) for f, d in zip(flags, self._devices or (), strict=True)]
        return jax.make_array_from_single_device_arrays(shape, self._sharding, shards)


class ChangedShapeError(OperatorError, ValueError):
    """A batch has other shapes or types than those before."""


def peekable_data_iterator(
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
    """As `data_iterator`, for a `DALIGenericPeekableIterator`.

    Example:
        >>> @peekable_data_iterator(output_map=["number"], reader_name="Reader")
        ... def numbers():
        ...     return fn.readers.file(files=["a.jpg"] * 8, file_root=folder, name="Reader")[1]
        >>> numbers(batch_size=4, num_threads=1).peek()["number"].shape
        (4, 1)
    """
    arguments = {
        "output_map": output_map, "size": size, "reader_name": reader_name, "auto_reset": auto_reset,
        "last_batch_padded": last_batch_padded, "last_batch_policy": last_batch_policy,
        "prepare_first_batch": prepare_first_batch, "sharding": sharding, "pmap_compatible": pmap_compatible,
    }  # fmt: skip
    return decorator(DALIGenericPeekableIterator, pipeline_fn, devices, arguments)
