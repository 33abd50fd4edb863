"""Functions on pictures, by torchvision's names: what a transform does, on one picture or batch."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import torch
from PIL import Image

from penstock.errors import ArgumentTypeError
from penstock.experimental.torchvision.blur import GaussianBlur
from penstock.experimental.torchvision.color import Grayscale
from penstock.experimental.torchvision.compose import Compose
from penstock.experimental.torchvision.crop import CenterCrop
from penstock.experimental.torchvision.flips import RandomHorizontalFlip, RandomVerticalFlip
from penstock.experimental.torchvision.interpolation import InterpolationMode
from penstock.experimental.torchvision.normalize import Normalize
from penstock.experimental.torchvision.pad import Pad
from penstock.experimental.torchvision.pictures import pil_to_tensor, to_pil_image, to_tensor
from penstock.experimental.torchvision.resize import Resize
from penstock.experimental.torchvision.transform import Picture, Transform, sliced

__all__ = [
    "center_crop",
    "crop",
    "gaussian_blur",
    "get_dimensions",
    "get_image_size",
    "get_size",
    "horizontal_flip",
    "normalize",
    "pad",
    "pil_to_tensor",
    "resize",
    "resized_crop",
    "rgb_to_grayscale",
    "to_grayscale",
    "to_pil_image",
    "to_tensor",
    "vertical_flip",
]

_KEPT = 32  # pipelines
_THREADS = 1  # one picture at a time


class _Crop(Transform):
    """A given part of pictures; beyond them there is black."""

    def __init__(self, box: tuple[int, int, int, int], device: str):
        super().__init__(device)
        self.box = box

    def define(self, picture: Picture) -> Picture:
        return picture.of(sliced(picture, self.box[:2], self.box[2:]))


def _applied(inpt: Any, device: str, made: type[Transform], *arguments: Any) -> Any:
    """A transform of these arguments, on one input. Its pipeline is kept for the next ones."""
    steps = ((made, tuple(_frozen(value) for value in arguments)),)
    return _applied_steps(inpt, device, steps)


def _applied_steps(inpt: Any, device: str, steps: tuple[Any, ...]) -> Any:
    batch = len(inpt) if isinstance(inpt, torch.Tensor) and inpt.ndim == 4 else 1
    size = 1 << (batch - 1).bit_length()  # so that few sizes are kept
    return _compose(isinstance(inpt, Image.Image), size, device, steps)(inpt)


@lru_cache(_KEPT)
def _compose(is_pillows: bool, batch_size: int, device: str, steps: tuple[Any, ...]) -> Compose:
    made = [transform(*arguments, device=device) for transform, arguments in steps]
    return Compose(made, batch_size, _THREADS)


def _frozen(value: Any) -> Any:
    value = value.tolist() if hasattr(value, "tolist") else value
    return tuple(map(_frozen, value)) if isinstance(value, (list, tuple)) else value


def horizontal_flip(inpt: Any, device: str = "cpu") -> Any:
    """The picture, left to right."""
    return _applied(inpt, device, RandomHorizontalFlip, 1.0)


def vertical_flip(inpt: Any, device: str = "cpu") -> Any:
    """The picture, upside down."""
    return _applied(inpt, device, RandomVerticalFlip, 1.0)


def center_crop(inpt: Any, output_size: int | Sequence[int], device: str = "cpu") -> Any:
    """Its middle, as `CenterCrop` has it."""
    return _applied(inpt, device, CenterCrop, output_size)


def resize(
    inpt: Any,
    size: int | Sequence[int] | None,
    interpolation: Any = InterpolationMode.BILINEAR,
    max_size: int | None = None,
    antialias: bool | None = True,
    device: str = "cpu",
) -> Any:
    """Scaled, as by `Resize`.

    Example:
        >>> from PIL import Image
        >>> from penstock.experimental.torchvision.v2 import functional
        >>> functional.resize(Image.new("RGB", (40, 20)), 10).size
        (20, 10)
    """
    return _applied(inpt, device, Resize, size, interpolation, max_size, antialias)


def pad(
    inpt: Any, padding: int | Sequence[int], fill: Any = 0, padding_mode: str = "constant", device: str = "cpu"
) -> Any:
    """With a border, as `Pad` makes it."""
    return _applied(inpt, device, Pad, padding, fill, padding_mode)


def crop(inpt: Any, top: int, left: int, height: int, width: int, device: str = "cpu") -> Any:
    """The part of it at this place; beyond the picture there is black. Of pictures of Pillow's, numbers may be floats.

    Errors: ArgumentTypeError for other numbers; ArgumentError for extents that are not positive.
    """
    return _applied(inpt, device, _Crop, _box(inpt, top, left, height, width))


def resized_crop(
    inpt: Any,
    top: int,
    left: int,
    height: int,
    width: int,
    size: int | Sequence[int],
    interpolation: Any = InterpolationMode.BILINEAR,
    antialias: bool = True,
    device: str = "cpu",
) -> Any:
    """The part of it at this place, scaled as by `resize`."""
    box = _box(inpt, top, left, height, width)
    steps = ((_Crop, (box,)), (Resize, (_frozen(size), interpolation, None, antialias)))
    return _applied_steps(inpt, device, steps)


def _box(inpt: Any, top: Any, left: Any, height: Any, width: Any) -> tuple[int, int, int, int]:
    values = [top, left, height, width]
    try:
        if isinstance(inpt, Image.Image):
            top, left = round(values[0]), round(values[1])
            values = [top, left, round(values[0] + values[2]) - top, round(values[1] + values[3]) - left]
        else:
            values = [value.__index__() for value in values]
    except (TypeError, AttributeError) as error:
        raise ArgumentTypeError(
            f"crop: top, left, height, width = {top!r}, {left!r}, {height!r}, {width!r}: expected whole numbers"
        ) from error
    if min(values[2:]) <= 0:
        raise _Crop.wrong("size", tuple(values[2:]), "expected positive whole numbers")
    return values[0], values[1], values[2], values[3]


def gaussian_blur(
    inpt: Any, kernel_size: int | Sequence[int], sigma: float | Sequence[float] = (0.1, 2.0), device: str = "cpu"
) -> Any:
    """Blurred, as by `GaussianBlur`."""
    return _applied(inpt, device, GaussianBlur, kernel_size, sigma)


def normalize(inpt: torch.Tensor, mean: Any, std: Any, inplace: bool = False, device: str = "cpu") -> torch.Tensor:
    """``(picture - mean) / std``, as by `Normalize`. Errors: ArgumentTypeError for what is no tensor."""
    if not isinstance(inpt, torch.Tensor):
        raise ArgumentTypeError(f"normalize: expected a tensor, got {type(inpt)}")
    return _applied(inpt, device, Normalize, mean, std, inplace)  # type: ignore[no-any-return]


def to_grayscale(inpt: Any, num_output_channels: int = 1, device: str = "cpu") -> Any:
    """Without colours, as by `Grayscale`."""
    return _applied(inpt, device, Grayscale, num_output_channels)


def rgb_to_grayscale(inpt: Any, num_output_channels: int = 1, device: str = "cpu") -> Any:
    """The same."""
    return to_grayscale(inpt, num_output_channels, device)


def get_size(inpt: Any) -> list[int]:
    """Height and width, of a picture of Pillow's or a tensor."""
    return get_dimensions(inpt)[1:]


def get_image_size(inpt: Any) -> list[int]:
    """Width and height."""
    return get_size(inpt)[::-1]


def get_dimensions(inpt: Any) -> list[int]:
    """Channels, height and width.

    Errors: ArgumentTypeError (a TypeError) for what is neither, and for tensors of less than two axes.
    """
    if isinstance(inpt, Image.Image):
        return [len(inpt.getbands()), inpt.height, inpt.width]
    if not isinstance(inpt, torch.Tensor) or inpt.ndim < 2:
        what = f"a tensor of {inpt.ndim} axes" if isinstance(inpt, torch.Tensor) else type(inpt)
        raise ArgumentTypeError(f"get_dimensions: expected a picture of Pillow's or a tensor of pictures, got {what}")
    return [1 if inpt.ndim == 2 else inpt.shape[-3], inpt.shape[-2], inpt.shape[-1]]
