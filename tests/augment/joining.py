"""What the tests of cat and stack share."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock import Pipeline, types
from tests.cases import Array, Samples, random_array


def extents(*shapes: tuple[int, ...], dtype: Any = np.uint8, layout: str = "", seed: int = 0) -> Samples:
    """A sample of each shape."""
    return Samples(tuple(random_array(s, dtype, seed + i) for i, s in enumerate(shapes)), layout)


def run(make: Any, *arrays: Array, layouts: tuple[str, ...] = ("HW", "HW")) -> Any:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        inputs = zip(arrays, layouts, strict=False)
        pipe.set_outputs(make(*[types.Constant(a, layout=layout or None) for a, layout in inputs]))
    return pipe.run()[0]


A, B, WRONG = random_array((2, 3)), random_array((4, 3)), random_array((2, 3), np.int16)
