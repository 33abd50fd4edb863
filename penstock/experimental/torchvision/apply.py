"""`RandomApply`, and how a transform runs on some samples only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock import fn, types
from penstock.experimental.torchvision.transform import Picture, Transform


def sometimes(picture: Picture, p: float, change: Callable[[Picture], Picture]) -> Picture:
    """The picture, changed with probability ``p``, drawn for each sample."""
    drawn = fn.random.coin_flip(probability=p, dtype=types.BOOL)
    branches: Any = vars(fn)["_conditional"]
    chosen, others = branches.split(picture.node, predicate=drawn)
    changed = change(picture.of(chosen))
    if changed.node.device != others.device:
        others = others.gpu()
    return changed.of(branches.merge(changed.node, others, predicate=drawn))


class RandomApply(Transform):
    """Applies a list of transforms, one after the other, to samples with probability ``p``, all of them or none.

    Args:
        op_list: transforms that keep the type, and how many channels there are.
        p: probability.
        device: "cpu" or "gpu".

    Errors: ArgumentError for a ``p`` that is none.

    Example:
        >>> import torch
        >>> from penstock.experimental.torchvision import Compose, RandomApply, RandomHorizontalFlip
        >>> transform = Compose([RandomApply([RandomHorizontalFlip(p=1.0)], p=1.0)])
        >>> transform(torch.tensor([[[1, 2, 3]]], dtype=torch.uint8)).tolist()
        [[[3, 2, 1]]]
    """

    def __init__(self, op_list: Sequence[Transform], p: float = 0.5, device: str = "cpu"):
        super().__init__(device)
        self.op_list, self.p = list(op_list), self.checked_probability(p)

    def define(self, picture: Picture) -> Picture:
        def change(chosen: Picture) -> Picture:
            for one in self.op_list:
                chosen = one.apply(chosen)
            return chosen

        return sometimes(picture, self.p, change)
