"""Random windows: their shapes and places, and that decoders and the generator draw the same ones."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import fn, pipeline_def
from penstock.errors import ArgumentError, OperatorError
from tests.decode.pictures import jpeg, pillow, smooth, write

Array = np.ndarray[Any, Any]


def draw(shape: tuple[int, ...], count: int = 500, seed: int = 1, **arguments: Any) -> Array:
    """Windows (y, x, height, width) of `count` pictures of this shape."""

    @pipeline_def(batch_size=count, num_threads=2, device_id=None, seed=seed, prefetch_queue_depth=1)
    def pipeline() -> Any:
        return tuple(fn.random_crop_generator(np.array(shape, np.int64), **arguments))

    anchors, shapes = pipeline().run()
    return np.concatenate([anchors.as_array(), shapes.as_array()], axis=1)


def expected_size(width: int, height: int, area: float, aspect: float) -> tuple[int, int] | None:
    """Height and width of a window of this area (a share) and aspect ratio; None if it does not fit."""
    w = max(1, round(float(np.sqrt(width * height * area * aspect))))
    h = max(1, round(float(np.sqrt(width * height * area / aspect))))
    return (h, w) if h <= height and w <= width else None


def test_windows_lie_inside_and_have_the_shape_asked_for() -> None:
    windows = draw((300, 400, 3), 20000)
    y, x, h, w = windows.T
    assert (y >= 0).all()
    assert (x >= 0).all()
    assert (y + h <= 300).all()
    assert (x + w <= 400).all()
    area, aspect = h * w / (300 * 400), w / h
    assert 0.079 < area.min() < 0.09
    assert 0.9 < area.max() <= 1
    assert 0.75 <= aspect.min() < 0.76
    assert 1.32 < aspect.max() <= 4 / 3
    # Aspect ratios are drawn from a logarithmic scale: as many wide windows as high ones, among those that always fit.
    small = area < 0.3
    assert abs((aspect[small] > 1).mean() - 0.5) < 0.04
    counts = np.histogram(area, [0.1, 0.2, 0.3, 0.4, 0.5])[0]  # uniform where every shape fits
    assert counts.max() < 1.1 * counts.min()


def test_every_place_is_drawn_as_often() -> None:
    windows = draw((8, 8), 5000, random_area=0.25, random_aspect_ratio=1.0)
    assert set(map(tuple, windows[:, 2:])) == {(4, 4)}
    counts = Counter(map(tuple, windows[:, :2].tolist()))
    assert len(counts) == 25
    assert min(counts.values()) > 130
    assert max(counts.values()) < 280  # 200 expected, standard deviation 14


@pytest.mark.parametrize(
    ("shape", "arguments", "size"),
    [
        ((10, 1000), dict(), (10, 13)),  # too wide for the least area: the widest window allowed
        ((1000, 10), dict(), (13, 10)),
        ((10, 1000), dict(random_area=0.5, random_aspect_ratio=2.0), (10, 20)),
        ((1000, 10), dict(random_area=(0.9, 1.0), random_aspect_ratio=(3, 4)), (3, 10)),
        ((1, 1), dict(), (1, 1)),
        ((1, 5), dict(), (1, 1)),
        ((50, 50), dict(random_area=1.0), (50, 50)),
        ((50, 50), dict(random_area=0.5, random_aspect_ratio=2.0), (25, 50)),
        ((10, 11), dict(random_area=(0.1, 0.2), random_aspect_ratio=(0.9, 0.91)), (4, 4)),  # no window of that shape
        ((100, 150), dict(random_area=(0.3, 0.5), random_aspect_ratio=(2.0, 2.01), num_attempts=0), (61, 122)),
        ((40, 60), dict(random_area=0.0), (1, 1)),
        ((40, 60), dict(random_area=-1.0, random_aspect_ratio=(2.0, 3.0)), (1, 1)),
        ((40, 60), dict(random_aspect_ratio=0.0), (40, 1)),
        ((40, 60), dict(random_aspect_ratio=-1.0), (40, 1)),
        ((40, 60), dict(random_aspect_ratio=(-2.0, 0.0)), (40, 1)),
        ((40, 60), dict(random_aspect_ratio=(-1.0, 1.0)), (1, 60)),
        ((40, 60), dict(random_aspect_ratio=(0.0, 1.0)), (1, 60)),
        ((150, 100), dict(random_area=(0.6, 0.7), random_aspect_ratio=(0.9, 1.1), num_attempts=0), (107, 97)),
        ((50, 300), dict(random_area=(0.2, 0.25), random_aspect_ratio=(0.75, 3.0), num_attempts=0), (35, 106)),
        ((50, 50), dict(num_attempts=0), (50, 50)),
        ((0, 10), dict(), (0, 0)),
    ],
    ids=str,
)
def test_size_where_one_is_left(shape: tuple[int, int], arguments: dict[str, Any], size: tuple[int, int]) -> None:
    """DALI's sizes, noted down from DALI 2.4 on a CPU."""
    assert set(map(tuple, draw(shape, 50, **arguments)[:, 2:])) == {size}


