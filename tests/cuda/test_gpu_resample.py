"""Resampling on GPUs: what the sweep's small pictures, which it compares with the CPU's results, do not reach."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.graph.node import DataNode
from penstock.machine import kernels
from tests.cases import Array, Case, Samples, case, per_sample, pictures, samples
from tests.runners import assert_close, ours

# Bytes are blended with weights of 15 bits, and floats in another order than on the CPU: so integers are at most 1
# apart, and few of them. At simple ratios, where sums often lie half-way between two integers, they are more.
SHARE, SHARE_AT_SIMPLE_RATIOS = 0.01, 0.04

# More than one tile, in both directions, with and without rows that begin at whole words.
LARGE = ((131, 220), (90, 151), (75, 67))
FILTERS = [types.DALIInterpType(i) for i in range(6)]


def large(layout: str = "HWC", dtype: Any = np.uint8, channels: int = 3) -> Samples:
    return pictures(layout, dtype, channels, sizes=LARGE)


CASES = [
    *[case("resize", large(), size=(97, 70), interp_type=kind) for kind in FILTERS],
    *[case("resize", large(), size=(300, 45), interp_type=kind, dtype=types.FLOAT) for kind in FILTERS],
    *[case("resize", large(channels=channels), size=(-45, 133)) for channels in (1, 2, 4, 5)],
    case("resize", large("CHW"), size=(51, 133)),
    case("resize", large(dtype=np.int16), size=(51, 133), interp_type=types.INTERP_LANCZOS3),
    case("resize", large(), size=(41, 53), interp_type=per_sample([3, 0, 5]), antialias=False),
    case("resize", large(), size=(7, 5)),
    case("random_resized_crop", large(), size=(64, 96)),
    case("tensor_resize", samples(large().arrays), sizes=[51, 133], axes=[0, 1]),
    case("tensor_resize", samples(large(dtype=np.float32).arrays), sizes=[51], axes=[0]),
    case("tensor_resize", samples(large(dtype=np.int16).arrays), scales=[0.7, 1.3, 2.0], alignment=[0.2]),
    case("tensor_resize", samples([np.float32([[2, 4, 9, 1]])] * 2), sizes=[7], axes=[-1]),
]  # fmt: skip


@pytest.mark.usefixtures("software_gpu")
@pytest.mark.parametrize("case", CASES, ids=str)
def test_many_tiles(case: Case) -> None:
    for result, wanted in zip(ours(case, device="gpu"), ours(case), strict=True):
        for i, (x, y) in enumerate(zip(result.arrays, wanted.arrays, strict=True)):
            assert_close(x, y, 1, SHARE, 1e-5, f"sample {i}")


@pytest.mark.usefixtures("software_gpu")
def test_simple_ratios() -> None:
    for size in ((60, 90), (40, 60), (30, 45)):
        one = case("resize", pictures(sizes=[(80, 120)]), size=size)
        for result, wanted in zip(ours(one, device="gpu"), ours(one), strict=True):
            for x, y in zip(result.arrays, wanted.arrays, strict=True):
                assert_close(x, y, 1, SHARE_AT_SIMPLE_RATIOS, 0, str(size))


@pytest.mark.usefixtures("software_gpu")
def test_filters_that_no_tile_holds() -> None:
    """6000 pixels make one: each pixel is computed by itself then."""
    rows = samples([np.random.default_rng(i).integers(0, 256, (1, 240_000, 3), np.uint8) for i in range(2)], "HWC")
    one = case("resize", rows, size=(1, 40), roi_start=(0, 100.5), roi_end=(1, 239_000.25))
    (result,), (wanted,) = ours(one, device="gpu"), ours(one)
    for x, y in zip(result.arrays, wanted.arrays, strict=True):
        assert y.std() > 0
        assert_close(x, y, 1, 0.5, 0, "")


def chain(images: DataNode, **arguments: Any) -> DataNode:
    images = fn.crop(images, crop=(60, 60))
    images = fn.resize(images, size=(70, 101), **arguments)
    images = fn.flip(images, horizontal=1, vertical=1)
    return fn.crop_mirror_normalize(
        images, crop=(49, 90), mirror=1, mean=[99.0, 110.0, 120.5], std=[50.0, 51.0, 52.0], dtype=types.FLOAT16
    )


def run(source: Samples, **arguments: Any) -> list[Array]:
    pipe = Pipeline(batch_size=len(source), num_threads=2, device_id=0)
    with pipe:
        pipe.set_outputs(chain(source.node().gpu(), **arguments))
    (output,) = pipe.run()
    host = output.as_cpu()
    return [np.array(host.at(i)) for i in range(len(host))]


@pytest.mark.usefixtures("software_gpu")
@pytest.mark.parametrize("kind", [types.INTERP_NN, types.INTERP_LINEAR, types.INTERP_LANCZOS3], ids=str)
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_fused_equals_unfused(kind: Any, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stages above and below a tile, which move and turn its pixels."""
    source = large(dtype=dtype)
    fused = run(source, interp_type=kind)
    monkeypatch.setenv("PENSTOCK_FUSE", "0")
    for x, y in zip(fused, run(source, interp_type=kind), strict=True):
        assert x.shape == (3, 49, 90)
        assert x.tobytes() == y.tobytes()


def resized_anyway(source: Samples, device_id: int) -> list[bytes]:
    """The bytes that all filters make of pictures, and of the same pictures as floats."""
    pipe = Pipeline(batch_size=len(source), num_threads=2, device_id=device_id)
    with pipe:
        images = source.node().gpu()
        both = (images, fn.cast(images, dtype=types.FLOAT))
        pipe.set_outputs(*[fn.resize(i, size=(47, 71), interp_type=kind) for i in both for kind in FILTERS])
    return [output.as_cpu().as_array().tobytes() for output in pipe.run()]


def test_tiles_change_no_bit(monkeypatch: pytest.MonkeyPatch, software_gpu: dict[str, str]) -> None:
    """Where a stage below asks for any pixel, each is computed by itself: such kernels are compiled here instead."""
    if not software_gpu:
        pytest.skip("needs a second GPU, for which no kernels are compiled yet")
    compiled = []
    original = kernels.machine_code

    def without_tiles(source: str, arch: int) -> bytes:
        compiled.append("TiledResample" in source)
        for old, new in (("TiledResample", "Resample"), ("picture_tiles", "picture"), ("_TILE_", "_PICTURE_")):
            source = source.replace(old, new)
        return original(source, arch)

    wanted = resized_anyway(large(), 0)
    monkeypatch.setattr(kernels, "machine_code", without_tiles)
    assert resized_anyway(large(), 1) == wanted
    assert sum(compiled) == 2
