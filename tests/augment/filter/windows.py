"""What the tests of operators share that look at the pixels around each. DALI has these on GPUs only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.cases import Array

ON_GPU = "DALI has it on GPUs only"
MODES = {"replicate": "edge", "reflect": "symmetric", "reflect_101": "reflect", "wrap": "wrap"}


def around(x: Array, layout: str, size: Any, anchor: Any, border: str, choose: Callable[[Array], Array]) -> Array:
    """What `choose` makes of the last axis, which has the pixels that a window covers; sizes are (width, height)."""
    width, height = np.broadcast_to(np.ravel(size), 2).tolist()
    left, top = (
        n // 2 if a == -1 else a
        for a, n in zip(np.broadcast_to(np.ravel(anchor), 2).tolist(), (width, height), strict=True)
    )
    y, axis = layout.index("H"), layout.index("W")
    sides = [(0, 0)] * x.ndim
    sides[y], sides[axis] = (top, height - 1 - top), (left, width - 1 - left)
    if border in MODES:
        padded = np.pad(x, sides, MODES[border])  # type: ignore[call-overload]
    else:
        padded = np.pad(x.astype(np.float64), sides, "constant", constant_values=np.nan)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (height, width), (y, axis))
    return np.asarray(choose(windows.reshape(*x.shape, -1))).astype(x.dtype)
