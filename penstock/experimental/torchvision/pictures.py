"""From Pillow's pictures to PyTorch's tensors, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from PIL import Image

from penstock.errors import ArgumentError, ArgumentTypeError

_TYPES = {"I": np.int32, "I;16": np.int16, "F": np.float32}  # by mode; others are bytes
_MODES = {1: "L", 3: "RGB", 4: "RGBA"}  # by channels


def array_of(picture: Image.Image) -> np.ndarray[Any, Any]:
    """A copy of its pixels, of shape (height, width, channels)."""
    array = np.array(picture, dtype=_TYPES.get(picture.mode, np.uint8), copy=True)
    if picture.mode == "1":
        array *= 255
    return array[:, :, np.newaxis] if array.ndim == 2 else array


def pil_to_tensor(inpt: Image.Image) -> torch.Tensor:
    """A tensor of shape (channels, height, width) with the picture's values: of most modes UINT8.

    Errors: ArgumentTypeError (a TypeError) for what is none of Pillow's pictures.
    """
    if not isinstance(inpt, Image.Image):
        raise ArgumentTypeError(f"pil_to_tensor: expected a picture of Pillow's, got {type(inpt)}")
    return torch.from_numpy(array_of(inpt)).permute(2, 0, 1).contiguous()


def to_tensor(inpt: Image.Image | np.ndarray[Any, Any]) -> torch.Tensor:
    """The same, of an array of shape (height, width) or (height, width, channels), too; bytes become 0.0 to 1.0.

    Errors: ArgumentTypeError (a TypeError) for what is neither.
    """
    if isinstance(inpt, np.ndarray):
        array = inpt[:, :, np.newaxis] if inpt.ndim == 2 else inpt
        tensor = torch.from_numpy(np.ascontiguousarray(array.transpose(2, 0, 1)))
    elif isinstance(inpt, Image.Image):
        tensor = pil_to_tensor(inpt)
    else:
        raise ArgumentTypeError(f"to_tensor: expected a picture of Pillow's or an array, got {type(inpt)}")
    return tensor.to(torch.float32) / 255 if tensor.dtype == torch.uint8 else tensor


def to_pil_image(inpt: torch.Tensor, mode: str | None = None, input_layout: str = "CHW") -> Image.Image:
    """A picture of Pillow's, of a tensor of shape (channels, height, width).

    Args:
        inpt: the tensor; floats are 0.0 to 1.0, unless the mode is "F".
        mode: Pillow's; None: L, RGB or RGBA, by the number of channels.
        input_layout: "HWC" where the channels come last.

    Errors: ArgumentTypeError (a TypeError) for what is no tensor, or of another type; ArgumentError (a ValueError) for
    other shapes.
    """
    if not isinstance(inpt, torch.Tensor):
        raise ArgumentTypeError(f"to_pil_image: expected a tensor, got {type(inpt)}")
    if inpt.ndim != 3:
        raise ArgumentError(f"to_pil_image: expected (channels, height, width), got the shape {tuple(inpt.shape)}")
    array: np.ndarray[Any, Any] = np.asarray(inpt.cpu())
    if array.dtype not in (np.uint8, np.int8, np.uint16, np.int16, np.float32):
        raise ArgumentTypeError(f"to_pil_image: {inpt.dtype} is not supported")
    array = array if input_layout == "HWC" else array.transpose(1, 2, 0)
    mode = mode or _MODES.get(array.shape[2])
    if mode is None:
        raise ArgumentError(f"to_pil_image: {array.shape[2]} channels have no mode: give mode=")
    if array.dtype == np.float32 and mode != "F":
        array = (array * 255).clip(0, 255).astype(np.uint8)
    if array.shape[2] == 1:
        array = array[:, :, 0]
    if array.dtype == np.int8:
        array = array.view(np.uint8)
    picture = Image.fromarray(np.ascontiguousarray(array))
    return picture if picture.mode == mode else picture.convert(mode)
