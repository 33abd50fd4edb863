"""`resize` against plain NumPy; the sweep compares it with DALI too."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import fn, pipeline_def, types
from penstock.errors import ArgumentError, OperatorError
from tests.augment.resample_reference import FROM_DALI, ON_GPU, apply, extents, scenes, split
from tests.cases import Array, Case, case, per_sample, samples
from tests.runners import ours
from tests.small import made

FILTERS = [types.DALIInterpType(i) for i in range(6)]


def reference(layout: str) -> Callable[..., Any]:
    def resized(x: Array, save_attrs: bool = False, **arguments: Any) -> Any:
        filters, geometry = split(arguments)
        shape = [x.shape[layout.index(axis)] for axis in "DHW" if axis in layout]
        result = apply(x, layout, *extents(shape, **geometry), **filters)
        return (result, np.array(shape, np.int32)) if save_attrs else result

    return resized


def same(layout: str = "HWC", of: Any = np.uint8, channels: int = 3, **arguments: Any) -> Case:
    pictures = scenes(layout, of, channels)
    return case("resize", pictures, reference=reference(layout), off_by=1, tolerance=1e-4, on_gpu=ON_GPU, **arguments)


resized = partial(same, from_dali=FROM_DALI)


# With multiples of 16, no sample lies at the border of a pixel or of a Gaussian's window, where roundings decide.
CASES = [
    *[resized(size=(32, 48), interp_type=kind) for kind in FILTERS[1:]],
    *[resized(size=(37, 45), interp_type=kind, antialias=False) for kind in FILTERS[1:]],
    *[resized(size=(144, 176), interp_type=kind, dtype=types.FLOAT) for kind in FILTERS[1:]],
    same(size=(32, 48), interp_type=types.INTERP_NN),
    same(size=(37, 45), interp_type=types.INTERP_NN, antialias=False),
    same(size=(144, 176), interp_type=types.INTERP_NN, dtype=types.FLOAT),
    *[resized(size=(43, 161), channels=channels) for channels in (1, 2, 4, 5)],
    *[resized(size=(143, 47), channels=channels) for channels in (1, 3, 4)],
    *[same(of=dtype, size=(43, 71)) for dtype in (np.int16, np.uint16)],
    resized(of=np.float32, size=(43, 71)),
    *[resized(layout, size=(43, 71)) for layout in ("CHW", "FHWC", "FCHW", "CFHW")],
    *[same(layout, size=(5, 29, 33)) for layout in ("DHWC", "CDHW")],
    *[resized(layout, size=(5, 29, 33)) for layout in ("FDHWC", "FCDHW", "CFDHW")],
    resized("DHWC", size=(19, 29, 33), interp_type=types.INTERP_CUBIC, dtype=types.FLOAT),
    resized("DHWC", resize_z=11),
    resized("DHWC", resize_x=31, resize_y=43),
    same("DHWC", np.int16, size=(16, 48, 32), interp_type=types.INTERP_NN),
    same(size=(1, 1)),
    same(size=(1, 57)),
    resized(size=53),
    same(min_filter=types.INTERP_CUBIC, mag_filter=types.INTERP_NN, size=(48, 144)),
    resized(interp_type=types.INTERP_LANCZOS3, mag_filter=types.INTERP_LINEAR, size=(47, 149)),
    resized(size=per_sample([(31.0, 47.0), (67.0, 29.0), (53.0, 151.0)])),
    resized(size=(31, -47)),
    resized(size=(-31, -47)),
    resized(size=(0, 47)),
    resized(resize_x=47.3),
    resized(resize_x=47.3, mode="stretch"),
    resized(resize_y=-35.7, subpixel_scale=False),
    resized(resize_x=per_sample([31.0, 131.0, 47.5]), resize_y=53),
    resized(resize_shorter=37.2),
    resized(resize_shorter=37.2, max_size=51),
    resized(resize_longer=per_sample([43.0, 67.0, 149.0])),
    resized(size=(43, 67), mode="not_larger"),
    resized(size=(43, 67), mode="not_smaller"),
    resized(size=(43, 67), mode="not_smaller", max_size=(47, 59)),
    resized(size=(43, 67), max_size=(37, 71), subpixel_scale=False),
    resized(size=(43, 67), roi_start=(3.3, 5.7), roi_end=(31.9, 50.2)),
    resized(size=(43, 67), roi_start=(31.9, 5.7), roi_end=(3.3, 50.2)),
    resized(size=(43, 67), roi_start=(-4.5, -6), roi_end=(43.5, 60)),
    resized(size=(13, 17), roi_start=per_sample([(3.0, 4.0), (33.0, 4.0), (5.0, 44.0)]), roi_end=(30, 41)),
    resized(resize_shorter=41, roi_start=(0.2, 0.9), roi_end=(0.7, 0.1), roi_relative=True),
    resized(resize_longer=41, save_attrs=True, minibatch_size=4, temp_buffer_hint=100),
    resized("FDHWC", size=(5, 29, 33), save_attrs=True),
    same(resize_z=31, max_size=17),
    same(size=(0, 0), max_size=(17, 400), mode="not_larger"),
    same(size=1e-10),
    same(resize_x=1e-30, resize_y=13, interp_type=types.INTERP_CUBIC),
    same(resize_longer=0.03, subpixel_scale=False),
    same(size=(0.05, 7), mode="stretch", antialias=False, dtype=types.FLOAT),
    case(
        "experimental.resize", scenes(), reference=reference("HWC"), off_by=1, on_gpu=ON_GPU, size=(43, 71),
        differs="DALI has it on GPUs alone",
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("shape", "layout", "arguments", "wanted"),
    [
        ((4, 0, 16), "HWC", dict(roi_end=[4, 3], resize_x=6), (4, 0, 16)),
        ((4, 0, 16), "HWC", dict(roi_end=[4, 3], resize_y=6), (6, 0, 16)),
        ((4, 0, 16), "HWC", dict(roi_end=[4, 3], resize_x=6, mode="not_larger"), (4, 0, 16)),
        ((0, 5, 3), "HWC", dict(roi_end=[61, 30], resize_longer=44.6), (0, 45, 3)),
        ((4, 0, 7, 2), "DHWC", dict(roi_end=[4, 3, 7], resize_y=14), (4, 0, 7, 2)),
        ((4, 0, 7, 2), "DHWC", dict(roi_end=[4, 3, 7], resize_y=14, resize_x=3), (2, 0, 3, 2)),
        ((4, 0, 16), "HWC", dict(resize_shorter=6), (6, 0, 16)),
        ((8, 0, 4), "HWC", dict(roi_start=[7.4, 0], roi_end=[8.56, 2], resize_longer=48.466, max_size=54), (48, 0, 4)),
        ((1, 3, 0, 5), "DHWC", dict(resize_y=1.46), (0, 1, 0, 5)),
        ((3, 0, 5), "HWC", dict(resize_y=0.3), (0, 0, 5)),
        ((0, 19, 3), "HWC", dict(resize_y=18.85, max_size=13), (0, 19, 3)),
        ((0, 19, 3), "HWC", dict(resize_shorter=30, max_size=13), (0, 13, 3)),
    ],
)
def test_an_empty_axis_sets_no_scale(
    shape: tuple[int, ...], layout: str, arguments: dict[str, Any], wanted: tuple[int, ...]
) -> None:
    """Whatever region of it is asked for. The extents are DALI's."""
    if "roi_end" in arguments:
        arguments = {"roi_start": [0] * (len(shape) - 1), **arguments}
    pipe = made(lambda: fn.resize(types.Constant(np.zeros(shape, np.uint8), layout=layout), **arguments), batch_size=1)
    assert pipe.run()[0].at(0).shape == wanted


