"""fn.rotate, against NumPy; the sweep compares it with DALI too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.errors import ArgumentError, OperatorError
from penstock.graph.constants import constant
from tests.augment.warp_reference import NEAREST_ON_GPU, NOISE_ON_GPU, ON_GPU, by_frame, space_of, warped
from tests.cases import Array, Case, case, per_sample, pictures, random_array, samples
from tests.runners import ours


def turn(angle: float, axis: Any = None) -> Array:
    """From the output to the input, in the order x, y, z; of space by Rodrigues' formula."""
    a = np.deg2rad(angle)
    if axis is None:
        return np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
    a = -a
    x, y, z = np.asarray(axis, float) / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(a) * cross + (1 - np.cos(a)) * cross @ cross


def canvas(turns: list[Array], extents: Array) -> Array:
    """In the order x, y, z: all of the input, as odd or even as the axis that goes there in most frames."""
    size = np.max([np.ceil(np.abs(t.T) @ extents - 0.01).astype(int) for t in turns], axis=0)
    odd = np.mean([extents[np.abs(t.T).argmax(1)] % 2 for t in turns], axis=0) > 0.5
    return np.asarray(size + (size + odd) % 2)


def reference(layout: str) -> Callable[..., Any]:
    def rotated(
        x: Array, angle: Any, axis: Any = None, keep_size: bool = False, size: Any = None, **arguments: Any
    ) -> Array:
        axes = space_of(layout)
        extents = np.array([x.shape[i] for i in axes])[::-1]
        turns = [turn(a, axis if len(axes) == 3 else None) for a in np.atleast_1d(angle)]
        out = extents if keep_size else canvas(turns, extents)
        if size is not None:
            of_node = isinstance(size, np.ndarray)  # its fractions are cut off
            out = np.floor(np.array(size)[::-1] + (0 if of_node else 0.5)).astype(int)
        maps = [np.column_stack([t, extents / 2 - t @ (out / 2)]) for t in turns]
        shape = tuple(out[::-1])
        return by_frame(layout, lambda p, i: warped(p, maps[i % len(maps)], shape, **arguments), x)

    return rotated


def rotate(layout: str = "HWC", of: Any = np.uint8, channels: int = 3, **arguments: Any) -> Case:
    nearest = arguments.get("interp_type") == types.INTERP_NN
    on_gpu = NEAREST_ON_GPU if nearest else NOISE_ON_GPU if of == np.int16 else ON_GPU
    large = 100 if of == np.int16 else 1  # the difference of neighbours, which roundings of positions are multiplied by
    return case(
        "rotate", pictures(layout, of, channels), reference=reference(layout), off_by=1 + large // 20,
        tolerance=0.05 * large, on_gpu=on_gpu, **arguments,
    )  # fmt: skip


NN = {"interp_type": types.INTERP_NN}
ANGLES = per_sample([33.3, -101.7, 500.1])
CASES = [
    rotate(angle=30),
    rotate(angle=-17.3, fill_value=42),
    rotate(angle=ANGLES, fill_value=0),
    rotate(angle=ANGLES, fill_value=7.6, **NN),
    rotate(angle=61.7, **NN),
    rotate(angle=61.7, keep_size=True, fill_value=3),
    rotate(angle=61.7, size=(20, 31), fill_value=3),
    rotate(angle=61.7, size=(20.5, 31.4), keep_size=True, axis=1),
    rotate(angle=-61.7, size=per_sample([(20.0, 31.0), (1.0, 1.0), (99.0, 5.0)])),
    rotate(angle=-61.7, size=per_sample([(29.7, 49.5), (1.9, 2.0), (9.99, 5.1)]), fill_value=3),
    *[rotate(angle=90 * n, fill_value=9) for n in (0, 1, 2, 3, -5)],
    *[rotate(angle=20, channels=channels, fill_value=200) for channels in (1, 2, 4, 5)],
    *[rotate(angle=20, of=dtype, fill_value=-11) for dtype in (np.int16, np.float32)],
    rotate(angle=20, of=np.int32, channels=1, fill_value=-11, **NN),
    rotate(angle=20, dtype=types.FLOAT, fill_value=5),
    rotate(angle=20, of=np.float32, output_dtype=types.UINT8),
    rotate("FHWC", angle=20, fill_value=5),
    rotate("FHWC", angle=20, axis=(1, 2, 3), keep_size=True, **NN),
    rotate("DHWC", angle=20.7, axis=(1, 2, 3), fill_value=5),
    rotate("DHWC", angle=-61, axis=(0.4, -2, 1.1), channels=1, of=np.float32),
    rotate("DHWC", angle=90, axis=(0, 2, 0), fill_value=5),
    rotate("DHWC", angle=-90, axis=(1, 0, 0), keep_size=True, fill_value=5),
    rotate("DHWC", angle=ANGLES, axis=per_sample([(1.0, 0.2, 3.1), (0.0, 1.0, 1.2), (-1.0, 0.0, 0.0)]), fill_value=5),
    rotate("DHWC", angle=40.3, axis=(3, 1, 2), size=(9, 20, 31), **NN),
    rotate("FDHWC", angle=20.7, axis=(1, 2, 3), fill_value=5),
    case("rotate", samples(list(pictures().arrays)), reference=reference("HWC"), off_by=1, on_gpu=ON_GPU, angle=12.3),
]  # fmt: skip


