"""`CenterCrop`, `RandomCrop` and `RandomResizedCrop`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock import fn, math, types
from penstock.experimental.torchvision.interpolation import InterpolationMode, interpolation_of
from penstock.experimental.torchvision.pad import Bordering
from penstock.experimental.torchvision.transform import Picture, Transform, sliced
from penstock.graph.node import DataNode


class CenterCrop(Transform):
    """The middle of pictures; around those that are smaller there is black.

    Args:
        size: (height, width), or one number for both.
        device: "cpu" or "gpu".

    Errors: ArgumentError and ArgumentTypeError for other values.
    """

    def __init__(self, size: int | Sequence[int], device: str = "cpu"):
        super().__init__(device)
        self.size = self.checked_size(size)

    def define(self, picture: Picture) -> Picture:
        anchor = [_middle(extent, size) for extent, size in zip(picture.extents(), self.size, strict=True)]
        return picture.of(sliced(picture, anchor, self.size))


def _middle(extent: DataNode, size: int) -> DataNode:
    """Where the crop begins: half of what is left over, rounded to even; or before the picture, and then rounded down.

    So does torchvision: it rounds by Python's `round`, and pads first where the picture is smaller.
    """
    over, under = math.max(extent - size, 0), math.max(size - extent, 0)
    half = over // 2
    return half + (half % 2) * (over % 2) - under // 2


class RandomCrop(Bordering):
    """A part of pictures at a random place.

    Args:
        size: (height, width), or one number for both.
        padding: of a border that is added before: one number, (left and right, top and bottom), or (left, top, right,
            bottom).
        pad_if_needed: whether pictures that are smaller get a border. Without it that is an error.
        fill, padding_mode: of the border, as `Pad` has them.
        device: "cpu" or "gpu".

    Errors: ArgumentError and ArgumentTypeError for other values; OperatorError, when it runs, for pictures that are
    smaller.

    Example:
        >>> import torch
        >>> from penstock.experimental.torchvision import Compose, RandomCrop
        >>> Compose([RandomCrop(3, pad_if_needed=True)])(torch.zeros(1, 2, 9, dtype=torch.uint8)).shape
        torch.Size([1, 3, 3])
    """

    def __init__(
        self,
        size: int | Sequence[int],
        padding: int | Sequence[int] | None = None,
        pad_if_needed: bool = False,
        fill: Any = 0,
        padding_mode: str = "constant",
        device: str = "cpu",
    ):
        super().__init__(device)
        self.size = self.checked_size(size)
        if not isinstance(pad_if_needed, bool):
            raise self.wrong_type("pad_if_needed", pad_if_needed, "expected True or False")
        self.padding = (0, 0, 0, 0) if padding is None else self._padding(padding)
        self.fill = self.checked_fill(fill)
        self.pads = pad_if_needed or padding is not None
        self.beyond = self.checked_mode(padding_mode) if self.pads else "error"
        self.pad_if_needed = pad_if_needed

    def _padding(self, padding: Any) -> tuple[int, int, int, int]:
        one = isinstance(padding, (list, tuple)) and len(padding) == 1
        return self.checked_padding(padding[0] if one else padding)

    def define(self, picture: Picture) -> Picture:
        left, top, right, bottom = self.padding
        anchor = [
            self._place(extent, size, before, after)
            for extent, size, before, after in zip(
                picture.extents(), self.size, (top, left), (bottom, right), strict=True
            )
        ]
        return picture.of(sliced(picture, anchor, self.size, self.beyond, self.fill))

    def _place(self, extent: DataNode, size: int, before: int, after: int) -> DataNode:
        """A random beginning, of those where the crop lies within the picture and its border."""
        padded = extent + (before + after)
        needed = math.max(size - padded, 0) if self.pad_if_needed else 0 * padded
        most = math.max(padded + 2 * needed - size, 0)
        drawn = fn.random.uniform(range=[0.0, 1.0], dtype=types.FLOAT) * fn.cast(most + 1, dtype=types.FLOAT)
        place = math.min(fn.cast(math.floor(drawn), dtype=types.INT64), most)
        return place - needed - before


class RandomResizedCrop(Transform):
    """A random part of pictures, scaled to one size, as `fn.random_resized_crop` chooses it.

    Args:
        size: (height, width), or one number for both.
        scale: (min, max) of the part's area, of the picture's.
        ratio: (min, max) of its width by its height.
        interpolation, antialias: as `Resize` has them.
        device: "cpu" or "gpu".

    Errors: ArgumentError and ArgumentTypeError for other values; NotImplementedError for modes that there are not.
    """

    def __init__(
        self,
        size: int | Sequence[int],
        scale: Sequence[float] = (0.08, 1.0),
        ratio: Sequence[float] = (3 / 4, 4 / 3),
        interpolation: InterpolationMode | int | Any = InterpolationMode.BILINEAR,
        antialias: bool | None = True,
        device: str = "cpu",
    ):
        super().__init__(device)
        self.size = self.checked_size(size)
        self.scale, self.ratio = self.checked_range("scale", scale, 0), self.checked_range("ratio", ratio, 0)
        for argument, value in (("scale", scale), ("ratio", ratio)):
            if not value[0]:
                raise self.wrong(argument, value, "expected positive numbers")
        self.interpolation = interpolation_of("RandomResizedCrop", interpolation)
        self.antialias = bool(antialias)

    def define(self, picture: Picture) -> Picture:
        return picture.of(
            fn.random_resized_crop(
                picture.node,
                size=list(self.size),
                random_area=list(self.scale),
                random_aspect_ratio=list(self.ratio),
                interp_type=self.interpolation,
                antialias=self.antialias,
            )
        )
