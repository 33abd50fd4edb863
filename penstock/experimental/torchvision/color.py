"""`ColorJitter`, `Grayscale` and `RandomGrayscale`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock import fn, types
from penstock.experimental.torchvision.apply import sometimes
from penstock.experimental.torchvision.transform import Picture, Transform

_Range = tuple[float, float]


class ColorJitter(Transform):
    """Changes brightness, contrast, saturation and hue by factors that are drawn for each sample.

    It is `fn.color_twist`, in that order, as DALI's is: contrast changes about half of the type's range, where
    torchvision takes the picture's mean, and hue is turned in YIQ rather than HSV.

    Args:
        brightness, contrast, saturation: (min, max) of the factor, or x, which means (max(0, 1 - x), 1 + x).
        hue: (min, max) of the angle, as a part of a full turn within -0.5 to 0.5; or x, which means (-x, x).
        device: "cpu" or "gpu".

    Errors: ArgumentError for other values; InputError, when it runs, for pictures that do not have three channels.

    Example:
        >>> import torch
        >>> from penstock.experimental.torchvision import ColorJitter, Compose
        >>> Compose([ColorJitter(brightness=(2.0, 2.0))])(torch.full((3, 1, 1), 7, dtype=torch.uint8)).tolist()
        [[[14]], [[14]], [[14]]]
    """

    def __init__(
        self,
        brightness: float | Sequence[float] = 0.0,
        contrast: float | Sequence[float] = 0.0,
        saturation: float | Sequence[float] = 0.0,
        hue: float | Sequence[float] = 0.0,
        device: str = "cpu",
    ):
        super().__init__(device)
        self.brightness = self._factor("brightness", brightness)
        self.contrast = self._factor("contrast", contrast)
        self.saturation = self._factor("saturation", saturation)
        low, high = (-hue, hue) if isinstance(hue, (int, float)) else self.checked_range("hue", hue, -0.5)
        if not -0.5 <= low <= high <= 0.5:
            raise self.wrong("hue", hue, "expected 0 to 0.5, or (min, max) within -0.5 to 0.5")
        self.hue = float(low), float(high)

    def _factor(self, argument: str, value: Any) -> _Range:
        if value is None:
            raise self.wrong(argument, value, "expected a number of 0 or more, or (min, max)")
        if isinstance(value, (int, float)):
            if value < 0:
                raise self.wrong(argument, value, "expected a number of 0 or more, or (min, max)")
            return max(0.0, 1.0 - value), 1.0 + value
        return self.checked_range(argument, value, 0)

    def define(self, picture: Picture) -> Picture:
        hwc = picture.as_hwc()
        low, high = self.hue
        changed = fn.color_twist(
            hwc.node,
            brightness=_drawn(self.brightness),
            contrast=_drawn(self.contrast),
            saturation=_drawn(self.saturation),
            hue=_drawn((360 * low, 360 * high)),
        )
        return hwc.of(changed).as_before(picture)


def _drawn(limits: _Range) -> Any:
    return limits[0] if limits[0] == limits[1] else fn.random.uniform(range=list(limits))


class Grayscale(Transform):
    """Makes pictures gray.

    Args:
        num_output_channels: 1, or 3, which are the same then.
        device: "cpu" or "gpu".

    Errors: ArgumentError for other numbers; InputError, when it runs, for pictures of neither one nor three channels.

    Example:
        >>> import torch
        >>> from penstock.experimental.torchvision import Compose, Grayscale
        >>> Compose([Grayscale()])(torch.tensor([[[255]], [[0]], [[0]]], dtype=torch.uint8)).flatten().tolist()
        [76]
    """

    def __init__(self, num_output_channels: int = 1, device: str = "cpu"):
        super().__init__(device)
        if num_output_channels not in (1, 3):
            raise self.wrong("num_output_channels", num_output_channels, "expected 1 or 3")
        self.num_output_channels = num_output_channels

    def define(self, picture: Picture) -> Picture:
        return gray(picture, self.num_output_channels)


def gray(picture: Picture, channels: int) -> Picture:
    """The picture without colours, with so many channels, 1 or 3."""
    if picture.channels == channels == 1:
        return picture
    hwc = picture.as_hwc()
    if picture.channels == 1:
        node = fn.cat(hwc.node, hwc.node, hwc.node, axis_name="C")
    elif channels == 1:
        node = fn.color_space_conversion(hwc.node, image_type=types.RGB, output_type=types.GRAY)
    else:
        node = fn.hsv(hwc.node, saturation=0)
    return hwc.of(node, channels).as_before(picture)


class RandomGrayscale(Transform):
    """Makes samples gray with probability ``p``; they keep the number of their channels.

    Args:
        p: probability.
        device: "cpu" or "gpu".

    Errors: ArgumentError for a ``p`` that is none; InputError, when it runs, for pictures of neither one nor three
    channels.
    """

    def __init__(self, p: float = 0.1, device: str = "cpu"):
        super().__init__(device)
        self.p = self.checked_probability(p)

    def define(self, picture: Picture) -> Picture:
        return sometimes(picture, self.p, lambda chosen: gray(chosen, picture.channels))
