"""fn.per_frame: a layout, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.errors import LayoutError
from tests.cases import Array, Samples, case, pictures, random_array, samples


def same(x: Array, replace: bool = False) -> Array:
    return x


BARE = Samples(tuple(random_array((5 - i, 3 + i), np.float64, i) for i in range(3)))
CASES = [
    case("per_frame", pictures("FHWC"), reference=same),
    case("per_frame", pictures("FHWC"), reference=same, replace=True),
    case("per_frame", pictures("HWC"), reference=same, replace=True),
    case("per_frame", BARE, reference=same),
    case("per_frame", samples([[1, 2, 3], [4, 5], []], dtype=np.float32), reference=same),
]


def run(x: Array, layout: str | None = None, **arguments: Any) -> Any:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.per_frame(types.Constant(x, layout=layout), **arguments))
    return pipe.run()[0]


@pytest.mark.parametrize(
    ("layout", "replace", "wanted"), [(None, False, "F*"), (None, True, "F*"), ("FC", False, "FC"), ("HC", True, "FC")]
)
def test_layouts(layout: str | None, replace: bool, wanted: str) -> None:
    assert run(np.zeros((4, 3)), layout, replace=replace).layout() == wanted


def test_errors() -> None:
    with pytest.raises(
        LayoutError, match=r"per_frame: .*layout is 'HC'; expected one that begins with 'F', or replace"
    ):
        run(np.zeros((4, 3)), "HC")
    with pytest.raises(LayoutError, match=r"per_frame: .*single number"):
        run(np.array(1.0))


def test_an_argument_for_each_frame() -> None:
    video = random_array((3, 8, 6, 3))
    angles = np.float32([0, 90, 180])

    def both(angle: Any) -> Any:
        return fn.rotate(types.Constant(video, layout="FHWC"), angle=angle, size=[8, 8])

    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        each = both(fn.per_frame(fn.external_source(lambda: [angles])))
        alone = [both(float(angle)) for angle in angles]
        pipe.set_outputs(each, *alone)
    found, *wanted = (np.array(output.at(0)) for output in pipe.run())
    for i, one in enumerate(wanted):
        np.testing.assert_array_equal(found[i], one[i])