@pytest.mark.parametrize(("start", "end", "wanted"), [(0.5, 0.5, 15360), (0.5, 0.5008, 8533), (0.5, 0.502, 7680)])
def test_a_thin_region_is_made_thicker(start: float, end: float, wanted: int) -> None:
    """One below a thousandth of a pixel, by as much. The extents are DALI's."""
    region = dict(roi_start=[1, start], roi_end=[3, end])
    pipe = made(lambda: fn.resize(np.zeros((33, 48, 3), np.uint8), resize_shorter=7.68, **region), batch_size=1)
    assert pipe.run()[0].at(0).shape == (wanted, 8, 3)


def test_interpolation_per_sample() -> None:
    """DALI takes a node of type INTERP_TYPE here, which no array has; ours takes whole numbers."""
    kinds = per_sample([0, 2, 3])
    found = ours(case("resize", scenes(), size=(37, 45), interp_type=kinds, dtype=types.FLOAT))[0]
    for x, y, kind in zip(scenes().arrays, found.arrays, kinds.arrays, strict=True):
        expected = reference("HWC")(x, size=(37, 45), interp_type=int(kind), dtype=types.FLOAT)
        np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize(("start", "end"), [((70.0, 90.0), (75.0, 99.0)), ((-90.0, -95.0), (-60.0, -65.0))])
