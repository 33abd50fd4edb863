"""fn.dump_image: files, and what they hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn
from penstock.errors import ArgumentError, OperatorError
from penstock.graph.constants import constant
from tests.cases import Array, case, pictures


def same(x: Array, **_: Any) -> Array:
    return x


CASES = [
    case("dump_image", pictures(sizes=((4, 5),)), reference=same),
    case("dump_image", pictures(sizes=((4, 5),), channels=1), reference=same, suffix="gray"),
]


def run(x: Array, batch_size: int = 1, layout: str = "", **arguments: Any) -> Array:
    pipe = Pipeline(batch_size=batch_size, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.dump_image(constant(x, layout), **arguments))
    return np.array(pipe.run()[0].at(0))


@pytest.mark.parametrize("channels", [1, 3])
def test_files(channels: int) -> None:
    x = np.arange(4 * 5 * channels, dtype=np.uint8).reshape(4, 5, channels)
    np.testing.assert_array_equal(run(x, batch_size=2, suffix="abc"), x)
    assert sorted(path.name for path in Path().iterdir()) == ["0-abc-0.ppm", "1-abc-0.ppm"]
    kind, *numbers = Path("1-abc-0.ppm").read_text().split()
    assert kind == ("P3" if channels == 3 else "P2")
    assert list(map(int, numbers)) == [5, 4, 255, *x.ravel().tolist()]


def test_batches_that_are_prepared_ahead_go_where_the_first_went(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.dump_image(constant(np.zeros((4, 5, 1), np.uint8), "")))
    pipe.build()
    first = Path.cwd()
    monkeypatch.chdir(tmp_path)
    for _ in range(3):
        pipe.run()
    assert [path.name for path in first.iterdir()] == ["0--0.ppm"]
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("shape", "layout", "dtype", "problem"),
    [
        ((4, 5, 3), "HWC", "i2", "the input is INT16: expected UINT8"),
        ((4, 5, 2), "HWC", "u1", "expected one or three channels"),
        ((3, 4, 5), "CHW", "u1", "got the layout 'CHW'"),
        ((4, 5), "", "u1", r"got no layout and the shape \(4, 5\)"),
    ],
)
def test_mistakes_are_named(shape: Any, layout: str, dtype: str, problem: str) -> None:
    with pytest.raises(OperatorError, match=problem):
        run(np.zeros(shape, dtype), layout=layout)


def test_files_that_cannot_be_written() -> None:
    Path("0-x-0.ppm").mkdir()
    with pytest.raises(OperatorError, match=r"the file '0-x-0.ppm' cannot be written"):
        run(np.zeros((1, 1, 1), np.uint8), suffix="x")


@pytest.mark.parametrize("suffix", ["/no/folder", "../x"])
def test_files_are_in_the_working_directory(suffix: str) -> None:
    with pytest.raises(ArgumentError, match="expected a part of a file's name"):
        fn.dump_image(np.zeros((1, 1, 1), np.uint8), suffix=suffix)


def test_other_layouts() -> None:
    with pytest.raises(ArgumentError, match="input_layout='CHW'"):
        fn.dump_image(np.zeros((3, 2, 2), np.uint8), input_layout="CHW")
