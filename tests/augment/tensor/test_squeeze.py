"""fn.squeeze, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.errors import ArgumentError, OperatorError
from tests.cases import Array, Samples, case, per_sample, random_array


def squeezed(x: Array, axes: Any = None, axis_names: str = "") -> Array:
    named = [LAYOUT.index(name) for name in axis_names]
    return np.squeeze(x, tuple(map(int, named if axes is None else axes)))


LAYOUT = "FHWC"
THIN = Samples(tuple(random_array((1, h, 1, 1)) for h in (3, 4, 5)), LAYOUT)
HOLLOW = Samples(tuple(np.zeros((h, 0, h), np.int16) for h in (1, 4, 5)), "HWC")

CASES = [
    case("squeeze", THIN, reference=squeezed, axes=[0]),
    case("squeeze", THIN, reference=squeezed, axes=[3, 0]),
    case("squeeze", THIN, reference=squeezed, axes=[-1], differs="negative axes have no effect in DALI"),
    case("squeeze", THIN, reference=squeezed, axis_names="CF"),
    case(
        "squeeze",
        THIN,
        reference=squeezed,
        axes=per_sample([(0, 2), (2, 3), (0, 3)]),
        differs="DALI wants the same layout for all samples",
    ),
    case("squeeze", HOLLOW, reference=lambda x, axes: x[..., 0], axes=[2]),
    case("squeeze", HOLLOW, reference=lambda x, axes: x[0, :, 0], axes=[0, 2]),
    case("squeeze", THIN, reference=squeezed, axes=[]),
]


def run(make: Any, samples: Samples) -> Any:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(make(types.Constant(samples.arrays[0], layout=samples.layout or None)))
    return pipe.run()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"axes": [1]}, r"axis 1 of \(1, 3, 1, 1\) is not of extent 1"),
        ({"axes": [4]}, "axes: 4 is no axis of the shape"),
        ({"axes": [-5]}, "axes: -5 is no axis of the shape"),
        ({"axes": [0, -4]}, r"axis 0 \(F\) is named twice"),
        ({"axes": [0, 0, 4]}, "axes: 4 is no axis of the shape"),
        ({"axis_names": "Z"}, "axis_names: the layout 'FHWC' has no axis 'Z'"),
    ],
)
def test_squeeze_names_the_axis_that_it_cannot_take_out(arguments: dict[str, Any], problem: str) -> None:
    with pytest.raises(OperatorError, match=f"squeeze: {problem}"):
        run(lambda x: fn.squeeze(x, **arguments), THIN)


def test_squeeze_makes_no_elements_out_of_none() -> None:
    with pytest.raises(OperatorError, match=r"axis 1 of \(4, 0, 4\) is not of extent 1"):
        run(lambda x: fn.squeeze(x, axes=[1]), Samples(HOLLOW.arrays[1:]))


def test_squeeze_takes_one_way_to_say_which() -> None:
    for arguments in ({}, {"axes": [0], "axis_names": "F"}):
        with pytest.raises(ArgumentError, match=r"squeeze: .*just one of axes and axis_names"):
            fn.squeeze(THIN.arrays[0], **arguments)
