"""fn.multi_paste, against NumPy; the sweep compares it with DALI too, but not on videos, where its CPU one fails."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.errors import ArgumentError, LayoutError, OperatorError
from penstock.graph.constants import constant
from tests.cases import Array, case, per_sample, pictures, random_array, samples

F = np.float32


def converted(x: Array, dtype: Any) -> Array:
    """Rounded half away from zero, and limited to the type."""
    if dtype is None or np.dtype(dtype) == x.dtype:
        return x
    if np.dtype(dtype).kind == "f":
        return x.astype(dtype)
    limits = np.iinfo(dtype)
    rounded = np.trunc(x.astype(float) + np.copysign(0.5, x.astype(float)))
    return np.clip(rounded, limits.min, limits.max).astype(dtype)


def pasted(*parts: Array, output_size: Any = None, dtype: Any = None, **given: Any) -> Array:
    """One sample: these pictures, HWC or FHWC, one over the other."""
    dtype = dtype if dtype is None else types.to_numpy_type(dtype)
    height, width = parts[0].shape[-3:-1] if output_size is None else output_size[:2]
    out = np.zeros((*parts[0].shape[:-3], height, width, parts[0].shape[-1]), dtype or parts[0].dtype)

    def pixels(name: str, i: int, room: Any, rounding: Any, default: Any) -> tuple[int, int]:
        for key, scale in ((name, None), (f"{name}_rel", room)):
            if key in given:
                y, x = np.asarray(given[key]).reshape(-1, 2)[i]
                return (
                    (int(y), int(x))
                    if scale is None
                    else tuple(int(rounding(F(s) * F(e))) for s, e in zip((y, x), scale, strict=True))
                )
        return default

    for i, part in enumerate(parts):
        room = part.shape[-3:-1]
        y, x = pixels("in_anchors", i, room, np.floor, (0, 0))
        h, w = pixels("shapes", i, room, np.ceil, (room[0] - y, room[1] - x))
        to_y, to_x = pixels("out_anchors", i, (height, width), np.floor, (0, 0))
        out[..., to_y : to_y + h, to_x : to_x + w, :] = converted(part[..., y : y + h, x : x + w, :], dtype)
    return out


def by_ids(xs: list[Array], in_ids: Any, **given: Any) -> list[Array]:
    """All samples."""
    made = []
    for i in range(len(xs)):
        own = {k: v[i] if isinstance(v, list) and k != "output_size" else v for k, v in given.items()}
        chosen = [xs[int(k)] for k in np.ravel(in_ids[i] if isinstance(in_ids[0], np.ndarray) else in_ids)]
        canvas = own.get("output_size", xs[0].shape[-3:-1])
        empty = np.zeros_like(xs[i][..., :0, :0, :])
        made.append(
            pasted(*chosen, **{**own, "output_size": canvas})
            if chosen
            else pasted(empty, **{**own, "output_size": canvas})
        )
    return made


SAME = pictures(sizes=[(20, 30)])
OTHERS = pictures(sizes=[(20, 30)], dtype=np.uint8, count=3)
SIZES = pictures()
FLOATS = samples([random_array((9, 8, 2), np.float32, i) for i in range(3)], "HWC")
IDS = samples([[0, 2], [1], [2, 1]], dtype=np.int32)
PLACES = samples([[[0, 0], [5, 7]], [[3, 3]], [[9, 2], [0, 20]]], dtype=np.int32)
PARTS = samples([[[4, 9], [10, 10]], [[19, 1]], [[0, 5], [6, 30]]], dtype=np.int32)
SHARES = samples([[[0.5, 0.33], [0.21, 0.36]], [[0.7, 0.1]], [[0.0, 0.25], [0.64, 0.8]]], dtype=np.float32)
TWO = [samples([random_array((3, 2), np.int32, i + k) % 10 for i in range(3)], dtype=np.int32) for k in range(3)]
LARGE = per_sample([[70, 99], [80, 120], [64, 200]])
CASES = [
    case("multi_paste", SAME, reference=pasted),
    case("multi_paste", SIZES, reference=pasted, output_size=[70, 95]),
    case("multi_paste", SIZES, reference=pasted, output_size=LARGE, dtype=types.FLOAT),
    case("multi_paste", SAME, OTHERS, SAME, reference=pasted, out_anchors=TWO[0], output_size=[40, 50]),
    case("multi_paste", SAME, OTHERS, SAME, reference=pasted, in_anchors=TWO[1], shapes=TWO[2], out_anchors=TWO[0]),
    case("multi_paste", FLOATS, reference=pasted, dtype=types.UINT8),
    case("multi_paste", FLOATS, reference=pasted, dtype=types.INT16, in_anchors_rel=per_sample([[[0.3, 0.5]]] * 3)),
    case("multi_paste", SAME, reference=pasted, shapes_rel=per_sample([[[0.5, 0.33]], [[0.2, 0.6]], [[0.7, 0.1]]]),
         out_anchors_rel=per_sample([[[0.3, 0.25]], [[0.0, 0.2]], [[0.1, 0.15]]])),
    case("multi_paste", SAME, reference=by_ids, whole_batch=True, in_ids=[2, 0]),
    case("multi_paste", SAME, reference=by_ids, whole_batch=True, in_ids=IDS, out_anchors=PLACES, output_size=[60, 70]),
    case("multi_paste", SAME, reference=by_ids, whole_batch=True, in_ids=IDS, shapes=PARTS, out_anchors=PLACES,
         output_size=[60, 70]),
    case("multi_paste", SAME, reference=by_ids, whole_batch=True, in_ids=IDS, in_anchors_rel=SHARES,
         output_size=[40, 50], dtype=types.INT32),
    case("multi_paste", SAME, reference=by_ids, whole_batch=True, in_ids=IDS, shapes_rel=SHARES, out_anchors_rel=SHARES,
         output_size=[80, 130]),
    case("multi_paste", SAME, reference=by_ids, whole_batch=True, in_ids=samples([[], [1, 2], []], dtype=np.int32)),
    case("multi_paste", pictures("FHWC", sizes=[(6, 7)]), reference=pasted, output_size=[9, 8],
         differs="DALI's CPU operator fails on videos"),
    case("multi_paste", pictures(dtype=np.uint16, sizes=[(6, 7)]), reference=pasted, dtype=types.FLOAT16,
         differs="DALI has fewer types"),
]  # fmt: skip


def run(*inputs: Array, layout: str | None = "HWC", **arguments: Any) -> list[Array]:
    """The samples of a batch: these, or one of all inputs."""
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.multi_paste(*[constant(x, layout or "") for x in inputs], **arguments))
    return [np.array(pipe.run()[0].at(0))]


A = np.arange(1, 13, dtype=np.uint8).reshape(2, 3, 2)


def test_frames_have_their_own_places() -> None:
    video = random_array((3, 4, 5, 1))
    places = np.int32([[[0, 0]], [[1, 2]], [[2, 1]]])
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        anchors = fn.per_frame(fn.external_source(lambda: [places]))
        pipe.set_outputs(fn.multi_paste(constant(video, "FHWC"), out_anchors=anchors, output_size=[6, 7]))
    found = np.array(pipe.run()[0].at(0))
    wanted = np.stack(
        [pasted(frame, out_anchors=place, output_size=(6, 7)) for frame, place in zip(video, places, strict=True)]
    )
    np.testing.assert_array_equal(found, wanted)


def test_constants_are_places_too() -> None:
    (found,) = run(A, A, out_anchors=[0, 0, 1, 1], output_size=[3, 4])
    np.testing.assert_array_equal(found, pasted(A, A, out_anchors=[[0, 0], [1, 1]], output_size=(3, 4)))


def test_parts_without_pixels() -> None:
    assert not run(A, shapes=[0, 3])[0].any()
    assert not run(A, in_anchors=[2, 3])[0].any()
    assert run(A, shapes=[0, 0], output_size=[0, 5])[0].shape == (0, 5, 2)


@pytest.mark.parametrize("name", ["in_anchors", "shapes", "out_anchors"])
def test_pixels_or_shares(name: str) -> None:
    with pytest.raises(ArgumentError, match=f"multi_paste: {name}=.*: cannot be given together with {name}_rel"):
        run(A, **{name: [0, 0], f"{name}_rel": [0, 0]})


@pytest.mark.parametrize(
    ("inputs", "arguments", "problem"),
    [
        ((A,), {"out_anchors": [1, 1]}, "part 0 goes from 1 to 3 along y, but the output from 0 to 2"),
        ((A,), {"out_anchors": [0, -1], "shapes": [1, 1]}, "part 0 goes from -1 to 0 along x, but the output"),
        (
            (A,),
            {"in_anchors": [1, 1], "shapes": [2, 2]},
            "part 0 goes from 1 to 3 along y, but its picture from 0 to 2",
        ),
        ((A,), {"in_anchors": [3, 0]}, "part 0 goes from 3 to 2 along y"),
        ((A,), {"shapes": [-1, 0]}, "part 0 goes from 0 to -1 along y"),
        ((A,), {"shapes": [1, 1, 1]}, "shapes has 3 values; expected y and x for 1 part"),
        ((A, A), {"shapes_rel": [1, 1]}, "shapes_rel has 2 values; expected y and x for 2 parts"),
        ((A,), {"in_anchors_rel": [0.5, 1.5]}, "in_anchors_rel has 1.5.*: expected 0 to 1"),
        ((A,), {"in_ids": [0, 1]}, "in_ids has 1, which is no sample of a batch of 1"),
        ((A,), {"in_ids": [-1]}, "in_ids has -1"),
        ((A,), {"output_size": [3]}, "output_size has 1 values; expected height and width"),
        ((A,), {"output_size": [3, -3]}, "output_size has -3"),
        ((A, A[:1]), {}, r"output_size is needed .* the shapes \(2, 3, 2\) and \(1, 3, 2\)"),
        (
            (A, A[:, :, :1]),
            {},
            r"as many frames and channels as each other, got the shapes \(2, 3, 2\) and \(2, 3, 1\)",
        ),
        ((A, A.astype(np.int16)), {}, "pictures of one type, got UINT8 and INT16"),
    ],
)
def test_what_is_refused(inputs: Any, arguments: Any, problem: str) -> None:
    with pytest.raises(OperatorError, match=f"multi_paste: .*{problem}"):
        run(*inputs, **arguments)


def test_layouts() -> None:
    with pytest.raises(LayoutError, match="layout HWC or FHWC, got 'CHW'"):
        run(A, layout="CHW")
    with pytest.raises(LayoutError, match="got '' and the shape"):
        run(A[0], layout=None)
    with pytest.raises((ArgumentError, OperatorError), match="in_ids goes with one input, but there are 2"):
        run(A, A, in_ids=[0])
