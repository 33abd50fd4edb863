"""fn.lookup_table, against NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.errors import ArgumentError, OperatorError
from penstock.graph.constants import constant
from tests.augment.pixels import rounded
from tests.cases import Array, case, pictures, samples


def looked_up(
    x: Array,
    keys: Sequence[int] = (),
    values: Sequence[float] = (),
    default_value: float = 0,
    dtype: types.DALIDataType = types.FLOAT,
    output_dtype: types.DALIDataType | None = None,
) -> Array:
    table = dict(zip(keys, np.float32(values), strict=True))
    found = [table.get(v, np.float32(default_value)) for v in x.ravel().tolist()]
    to = np.dtype(types.to_numpy_type(output_dtype or dtype))
    array = np.array(found, np.float32).reshape(x.shape).astype(np.float64)
    return array != 0 if to.kind == "b" else rounded(array, to)


ALL = {"keys": list(range(256)), "values": [255 - i for i in range(256)]}
FEW = {"keys": [0, 2, 3, 200, 70, 3], "values": [0.5, -1.5, 2, 300, 1e10, 7.25], "default_value": 2.75}
FAR = {"keys": [65535, 300, 0], "values": [1.0, 2.0, 3.0], "default_value": -1.0}
DTYPES = [t for t in types.DALIDataType if t in range(12)]
INTEGERS = ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8")

CASES = [
    case("lookup_table", pictures(), reference=looked_up, dtype=types.UINT8, **ALL),
    case("lookup_table", pictures(), reference=looked_up, **FEW),
    case("lookup_table", pictures(channels=1), reference=looked_up, dtype=types.INT16, **FEW),
    case("lookup_table", pictures(), reference=looked_up),
    case("lookup_table", pictures("FHWC"), reference=looked_up, output_dtype=types.INT32, **FEW),
    case("lookup_table", pictures("CHW"), reference=looked_up, dtype=types.FLOAT16, **ALL),
    case("lookup_table", pictures("HW", np.uint16), reference=looked_up, dtype=types.INT8, **FAR),
    case("lookup_table", pictures("DHWC", np.int16), reference=looked_up, **FAR),
    case("lookup_table", samples([[1, 2], [70, 3]], dtype=np.int64), reference=looked_up, **FEW),
]
CASES += [case("lookup_table", pictures(), reference=looked_up, dtype=dtype, **FEW) for dtype in DTYPES]
CASES += [
    case("lookup_table", samples([[0, 1, 2, 3, 70, 127], [3] * 5], dtype=dtype), reference=looked_up, **FEW)
    for dtype in INTEGERS
]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_values_beyond_the_table(dtype: str) -> None:
    info = np.iinfo(dtype)
    near = (info.min, info.max, -1, 0, 1, 255, 256, 65535, 65536, 1 << 32, (1 << 32) + 1)
    values = np.array([v for v in near if info.min <= v <= info.max], dtype)
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.lookup_table(constant(values), **FAR))
    np.testing.assert_array_equal(pipe.run()[0].at(0), looked_up(values, **FAR))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"keys": [1, 2], "values": [1.0]}, r"keys=\[1, 2\]: expected as many keys as values, which are 1"),
        ({"keys": [-1], "values": [1.0]}, "expected numbers from 0 to 65535"),
        ({"keys": [65536], "values": [1.0]}, "expected numbers from 0 to 65535"),
        ({"dtype": types.UINT8, "output_dtype": types.UINT8}, "cannot be given together"),
    ],
)
def test_wrong_tables_are_named(arguments: Any, problem: str) -> None:
    with pytest.raises(ArgumentError, match=problem):
        fn.lookup_table(np.uint8([1]), **arguments)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "?"])
def test_only_integers_are_keys(dtype: str) -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.lookup_table(np.zeros(3, dtype), keys=[1], values=[1.0]))
    with pytest.raises(OperatorError, match=r"lookup_table: .*expected integers"):
        pipe.run()
