"""fn.color_space_conversion, against NumPy, and bit for bit against DALI on all colours."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.errors import ArgumentError, OperatorError
from penstock.graph.constants import constant
from tests.cases import Array, Samples, case, pictures
from tests.runners import dalis, ours

_LUMA = np.array([0.299, 0.587, 0.114])
_TO_YCBCR = np.array(
    [
        _LUMA * 219 / 255,
        np.array([-0.299, -0.587, 0.886]) / 1.772 * 224 / 255,
        np.array([0.701, -0.587, -0.114]) / 1.402 * 224 / 255,
    ]
)
_OFFSET = np.array([16, 128, 128])


def converted(x: Array, image_type: types.DALIImageType, output_type: types.DALIImageType) -> Array:
    """In double precision."""
    v = x.astype(np.float64)
    if image_type == output_type:
        return x
    if output_type == types.GRAY and image_type == types.YCbCr:
        v = (v[..., :1] - 16) * 255 / 219
    else:
        if image_type == types.BGR:
            v = v[..., ::-1]
        elif image_type == types.GRAY:
            v = np.repeat(v, 3, -1)
        elif image_type == types.YCbCr:
            v = (v - _OFFSET) @ np.linalg.inv(_TO_YCBCR).T
        if output_type == types.BGR:
            v = v[..., ::-1]
        elif output_type == types.GRAY:
            v = (v @ _LUMA)[..., None]
        elif output_type == types.YCbCr:
            v = v @ _TO_YCBCR.T + _OFFSET
    return np.clip(np.floor(v + 0.5), 0, 255).astype(np.uint8)


SPACES = (types.RGB, types.BGR, types.GRAY, types.YCbCr)
PAIRS = [(a, b) for a in SPACES for b in SPACES]
_COPY = "DALI takes no conversion from a colour space to itself"


def like(layout: str, space: types.DALIImageType) -> Samples:
    return pictures(layout, channels=1 if space == types.GRAY else 3)


CASES = [
    case(
        "color_space_conversion",
        like(layout, a),
        reference=converted,
        off_by=1,
        image_type=a,
        output_type=b,
        differs=_COPY if a == b else None,
    )
    for a, b in PAIRS
    for layout in ("HWC", "FHWC", "DHWC", "FDHWC")
    if layout == "HWC" or (a, b) in PAIRS[2::5]
]


def all_colours() -> Array:
    axis = np.arange(256, dtype=np.uint8)
    return np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), -1).reshape(4096, 4096, 3)


@pytest.mark.parametrize(("a", "b"), [(a, b) for a, b in PAIRS if a != b], ids=str)
def test_all_colours_are_as_in_dali(a: Any, b: Any) -> None:
    colours = all_colours()
    if a == types.GRAY:
        colours = colours[:1, :, 2:]
    one = case("color_space_conversion", Samples((colours,), "HWC"), image_type=a, output_type=b)
    np.testing.assert_array_equal(ours(one)[0].arrays[0], dalis(one)[0].arrays[0])


@pytest.mark.parametrize(("a", "b"), PAIRS, ids=str)
def test_rows_of_every_length(a: Any, b: Any) -> None:
    """Vector loops give what single pixels give."""
    row = all_colours()[::683, ::37][:1, :101, : 1 if a == types.GRAY else 3]
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        parts = [constant(np.ascontiguousarray(row[:, :n]), "HWC") for n in range(1, 102)]
        singles = [constant(np.ascontiguousarray(row[:, n : n + 1]), "HWC") for n in range(101)]
        convert = [fn.color_space_conversion(x, image_type=a, output_type=b) for x in (*parts, *singles)]
        pipe.set_outputs(*convert)
    found = [output.at(0) for output in pipe.run()]
    wanted = np.concatenate(found[101:], axis=1)
    for n in range(1, 102):
        np.testing.assert_array_equal(found[n - 1], wanted[:, :n])


def run(x: Array, layout: str = "HWC", **arguments: Any) -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.color_space_conversion(constant(x, layout), **arguments))
    pipe.run()


@pytest.mark.parametrize(
    ("x", "layout", "problem"),
    [
        (np.zeros((4, 4, 2), np.uint8), "HWC", r"expected 3 channels as the last axis.*\(4, 4, 2\)"),
        (np.zeros((3, 4, 4), np.uint8), "CHW", "expected 3 channels as the last axis.*'CHW'"),
        (np.zeros((4, 4, 3), np.float32), "HWC", "the input is FLOAT: expected UINT8"),
        (np.zeros((4, 4, 3), np.uint8), "XYC", "no height and width"),
    ],
)
def test_inputs_that_do_not_fit_are_named(x: Array, layout: str, problem: str) -> None:
    with pytest.raises(OperatorError, match=problem):
        run(x, layout, image_type=types.RGB, output_type=types.GRAY)


def test_any_data_is_no_colour_space() -> None:
    with pytest.raises(ArgumentError, match=r"color_space_conversion: image_type=.*expected one of"):
        run(np.zeros((4, 4, 3), np.uint8), image_type=types.ANY_DATA, output_type=types.GRAY)
