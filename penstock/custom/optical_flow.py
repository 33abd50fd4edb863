"""``fn.optical_flow``: where pixels go from one frame of a video to the next."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from penstock import types
from penstock.errors import ArgumentTypeError, FunctionError
from penstock.op import Called, Op, arg, op

Array = np.ndarray[Any, Any]

_PRESETS = {0.0: "PRESET_MEDIUM", 0.5: "PRESET_FAST", 1.0: "PRESET_ULTRAFAST"}
_LEVELS = {0.0: "slow", 0.5: "medium", 1.0: "fast"}  # of the GPU's engine
_IMAGES = {types.RGB: 3, types.BGR: 3, types.GRAY: 1}
_LEAST = 64  # pixels along an axis: OpenCV does not find its scales in fewer


@op("optical_flow", devices=("cpu", "gpu"), inputs=(1, 2))
class OpticalFlow(Op):
    """Finds where the pixels of each frame but the first were in the one before.

    For each cell of ``output_grid`` x ``output_grid`` pixels of a frame: how far to the right and down, in pixels of
    the input, what it shows was in the frame before; so what moves to the right has negative x. Cells at the border may
    be smaller.

    With ``device="gpu"`` it is NVIDIA's engine for optical flow (Turing and newer), as in DALI, by the driver's
    ``libnvidia-opticalflow.so.1``; in a container ``NVIDIA_DRIVER_CAPABILITIES`` must name ``video`` for that. The
    engine's vectors are in steps of 1/32 of a pixel. Which grids and sizes of frames there are depends on the GPU:
    Turing has ``output_grid=4`` alone.

    With ``device="cpu"``, which DALI does not have, it is OpenCV's dense inverse search, which finds other vectors and
    needs ``opencv-python-headless`` (or ``opencv-python``): ``pip install penstock[optical-flow]``. It runs in Python,
    as `fn.python_function` does, on a thread of the pipeline's own.

    DALI's results are these but in three things: its pictures of ``image_type=types.GRAY`` are garbled; with
    ``enable_temporal_hints`` the first pair of a sequence begins with the last vectors of another sequence, where here
    it begins with none; and it refuses all external hints.

    Inputs: FHWC, UINT8, of three channels or, with ``image_type=types.GRAY``, one; with ``enable_external_hints``, then
    FHWC, FLOAT, of the extents of the output with ``hint_grid``: vectors from which the search begins. Output: FHWC,
    FLOAT: a frame less, the number of cells along the height and the width, and x and y; none for one frame.

    Errors: ArgumentError for other grids, presets and types of pictures, and for hints without
    ``enable_external_hints`` or none with it. On a CPU FunctionError from ``run`` where OpenCV is missing and for other
    types, layouts and shapes. On a GPU DeviceError when the pipeline is built, where the library or the engine is
    missing or has not these grids, or no hints, and for a ``hint_grid`` smaller than ``output_grid``, and from ``run``
    where the engine refuses the preset, or fails; InputError from ``run`` for other types, layouts and shapes, and for
    frames that are too small or too large for the engine.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     video = fn.external_source(lambda: [np.zeros((3, 64, 96, 3), np.uint8)], layout="FHWC")
        ...     return fn.optical_flow(video)
        >>> pipeline().run()[0].at(0).shape
        (2, 16, 24, 2)
    """

    python_on = ("cpu",)

    preset = arg(0.0, "0.0 is slow and good, 0.5 is between, 1.0 is fast.", choices=tuple(_PRESETS))
    output_grid = arg(4, "Rows and columns of a cell: 1, 2 or 4.")
    output_format = arg(
        None, "The old name of output_grid.", kind="integer", deprecated="use output_grid", to_kernel=False
    )
    hint_grid = arg(4, "Rows and columns of a cell of hints: 1, 2, 4 or 8.")
    enable_temporal_hints = arg(False, "The search begins with the vectors of the frame before, if there is one.")
    enable_external_hints = arg(False, "The search begins with the second input.")
    image_type = arg(types.RGB, "types.RGB, types.BGR or types.GRAY.", choices=tuple(_IMAGES))

    def prepare(self) -> None:
        for name, known in (
            ("output_grid", (1, 2, 4)),
            ("output_format", (None, 1, 2, 4)),
            ("hint_grid", (1, 2, 4, 8)),
        ):
            if getattr(self, name) not in known:
                raise self.wrong(name, f"expected one of {', '.join(map(str, filter(None, known)))}")
        self.output_grid = self.output_format or self.output_grid

    def num_outputs(self) -> int:
        if self.enable_external_hints != (self.input_count == 2):
            raise ArgumentTypeError(
                f"optical_flow: enable_external_hints={self.enable_external_hints!r}: expected "
                f"{'two inputs, a video and hints' if self.enable_external_hints else 'one input'}, "
                f"got {self.input_count}"
            )
        return 1

    def notes(self) -> list[str]:
        if self.in_python:
            return ["optical flow: OpenCV's dense inverse search, on the CPU"]
        speed = _LEVELS[self.preset]
        return [f"optical flow: NVIDIA's engine of the GPU ({speed}), by the driver's libnvidia-opticalflow.so.1"]

    def output_layout(self, index: int) -> str | None:
        return "FHWC"

    def call(self, batch: Called) -> None:
        inputs = [(tensors._arrays(), tensors.layout()) for tensors in batch.inputs()]
        (videos, layout), hints = inputs[0], inputs[1][0] if len(inputs) > 1 else [None] * batch.size
        if layout not in ("", "FHWC"):
            raise FunctionError(f"optical_flow: expected videos of layout FHWC, got '{layout}'")
        search = self._search()
        flows = [self._flow(search, video, hint) for video, hint in zip(videos, hints, strict=True)]
        batch.give(0, flows)

    def _search(self) -> Any:
        cv2 = _opencv()
        return cv2.DISOpticalFlow_create(getattr(cv2, f"DISOPTICAL_FLOW_{_PRESETS[self.preset]}"))

    def _flow(self, search: Any, video: Array, hints: Array | None) -> Array:
        """Of one video."""
        if video.dtype != np.uint8:
            raise FunctionError(f"optical_flow: the input is {video.dtype}: expected UINT8")
        channels = _IMAGES[self.image_type]
        if video.ndim != 4 or video.shape[3] != channels or min(video.shape) < 1 or max(video.shape[1:3]) > 1 << 15:
            raise FunctionError(
                f"optical_flow: the input has the shape {video.shape}: expected frames (FHWC) with {channels} "
                f"channel{'s' * (channels > 1)}, as image_type={self.image_type.name} has, and pixels, up to 32768 "
                "along an axis"
            )
        frames, height, width = video.shape[:3]
        given = self._starts(hints, frames - 1, height, width) if hints is not None else None
        made = np.empty((frames - 1, *_cells(height, width, self.output_grid), 2), np.float32)
        flow: Array | None = None
        before = self._gray(video[0])
        for i in range(frames - 1):
            gray = self._gray(video[i + 1])
            start = given[i] if given is not None else flow if self.enable_temporal_hints else None
            flow = search.calc(gray, before, None if start is None else start.copy())
            made[i] = _means(flow[:height, :width], self.output_grid)
            before = gray
        return made

    def _gray(self, frame: Array) -> Array:
        cv2 = _opencv()
        if self.image_type == types.GRAY:
            gray = np.ascontiguousarray(frame[:, :, 0])
        else:
            code = cv2.COLOR_RGB2GRAY if self.image_type == types.RGB else cv2.COLOR_BGR2GRAY
            gray = np.asarray(cv2.cvtColor(np.ascontiguousarray(frame), code))
        return _padded(gray)

    def _starts(self, hints: Array, frames: int, height: int, width: int) -> list[Array]:
        """A vector for each pixel. OpenCV looks wherever they point."""
        wanted = (frames, *_cells(height, width, self.hint_grid), 2)
        if hints.dtype != np.float32 or hints.shape != wanted:
            raise FunctionError(
                f"optical_flow: the hints are {hints.dtype} of the shape {hints.shape}: expected FLOAT of the shape "
                f"{wanted}, as hint_grid={self.hint_grid}"
            )
        reach = np.float32(max(height, width))
        known = np.clip(np.nan_to_num(hints, posinf=0.0, neginf=0.0), -reach, reach)
        full = known.repeat(self.hint_grid, 1).repeat(self.hint_grid, 2)[:, :height, :width]
        return [_padded(np.ascontiguousarray(frame)) for frame in full]


def _opencv() -> Any:
    try:
        return importlib.import_module("cv2")
    except ImportError as e:
        raise FunctionError(
            f"optical_flow: it needs OpenCV, which cannot be imported ({e}): pip install opencv-python-headless"
        ) from e


def _cells(height: int, width: int, grid: int) -> tuple[int, int]:
    return -(-height // grid), -(-width // grid)


def _padded(x: Array) -> Array:
    """With as many rows and columns as OpenCV needs, like the last ones."""
    missing = [(0, max(0, _LEAST - n)) for n in x.shape[:2]]
    return np.pad(x, [*missing, *[(0, 0)] * (x.ndim - 2)], "edge") if any(n for _, n in missing) else x


def _means(flow: Array, grid: int) -> Array:
    """Of cells."""
    if grid == 1:
        return flow
    rows, columns = (np.arange(0, n, grid) for n in flow.shape[:2])
    sums = np.add.reduceat(np.add.reduceat(flow, rows, 0), columns, 1)
    counts = [np.diff(np.append(at, n)) for at, n in zip((rows, columns), flow.shape[:2], strict=True)]
    return np.asarray(sums / np.multiply.outer(*counts).astype(np.float32)[..., None], np.float32)
