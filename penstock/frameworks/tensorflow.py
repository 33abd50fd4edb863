"""TensorFlow as the library sees it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock.frameworks.backend import Backend
from penstock.frameworks.packages import package

_CPU = 1  # of DLPack's DLDeviceType
_ALIGNMENT = 64  # bytes


class TensorFlow(Backend):
    """Tensors by DLPack, on CPUs and GPUs. What lies at odd addresses, as samples of a batch do, is copied."""

    name = "TensorFlow"
    module = distribution = "tensorflow"
    plugin = "penstock.plugin.tf"
    extra = "tensorflow"
    has_sparse = True

    def array(self, tensor: Any) -> Any:
        tf = package("tensorflow", self.extra)
        if tensor.__dlpack_device__()[0] == _CPU and tensor.data_ptr() % _ALIGNMENT:
            return tf.constant(np.asarray(tensor))  # its operators would end the process
        return tf.experimental.dlpack.from_dlpack(tensor.__dlpack__())

    def sparse(self, arrays: Sequence[Any]) -> Any:
        tf = package("tensorflow", self.extra)
        shapes = [tuple(array.shape) for array in arrays]
        places = [np.argwhere(np.ones(shape, bool)) for shape in shapes]
        numbers = [np.full((len(place), 1), i) for i, place in enumerate(places)]
        within = np.concatenate([np.concatenate(pair, 1) for pair in zip(numbers, places, strict=True)])
        values = tf.concat([tf.reshape(array, [-1]) for array in arrays], 0)
        return tf.SparseTensor(within.astype(np.int64), values, (len(arrays), *np.max(shapes, axis=0, initial=0)))

    def empty(self, like: Any, device: int) -> Any:
        return like[:0]
