"""fn.expand_dims, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.errors import ArgumentError, OperatorError
from tests.cases import Array, Samples, case, per_sample, random_array

PLANES = Samples(tuple(random_array((h, 2 * h)) for h in (3, 4, 5)), "HW")
BARE = Samples(PLANES.arrays)
NUMBERS = per_sample([1.5, 2.5])


def expanded(x: Array, axes: list[int], new_axis_names: str = "") -> Array:
    return np.expand_dims(x, tuple(axes))


CASES = [
    case("expand_dims", PLANES, reference=expanded, axes=[]),
    case("expand_dims", PLANES, reference=expanded, axes=[0]),
    case("expand_dims", PLANES, reference=expanded, axes=[0, 3], new_axis_names="FC"),
    case("expand_dims", PLANES, reference=expanded, axes=[3, 0], new_axis_names="CF"),
    case("expand_dims", BARE, reference=expanded, axes=[1, 2]),
    case("expand_dims", NUMBERS, reference=expanded, axes=[0], new_axis_names="X"),
]


def run(make: Any, samples: Samples) -> Any:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(make(types.Constant(samples.arrays[0], layout=samples.layout or None)))
    return pipe.run()


def test_expand_dims_checks_its_arguments() -> None:
    for arguments in ({"axes": [-1]}, {"axes": [0, 0]}, {"axes": [0], "new_axis_names": "FC"}):
        with pytest.raises(ArgumentError, match="expand_dims: "):
            fn.expand_dims(PLANES.arrays[0], **arguments)
    with pytest.raises(OperatorError, match="beyond the output's last axis 2"):
        run(lambda x: fn.expand_dims(x, axes=[3]), PLANES)
    with pytest.raises(OperatorError, match="no layout"):
        run(lambda x: fn.expand_dims(x, axes=[0], new_axis_names="F"), BARE)
    with pytest.raises(OperatorError, match="at most 12"):
        run(lambda x: fn.expand_dims(x, axes=list(range(11))), PLANES)
