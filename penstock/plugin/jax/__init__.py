"""Penstock in JAX: iterators over pipelines, and functions of JAX's as operators (`fn.jax_function`)."""

from penstock.frameworks import package

package("jax", "jax")

from penstock.plugin.base import LastBatchPolicy  # noqa: E402
from penstock.plugin.jax import fn  # noqa: E402
from penstock.plugin.jax.clu import DALIGenericPeekableIterator, peekable_data_iterator  # noqa: E402
from penstock.plugin.jax.decorator import data_iterator  # noqa: E402
from penstock.plugin.jax.iterator import DALIGenericIterator  # noqa: E402

__all__ = [
    "DALIGenericIterator",
    "DALIGenericPeekableIterator",
    "LastBatchPolicy",
    "data_iterator",
    "fn",
    "peekable_data_iterator",
]
