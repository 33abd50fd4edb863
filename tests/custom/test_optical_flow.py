"""fn.optical_flow on a CPU, by OpenCV: DALI has it on GPUs alone, by their engine."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.errors import ArgumentError, FunctionError

cv2 = pytest.importorskip("cv2", reason="OpenCV is not installed")

Array = np.ndarray[Any, Any]
MOVES = ((3, 1), (-2, 4))  # x and y, from one frame to the next; vectors lead back


def video(height: int = 96, width: int = 130, channels: int = 3) -> Array:
    """Smooth noise that moves."""
    random = np.random.default_rng(3)
    noise = cv2.GaussianBlur(random.random((height + 40, width + 40, channels)).astype(np.float32), (0, 0), 3)
    noise = noise.reshape(height + 40, width + 40, channels)
    scene = np.uint8(255 * (noise - noise.min()) / (noise.max() - noise.min()))
    x = y = 20
    frames = [scene[y : y + height, x : x + width]]
    for dx, dy in MOVES:
        x, y = x - dx, y - dy
        frames.append(scene[y : y + height, x : x + width])
    return np.stack(frames)


def run(*inputs: Array, layout: str = "FHWC", **arguments: Any) -> Array:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        given = [fn.external_source(partial(list, [np.ascontiguousarray(x)]), layout=layout) for x in inputs]
        pipe.set_outputs(fn.optical_flow(*given, **arguments))
    (found,) = pipe.run()
    assert found.layout() == "FHWC"
    return np.array(found.at(0))


@pytest.mark.parametrize("preset", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("grid", [1, 2, 4])
def test_moves_are_found(preset: float, grid: int) -> None:
    found = run(video(), preset=preset, output_grid=grid)
    assert found.dtype == np.float32
    assert found.shape == (2, -(-96 // grid), -(-130 // grid), 2)
    for flow, move in zip(found, MOVES, strict=True):
        assert np.allclose(np.median(flow, (0, 1)), np.negative(move), atol=0.3)


def test_cells_are_means() -> None:
    x = video(67, 99)
    fine, coarse = run(x, output_grid=1), run(x, output_grid=4)
    for y, column in ((0, 0), (3, 7), (16, 24)):
        cell = fine[:, 4 * y : 4 * y + 4, 4 * column : 4 * column + 4].mean((1, 2))
        assert np.allclose(coarse[:, y, column], cell, atol=1e-4)


def test_kinds_of_pictures() -> None:
    x = video()
    assert (run(x) == run(x[..., ::-1], image_type=types.BGR)).all()
    gray = np.stack([cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY) for frame in x])[..., None]
    assert (run(x) == run(gray, image_type=types.GRAY)).all()


def test_hints() -> None:
    x = video()
    hints = np.empty((2, 12, 17, 2), np.float32)
    hints[:] = -np.reshape(MOVES, (2, 1, 1, 2))
    for found in (
        run(x, enable_temporal_hints=True),
        run(x, hints, enable_external_hints=True, hint_grid=8),
        run(x, hints * np.nan, enable_external_hints=True, hint_grid=8),
        run(x, hints * np.inf, enable_external_hints=True, hint_grid=8, enable_temporal_hints=True),
    ):
        for flow, move in zip(found, MOVES, strict=True):
            assert np.allclose(np.median(flow, (0, 1)), np.negative(move), atol=0.3)


@pytest.mark.parametrize("size", [(1, 1), (3, 200), (8, 50), (63, 64), (500, 2)])
def test_small_pictures(size: tuple[int, int]) -> None:
    x = np.random.default_rng(1).integers(0, 256, (2, *size, 3), np.uint8)
    found = run(x, output_grid=1)
    assert found.shape == (1, *size, 2)
    assert np.isfinite(found).all()


def test_one_frame_has_no_flow() -> None:
    assert run(video()[:1]).shape == (0, 24, 33, 2)


def test_its_old_argument() -> None:
    with pytest.warns(DeprecationWarning, match="output_grid"):
        assert run(video(), output_format=2).shape == (2, 48, 65, 2)


@pytest.mark.parametrize(
    ("inputs", "arguments", "problem"),
    [
        ([np.zeros((2, 70, 70, 3), np.float32)], {}, "float32: expected UINT8"),
        ([np.zeros((2, 70, 70, 1), np.uint8)], {}, r"the shape \(2, 70, 70, 1\): expected frames .* 3 channels"),
        ([np.zeros((2, 70, 70, 3), np.uint8)], {"image_type": types.GRAY}, "1 channel, as image_type=GRAY"),
        ([np.zeros((2, 0, 70, 3), np.uint8)], {}, r"the shape \(2, 0, 70, 3\)"),
        ([np.zeros((2, 70, 70, 3), np.uint8)], {"layout": "DHWC"}, "layout FHWC, got 'DHWC'"),
        (
            [np.zeros((2, 70, 70, 3), np.uint8), np.zeros((1, 2, 3, 2), np.float32)],
            {"enable_external_hints": True},
            r"the hints are float32 of the shape \(1, 2, 3, 2\): expected FLOAT of the shape \(1, 18, 18, 2\)",
        ),
    ],
)
def test_mistakes_are_named(inputs: list[Array], arguments: Any, problem: str) -> None:
    with pytest.raises(FunctionError, match=f"optical_flow: .*{problem}"):
        run(*inputs, **arguments)


@pytest.mark.parametrize(
    "arguments",
    [{"preset": 0.7}, {"output_grid": 3}, {"hint_grid": 5}, {"image_type": types.YCbCr}, {"output_format": 8},
     {"enable_external_hints": True}],
)  # fmt: skip
def test_wrong_constants(arguments: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match="optical_flow: "):
        run(video(), **arguments)


def test_hints_that_are_not_enabled() -> None:
    with pytest.raises(ArgumentError, match="enable_external_hints=False: expected one input, got 2"):
        run(video(), np.zeros((2, 24, 33, 2), np.float32))


def test_without_opencv(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(FunctionError, match=r"it needs OpenCV.*opencv-python-headless"):
        run(np.zeros((2, 70, 70, 3), np.uint8))


def test_explain_says_what_runs_it() -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.optical_flow(fn.external_source(lambda: [video()], layout="FHWC")))
    pipe.build()
    assert "OpenCV's dense inverse search" in pipe.explain()
