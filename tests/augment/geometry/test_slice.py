"""fn.slice, against NumPy."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.arguments.border import OUT_OF_BOUNDS
from penstock.errors import ArgumentError, OperatorError
from penstock.graph.constants import constant
from tests.augment.cut_reference import cut, round_away, truncated
from tests.cases import Array, case, per_sample, pictures, random_array, samples


def sliced(
    x: Array,
    in_anchor: Any = None,
    in_shape: Any = None,
    layout: str = "HWC",
    start: Any = None,
    end: Any = None,
    shape: Any = None,
    rel_start: Any = None,
    rel_end: Any = None,
    rel_shape: Any = None,
    axes: Any = None,
    axis_names: str | None = None,
    normalized_anchor: bool = True,
    normalized_shape: bool = True,
    dtype: Any = None,
    out_of_bounds_policy: str = "error",
    fill_values: Any = 0,
) -> Array:
    if axis_names is None and axes is None:
        axis_names = "WH"
    names = layout or {2: "HW", 3: "HWC", 4: "DHWC"}.get(x.ndim, "")
    places = [names.index(a) for a in axis_names] if axis_names is not None else [int(a) for a in np.ravel(axes)]
    places = places or list(range(x.ndim))
    if in_anchor is not None:
        by_share = in_anchor.dtype.kind == "f" and normalized_anchor
        start, rel_start = (None, in_anchor) if by_share else (in_anchor, None)
        by_share = in_shape.dtype.kind == "f" and normalized_shape
        shape, rel_shape = (None, in_shape) if by_share else (in_shape, None)
    anchor, extent = [0] * x.ndim, list(x.shape)

    def value(argument: Any, i: int) -> float | None:
        values = np.ravel([] if argument is None else argument)
        if len(values) == 0:
            return None
        number = values[i] if len(values) > 1 else values[0]
        return float(np.float32(number)) if values.dtype.kind == "f" else float(number)

    for i, axis in enumerate(places):
        n = x.shape[axis]
        first = value(start, i)
        share = value(rel_start, i)
        if first is None:
            first = 0.0 if share is None else share * n
        last: float = n
        if (v := value(end, i)) is not None:
            last = v
        elif (v := value(rel_end, i)) is not None:
            last = v * n
        elif (v := value(shape, i)) is not None:
            last = first + v
        elif (v := value(rel_shape, i)) is not None:
            last = (share + v) * n if share is not None else first + v * n
        anchor[axis] = round_away(first)
        extent[axis] = round_away(last) - anchor[axis]
    return cut(truncated(x, dtype), anchor, extent, layout, out_of_bounds_policy, fill_values)


def of(layout: str) -> Any:
    return partial(sliced, layout=layout)


X = pictures()
PLAIN = samples([random_array((5, 6, 7, 2), np.int32), random_array((8, 4, 3, 2), np.int32)])
CASES = [
    case("slice", X, reference=sliced, start=[3, 4], end=[9, 17]),
    case("slice", X, reference=sliced, start=[3, 4], shape=[7, 15]),
    case("slice", X, reference=sliced, start=[3, 4]),
    case("slice", X, reference=sliced, end=[3, 4]),
    case("slice", X, reference=sliced, shape=[5, 6]),
    case("slice", X, reference=sliced, start=2, end=9),
    case("slice", X, reference=sliced, rel_start=[0.1, 0.35], rel_end=[0.7, 0.9]),
    case("slice", X, reference=sliced, rel_start=[0.11, 0.2], rel_shape=[0.47, 0.8]),
    case("slice", X, reference=sliced, rel_start=[0.1, 0.2], shape=[4, 5]),
    case("slice", X, reference=sliced, rel_start=[0.1, 0.2], end=[20, 19]),
    case("slice", X, reference=sliced, start=[3, 4], rel_shape=[0.37, 0.41]),
    case("slice", X, reference=sliced, start=[3, 4], rel_end=[0.5, 0.73]),
    case("slice", X, reference=sliced, rel_shape=0.37),
    case("slice", X, reference=sliced, start=[1, 2], shape=[2, 4], axes=[0, 1]),
    case("slice", X, reference=sliced, start=[0, 1, 2], shape=[2, 2, 4], axes=[-1, -3, 1]),
    case("slice", X, reference=sliced, start=[1, 2, 0], shape=[2, 4, 1], axes=[]),
    case("slice", X, reference=sliced, start=[1, 2, 0], shape=[2, 4, 1], axis_names=""),
    case("slice", X, reference=sliced, start=1, end=5, axis_names="H"),
    case("slice", X, reference=sliced, start=[1, 0], end=[2, 9], axis_names="CH"),
    case("slice", X, reference=sliced, start=[5, 4], end=[5, 4]),
    case("slice", X, reference=sliced, start=per_sample([[1, 2], [3, 4], [5, 6]]), shape=[7, 8]),
    case("slice", X, reference=sliced, start=[1, 2], end=per_sample([[1, 2], [3, 4], [33, 6]])),
    case("slice", X, reference=sliced, rel_start=per_sample([[0.1, 0.2], [0.0, 0.5], [0.3, 0.3]]), rel_end=[1, 0.9]),
    case("slice", X, reference=sliced, shape=3, axes=per_sample([[0], [1], [0]])),
    case("slice", X, per_sample([[0.1, 0.2]] * 3), per_sample([[0.5, 0.25]] * 3), reference=sliced),
    case("slice", X, per_sample([[1, 2], [3, 4], [5, 6]]), per_sample([[5, 6], [7, 8], [9, 10]]), reference=sliced),
    case("slice", X, per_sample([[1, 2]] * 3, np.int64), per_sample([[5, 6]] * 3, np.int64), reference=sliced),
    case("slice", X, per_sample([[1.4, 2.5]] * 3), per_sample([[5.0, 6.2]] * 3), reference=sliced,
         normalized_anchor=False, normalized_shape=False),
    case("slice", X, per_sample([[0.1, 0.2]] * 3), per_sample([[5.0, 6.0]] * 3), reference=sliced,
         normalized_shape=False),
    case("slice", X, per_sample([[1.0, 2.0]] * 3), per_sample([[0.5, 0.5]] * 3), reference=sliced,
         normalized_anchor=False, axes=[0, 1]),
    case("slice", X, per_sample([[1.0]] * 3), per_sample([[0.5]] * 3), reference=sliced, normalized_anchor=False,
         axis_names="W"),
    case("slice", pictures("CHW"), reference=of("CHW"), start=[3, 4], shape=[5, 6]),
    case("slice", pictures("FHWC"), reference=of("FHWC"), start=[3, 4], shape=[5, 6]),
    case("slice", pictures("DHWC"), reference=of("DHWC"), start=[3, 4, 1], shape=[5, 6, 2], axis_names="WHD"),
    case("slice", PLAIN, reference=of(""), start=[1, 1], shape=[2, 3]),
    case("slice", PLAIN, reference=of(""), start=[1, 1], shape=[2, 1], axes=[2, 3]),
    case("slice", samples([np.arange(9.0), np.arange(5.0)]), reference=of(""), start=2, shape=3, axes=[0]),
    case("slice", pictures(dtype=np.float32), reference=sliced, start=[3, 4], shape=[5, 6], dtype=types.UINT8),
    case("slice", pictures(dtype=np.uint16), reference=sliced, start=[3, 4], shape=[5, 6], dtype=types.FLOAT),
    case("slice", pictures(dtype=np.int64), reference=sliced, start=[3, 4], shape=[5, 6], dtype=types.FLOAT16),
]  # fmt: skip
CASES += [
    case("slice", X, reference=sliced, start=[-9, -4], end=[95, 30], out_of_bounds_policy=policy)
    for policy in OUT_OF_BOUNDS
    if policy != "error"
]
PAD = {"out_of_bounds_policy": "pad"}
CASES += [
    case("slice", X, reference=sliced, start=[100, 2], end=[105, 5], fill_values=5, **PAD),
    case("slice", X, reference=sliced, start=[100, 2], end=[105, 5], out_of_bounds_policy="trim_to_shape"),
    case("slice", X, reference=sliced, start=[-400, -300], end=[-300, 290], out_of_bounds_policy="reflect_101"),
    case("slice", X, reference=sliced, start=[-400, -300], end=[-300, 290], out_of_bounds_policy="wrap"),
    case(
        "slice",
        X,
        reference=sliced,
        start=[0, 0, -1],
        end=[9, 99, 4],
        axes=[0, 1, 2],
        fill_values=[5, 6, 7, 8, 9],
        **PAD,
    ),
    case("slice", pictures("CHW"), reference=of("CHW"), start=[-3, 4], shape=[5, 60], fill_values=[7, 8, 9], **PAD),
    case("slice", X, reference=sliced, start=[-2, 4], shape=[9, 99], fill_values=[7, 8], out_of_bounds_policy="edge"),
    case(
        "slice", samples(list(X.arrays)), reference=of(""), start=[-3, 4], shape=[9, 70], fill_values=[7, 8, 9], **PAD
    ),
    case(
        "slice", pictures("CDHW"), reference=of("CDHW"), start=-2, shape=9, axis_names="D", fill_values=[7, 8, 9], **PAD
    ),
    case("slice", PLAIN, reference=of(""), start=[-2, 1, -1, 0], shape=[9, 9, 9, 1], axes=[], **PAD),
]


def run(*inputs: Any, **arguments: Any) -> Array:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.slice(*inputs, **arguments))
    (out,) = pipe.run()
    return np.array(out.at(0))


PICTURE = random_array((20, 30, 3))


@pytest.mark.parametrize(
    "arguments",
    [
        {"start": [1, 2], "rel_start": [0.1, 0.2]},
        {"end": [1, 2], "shape": [1, 2]},
        {"rel_end": [1, 2], "rel_shape": [1, 2]},
        {"start": [1, 2], "axes": [0, 1], "axis_names": "WH"},
    ],
)
def test_arguments_that_exclude_each_other(arguments: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match="cannot be given together"):
        run(PICTURE, **arguments)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"start": [-1, 2], "end": [5, 5]}, r"axis 1 \(W\).* -1 to 5.* 0 to 30"),
        ({"start": [1, 2], "end": [5, 50]}, r"axis 0 \(H\).* 2 to 50.* 0 to 20"),
        ({"start": [5, 5], "end": [4, 9]}, "starts at 5 and ends at 4"),
        ({"start": [5, 5], "shape": [-1, 9]}, "starts at 5 and ends at 4"),
        ({"rel_start": [0.1, 0.2], "rel_shape": [0.5, -0.1]}, r"axis 0 \(H\)"),
        ({"rel_start": [0.1, float("nan")]}, r"axis 0 \(H\)"),
        ({"start": [1, 2, 3]}, "start has 3 values for 2 axes"),
        ({"start": [1, 2], "axis_names": "H"}, "start has 2 values for 1 axes"),
        ({"start": [1, 2], "axes": [0, 0]}, "named twice"),
        ({"start": [1, 2], "axes": [0, -3]}, "named twice"),
        ({"start": [1, 2], "axes": [0, 3]}, "axes: 3"),
        ({"start": [1, 2], "axes": [-4, 0]}, "axes: -4"),
        ({"start": 1, "axis_names": "D"}, "no axis 'D'"),
        ({"start": 1, "axes": [0] * 13}, "13 axes"),
    ],
)
def test_parts_that_do_not_fit_the_sample(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(OperatorError, match=words):
        run(constant(PICTURE, "HWC"), **arguments)


def test_the_part_must_be_told_once() -> None:
    ints = np.int32([1, 2])
    with pytest.raises(OperatorError, match="no window"):
        run(PICTURE)
    with pytest.raises(OperatorError, match="no window"):
        run(PICTURE, ints)
    with pytest.raises(OperatorError, match="given twice"):
        run(PICTURE, ints, ints, start=[1, 2])
    with pytest.raises(OperatorError, match="the anchor has 1 values for 2 axes"):
        run(PICTURE, np.int32([1]), np.int32([1]))


def test_names_of_axes_need_a_layout_or_a_picture() -> None:
    np.testing.assert_array_equal(run(PICTURE, start=1, axis_names="H"), PICTURE[1:])
    with pytest.raises(OperatorError, match="no axis 'F'"):
        run(PICTURE, start=1, axis_names="F")
    with pytest.raises(OperatorError, match="no axis 'W'"):
        run(np.zeros(9, np.uint8), start=1)


def test_several_fill_values_need_channels() -> None:
    with pytest.raises(OperatorError, match="has no channels"):
        run(
            constant(PICTURE, "ABD"), start=[-1], shape=[4], axes=[0], out_of_bounds_policy="pad", fill_values=[1, 2, 3]
        )


def test_one_sample_may_leave_an_argument_out() -> None:
    starts = per_sample([np.zeros(0, np.int32), np.int32([3, 4])])
    pipe = Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.slice(PICTURE, start=starts.node(), end=[9, 8]))
    (out,) = pipe.run()
    np.testing.assert_array_equal(out.at(0), PICTURE[:8, :9])
    np.testing.assert_array_equal(out.at(1), PICTURE[4:8, 3:9])


@pytest.mark.parametrize("policy", ["edge", "reflect_101", "reflect_1001", "wrap"])
def test_nothing_is_repeated_where_the_part_is_empty(policy: str) -> None:
    """Beyond an axis without elements, as DALI has it."""
    found = run(
        constant(np.zeros((1, 5, 0), np.int16), "ABC"), axis_names="CB", shape=[4, 0], out_of_bounds_policy=policy
    )
    assert found.shape == (1, 0, 4)
    with pytest.raises(OperatorError, match="no elements that could be repeated"):
        run(np.zeros((1, 5, 0), np.int16), axes=[2], shape=[4], out_of_bounds_policy=policy)
