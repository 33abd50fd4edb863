"""`Normalize`."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock import fn
from penstock.errors import ArgumentError
from penstock.experimental.torchvision.transform import Picture, Transform


class Normalize(Transform):
    """Gives ``(picture - mean) / std``, FLOAT, with a value of each for each channel.

    Values are taken as they are: those of UINT8 are 0 to 255.

    Args:
        mean, std: sequences, arrays or tensors of numbers, or single ones of all channels; ``std`` has no 0.
        inplace: True is refused.
        device: "cpu" or "gpu".

    Errors: ArgumentError and ArgumentTypeError for other values; NotImplementedError for ``inplace``.

    Example:
        >>> import torch
        >>> from penstock.experimental.torchvision import Compose, Normalize
        >>> Compose([Normalize([1.0], [2.0])])(torch.full((1, 1, 2), 7, dtype=torch.uint8)).tolist()
        [[[3.0, 3.0]]]
    """

    def __init__(self, mean: Any, std: Any, inplace: bool = False, device: str = "cpu"):
        super().__init__(device)
        if inplace:
            raise UnsupportedInPlaceError("Normalize: inplace=True is not supported: leave it out")
        self.mean, self.std = self._numbers("mean", mean), self._numbers("std", std)
        if not self.std.all():
            raise self.wrong("std", std, "expected no 0")

    def _numbers(self, argument: str, value: Any) -> np.ndarray[Any, Any]:
        if isinstance(value, str) or not (hasattr(value, "__len__") or hasattr(value, "__array__")):
            raise self.wrong_type(argument, value, "expected a sequence of numbers")
        try:
            return np.asarray(value, np.float32)
        except (TypeError, ValueError) as error:
            raise self.wrong_type(argument, value, "expected a sequence of numbers") from error

    def define(self, picture: Picture) -> Picture:
        shape = [1, 1, 1]
        shape[picture.layout.index("C")] = -1
        mean, std = self.mean.reshape(shape), self.std.reshape(shape)
        for argument, values in (("mean", mean), ("std", std)):
            if values.size not in (1, picture.channels):
                raise self.wrong(argument, values.ravel().tolist(), f"the picture has {picture.channels} channels")
        return picture.of(fn.normalize(picture.node, mean=mean, stddev=std))


class UnsupportedInPlaceError(ArgumentError, NotImplementedError):
    """What a call gives is never the memory that it got."""
