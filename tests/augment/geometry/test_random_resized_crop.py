"""`random_resized_crop`: a random window that `resize` would give too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from penstock import fn, types
from penstock.errors import ArgumentError
from tests.augment.resample_reference import ON_GPU, scenes
from tests.cases import Array, Samples, case, samples
from tests.runners import ours

CUBIC, NEAREST = types.INTERP_CUBIC, types.INTERP_NN
CASES = [
    case("random_resized_crop", pictures, on_gpu=ON_GPU, **arguments)
    for pictures, arguments in (
        (scenes(), dict(size=(37, 45))),
        (scenes(), dict(size=41, random_area=(0.5, 1.0), interp_type=CUBIC, dtype=types.FLOAT)),
        (scenes("CHW"), dict(size=(37, 45), random_aspect_ratio=(1.0, 1.0), antialias=False)),
        (scenes("FHWC"), dict(size=(37, 45), num_attempts=1, minibatch_size=2, temp_buffer_hint=9)),
        (scenes("FCHW", np.float32), dict(size=41, min_filter=NEAREST, mag_filter=NEAREST)),
    )
]  # fmt: skip


def maps(count: int, height: int, width: int) -> Samples:
    """Pictures whose channels are y and x of each pixel."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    return samples([np.stack([y, x], -1)] * count, "HWC")


def windows(count: int, height: int, width: int, **arguments: Any) -> Array:
    """Upper, left, lower and right edge of each sample's window, read off the result."""
    made = case("random_resized_crop", maps(count, height, width), size=512, antialias=False, **arguments)
    edges = []
    for y in ours(made)[0].arrays:
        for channel, line in ((0, y[:, 256, 0]), (1, y[256, :, 1])):
            scale = (line[320] - line[192]) / 128
            start = line[192] + 0.5 - 192.5 * scale
            edges.append((start, start + 512 * scale, channel))
    pairs = np.array(edges)[:, :2].reshape(count, 2, 2)
    return np.stack([pairs[:, 0, 0], pairs[:, 1, 0], pairs[:, 0, 1], pairs[:, 1, 1]], 1)


def test_windows_are_as_asked() -> None:
    found = windows(200, 301, 401, random_area=(0.2, 0.6), random_aspect_ratio=(0.5, 2.0))
    assert np.abs(found - np.rint(found)).max() < 0.01  # whole pixels
    top, left, bottom, right = np.rint(found).T
    assert min(top.min(), left.min()) >= 0
    assert bottom.max() <= 301
    assert right.max() <= 401
    area, aspect = (bottom - top) * (right - left) / (301 * 401), (right - left) / (bottom - top)
    assert 0.19 < area.min() < area.max() < 0.61
    assert 0.49 < aspect.min() < aspect.max() < 2.01
    # Spread as drawn uniformly: area, logarithm of the aspect ratio, and place.
    assert abs(np.median(area) - 0.39) < 0.06
    assert abs(np.median(np.log(aspect))) < 0.15
    assert abs(np.median(top / (301 - bottom + top + 1e-9)) - 0.5) < 0.12
    assert len(np.unique(np.rint(found), axis=0)) > 190


def test_same_as_resize_of_the_window() -> None:
    """Bit for bit: random windows are regions of `resize`."""
    (window,) = np.rint(windows(1, 301, 401))
    rng = np.random.default_rng(3)
    picture = samples([rng.integers(0, 256, (301, 401, 3), np.uint8)], "HWC")
    cropped = ours(case("random_resized_crop", picture, size=(224, 192)))[0].arrays[0]
    region = {"roi_start": window[:2].tolist(), "roi_end": window[2:].tolist()}
    resized = ours(case("resize", picture, size=(224, 192), **region))[0].arrays[0]
    np.testing.assert_array_equal(cropped, resized)


def test_frames_share_one_window() -> None:
    frame = maps(1, 80, 90).arrays[0]
    video = samples([np.stack([frame] * 3)], "FHWC")
    result = ours(case("random_resized_crop", video, size=33))[0].arrays[0]
    np.testing.assert_array_equal(result[0], result[1])
    np.testing.assert_array_equal(result[0], result[2])


@pytest.mark.parametrize(
    ("arguments", "argument"),
    [
        ({}, "size"),
        ({"size": (4, 5, 6)}, "size"),
        ({"size": -4}, "size"),
        ({"size": 4, "random_area": (0.9, 0.1)}, "random_area"),
        ({"size": 4, "random_aspect_ratio": (2.0, 1.0)}, "random_aspect_ratio"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], argument: str) -> None:
    with pytest.raises(ArgumentError, match=rf"random_resized_crop: .*{argument}"):
        fn.random_resized_crop(types.Constant(np.zeros((4, 4, 3), np.uint8)), **arguments)