@pytest.mark.parametrize("kind", FILTERS)
def test_region_outside_shows_the_border(kind: types.DALIInterpType, start: Any, end: Any) -> None:
    """DALI 2.4 crashes, or reads what lies behind the picture."""
    pictures = scenes(sizes=[(61, 83)])
    flat = ours(case("resize", pictures, size=(9, 9), roi_start=start, roi_end=end, interp_type=kind))[0]
    corner = pictures.arrays[0][-1, -1] if start[0] > 0 else pictures.arrays[0][0, 0]
    np.testing.assert_array_equal(flat.arrays[0], np.broadcast_to(corner, (9, 9, 3)))


@pytest.mark.parametrize("kind", FILTERS)
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_flat_pictures_stay_flat(kind: types.DALIInterpType, channels: int) -> None:
    flat = samples([np.full((97, 103, channels), value, np.uint8) for value in (0, 1, 128, 254, 255)], "HWC")
    for size in ((31, 37), (201, 211), (31, 211), (211, 31)):
        result = ours(case("resize", flat, size=size, interp_type=kind))[0]
        for x, y in zip(flat.arrays, result.arrays, strict=True):
            assert (y == x[0, 0, 0]).all()


def test_saturates() -> None:
    """Cubic and Lanczos filters overshoot at edges."""
    edge = np.zeros((16, 16, 3), np.uint8)
    edge[:, 8:] = 255
    lanczos = {"size": (32, 61), "interp_type": types.INTERP_LANCZOS3}
    floats = ours(case("resize", samples([edge], "HWC"), dtype=types.FLOAT, **lanczos))[0].arrays[0]
    assert floats.min() < -5
    assert floats.max() > 260
    result = ours(case("resize", samples([edge], "HWC"), **lanczos))[0].arrays[0]
    np.testing.assert_array_equal(result, np.rint(np.clip(floats, 0, 255)))


def test_not_a_number_stays_where_it_is() -> None:
    """Weights of zero must not spread it."""
    x = np.ones((20, 20, 1), np.float32)
    x[10, 10] = np.nan
    same = ours(case("resize", samples([x], "HWC"), size=(20, 20)))[0].arrays[0]
    np.testing.assert_array_equal(same, x)


