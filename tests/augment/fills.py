"""What the tests of operators share that fill parts of tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.cases import Array


def cast_like_c(values: Any, dtype: np.dtype[Any]) -> Array:
    """Fractions are cut off, and integers that do not fit keep their lower bits."""
    numbers = np.ravel(np.float32(values)).astype(np.float64)
    if dtype.kind in "iu":
        return np.trunc(numbers).astype(np.int64).astype(dtype)
    with np.errstate(over="ignore"):
        return (numbers != 0) if dtype.kind == "b" else numbers.astype(dtype)
