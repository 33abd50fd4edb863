"""NumPy as the library's iterators see it."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.frameworks.backend import Backend


class NumPy(Backend):
    """Arrays on the CPU; what is on a GPU is copied. That NumPy's arrays can be fed needs no backend."""

    name = "NumPy"
    module = distribution = "numpy"
    plugin = "penstock.plugin.numpy"

    def array(self, tensor: Any) -> Any:
        return np.asarray(tensor.as_cpu() if hasattr(tensor, "as_cpu") else tensor)

    def channels_first(self, array: Any) -> Any:
        return np.moveaxis(array, -1, 1)

    def empty(self, like: Any, device: int) -> Any:
        return like[:0]
