"""`penstock.plugin.jax.fn.jax_function`: a function of the user's on batches that are JAX's arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock.custom.function import Callback
from penstock.errors import ArgumentError, ArgumentTypeError, FunctionError, TensorError
from penstock.frameworks import JAX
from penstock.op import Called, arg, op
from penstock.tensors import TensorCPU, TensorListCPU, TensorListGPU
from penstock.tensors.arrays import writable


@op("_jax_function", devices=("cpu", "gpu"), inputs=(0, 256))
class JaxFunction(Callback):
    """What `penstock.plugin.jax.fn.jax_function` makes of a function; its docstring has all of it."""

    preserved = False  # the decorator says it

    sharding = arg(None, "The `jax.sharding.Sharding` of the arrays.", kind="any", to_kernel=False)

    def prepare(self) -> None:
        super().prepare()
        if self.sharding is None:
            return
        jax = JAX().jax()
        if not isinstance(self.sharding, jax.sharding.Sharding):
            raise ArgumentTypeError(f"jax_function: sharding={self.sharding!r}: expected a jax.sharding.Sharding")
        if jax.local_device_count() != 1:
            raise ArgumentError(
                f"jax_function: sharding={self.sharding!r}: arrays are sharded over processes of one device each, but "
                f"this one has {jax.local_device_count()}"
            )

    def process(self, batch: Called, inputs: Sequence[Any]) -> None:
        arrays = [self._shown(tensors, k) for k, tensors in enumerate(inputs)]
        for k, array in enumerate(self.outputs_of(self.function(*arrays), (tuple, list))):
            batch.give(k, self._taken(array, k, inputs, batch))

    def _shown(self, tensors: Any, k: int) -> Any:
        try:
            on_cpu = isinstance(tensors, TensorListCPU)
            array = JAX().array(TensorCPU(writable(tensors.as_array())) if on_cpu else tensors.as_tensor())
        except TensorError as e:
            raise FunctionError(f"input {k}: JAX's arrays have samples of one shape: {e}") from e
        if self.sharding is None:
            return array
        devices = len(self.sharding.device_set)
        shape = (devices * array.shape[0], *array.shape[1:])
        return JAX().jax().make_array_from_single_device_arrays(shape, self.sharding, [array])

    def _taken(self, array: Any, k: int, inputs: Sequence[Any], batch: Called) -> Any:
        jax, gpu = JAX().jax(), batch.device is not None
        if not isinstance(array, jax.Array):
            raise FunctionError(f"output {k} of the function is no jax.Array: {type(array).__name__}")
        if self.sharding is not None:
            local = [shard.data for shard in array.addressable_shards]
            if len(local) != 1:
                raise FunctionError(f"output {k} of the function has {len(local)} shards here, expected one")
            (array,) = local
        devices = list(array.devices())
        if len(devices) != 1 or (devices[0].platform != "cpu") != gpu:
            there = ", ".join(map(str, devices))
            raise FunctionError(f"output {k} of the function is on {there}, expected one {'GPU' if gpu else 'CPU'}")
        if array.ndim < 1 or array.shape[0] != batch.size:
            raise FunctionError(
                f"output {k} of the function has the shape {array.shape}, expected {batch.size} samples along axis 0"
            )
        layout = self.output_layout(k)
        if layout is None and k < len(inputs) and inputs[k].ndim() == array.ndim - 1:
            layout = inputs[k].layout() or None
        try:
            return TensorListGPU(array, layout) if gpu else TensorListCPU(np.asarray(array), layout)
        except (TypeError, ValueError) as e:
            raise FunctionError(f"output {k} of the function makes no batch: {e}") from e
