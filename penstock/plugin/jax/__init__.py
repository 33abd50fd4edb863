"""Penstock in JAX: functions of JAX's as operators (`fn.jax_function`)."""

from penstock.frameworks import package
from penstock.plugin.jax import fn

__all__ = ["fn"]

package("jax", "jax")
