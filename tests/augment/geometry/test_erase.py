"""fn.erase, against NumPy."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn
from penstock.errors import ArgumentError, OperatorError
from penstock.graph.constants import constant
from tests.augment.fills import cast_like_c
from tests.cases import Array, case, per_sample, pictures, samples


def erased(
    x: Array,
    layout: str = "HWC",
    anchor: Any = (),
    shape: Any = (),
    axis_names: str | None = None,
    axes: Any = None,
    fill_value: Any = 0.0,
    normalized: bool = False,
    normalized_anchor: bool = False,
    normalized_shape: bool = False,
    centered_anchor: bool = False,
) -> Array:
    f = np.float32
    if axis_names is not None:
        axes = [layout.index(name) for name in axis_names]
    elif axes is None:
        axes = [i for i, name in enumerate(layout) if name != "C"]
    axes = [axis % x.ndim for axis in axes]
    extents = f([x.shape[i] for i in axes])
    sizes = np.ravel(f(shape)).reshape(-1, len(axes))
    anchors = np.ravel(f(anchor)).reshape(-1, len(axes)) if np.size(anchor) else np.zeros_like(sizes)
    fills = cast_like_c(fill_value, x.dtype)
    channel = layout.find("C")
    by_channel = fills.reshape([-1 if i == channel and len(fills) > 1 else 1 for i in range(x.ndim)])
    out = x.copy()
    for a, s in zip(anchors, sizes, strict=True):
        size = s * extents if normalized or normalized_shape else s
        start = a * extents if normalized or normalized_anchor else a
        start = start - size / 2 if centered_anchor else start
        inside = np.ones(x.shape, bool)
        for axis, low, high in zip(axes, start, start + size, strict=True):
            places = np.arange(x.shape[axis]).reshape([-1 if i == axis else 1 for i in range(x.ndim)])
            inside &= (places >= int(low)) & (places < int(high))
        out = np.where(inside, by_channel, out)
    return out.astype(x.dtype)


def of(layout: str) -> Any:
    return partial(erased, layout=layout)


A, S = per_sample([(3.0, 5.0), (0.0, 20.0), (-4.0, 7.5)]), per_sample([(10.0, 20.0), (64.0, 5.0), (30.0, 60.6)])
COLOUR = (-1.5, 2.5, 70000.0)
FEW, MANY = (3, 5, 8, 2, 0, 0), (10, 20, 4, 30, 2, 2)

CASES = [
    case("erase", pictures(), reference=erased),
    case("erase", pictures(), reference=erased, anchor=(3, 5), shape=(10, 20)),
    case("erase", pictures(), reference=erased, shape=(10, 20), fill_value=7),
    case("erase", pictures(), reference=erased, anchor=A, shape=S, fill_value=(7.9, -8, 300)),
    case("erase", pictures(), reference=erased, anchor=FEW, shape=MANY, fill_value=per_sample([[1.0], [2.0], [3.0]])),
    case("erase", pictures(), reference=erased, anchor=FEW * 3, shape=MANY * 3, fill_value=(1, 2, 3)),
    case("erase", pictures(), reference=erased, anchor=(4, 12), shape=(3, 5), axis_names="W", fill_value=(1, 2, 3)),
    case("erase", pictures(), reference=erased, anchor=(4, 6), shape=(8, 3), axes=(1, 0), fill_value=255),
    case("erase", pictures(), reference=erased, anchor=(4, 6), shape=(8, 3), axes=(-2, -3),
         differs="DALI erases other places where axes are negative"),
    case("erase", pictures(), reference=erased, anchor=(1,), shape=(1,), axis_names="C", fill_value=9),
    case("erase", pictures(), reference=erased, anchor=(5, 1), shape=(9, 2), axis_names="HC", fill_value=(1, 2, 3)),
    case("erase", pictures(), reference=erased, anchor=(0.3, 0.3), shape=(0.3, 0.5), normalized=True),
    case("erase", pictures(), reference=erased, anchor=(0.3, 0.25), shape=(10.5, 4), normalized_anchor=True),
    case("erase", pictures(), reference=erased, anchor=(4, 5), shape=(0.4, 0.25), normalized_shape=True),
    case("erase", pictures(), reference=erased, anchor=A, shape=S, centered_anchor=True, fill_value=1),
    case("erase", pictures(), reference=erased, anchor=(0.5, 0.5), shape=(0.5, 0.25), centered_anchor=True,
         normalized=True),
    case("erase", pictures(), reference=erased, anchor=(5, 5), shape=(3, -2)),
    case("erase", pictures("CHW"), reference=of("CHW"), anchor=A, shape=S, fill_value=(1, 2, 3)),
    case("erase", pictures("FHWC"), reference=of("FHWC"), anchor=(0, 5, 6), shape=(1, 7, 8), fill_value=(1, 2, 3)),
    case("erase", pictures("FHWC"), reference=of("FHWC"), anchor=A, shape=S, axis_names="HW", fill_value=(1, 2, 3)),
    case("erase", pictures("DHWC"), reference=of("DHWC"), anchor=(1, 2, 3), shape=(2, 30, 4), axis_names="DWH"),
    case("erase", pictures("FCHW"), reference=of("FCHW"), anchor=A, shape=S, axis_names="HW", fill_value=(1, 2, 3)),
    case("erase", pictures("HWCF"), reference=of("HWCF"), anchor=A, shape=S, axis_names="HW", fill_value=(1, 2, 3)),
    case("erase", samples(list(pictures().arrays)), reference=of("..."), anchor=(2, 3), shape=(5, 7), axes=(0, 1)),
    case("erase", samples([np.arange(9), np.arange(4)]), reference=of("."), anchor=[2], shape=[5], axes=[0]),
]  # fmt: skip
CASES += [
    case("erase", pictures(dtype=dtype, channels=c), reference=erased, anchor=A, shape=S, fill_value=COLOUR[:c])
    for dtype, c in (
        (np.int8, 3), (np.uint16, 3), (np.int16, 3), (np.uint32, 1), (np.int32, 3), (np.uint64, 2), (np.float16, 3),
        (np.float32, 1), (np.float32, 3),
    )
]  # fmt: skip
_EXTENDED = "DALI takes no such type"
CASES += [
    case("erase", pictures(dtype=np.float64), reference=erased, anchor=A, shape=S, fill_value=0.5, differs=_EXTENDED),
    case("erase", pictures(dtype=np.bool_), reference=erased, anchor=A, shape=S, fill_value=1, differs=_EXTENDED),
    case("erase", samples([np.arange(9), np.arange(4)]), reference=of("."), anchor=[2], shape=[5],
         differs="DALI divides by zero where there is no layout"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"anchor": (1, 2)}, "anchor has 2 values, and shape 0"),
        ({"anchor": (1, 2), "shape": (1,)}, "anchor has 2 values, and shape 1"),
        ({"shape": (1, 2, 3)}, "shape has 3 values, which is no multiple of the 2 axes"),
        ({"shape": (1, 2), "axis_names": "DW"}, "the layout 'HWC' has no axis 'D'"),
        ({"shape": (1, 2), "axes": (0, 3)}, r"axes: 3 is no axis of the shape \(4, 5, 3\)"),
        ({"shape": (1, 2), "fill_value": (1, 2)}, "fill_value has 2 values for 3 channels"),
    ],
)
def test_mistakes_are_named(arguments: Any, problem: str) -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.erase(constant(np.zeros((4, 5, 3), np.uint8), "HWC"), **arguments))
    with pytest.raises(OperatorError, match=problem):
        pipe.run()


def test_colours_need_channels() -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.erase(constant(np.zeros((4, 5), np.uint8), "HW"), shape=(1, 1), fill_value=(1, 2, 3)))
    with pytest.raises(OperatorError, match="the layout 'HW' has no channels"):
        pipe.run()


def test_normalized_is_given_once() -> None:
    with pytest.raises(ArgumentError, match=r"erase: normalized=True: cannot be given together"):
        fn.erase(np.zeros((4, 5)), normalized=True, normalized_anchor=False)
