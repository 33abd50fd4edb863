"""`Resize`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock import fn, math, types
from penstock.experimental.torchvision.interpolation import InterpolationMode, interpolation_of
from penstock.experimental.torchvision.transform import Picture, Transform
from penstock.graph.node import DataNode


class Resize(Transform):
    """Scales pictures.

    Args:
        size: (height, width); or one number, or a sequence of one: of the shorter side, while the longer one keeps the
            aspect ratio; None: as ``max_size`` says.
        interpolation: an `InterpolationMode`, torchvision's as well, or one of Pillow's numbers: NEAREST, BILINEAR,
            BICUBIC or LANCZOS.
        max_size: of the longer side, where ``size`` is one number or None: it counts where both cannot be had.
        antialias: whether filters are widened where pictures get smaller.
        device: "cpu" or "gpu".

    Errors: ArgumentError for other values; NotImplementedError for other modes of torchvision's.

    Example:
        >>> import torch
        >>> from penstock.experimental.torchvision import Compose, Resize
        >>> Compose([Resize(10, max_size=15)])(torch.zeros(3, 40, 80, dtype=torch.uint8)).shape
        torch.Size([3, 7, 15])
    """

    def __init__(
        self,
        size: int | Sequence[int] | None,
        interpolation: InterpolationMode | int | Any = InterpolationMode.BILINEAR,
        max_size: int | None = None,
        antialias: bool | None = True,
        device: str = "cpu",
    ):
        super().__init__(device)
        self.interpolation = interpolation_of("Resize", interpolation)
        values: list[Any] = list(size) if isinstance(size, (list, tuple)) else [size]
        if size is None:
            values = []
            if max_size is None:
                raise self.wrong("size", size, "expected a size, or max_size")
        elif len(values) not in (1, 2) or not all(isinstance(value, int) and value > 0 for value in values):
            raise self.wrong("size", size, "expected a positive whole number, two of them, or None")
        if max_size is not None:
            if len(values) == 2:
                raise self.wrong("max_size", max_size, "expected none, as size has both sides")
            if not isinstance(max_size, int) or max_size < max([1, *values]):
                raise self.wrong("max_size", max_size, "expected a whole number not smaller than size")
        self.size, self.max_size, self.antialias = values, max_size, bool(antialias)

    def define(self, picture: Picture) -> Picture:
        height, width = self._extents(*picture.extents())
        size = fn.stack(*(fn.cast(extent, dtype=types.FLOAT) for extent in (height, width)))
        return picture.of(fn.resize(picture.node, size=size, interp_type=self.interpolation, antialias=self.antialias))

    def _extents(self, height: DataNode, width: DataNode) -> tuple[Any, Any]:
        """The sides, of each sample. Fractions are cut off, as torchvision does it: exactly, in whole numbers."""
        if len(self.size) == 2:
            return self.size[0], self.size[1]
        shorter, longer = math.min(height, width), math.max(height, width)
        if self.size:
            new_shorter: Any = self.size[0]
            new_longer: Any = self.size[0] * longer // shorter
            if self.max_size is not None:
                over = new_longer > self.max_size
                fitting = self.max_size * new_shorter // new_longer
                new_shorter = over * fitting + (1 - over) * new_shorter
                new_longer = math.min(new_longer, self.max_size)
        else:
            new_longer = self.max_size
            new_shorter = self.max_size * shorter // longer
        upright = height > width
        sideways = height <= width
        return (
            upright * new_longer + sideways * new_shorter,
            upright * new_shorter + sideways * new_longer,
        )
