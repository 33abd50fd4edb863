"""fn.pad, against NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn
from penstock.errors import ArgumentError, OperatorError
from penstock.graph.constants import constant
from tests.augment.fills import cast_like_c
from tests.cases import Array, Samples, case, per_sample, pictures, random_array, samples


def padded(
    x: Array,
    largest: Sequence[int],
    layout: str = "HWC",
    fill_value: float = 0.0,
    axes: Any = (),
    axis_names: str = "",
    shape: Any = (),
    align: Any = (),
) -> Array:
    chosen = [layout.index(name) for name in axis_names] or [int(a) % x.ndim for a in np.ravel(axes)] or range(x.ndim)
    extents = list(x.shape)
    for i, axis in enumerate(chosen):
        wanted = int(np.broadcast_to(np.ravel(shape), len(chosen))[i]) if np.size(shape) else -1
        step = int(np.broadcast_to(np.ravel(align), len(chosen))[i]) if np.size(align) else 1
        extent = max(x.shape[axis], wanted if wanted >= 0 else largest[axis])
        extents[axis] = -(-extent // step) * step
    widths = [(0, wanted - extent) for wanted, extent in zip(extents, x.shape, strict=True)]
    return np.pad(x, widths, constant_values=cast_like_c(fill_value, x.dtype)[0])


def pad(given: Samples, differs: str | None = None, **arguments: Any) -> Any:
    largest = np.max([a.shape for a in given.arrays], axis=0).tolist()
    reference = partial(padded, largest=largest, layout=given.layout)
    return case("pad", given, reference=reference, differs=differs, **arguments)


# The sweep runs parts of a batch by themselves too, where "the largest" is another one: so one size along all axes that
# are not given, and batches of other sizes below.
SAME = pictures(sizes=((37, 51),))
PLANES = pictures("CHW", np.float32, sizes=((37, 51),))
ROWS = samples([[1, 2, 3], [4, 5, 6]], dtype=np.int16)

CASES = [
    pad(SAME),
    pad(SAME, align=8, fill_value=7.9),
    pad(SAME, axes=(0, 1), align=(16, 10), fill_value=-3),
    pad(pictures(), axes=(0, 1), shape=(64, 90), fill_value=300),
    pad(pictures(), axes=(0, 1), shape=(40, 20), align=(1, 8)),
    pad(pictures(), axis_names="WH", shape=(91, 64), fill_value=per_sample([1.0, 2.0, 3.0])),
    pad(pictures(), axes=[-2], shape=[100]),
    pad(pictures(), axes=(2,), shape=(4,), fill_value=255),
    pad(pictures(), shape=per_sample([(64, 91, 3), (70, 50, 4), (1, 1, 1)])),
    pad(pictures(), axes=(0, 1), shape=1, align=per_sample([(8, 8), (1, 16), (100, 3)])),
    pad(pictures(), axes=per_sample([(0,), (1,), (2,)]), shape=per_sample([(40,), (40,), (5,)])),
    pad(PLANES, axis_names="HW", align=32, fill_value=0.5),
    pad(PLANES, axes=(0,), shape=(4,), fill_value=-1e9),
    pad(pictures("FHWC", sizes=((20, 30),)), axes=(0,), shape=(5,), fill_value=1),
    pad(ROWS, shape=5, fill_value=-1.5),
    pad(ROWS, shape=5, fill_value=1e9),
]
CASES += [
    pad(samples([random_array((3, 4), dtype), random_array((2, 5), dtype)]), shape=(3, 6), fill_value=-2.5)
    for dtype in (np.int8, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.float16, np.float32, np.bool_)
]
CASES += [
    pad(samples([random_array((3, 4), np.float64)]), shape=(3, 6), fill_value=0.1, differs="DALI pads no FLOAT64"),
]


@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_the_largest_of_the_batch(device: str, request: pytest.FixtureRequest) -> None:
    """Extents that are not given follow from all samples, wherever they come from."""
    if device == "gpu":
        request.getfixturevalue("software_gpu")
    given = pictures()
    pipe = Pipeline(batch_size=3, num_threads=2, device_id=0 if device == "gpu" else None)
    with pipe:
        x = fn.flip(given.node())
        x = x.gpu() if device == "gpu" else x
        pipe.set_outputs(fn.flip(fn.pad(x, fill_value=9)), fn.pad(x, axes=(1,), align=7), fn.pad(x, shape=(-1, 95, 1)))
    for _ in range(2):
        whole, wide, mixed = (o.as_cpu() for o in pipe.run())
        for i, array in enumerate(given.arrays):
            flipped = array[:, ::-1]
            reference = partial(padded, largest=(64, 90, 3))
            np.testing.assert_array_equal(whole.at(i), reference(flipped, fill_value=9)[:, ::-1])
            np.testing.assert_array_equal(wide.at(i), reference(flipped, axes=(1,), align=7))
            np.testing.assert_array_equal(mixed.at(i), reference(flipped, shape=(-1, 95, 1)))


def test_the_largest_of_the_batch_is_as_in_dali() -> None:
    dali = pytest.importorskip("nvidia.dali", reason="DALI, the oracle, is not installed")
    given = pictures("HWC", np.int16)

    def batch() -> list[Array]:
        return list(given.arrays)

    ours = Pipeline(batch_size=3, num_threads=2, device_id=None)
    with ours:
        ours.set_outputs(fn.pad(given.node(), axis_names="HW", align=(16, 1), fill_value=-5.5))
    theirs = dali.Pipeline(batch_size=3, num_threads=2, device_id=None)
    with theirs:
        x = dali.fn.external_source(source=batch, layout="HWC")
        theirs.set_outputs(dali.fn.pad(x, axis_names="HW", align=(16, 1), fill_value=-5.5))
    theirs.build()
    (found,), (wanted,) = ours.run(), theirs.run()
    for i in range(3):
        np.testing.assert_array_equal(found.at(i), np.array(wanted.at(i)))


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"align": 0}, "align is 0: expected a positive number"),
        ({"axes": (0, 2)}, r"axes: 2 is no axis of the shape \(4, 5\)"),
        ({"axes": (0, -2)}, r"axis 0 \(H\) is named twice"),
        ({"axis_names": "C"}, "the layout 'HW' has no axis 'C'"),
        ({"axes": (0,), "shape": (1, 2)}, "shape has 2 values for 1 axes"),
        ({"align": (1, 2, 3)}, "align has 3 values for 2 axes"),
        ({"shape": 1 << 60}, "more than 2.48 elements"),
    ],
)
def test_mistakes_are_named(arguments: Any, problem: str) -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.pad(constant(np.zeros((4, 5), np.uint8), "HW"), **arguments))
    with pytest.raises(OperatorError, match=problem):
        pipe.run()


def test_axes_are_given_once() -> None:
    with pytest.raises(ArgumentError, match="cannot be given together with axis_names"):
        fn.pad(np.zeros((4, 5)), axes=[0], axis_names="H")
