"""MXNet as the library sees it."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.errors import OperatorError
from penstock.frameworks.backend import Backend
from penstock.frameworks.packages import package

_CPU = 1  # of DLPack's DLDeviceType
_SHARED = (np.bool_, np.uint8, np.int32, np.int64, np.float16, np.float32, np.float64)


class MXNet(Backend):
    """Arrays that share NumPy's memory on the CPU, and by DLPack on GPUs."""

    name = "MXNet"
    module = distribution = "mxnet"
    plugin = "penstock.plugin.mxnet"
    extra = "mxnet"

    def array(self, tensor: Any) -> Any:
        nd = package("mxnet", self.extra).nd
        if tensor.__dlpack_device__()[0] != _CPU:
            return nd.from_dlpack(tensor.__dlpack__())
        array = np.asarray(tensor)
        if array.dtype in _SHARED and array.size and array.ndim:
            return nd.from_numpy(array)
        if array.dtype not in (*_SHARED, np.int8):
            raise OperatorError(f"MXNet has no arrays of {array.dtype}: cast them in the pipeline")
        return nd.array(array.reshape(array.shape or (1,)), dtype=array.dtype)

    def empty(self, like: Any, device: int) -> Any:
        return like  # MXNet has no arrays without elements: batches say how much of them is padding