def run(array: Array, layout: str, **arguments: Any) -> Array:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.rotate(constant(array, layout), **arguments))
    return np.array(pipe.run()[0].at(0))


@pytest.mark.parametrize("shape", [(20, 33, 3), (21, 31, 1), (300, 2, 4), (1, 1, 3)])
@pytest.mark.parametrize("turns", range(-4, 5))
def test_quarter_turns_move_whole_pixels(shape: tuple[int, ...], turns: int) -> None:
    x = random_array(shape)
    for more in ({}, {"fill_value": 0}, NN):
        np.testing.assert_array_equal(run(x, "HWC", angle=90 * turns, **more), np.rot90(x, turns))


def test_nothing_turned_is_nothing() -> None:
    """DALI 2.4 crashes."""
    assert run(np.zeros((10, 0, 3), np.uint8), "HWC", angle=90).size == 0
    assert (run(np.zeros((10, 0, 3), np.uint8), "HWC", angle=30, size=(4, 5), fill_value=7) == 7).all()


def test_angles_by_frame() -> None:
    video, angles = random_array((3, 21, 30, 3)), np.float32([10.3, -50.7, 180])
    one = case("rotate", samples([video], "FHWC"), angle=samples([angles], "F"), fill_value=3)
    found = ours(one)[0].arrays[0].astype(int)
    assert np.abs(found - reference("FHWC")(video, angle=angles, fill_value=3)).max() <= 1


def forever(dali: Any, batch: list[Array], layout: str | None = None) -> Any:
    return dali.fn.external_source(lambda: [np.array(a) for a in batch], layout=layout)


def test_the_canvas_is_dalis() -> None:
    """Its extents are odd or even by rules of DALI's, also at 45 degrees."""
    dali = pytest.importorskip("nvidia.dali", reason="DALI, the oracle, is not installed")
    random = np.random.default_rng(1)
    count = 600
    angles = np.where(random.random(count) < 0.4, random.integers(-8, 9, count) * 45, random.uniform(-400, 400, count))
    axes = np.where(random.random((count, 1)) < 0.4, np.eye(3)[random.integers(0, 3, count)],
                    random.normal(0, 1, (count, 3))).astype(np.float32)  # fmt: skip
    for layout in ("HWC", "DHWC"):
        arrays = [np.zeros((*random.integers(1, 24, len(layout) - 1), 1), np.uint8) for _ in range(count)]
        given = {"angle": per_sample([np.float32(a) for a in angles]), "axis": per_sample(list(axes))}
        given = given if "D" in layout else {"angle": given["angle"]}
        found = ours(case("rotate", samples(arrays, layout), **given))[0].arrays
        pipe = dali.Pipeline(batch_size=count, num_threads=2, device_id=None, prefetch_queue_depth=1)
        with pipe:
            nodes = {name: forever(dali, list(value.arrays)) for name, value in given.items()}
            pipe.set_outputs(dali.fn.rotate(forever(dali, arrays, layout), **nodes))
        pipe.build()
        wanted = pipe.run()[0].shape()
        same = [a.shape == tuple(b) for a, b in zip(found, wanted, strict=True)]
        assert all(same), [
            (arrays[i].shape, angles[i], found[i].shape, wanted[i]) for i in np.where(~np.array(same))[0]
        ]


@pytest.mark.parametrize(
    ("arguments", "argument"),
    [({}, "angle"), ({"angle": 1, "interp_type": 2}, "interp_type")],
)
def test_wrong_arguments(arguments: dict[str, Any], argument: str) -> None:
    with pytest.raises(ArgumentError, match=rf"rotate: .*{argument}"):
        fn.rotate(types.Constant(np.zeros((4, 4, 3), np.uint8)), **arguments)


@pytest.mark.parametrize(
    ("layout", "arguments", "message"),
    [
        ("HWC", {"angle": float("nan")}, "angle is nan"),
        ("HWC", {"angle": 30, "size": (-1, 4)}, "size: the extent -1.0* is not positive"),
        ("DHWC", {"angle": 30}, "axis is required for volumes"),
        ("DHWC", {"angle": 30, "axis": (0, 0, 0)}, "axis is no direction"),
        ("DHWC", {"angle": 30, "axis": (1, 2)}, "axis has 2 values: expected 3"),
        ("CHW", {"angle": 30}, "the layout 'CHW'"),
    ],
)
def test_wrong_values(layout: str, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(OperatorError, match=message):
        run(np.zeros([4] * len(layout), np.uint8), layout, **arguments)
