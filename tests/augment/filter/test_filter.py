"""fn.filter, against NumPy."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.errors import ArgumentError, OperatorError
from penstock.graph.constants import constant
from tests.cases import Apart, Array, case, per_sample, pictures, samples

MODES = {"reflect_101": "reflect", "reflect_1001": "symmetric", "wrap": "wrap", "clamp": "edge"}


def filtered(
    x: Array,
    weights: Array,
    fill: Any = 0,
    layout: str = "HWC",
    anchor: Any = -1,
    border: str = "reflect_101",
    mode: str = "same",
    dtype: types.DALIDataType | None = None,
) -> Array:
    axes = [i for i in range(x.ndim) if not layout or layout[i] not in "FC"]
    anchors = [
        n // 2 if a == -1 else int(a)
        for a, n in zip(np.broadcast_to(np.ravel(anchor), len(axes)), weights.shape, strict=True)
    ]
    padded = x.astype(np.float64)
    if mode == "same":
        sides = [(0, 0)] * x.ndim
        for axis, n, a in zip(axes, weights.shape, anchors, strict=True):
            sides[axis] = (a, n - 1 - a)
        given: Any = {"constant_values": float(fill)} if border == "constant" else {}
        padded = np.pad(padded, sides, MODES.get(border, "constant"), **given)
    extents = [padded.shape[axis] - n + 1 for axis, n in zip(axes, weights.shape, strict=True)]
    total: Any = 0.0
    for place in np.ndindex(*weights.shape):
        window = [slice(None)] * x.ndim
        for axis, k, n in zip(axes, place, extents, strict=True):
            window[axis] = slice(k, k + n)
        total = total + np.float64(weights[place]) * padded[tuple(window)]
    to = x.dtype if dtype is None else np.dtype(types.to_numpy_type(dtype))
    if to.kind == "f":
        return np.asarray(total).astype(to)
    return np.clip(np.rint(total), np.iinfo(to).min, np.iinfo(to).max).astype(to)


def weights(*shape: int, count: int = 3, layout: str = "") -> Any:
    random = np.random.default_rng([7, *shape])
    return samples([np.float32(random.normal(0, 1.5 / np.prod(shape) ** 0.5, shape)) for _ in range(count)], layout)


def of(layout: str) -> Any:
    return partial(filtered, layout=layout)


WHY = "DALI adds with fused multiply-adds, or by a Fourier transform"
near = partial(case, "filter", off_by=1, tolerance=1e-4)
apart = partial(near, from_dali=Apart(1, 0.01, 1e-4, why=WHY))
on_gpu = partial(near, differs="DALI has it on GPUs only")

CASES = [
    near(pictures(), weights(3, 3), reference=filtered),
    near(pictures(), weights(5, 3), reference=filtered, dtype=types.FLOAT),
    near(pictures(), weights(4, 2), reference=filtered),
    near(pictures(), weights(1, 1), reference=filtered),
    apart(pictures(), weights(21, 13), reference=filtered),
    near(pictures(), weights(5, 4), reference=filtered, anchor=(4, 0)),
    near(pictures(), weights(5, 4), reference=filtered, anchor=per_sample([(1, 2), (-1, 3), (0, -1)])),
    near(pictures(), weights(5, 4), reference=filtered, mode="valid", anchor=1),
    near(pictures(channels=1), weights(3, 3), reference=filtered),
    near(pictures(channels=5), weights(3, 3), reference=filtered),
    apart(pictures(dtype=np.float32), weights(5, 5), reference=filtered),
    apart(pictures(dtype=np.int16), weights(3, 5), reference=filtered),
    apart(pictures(dtype=np.uint16), weights(3, 5), reference=filtered),
    on_gpu(pictures(dtype=np.int8), weights(3, 3), reference=filtered),
    on_gpu(pictures(dtype=np.float16), weights(3, 3), reference=filtered, tolerance=2e-3),
    near(pictures("CHW"), weights(3, 5), reference=of("CHW")),
    near(pictures("FHWC"), weights(3, 5), reference=of("FHWC")),
    near(pictures("FCHW"), weights(3, 5), reference=of("FCHW")),
    near(pictures("HW"), weights(3, 5), reference=of("HW")),
    near(samples(list(pictures("HW").arrays)), weights(3, 5), reference=of("")),
    on_gpu(pictures("DHWC"), weights(3, 2, 5), reference=of("DHWC"), anchor=(0, 1, 2)),
    on_gpu(pictures("CDHW", np.float32), weights(3, 2, 5), reference=of("CDHW"), border="wrap"),
    on_gpu(pictures("FDHWC"), weights(2, 3, 3), reference=of("FDHWC"), mode="valid"),
    on_gpu(samples(list(pictures("DHW").arrays)), weights(3, 3, 3), reference=of("")),
]
CASES += [near(pictures(), weights(5, 6), reference=filtered, border=b, anchor=(4, 1)) for b in (*MODES, "constant")]
CASES += [
    near(pictures(), weights(5, 6), samples([7, 0, 255], dtype=np.uint8), reference=filtered, border="constant"),
    near(pictures(sizes=((3, 40), (40, 2), (1, 1))), weights(9, 9), reference=filtered, border="reflect_101",
         differs="DALI has another picture where it is mirrored more than once"),
]  # fmt: skip


def test_halves_go_to_the_even_number() -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(
            fn.experimental.filter(constant(np.uint8([[1, 2, 3, 4, 5, 7]])), constant(np.float32([[0.5]])))
        )
    assert pipe.run()[0].at(0).tolist() == [[0, 1, 2, 2, 2, 4]]


X = np.zeros((4, 5, 3), np.uint8)
W = np.ones((3, 3), np.float32)


@pytest.mark.parametrize(
    ("inputs", "layout", "arguments", "problem"),
    [
        ((X.astype(np.int32), W), "HWC", {}, "the input is INT32: expected UINT8"),
        ((X, W.astype(np.float64)), "HWC", {}, "the filter is FLOAT64: expected FLOAT"),
        ((X, W[0]), "HWC", {}, r"the filter has the shape \(3,?\): expected 2 axes"),
        ((X, W[:0]), "HWC", {}, "it is empty"),
        ((X, W), "HWC", {"anchor": 3}, r"anchor is 3 on axis 0 \(H\): expected -1, or 0 to 2"),
        ((X, W), "HWC", {"anchor": (0, -2)}, r"anchor is -2 on axis 1 \(W\)"),
        ((X, W), "HWC", {"anchor": (0, 1, 2)}, "anchor has 3 values: expected 1 or 2"),
        ((X, W), "HWC", {"dtype": types.INT16}, "dtype is INT16: expected FLOAT, or the input's UINT8"),
        ((X, np.ones((5, 1), np.float32)), "HWC", {"mode": "valid"}, r"on axis 0 \(H\) the filter has 5 places"),
        ((X, W, np.float32(1)), "HWC", {}, "the fill value is FLOAT: expected the input's type, UINT8"),
        ((X, W, np.uint8([1, 2])), "HWC", {}, r"the fill value has the shape \(2,?\): expected a single number"),
        ((X, W), "HCW", {}, "'HCW': expected frames first"),
        ((X, W), "FWC", {}, "leaves 1 axes"),
    ],
)  # fmt: skip
def test_mistakes_are_named(inputs: Any, layout: str, arguments: Any, problem: str) -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        image, *others = inputs
        pipe.set_outputs(fn.filter(constant(image, layout), *map(constant, others), **arguments))
    with pytest.raises(OperatorError, match=problem):
        pipe.run()


@pytest.mark.parametrize("arguments", [{"border": "mirror"}, {"mode": "full"}])
def test_unknown_words(arguments: Any) -> None:
    with pytest.raises(ArgumentError, match=r"filter: (border|mode)="):
        fn.filter(X, W, **arguments)
