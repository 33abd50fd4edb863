"""JAX as the library sees it."""

from __future__ import annotations

from typing import Any

from penstock.frameworks.backend import Backend
from penstock.frameworks.packages import package


class JAX(Backend):
    """Arrays by DLPack, on CPUs and GPUs."""

    name = "JAX"
    module = "jaxlib"
    distribution = "jax"
    plugin = "penstock.plugin.jax"
    extra = "jax"

    def jax(self) -> Any:
        """The module; MissingPackageError where it is not installed."""
        return package("jax", self.extra)

    def array(self, tensor: Any) -> Any:
        return package("jax.dlpack", self.extra).from_dlpack(tensor)

    def empty(self, like: Any, device: int) -> Any:
        return like[:0]
