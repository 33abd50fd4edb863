"""Batches for JAX, as arrays that share the pipelines' memory, or as global arrays over several devices."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from penstock.errors import ArgumentError, ArgumentTypeError, OperatorError
from penstock.frameworks import JAX
from penstock.pipeline.arguments import ITERATOR_AKA, named
from penstock.plugin.base import AutoReset, BaseIterator, LastBatchPolicy, PipelineLike
from penstock.plugin.jax.decorator import data_iterator

__all__ = ["DALIGenericIterator", "data_iterator"]


class DALIGenericIterator(BaseIterator[jax.Array]):
    """Gives the outputs of one or more pipelines as arrays.

    ``next(iterator)`` gives one dictionary, from the names in ``output_map`` to arrays, whose type is that of the
    pipeline's output (64-bit types need ``jax_enable_x64``, as anywhere in JAX):

    - of a single pipeline, arrays of shape ``(batch, *sample)`` where the output is. Nothing is copied: an array keeps
      its memory as long as it lives;
    - with ``sharding``, one array over all devices, of shape ``(devices * batch, *sample)``: each pipeline gives the
      shard of one local device, in the order of ``jax.local_devices()``. With several processes, each has its own
      pipelines for its own devices;
    - of several pipelines without ``sharding``, and with ``pmap_compatible=True``, arrays of shape
      ``(pipelines, batch, *sample)``, as ``jax.pmap`` takes them: in parts on the pipelines' devices, or stacked where
      all are on one.

    On a GPU the array is ready when it is given.

    Args:
        pipelines: the pipeline, or a list of pipelines with the same batch size.
        output_map: a name for each of the pipelines' outputs.
        size: samples in an epoch, over all pipelines. -1: as ``reader_name`` says, or else, with a single pipeline,
            until that raises StopIteration.
        reader_name: the reader, by the name that it has in all pipelines, that says how long an epoch is, what this
            process reads of it, and whether last batches are padded.
        auto_reset: ``True`` or ``"yes"``: the end of an epoch resets the iterator. ``False``, ``None`` or ``"no"``:
            ``next()`` raises StopIteration until ``reset()`` or the next ``for`` loop.
        last_batch_padded: with ``size``, whether the readers repeat the last sample at an epoch's end.
        last_batch_policy: what becomes of an epoch's last batch: `LastBatchPolicy.FILL` or ``DROP``. ``PARTIAL`` is
            refused, as in DALI: a function under ``jax.jit`` is compiled anew for each shape.
        prepare_first_batch: whether to start working at once, or when the first batch is asked for.
        sharding: a `jax.sharding.Sharding` that divides the first axis over all of its devices.
        pmap_compatible: whether arrays have a leading axis of devices; None: where there are several pipelines and no
            ``sharding``.

    Raises:
        ArgumentError: arguments that make no sense, alone or together.
        OperatorError: while iterating: the samples of an output differ in shape, or those of several pipelines do.

    Example:
        >>> @pipeline_def(batch_size=4, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return tuple(fn.readers.file(files=["a.jpg"] * 8, file_root=folder, name="Reader"))
        >>> iterator = DALIGenericIterator(pipeline(), ["jpeg", "number"], reader_name="Reader")
        >>> [batch["number"].ravel().tolist() for batch in iterator]
        [[0, 1, 2, 3], [4, 5, 6, 7]]
    """

    backend = JAX()

    # Where the parts of pipelines on the CPU go; None: they stay there.
    _devices: Sequence[jax.Device] | None = None

    @named("", ITERATOR_AKA)
    def __init__(
        self,
        pipelines: PipelineLike | Sequence[PipelineLike],
        output_map: Sequence[str],
        size: int = -1,
        reader_name: str | None = None,
        auto_reset: AutoReset = False,
        last_batch_padded: bool = False,
        last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
        prepare_first_batch: bool = True,
        sharding: jax.sharding.Sharding | None = None,
        pmap_compatible: bool | None = None,
    ) -> None:
        if sharding is not None and not isinstance(sharding, jax.sharding.Sharding):
            raise ArgumentTypeError(f"sharding={sharding!r}: expected a jax.sharding.Sharding")
        if last_batch_policy is LastBatchPolicy.PARTIAL:
            raise ArgumentError(
                "last_batch_policy=LastBatchPolicy.PARTIAL: the JAX iterator does not support the partial last batch "
                "policy, take FILL or DROP"
            )
        self._sharding = sharding
        if sharding is not None:
            self._devices = [d for d in jax.local_devices() if d in sharding.addressable_devices]
            count = len(pipelines) if isinstance(pipelines, (list, tuple)) else 1
            if len(self._devices) != count:
                raise ArgumentError(
                    f"sharding={sharding!r} has {len(self._devices)} devices of this process, so as many pipelines are "
                    f"needed, but there are {count}"
                )
        super().__init__(
            pipelines,
            output_map,
            size,
            reader_name,
            auto_reset,
            None,
            False,
            last_batch_padded,
            last_batch_policy,
            prepare_first_batch,
        )
        self._stacks = sharding is None and (len(self._pipes) > 1 or bool(pmap_compatible))

    def __next__(self) -> dict[str, jax.Array]:  # type: ignore[override]  # one dictionary for all pipelines
        parts = super().__next__()
        if not self._stacks and self._sharding is None:
            return parts[0]
        return {name: self._joined(name, [part[name] for part in parts]) for name in self._names}

    def next(self) -> dict[str, jax.Array]:  # type: ignore[override]
        """The next batch: the same as ``next(iterator)``."""
        return self.__next__()

    def _joined(self, name: str, shards: list[jax.Array]) -> jax.Array:
        shapes = [shard.shape for shard in shards]
        if len({*shapes}) > 1:
            raise OperatorError(f"output {name!r} cannot be one array: the pipelines gave the shapes {shapes}")
        if self._devices is not None:
            pairs = zip(shards, self._devices, strict=True)
            shards = [jax.device_put(s, d) if _on_cpu(s) else s for s, d in pairs]
        if self._sharding is not None:
            shape = (len(self._sharding.device_set) * shapes[0][0], *shapes[0][1:])
            return jax.make_array_from_single_device_arrays(shape, self._sharding, shards)
        devices = [next(iter(shard.devices())) for shard in shards]
        if len({*devices}) == 1:
            return jnp.stack(shards)
        if len({*devices}) < len(devices):
            raise OperatorError(
                f"output {name!r} cannot be one array: the pipelines' are on {devices}, expected each on a device of "
                "its own, or all on one"
            )
        mesh = jax.sharding.Mesh(np.array(devices), ("device",))
        sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("device"))
        parts = [shard[None] for shard in shards]
        return jax.make_array_from_single_device_arrays((len(shards), *shapes[0]), sharding, parts)


def _on_cpu(array: jax.Array) -> bool:
    return all(device.platform == "cpu" for device in array.devices())
