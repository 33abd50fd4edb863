"""fn.jpeg_compression_distortion, against Pillow."""

from __future__ import annotations

import io
from functools import partial
from typing import Any

import numpy as np
import pytest
from PIL import Image

from penstock import Pipeline, fn
from penstock.errors import OperatorError
from penstock.graph.constants import constant
from tests.cases import Array, case, per_sample, pictures, samples


def stored(x: Array, quality: int = 50) -> Array:
    if x.ndim == 4:
        return np.stack([stored(frame, quality) for frame in x])
    file = io.BytesIO()
    Image.fromarray(x).save(file, "JPEG", quality=int(np.clip(quality, 1, 100)), subsampling=2)
    return np.array(Image.open(file))


def smooth(seed: int, height: int, width: int) -> Array:
    """A picture whose coefficients are small, so that steps matter."""
    ys, xs = np.mgrid[:height, :width]
    waves = [np.sin(xs / (5 + seed + c)) + np.cos(ys / (9 - c)) for c in range(3)]
    return (127 + 60 * np.stack(waves, -1)).astype(np.uint8)


distort = partial(case, "jpeg_compression_distortion", reference=stored)

CASES = [
    distort(pictures()),
    distort(pictures(), quality=per_sample([1, 95, 100])),
    distort(pictures(), quality=1000),
    distort(pictures(), quality=-3),
    distort(samples([smooth(k, 50 + k, 70 - k) for k in range(3)], "HWC"), quality=per_sample([10, 40, 80])),
    distort(pictures(sizes=((1, 1), (2, 17), (33, 3))), quality=30),
    distort(pictures("FHWC"), quality=25),
    distort(samples(list(pictures().arrays))),
]


@pytest.mark.parametrize(
    ("shape", "layout", "dtype", "problem"),
    [
        ((4, 5, 3), "HWC", "i2", "the input is INT16: expected UINT8"),
        ((4, 5, 1), "HWC", "u1", r"expected three channels, got the shape \(4, 5, 1\)"),
        ((3, 4, 5), "CHW", "u1", "got the layout 'CHW'"),
    ],
)
def test_mistakes_are_named(shape: Any, layout: str, dtype: str, problem: str) -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.jpeg_compression_distortion(constant(np.zeros(shape, dtype), layout)))
    with pytest.raises(OperatorError, match=problem):
        pipe.run()
