"""`GaussianBlur`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock import fn
from penstock.experimental.torchvision.transform import Picture, Transform


class GaussianBlur(Transform):
    """Blurs pictures by a Gaussian kernel; beyond the picture is its reflection.

    Args:
        kernel_size: odd: one number, or (width, height), torchvision's order. (DALI's takes the height first.)
        sigma: standard deviation in pixels, or (min, max), from which it is drawn for each sample.
        device: "cpu" or "gpu".
        seed: of that draw; -1: the pipeline's.

    Errors: ArgumentError for other values.

    Example:
        >>> import torch
        >>> from penstock.experimental.torchvision import Compose, GaussianBlur
        >>> Compose([GaussianBlur(3, sigma=1.0)])(torch.full((3, 4, 4), 7, dtype=torch.uint8)).unique().tolist()
        [7]
    """

    def __init__(
        self,
        kernel_size: int | Sequence[int],
        sigma: float | Sequence[float] = (0.1, 2.0),
        device: str = "cpu",
        seed: int = -1,
    ):
        super().__init__(device)
        sizes: list[Any] = list(kernel_size) if isinstance(kernel_size, (list, tuple)) else [kernel_size]
        if len(sizes) not in (1, 2) or not all(isinstance(k, int) and k > 0 and k % 2 for k in sizes):
            raise self.wrong("kernel_size", kernel_size, "expected an odd positive number, or two: (width, height)")
        if isinstance(sigma, (int, float)):
            sigma = (sigma, sigma)
        elif not isinstance(sigma, (list, tuple)) or len(sigma) != 2:
            raise self.wrong("sigma", sigma, "expected a number, or (min, max)")
        if not 0 < sigma[0] <= sigma[1]:
            raise self.wrong("sigma", sigma, "expected a positive number, or (min, max) of such")
        self.kernel_size, self.sigma, self.seed = (sizes[0], sizes[-1]), tuple(sigma), seed

    def define(self, picture: Picture) -> Picture:
        low, high = self.sigma
        sigma = low if low == high else fn.random.uniform(range=[low, high], seed=self.seed)
        width, height = self.kernel_size
        return picture.of(fn.gaussian_blur(picture.node, window_size=[height, width], sigma=sigma))
