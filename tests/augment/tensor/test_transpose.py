"""fn.transpose, against NumPy: every order of up to five axes, every size of element."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.errors import ArgumentError, OperatorError
from tests.cases import Array, case, pictures, random_array, samples


def transposed(x: Array, perm: list[int] | None = None, **layouts: object) -> Array:
    return np.transpose(x, perm)


def some(*shape: int, dtype: type = np.uint8) -> list[Array]:
    return [random_array(shape, dtype), random_array([e + 3 for e in shape], dtype)]


CASES = [
    case("transpose", pictures(), reference=transposed),
    case("transpose", pictures(), reference=transposed, perm=[2, 0, 1]),
    case("transpose", pictures("CHW"), reference=transposed, perm=[1, 2, 0]),
    case("transpose", pictures(), reference=transposed, perm=[1, 0, 2]),
    case("transpose", pictures(), reference=transposed, perm=[0, 1, 2]),
    case("transpose", pictures(), reference=transposed, perm=[2, 0, 1], transpose_layout=False),
    case("transpose", pictures(), reference=transposed, perm=[2, 0, 1], output_layout="XYZ"),
    case("transpose", pictures(), reference=transposed, output_layout="CHW"),
    case("transpose", pictures("FHWC"), reference=transposed, perm=[0, 3, 1, 2]),
    case("transpose", pictures("DHWC"), reference=transposed, perm=[3, 0, 1, 2]),
    case("transpose", samples([np.uint8(3), np.uint8(4)]), reference=transposed),
    case("transpose", samples([[1, 2, 3], [4, 5]]), reference=transposed),
    case("transpose", samples(some(4, 5)), reference=transposed, perm=[1, 0]),
]
CASES += [
    case("transpose", pictures(dtype=dtype, channels=channels), reference=transposed, perm=perm)
    for dtype, channels, perm in (
        (np.bool_, 1, [2, 0, 1]),
        (np.float16, 2, [2, 0, 1]),
        (np.float32, 4, [2, 1, 0]),
        (np.int64, 5, [1, 0, 2]),
    )
]
CASES += [
    case("transpose", samples(some(2, 1, 3, 1, 4, 2, dtype=np.int16)), reference=transposed, perm=p)
    for p in ([5, 4, 3, 2, 1, 0], [1, 0, 3, 2, 5, 4], [0, 2, 4, 1, 3, 5])
]


@pytest.mark.parametrize("perm", list(itertools.permutations(range(5))))
def test_every_order_of_five_axes(perm: tuple[int, ...]) -> None:
    shapes = ((2, 3, 1, 4, 33), (40, 2, 3, 2, 3), (3, 35, 2, 1, 2))
    arrays = [random_array(shape, dtype) for shape in shapes for dtype in (np.uint8, np.float16, np.float32, np.int64)]
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(*(fn.transpose(a, perm=perm) for a in arrays))
    for found, array in zip(pipe.run(), arrays, strict=True):
        assert np.array_equal(found.at(0), np.transpose(array, perm))


def test_perm_must_be_a_permutation() -> None:
    for perm in ([0, 0, 1], [-1, 0, 1], [1, 2, 3]):
        with pytest.raises(ArgumentError, match=r"transpose: perm=\[.*each of the numbers 0 to 2 once"):
            fn.transpose(np.zeros((2, 3, 4)), perm=perm)


def test_perm_and_layout_must_fit_the_input() -> None:
    for arguments, problem in (({"perm": [1, 0]}, "perm has 2"), ({"output_layout": "HW"}, "output_layout='HW'")):
        pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
        with pipe:
            pipe.set_outputs(fn.transpose(types.Constant(np.zeros((2, 3, 4), np.uint8)), **arguments))
        with pytest.raises(OperatorError, match=rf"transpose: {problem}.*\(2, 3, 4\)"):
            pipe.run()
