"""`Pad`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.experimental.torchvision.transform import Picture, Transform, sliced

# What fn.slice calls torchvision's modes.
MODES = {"constant": "pad", "edge": "clamp", "reflect": "reflect_101", "symmetric": "reflect_1001"}


class Bordering(Transform):
    """Base of transforms that add a border: checks what they are told of it."""

    @classmethod
    def checked_padding(cls, padding: Any, lengths: Sequence[int] = (2, 4)) -> tuple[int, int, int, int]:
        """Left, top, right, bottom."""
        values = [padding] if isinstance(padding, int) else padding
        known = (1, *lengths) if isinstance(padding, int) else lengths
        if not isinstance(values, (list, tuple)) or len(values) not in known:
            some = " or ".join(map(str, lengths))
            raise cls.wrong_type("padding", padding, f"expected a whole number, or {some} of them")
        if not all(isinstance(value, int) and value >= 0 for value in values):
            raise cls.wrong("padding", padding, "expected whole numbers of 0 or more")
        left, top = values[0], values[1 % len(values)]
        return (left, top, values[2], values[3]) if len(values) == 4 else (left, top, left, top)

    @classmethod
    def checked_mode(cls, padding_mode: Any) -> str:
        """What `fn.slice` calls it."""
        if padding_mode not in MODES:
            raise cls.wrong("padding_mode", padding_mode, f"expected one of {', '.join(map(repr, MODES))}")
        return MODES[padding_mode]

    @classmethod
    def checked_fill(cls, fill: Any) -> Any:
        """A number, or a list of them."""
        values = list(fill) if isinstance(fill, (list, tuple)) else [0 if fill is None else fill]
        if not values or not all(isinstance(value, (int, float)) for value in values):
            error = cls.wrong if fill == [] or fill == () else cls.wrong_type
            raise error("fill", fill, "expected a number, or one for each channel")
        return values


class Pad(Bordering):
    """Adds a border.

    Args:
        padding: its width: one number, (left and right, top and bottom), or (left, top, right, bottom).
        fill: the value of "constant", a number or one for each channel.
        padding_mode: "constant", "edge" (the last pixel), "reflect" or "symmetric" (the picture mirrored, without and
            with its last pixel).
        device: "cpu" or "gpu".

    Errors: ArgumentError and ArgumentTypeError for other values.

    Example:
        >>> import torch
        >>> from penstock.experimental.torchvision import Compose, Pad
        >>> Compose([Pad((2, 0), padding_mode="reflect")])(torch.tensor([[[1, 2, 3]]], dtype=torch.uint8)).tolist()
        [[[3, 2, 1, 2, 3, 2, 1]]]
    """

    def __init__(
        self,
        padding: int | Sequence[int],
        fill: Any = 0,
        padding_mode: str = "constant",
        device: str = "cpu",
    ):
        super().__init__(device)
        self.padding = self.checked_padding(padding)
        self.beyond = self.checked_mode(padding_mode)
        self.fill = self.checked_fill(fill)

    def define(self, picture: Picture) -> Picture:
        left, top, right, bottom = self.padding
        height, width = picture.extents()
        extents = height + (top + bottom), width + (left + right)
        return picture.of(sliced(picture, (-top, -left), extents, self.beyond, self.fill))
