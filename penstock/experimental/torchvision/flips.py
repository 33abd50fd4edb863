"""`RandomHorizontalFlip` and `RandomVerticalFlip`."""

from __future__ import annotations

from typing import Any

from penstock import fn
from penstock.experimental.torchvision.transform import Picture, Transform


class Flip(Transform):
    """Base of both. Flips samples with probability ``p``, each by itself."""

    direction = ""

    def __init__(self, p: float = 0.5, device: str = "cpu"):
        super().__init__(device)
        self.p = self.checked_probability(p)

    def define(self, picture: Picture) -> Picture:
        flipped: dict[str, Any] = {
            "horizontal": 0,
            "vertical": 0,
            self.direction: fn.random.coin_flip(probability=self.p),
        }
        return picture.of(fn.flip(picture.node, **flipped))


class RandomHorizontalFlip(Flip):
    """Flips pictures left to right, with probability ``p``."""

    direction = "horizontal"


class RandomVerticalFlip(Flip):
    """Flips pictures upside down, with probability ``p``."""

    direction = "vertical"
