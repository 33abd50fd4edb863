"""What the tests of colour operators share."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.cases import Array


def rounded(v: Array, dtype: np.dtype[Any]) -> Array:
    """Floats as another type: integers are rounded half away from zero, and saturate."""
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            return v.astype(dtype)
    limits = np.iinfo(dtype)
    whole = np.trunc(v)
    whole = whole + np.sign(v) * (np.abs(v - whole) >= 0.5)
    return np.clip(whole.astype(np.float64), limits.min, limits.max).astype(dtype)