@pytest.mark.parametrize(
    ("arguments", "argument"),
    [
        ({}, "size"),
        ({"size": (4, 5), "resize_x": 3}, "size"),
        ({"resize_x": 4, "resize_shorter": 3}, "resize_x"),
        ({"resize_shorter": 4, "resize_longer": 3}, "resize_shorter"),
        ({"resize_shorter": 4, "mode": "stretch"}, "mode"),
        ({"size": 4, "mode": "larger"}, "mode"),
        ({"size": 4, "roi_start": (1, 2)}, "roi_start"),
        ({"size": 4, "interp_type": 17}, "interp_type"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], argument: str) -> None:
    with pytest.raises(ArgumentError, match=rf"resize: .*{argument}"):
        fn.resize(types.Constant(np.zeros((4, 4, 3), np.uint8)), **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"size": (4, 5, 6)}, "size has 3 values: expected 1 or 2"),
        ({"size": 4, "max_size": (1, 2, 3)}, "max_size has 3 values: expected 1 or 2"),
        ({"size": 4, "dtype": types.INT32}, "expected the input's type, UINT8, or FLOAT; got INT32"),
        ({"resize_x": float("nan")}, "resize_x is nan: expected less than"),
        ({"resize_y": float("-inf")}, "resize_y is -inf"),
        ({"size": (4, float("inf"))}, "size is inf"),
        ({"resize_shorter": 1e30}, r"resize_shorter is 1\d+.0*: expected less than"),
        ({"resize_longer": float("inf")}, "resize_longer is inf"),
        ({"size": 4, "roi_start": (0, 0), "roi_end": (1e30, 4)}, "the region from 0"),
    ],
)
def test_wrong_values(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(OperatorError, match=message):
        ours(case("resize", scenes(), **arguments))


@pytest.mark.parametrize("layout", ["WHC", "HCW", "DCHW"])
def test_wrong_layouts(layout: str) -> None:
    x = samples([np.zeros([4] * len(layout), np.uint8)], layout)
    with pytest.raises(OperatorError, match=f"the layout '{layout}'|depth"):
        ours(case("resize", x, size=5))


def test_parity_on_photographs(photographs: Path) -> None:
    """Integers at most 1 apart, and 99.5 % equal, at ratios that are hard: many sums end half-way between integers."""
    dali = pytest.importorskip("nvidia.dali", reason="DALI, the oracle, is not installed")
    sizes = [(256, 341), (224, 224), (281, 375), (150, 200), (500, 667), (188, 250), (250, 500), (375, 250), (93, 125)]

    @pipeline_def(batch_size=4, num_threads=2, device_id=None)
    def pipeline() -> Any:
        files, _ = fn.readers.file(file_root=str(photographs))
        images = fn.decoders.image(files)
        return (images, *[fn.resize(images, size=size) for size in sizes])

    images, *ours_of = pipeline().run()

    pipe = dali.Pipeline(batch_size=4, num_threads=2, device_id=None, prefetch_queue_depth=1)
    with pipe:
        x = dali.fn.external_source(lambda: [np.array(images.at(i)) for i in range(4)], layout="HWC")
        pipe.set_outputs(*[dali.fn.resize(x, size=size) for size in sizes])
    pipe.build()
    for size, a, b in zip(sizes, ours_of, pipe.run(), strict=True):
        for i in range(4):
            apart = np.abs(np.array(a.at(i)).astype(int) - np.array(b.at(i)))
            assert apart.max() <= 1, size
            assert (apart > 0).mean() <= 0.005, size


@pytest.mark.parametrize("layout", ["HWC", "DHWC"])
def test_nearest_neighbours_are_dalis(layout: str) -> None:
    """Just between two pixels, the last bit of a position decides: sums of steps have others than products."""
    dali = pytest.importorskip("nvidia.dali", reason="DALI, the oracle, is not installed")
    random = np.random.default_rng(2)
    axes, count = len(layout) - 1, 400
    extents = random.integers(1, 12, (count, axes))
    volumes = [np.arange(np.prod(e), dtype=np.float32).reshape(*e, 1) for e in extents]
    sizes = [np.float32(s) for s in np.where(random.random((count, 1)) < 0.5, random.integers(1, 40, (count, axes)),
                                             random.uniform(1, 40, (count, axes)))]  # fmt: skip
    given = {"interp_type": types.INTERP_NN, "mode": "stretch"}
    found = ours(case("resize", samples(volumes, layout), size=per_sample(sizes), **given))[0].arrays
    pipe = dali.Pipeline(batch_size=count, num_threads=2, device_id=None, prefetch_queue_depth=1)
    with pipe:
        x = dali.fn.external_source(lambda: volumes, layout=layout)
        pipe.set_outputs(dali.fn.resize(x, size=dali.fn.external_source(lambda: sizes), **given))
    pipe.build()
    wanted = pipe.run()[0]
    for i, a in enumerate(found):
        np.testing.assert_array_equal(a, np.array(wanted.at(i)), err_msg=f"{extents[i]} -> {sizes[i]}")


@pytest.mark.parametrize("argument", ["resize_shorter", "resize_longer"])
def test_halves_are_rounded_up(argument: str) -> None:
    """The side that is asked for has the length asked for, whatever a product of scale and extent would be."""
    random = np.random.default_rng(5)
    sizes = [sorted(random.integers(3, 300, 2).tolist(), reverse=argument == "resize_longer") for _ in range(300)]
    pictures = samples([np.zeros((*size, 1), np.uint8) for size in sizes], "HWC")
    lengths = random.integers(1, 300, len(sizes)) + 0.5
    given = {argument: per_sample([np.float32(v) for v in lengths])}
    found = ours(case("resize", pictures, interp_type=types.INTERP_NN, **given))[0].arrays
    assert [a.shape[0] for a in found] == [int(v + 0.5) for v in lengths]