def test_attempts_run_out_as_often_as_they_must() -> None:
    """Half of the attempts at a window twice as wide as high fail; the last resort has a shape of its own."""
    windows = draw((101, 203), 4000, random_area=(0.3, 0.5), random_aspect_ratio=2.0, num_attempts=1)
    sizes = Counter(map(tuple, windows[:, 2:].tolist()))
    areas = np.linspace(0.3, 0.5, 4001)
    fits = [(s := expected_size(203, 101, a, 2.0)) is not None and s[1] == 2 * s[0] for a in areas]
    assert abs(sizes[(71, 143)] / 4000 - (1 - np.mean(fits))) < 0.04


def test_same_seed_same_windows() -> None:
    first, again, other = draw((300, 400), 50), draw((300, 400), 50), draw((300, 400), 50, seed=2)
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    own = draw((300, 400), 50, seed=2)
    np.testing.assert_array_equal(other, own)
    fixed = [draw((300, 400), 50, seed=s) for s in (3, 4)]
    assert (fixed[0] != fixed[1]).any()


def test_decoder_draws_the_generators_windows(tmp_path: Path, random: np.random.Generator) -> None:
    files = [jpeg(smooth(random, *size), orientation=o) for size, o in [((90, 60), 1), ((61, 97), 1), ((80, 50), 6)]]
    names = write(tmp_path, files)

    @pipeline_def(batch_size=3, num_threads=2, device_id=None, prefetch_queue_depth=1)
    def pipeline() -> Any:
        encoded, _ = fn.readers.file(files=names)
        windows = fn.random_crop_generator(fn.peek_image_shape(encoded), seed=11)
        crops = fn.decoders.image_random_crop(encoded, seed=11)
        return crops, fn.decoders.image_slice(encoded, *windows, axes=[0, 1]), *windows

    pipe = pipeline()
    for _ in range(3):
        crops, slices, anchors, shapes = pipe.run()
        for i, file in enumerate(files):
            (y, x), (h, w) = np.array(anchors.at(i)), np.array(shapes.at(i))
            expected = pillow(file)[y : y + h, x : x + w]
            assert expected.shape == (h, w, 3)
            np.testing.assert_array_equal(np.array(crops.at(i)), expected)
            np.testing.assert_array_equal(np.array(slices.at(i)), expected)


def test_windows_do_not_depend_on_batch_size_or_threads(tmp_path: Path, random: np.random.Generator) -> None:
    names = write(tmp_path, [jpeg(smooth(random, 90, 60))] * 12)

    def shapes(batch_size: int, num_threads: int) -> list[tuple[int, ...]]:
        @pipeline_def(batch_size=batch_size, num_threads=num_threads, device_id=None, seed=5)
        def pipeline() -> Any:
            return fn.decoders.image_random_crop(fn.readers.file(files=names)[0])

        pipe = pipeline()
        return [shape for _ in range(24 // batch_size) for shape in pipe.run()[0].shape()]

    first = shapes(12, 1)
    assert len(set(first)) > 12  # another window for each sample, and in the second epoch
    assert shapes(4, 3) == first
    assert shapes(3, 2) == first


@pytest.mark.parametrize(
    "arguments",
    [
        dict(random_area=(0.5, 0.1)),
        dict(random_area=(0.1, 0.2, 0.3)),
        dict(random_area=float("nan")),
        dict(random_aspect_ratio=(2, 1)),
    ],
    ids=str,
)
def test_ranges_that_are_none(arguments: dict[str, Any]) -> None:
    (name,) = arguments
    with pytest.raises(ArgumentError, match=f"random_crop_generator: {name}="):
        fn.random_crop_generator(np.array([10, 10]), **arguments)


@pytest.mark.parametrize("shape", [np.array([10]), np.array([1, 2, 3, 4]), np.array([[4, 4]]), np.array([4.0, 4.0])])
def test_input_that_is_no_shape(shape: Array) -> None:
    @pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def pipeline() -> Any:
        return tuple(fn.random_crop_generator(shape))

    with pytest.raises(OperatorError, match="expected a picture's shape"):
        pipeline().run()
