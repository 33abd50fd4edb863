"""``fn.readers.video_resize``: sequences of frames of videos, resized."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.arguments.resample import ResizeArgs
from penstock.op import Argument, arg, op
from penstock.read.video import VideoArgs

_RESIZE = frozenset(
    name for base in ResizeArgs.__mro__ for name, value in vars(base).items() if isinstance(value, Argument)
) - {"dtype", "image_type"}  # which are the reader's


@op(
    "readers.video_resize",
    kernel="read_video",
    contract="source",
    devices=["cpu", "gpu"],
    inputs=0,
    legacy=["video_reader_resize"],
)
class VideoResize(VideoArgs, ResizeArgs):
    """Reads sequences of frames of videos, as `fn.readers.video` does, and resizes them, as `fn.resize` does.

    Outputs: those of `fn.readers.video`; the frames have the size that `fn.resize` would give them, and the type
    ``dtype``.

    Errors: those of `fn.readers.video` and of `fn.resize`.

    DALI has it on GPUs only.

    Example:
        >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.readers.video_resize(filenames=[video], sequence_length=6, resize_x=32, resize_y=24)
        >>> frames, = pipeline().run()
        >>> frames.shape()
        [(6, 24, 32, 3), (6, 24, 32, 3)]
    """

    tiled = False  # resizing is the work of a node behind this one

    extents = arg(
        None, "Extents of the output: (height, width), or one number for both; see `resize`.", kind="numbers",
        per_sample=True, name="size",
    )  # fmt: skip

    def prepare(self) -> None:
        super().prepare()
        # The reader itself reads none of them.
        self._given = {name: self.constants[name] for name in _RESIZE & set(self.constants)}
        self._given |= {name: self.tensors.pop(name) for name in _RESIZE & set(self.tensors)}

    def kernel_arguments(self) -> dict[str, Any]:
        return {name: value for name, value in super().kernel_arguments().items() if name not in _RESIZE}

    def behind(self, outputs: list[Any], make: Callable[..., list[Any]]) -> list[Any]:
        return [*make("resize", outputs[:1], **self._given), *outputs[1:]]
