"""`Compose`: transforms that run one after the other."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from typing import Any

import torch
from PIL import Image

from penstock import fn
from penstock.errors import ArgumentError, ArgumentTypeError
from penstock.experimental.torchvision.outputs import Output
from penstock.experimental.torchvision.pictures import array_of, to_pil_image
from penstock.experimental.torchvision.transform import Picture, Transform
from penstock.pipeline import Pipeline

DEFAULT_BATCH_SIZE = 16
DEFAULT_NUM_THREADS = max(1, (os.cpu_count() or 1) // 2)
_NAME = "input_data"


class Compose:
    """Transforms as one callable, which takes a picture of Pillow's (L, RGB or RGBA), or a tensor of shape (channels,
    height, width) or (batch, channels, height, width), and gives the same kind, or what `ToPureTensor` and its kin say.

    The pipeline is made at the first call, and its kind of input stays. Samples of a batch draw random numbers of their
    own.

    Args:
        op_list: transforms, in order.
        batch_size: samples of a batch at most.
        num_threads: threads of the pipeline.
        dali_pipeline_kwargs: further arguments of `penstock.Pipeline`, such as ``seed``. Where a transform has
            ``device="gpu"``, ``device_id`` is PyTorch's current GPU unless it is given.

    Errors: ArgumentTypeError (a TypeError) for an input that is neither, or not of the kind of the first call; what
    transforms raise.

    Example:
        >>> from PIL import Image
        >>> from penstock.experimental.torchvision import CenterCrop, Compose, ToPureTensor
        >>> Compose([CenterCrop(8), ToPureTensor()])(Image.new("RGB", (20, 10))).shape
        torch.Size([3, 8, 8])
    """

    def __init__(
        self,
        op_list: Sequence[Transform],
        batch_size: int = DEFAULT_BATCH_SIZE,
        num_threads: int = DEFAULT_NUM_THREADS,
        **dali_pipeline_kwargs: Any,
    ):
        self.op_list = list(op_list)
        self.batch_size, self.num_threads = batch_size, num_threads
        self.dali_pipeline_kwargs = dali_pipeline_kwargs
        self._takes: type | None = None
        self._pipelines: dict[tuple[str, int], Pipeline] = {}  # by layout and channels
        self._lock = threading.Lock()

    def __call__(self, data_input: Any) -> Any:
        kind = _kind(data_input)
        self._takes = self._takes or kind
        if kind is not self._takes:
            raise ArgumentTypeError(
                f"Compose: expected {self._takes.__name__}, as in its first call, got {type(data_input)}: make another "
                "Compose for these"
            )
        batch, layout = _batch(data_input)
        output = self._run(batch, layout)
        return self._given(output, data_input, layout)

    def _run(self, batch: Any, layout: str) -> torch.Tensor:
        """The outputs, as one tensor of this layout."""
        channels = batch.shape[1 + layout.index("C")]
        if len(batch) > self.batch_size:
            raise ArgumentError(f"Compose: a batch of {len(batch)} samples: batch_size is {self.batch_size}")
        with self._lock:  # whoever feeds a batch gets it
            pipe = self._pipelines.get((layout, channels))
            if pipe is None:
                pipe = self._pipelines[layout, channels] = self._made(layout, channels)
            (output,) = pipe.run(**{_NAME: batch})
        return torch.from_dlpack(output.as_tensor())  # type: ignore[attr-defined]

    def _made(self, layout: str, channels: int) -> Pipeline:
        device = self.op_list[0].device if self.op_list else "cpu"
        chosen = {"device_id": self._device_id(), "prefetch_queue_depth": 1, **self.dali_pipeline_kwargs}
        pipe = Pipeline(self.batch_size, self.num_threads, **chosen)
        with pipe:
            picture = Picture(fn.external_source(name=_NAME, layout=layout, device=device), layout, channels)
            for one in self.op_list:
                picture = one.apply(picture)
            pipe.set_outputs(picture.node)
        return pipe

    def _device_id(self) -> int | None:
        if all(one.device == "cpu" for one in self.op_list):
            return None
        return torch.cuda.current_device() if torch.cuda.is_available() else 0

    def _given(self, output: torch.Tensor, data_input: Any, layout: str) -> Any:
        """What the call gives."""
        kind = next((one.kind for one in reversed(self.op_list) if isinstance(one, Output)), None)
        kind = kind or ("pil" if isinstance(data_input, Image.Image) else "tensor")
        if kind == "pil":
            pictures = [to_pil_image(one, input_layout=layout) for one in output]
            return pictures[0] if len(pictures) == 1 else pictures
        if layout == "HWC":
            output = output.permute(0, 3, 1, 2).contiguous()
        single = isinstance(data_input, Image.Image) or data_input.ndim == 3
        return output[0] if single else output


def _kind(data_input: Any) -> type:
    for kind in (Image.Image, torch.Tensor):
        if isinstance(data_input, kind):
            return kind
    raise ArgumentTypeError(f"Compose: expected a picture of Pillow's or a tensor, got {type(data_input)}")


def _batch(data_input: Any) -> tuple[Any, str]:
    """A batch, and its samples' layout."""
    if isinstance(data_input, Image.Image):
        if data_input.mode not in ("L", "RGB", "RGBA"):
            raise ArgumentError(f"Compose: a picture of mode {data_input.mode!r}: expected L, RGB or RGBA")
        return array_of(data_input)[None], "HWC"
    if data_input.ndim not in (3, 4):
        shape = tuple(data_input.shape)
        raise ArgumentTypeError(f"Compose: a tensor of shape {shape}: expected ([batch,] channels, height, width)")
    return data_input if data_input.ndim == 4 else data_input[None], "CHW"
