"""WebP: windows of pictures are what the whole pictures have there, though chroma is interpolated."""

from __future__ import annotations

import io
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from penstock import fn
from tests.decode.pictures import Array, decode, pillow, smooth, some_windows

KINDS: dict[str, dict[str, Any]] = {
    "lossy": dict(quality=80),
    "soft": dict(quality=10, method=6),
    "fine": dict(quality=100, method=0),
    "sharp": dict(quality=60, use_sharp_yuv=True),
    "alpha": dict(quality=75, alpha_quality=50),
    "lossless": dict(lossless=True),
}


def saved(pixels: Array, **options: Any) -> bytes:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "WEBP", **options)
    return file.getvalue()


@pytest.mark.parametrize("kind", KINDS)
def test_windows(tmp_path: Path, random: np.random.Generator, kind: str) -> None:
    for _ in range(6):
        width, height = (int(n) for n in random.integers(1, 180, 2))
        pixels = smooth(random, width, height, 4 if kind == "alpha" else 3)
        noise = random.integers(-20, 21, pixels.shape)
        file = saved(np.clip(pixels + noise, 0, 255).astype(np.uint8), **KINDS[kind])
        whole = pillow(file, "RGBA" if kind == "alpha" else "RGB")[..., :3]
        np.testing.assert_array_equal(decode(tmp_path, [file])[0], whole)
        windows = np.array(some_windows(random, width, height, 30), np.int32)

        def operator(encoded: Any, windows: Array = windows) -> Any:
            start, shape = windows[:, :2], windows[:, 2:] - windows[:, :2]
            given = (fn.external_source(itertools.repeat(list(part))) for part in (start, shape))
            return fn.decoders.image_slice(encoded, *given, normalized_anchor=False, normalized_shape=False)

        for (x0, y0, x1, y1), part in zip(windows, decode(tmp_path, [file] * len(windows), operator), strict=True):
            np.testing.assert_array_equal(part, whole[y0:y1, x0:x1])
