"""Mistakes that DALI finds: whatever it raises, at whatever moment, an `except` for it catches what is raised here."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from penstock.errors import PenstockError

pytest.importorskip("nvidia.dali", reason="DALI, the oracle, is not installed")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def library(name: str) -> Any:
    parts = {part: importlib.import_module(f"{name}.{part}") for part in ("fn", "math", "types", "ops")}
    root = importlib.import_module(name)

    def node(value: Any, layout: str | None = None) -> Any:
        array = np.asarray(value)
        return parts["fn"].external_source(lambda: [array], layout=layout)

    return SimpleNamespace(**parts, root=root, Pipeline=root.Pipeline, node=node)


OURS, DALI = library("penstock"), library("nvidia.dali")


def error_of(use: Callable[[Any], Any], lib: Any) -> BaseException | None:
    """What defining a pipeline with these outputs, building or running it raises."""
    pipe = lib.Pipeline(batch_size=1, num_threads=1, device_id=None)
    try:
        with pipe:
            made = use(lib)
            pipe.set_outputs(*(made if isinstance(made, (list, tuple)) else [made]))
        pipe.build()
        pipe.run()
    except Exception as error:
        return error
    return None


def assert_same_class(use: Callable[[Any], Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs, ours = error_of(use, DALI), error_of(use, OURS)
    assert theirs is not None, "DALI takes it"
    assert isinstance(ours, PenstockError), f"ours: {ours!r}, DALI's: {theirs!r}"
    if not isinstance(theirs, AssertionError):
        wanted = next(cls for cls in type(theirs).__mro__ if cls.__module__ == "builtins")
        assert isinstance(ours, wanted), f"ours: {ours!r}, DALI's: {theirs!r}"


F32 = np.float32
PICTURE = np.zeros((6, 8, 3), np.uint8)
VIDEO = np.zeros((4, 6, 8, 3), np.uint8)
CUBE = np.zeros((2, 2, 3), np.uint8)

NODES: list[Callable[[Any], Any]] = [
    lambda d: min(d.node(1), d.node(2)),
    lambda d: max(d.node(1), d.node(2)),
    lambda d: bool(d.node(1)),
    lambda d: d.node(1) if d.node(1) > 0 else d.node(2),
    lambda d: list(d.node([1, 2])),
    lambda d: len(d.node([1, 2])),
    lambda d: d.node(1) + [d.node(2)],  # noqa: RUF005
    lambda d: d.math.max([d.node(1), d.node(2)], 5),
]
LAYOUTS: list[Callable[[Any], Any]] = [
    lambda d: d.fn.crop(d.node(PICTURE, "ABC"), crop_h=2, crop_w=2),
    lambda d: d.fn.crop_mirror_normalize(d.node(PICTURE, "ABC"), crop_h=2, crop_w=2),
    lambda d: d.fn.rotate(d.node(PICTURE, "CHW"), angle=5.0),
    lambda d: d.fn.warp_affine(d.node(PICTURE, "CHW"), matrix=[1, 0, 0, 0, 1, 0]),
    lambda d: d.fn.paste(d.node(np.zeros((5, 6, 7, 8), np.uint8)), ratio=2, fill_value=0),
    lambda d: d.fn.paste(d.node(PICTURE, "CHW"), ratio=2, fill_value=0),
    lambda d: d.fn.resize(d.node(np.zeros((4, 4), np.uint8), "XY"), size=[5, 5]),
    lambda d: d.fn.resize(d.node(np.zeros(4, np.uint8)), size=[5, 5]),
    lambda d: d.fn.flip(d.node(np.zeros(4, np.uint8))),
    lambda d: d.fn.color_twist(d.node(PICTURE, "CHW"), hue=3.0),
    lambda d: d.fn.color_space_conversion(d.node(PICTURE, "CHW"), image_type=d.types.RGB, output_type=d.types.BGR),
    lambda d: d.fn.gaussian_blur(d.node(VIDEO, "DHCW"), sigma=1.0),
    lambda d: d.fn.gaussian_blur(d.node(VIDEO, "HFWC"), sigma=1.0),
    lambda d: d.node(np.zeros((1, 2, 3, 4)), "ABCD") + d.node(np.zeros((2, 3, 4)), "ABC"),
    lambda d: d.fn.one_hot(d.node(np.zeros((2, 2), np.int32)), num_classes=3, axis_name="C"),
    lambda d: d.fn.reshape(d.node(CUBE), shape=[12], layout="AB"),
    lambda d: d.fn.element_extract(d.node(PICTURE, "HWC"), element_map=[0]),
    lambda d: d.fn.coord_transform(d.node(F32(1))),
]
AXES: list[Callable[[Any], Any]] = [
    *(
        lambda d, name=name: getattr(d.fn.reductions, name)(d.node(CUBE), axes=[-100])  # type: ignore[misc]
        for name in ("sum", "mean", "min", "max", "rms", "mean_square")
    ),
    lambda d: d.fn.reductions.std_dev(d.node(CUBE), d.node(F32(1)), axes=[7]),
    lambda d: d.fn.reductions.sum(d.node(CUBE), axes=[0, 0]),
    lambda d: d.fn.reductions.sum(d.node(CUBE, "HWC"), axis_names="Q"),
    lambda d: d.fn.slice(d.node(PICTURE), start=[0], end=[1], axes=[-10]),
    lambda d: d.fn.pad(d.node(PICTURE), axes=[-10]),
    lambda d: d.fn.normalize(d.node(PICTURE), axes=[9]),
    lambda d: d.fn.normalize(d.node(PICTURE, "HWC"), axis_names="Q"),
    lambda d: d.fn.squeeze(d.node(PICTURE, "XYZ"), axis_names="C"),
    lambda d: d.fn.squeeze(d.node(PICTURE), axes=[1, 1]),
    lambda d: d.fn.squeeze(d.node(PICTURE), axes=[1]),
    lambda d: d.fn.squeeze(d.node(PICTURE, "HWZ"), axes=[2], axis_names="Z"),
    lambda d: d.fn.expand_dims(d.node(PICTURE), axes=[0, -1]),
    lambda d: d.fn.expand_dims(d.node(PICTURE, "HWC"), axes=[2, 0, 2], new_axis_names="AB"),
    lambda d: d.fn.expand_dims(d.node(PICTURE), axes=[9]),
    lambda d: d.fn.stack(d.node([1]), d.node([2]), axis=5),
    lambda d: d.fn.cat(d.node([1]), d.node([2]), axis=5),
    lambda d: d.fn.one_hot(d.node([1, 2]), num_classes=3, axis=9),
    lambda d: d.fn.transpose(d.node(PICTURE), perm=[0, 1]),
    lambda d: d.fn.transpose(d.node(PICTURE), perm=[0, 1, 5]),
    lambda d: d.fn.permute_batch(d.node([1]), indices=[5]),
    lambda d: d.fn.element_extract(d.node(VIDEO, "FHWC"), element_map=[-5]),
    lambda d: d.fn.element_extract(d.node(VIDEO, "FHWC"), element_map=[9]),
    lambda d: d.node([1, 2, 3])[5],
    lambda d: d.node([1, 2, 3])[0, 0],
    lambda d: d.node([1, 2, 3])[::0],
    lambda d: d.node([1, 2, 3])["a"],
    lambda d: d.fn.reshape(d.node(CUBE), src_dims=[0, 1, 3]),
]
VALUES: list[Callable[[Any], Any]] = [
    lambda d: d.fn.slice(d.node(PICTURE), start=[0, 0], end=[4, 3], shape=[1, 1], axes=[0, 1]),
    lambda d: d.fn.slice(d.node(PICTURE), start=[-1], end=[8], axes=[0]),
    lambda d: d.fn.one_hot(d.node([1, 2]), num_classes=3, axis_name="CD"),
    lambda d: d.fn.one_hot(d.node([1, 2]), num_classes=3, axis_name=""),
    lambda d: d.fn.random.beta(dtype=d.types.FLOAT16),
    lambda d: d.fn.random.beta(dtype=d.types.INT32),
    lambda d: d.fn.random.beta(alpha=np.full((2, 2), 1), beta=1),
    lambda d: d.fn.random.beta(alpha=0.0, beta=1.0),
    lambda d: d.fn.crop(d.node(PICTURE, "HWC"), crop=[5]),
    lambda d: d.fn.crop(d.node(PICTURE, "HWC"), crop=[2, 4, 5, 6]),
    lambda d: d.fn.crop(d.node(PICTURE, "HWC"), crop_d=4),
    lambda d: d.fn.crop(d.node(PICTURE, "HWC"), crop=[20, 20], out_of_bounds_policy="error"),
    lambda d: d.fn.crop(d.node(PICTURE, "HWC"), crop=[2, 2], out_of_bounds_policy="other"),
    lambda d: d.fn.crop(d.node(PICTURE, "HWC"), crop=[2, 2], rounding="up"),
    lambda d: d.fn.crop(d.node(PICTURE, "HWC"), crop=[2, 2], crop_pos_x=1.5),
    lambda d: d.fn.crop_mirror_normalize(d.node(PICTURE, "HWC"), crop=[5]),
    lambda d: d.fn.crop_mirror_normalize(d.node(PICTURE, "HWC"), mean=[1.0, 2.0]),
    lambda d: d.fn.crop_mirror_normalize(d.node(PICTURE, "HWC"), output_layout="ABC"),
    lambda d: d.fn.crop_mirror_normalize(d.node(PICTURE), output_dtype=d.types.FLOAT, dtype=d.types.FLOAT),
    lambda d: d.fn.lookup_table(d.node([1]), keys=[1], values=[1.0], output_dtype=d.types.FLOAT, dtype=d.types.FLOAT),
    lambda d: d.fn.shapes(d.node(PICTURE), type=d.types.INT32, dtype=d.types.INT32),
    lambda d: d.fn.gaussian_blur(d.node(PICTURE, "HWC")),
    lambda d: d.fn.gaussian_blur(d.node(PICTURE, "HWC"), sigma=-1.0),
    lambda d: d.fn.gaussian_blur(d.node(PICTURE, "HWC"), window_size=2),
    lambda d: d.fn.gaussian_blur(d.node(PICTURE, "HWC"), window_size=-11),
    lambda d: d.fn.paste(d.node(PICTURE, "HWC"), ratio=0.5, fill_value=0),
    lambda d: d.fn.paste(d.node(PICTURE, "HWC"), ratio=2.0, fill_value=0, paste_x=1.1),
    lambda d: d.fn.paste(d.node(PICTURE.astype(np.int32), "HWC"), ratio=2.0, fill_value=0),
    lambda d: d.fn.pad(d.node(PICTURE), align=[0]),
    lambda d: d.fn.reshape(d.node(np.zeros((4, 6))), rel_shape=[1, -1, 1]),
    lambda d: d.fn.reshape(d.node(PICTURE), shape=[7, 7]),
    lambda d: d.fn.reshape(d.node(PICTURE), shape=[-1, -1]),
    lambda d: d.fn.random.choice(d.node(5), p=[0.5, 0.5]),
    lambda d: d.fn.random.choice(5, p=[1.5, 0, 0, 0, 0]),
    lambda d: d.fn.random.choice(-5),
    lambda d: d.fn.resize(d.node(PICTURE, "HWC")),
    lambda d: d.fn.resize(d.node(PICTURE, "HWC"), size=[2, 2], mode="other"),
    lambda d: d.fn.resize(d.node(PICTURE, "HWC"), resize_x=3, resize_shorter=3),
    lambda d: d.fn.rotate(d.node(VIDEO, "DHWC"), angle=4.0),
    lambda d: d.fn.lookup_table(d.node([1, 2]), keys=[1, 2], values=[1.0]),
    lambda d: d.fn.color_space_conversion(d.node(PICTURE), image_type=d.types.ANY_DATA, output_type=d.types.RGB),
    lambda d: d.fn.transforms.rotation(angle=[1.0, 2.0]),
    lambda d: d.fn.transforms.translation(),
    lambda d: d.fn.constant(idata=[1], fdata=[1.0]),
    lambda d: d.fn.external_source(source=lambda: [PICTURE], layout="HWC", ndim=2),
    lambda d: d.fn.external_source(source=lambda: [PICTURE], dtype=d.types.FLOAT),
    lambda d: d.fn.readers.file(files=[__file__], shard_id=0, num_shards=9)[1],
    lambda d: d.fn.decoders.image(d.node(np.zeros(50, np.uint8))),
    lambda d: d.fn.flip(d.node(PICTURE, "HWC"), horizon=1),
    lambda d: d.fn.flip(),
    lambda d: d.fn.flip(d.node(PICTURE), d.node(PICTURE)),
    lambda d: d.fn.zeros([1, 100]),
    lambda d: d.fn.flip(d.node(PICTURE), device="elsewhere"),
    lambda d: d.fn.zzyzx(d.node(PICTURE)),
    lambda d: d.fn.cast(d.node(PICTURE)),
    lambda d: d.fn.expand_dims(d.node(PICTURE), axes=float("inf")),
    lambda d: d.fn.zeros(shape=[-1]),
    lambda d: d.types.Constant(float("inf"), dtype=d.types.INT32),
    lambda d: d.types.Constant(float("-inf"), dtype=d.types.UINT8),
    lambda d: d.types.Constant(float("nan"), dtype=d.types.INT64),
]
ARITHMETIC: list[Callable[[Any], Any]] = [
    lambda d: d.node([1, 2]) // d.node([1, 0]),
    lambda d: d.node([1, 2]) % d.node([1, 0]),
    lambda d: d.node(np.ones(2, np.float32)) & d.node([1, 2]),
    lambda d: ~d.node(np.ones(2, np.float32)),
    lambda d: d.node(np.ones(2, np.float32)) << d.node([1, 2]),
    lambda d: d.node([True]) + d.node([False]),
    lambda d: d.math.sqrt(d.node([True])),
    lambda d: d.node(np.zeros((2, 3))) + d.node(np.zeros((3, 2))),
    lambda d: d.math.atan2(d.node(np.zeros((2, 3))), d.node(np.zeros((3, 2)))),
    lambda d: d.node([1]) + "1",
    lambda d: d.node([1]) + None,
    lambda d: d.fn.cat(d.node([1]), d.node([1.5])),
    lambda d: d.fn.stack(d.node([1]), d.node([1, 2])),
]  # fmt: skip


@pytest.mark.parametrize("use", NODES)
def test_nodes(use: Callable[[Any], Any]) -> None:
    assert_same_class(use)


@pytest.mark.parametrize("use", LAYOUTS)
def test_layouts(use: Callable[[Any], Any]) -> None:
    assert_same_class(use)


@pytest.mark.parametrize("use", AXES)
def test_axes(use: Callable[[Any], Any]) -> None:
    assert_same_class(use)


@pytest.mark.parametrize("use", VALUES)
def test_values(use: Callable[[Any], Any]) -> None:
    assert_same_class(use)


@pytest.mark.parametrize("use", ARITHMETIC)
def test_arithmetic(use: Callable[[Any], Any]) -> None:
    assert_same_class(use)
