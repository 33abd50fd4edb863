"""Sequences of augmentations, of which each sample gets one."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.auto_aug.core.augmentation import Augmentation
from penstock.errors import ArgumentError, ArgumentTypeError

Step = tuple[Augmentation, float, int | None]


class Policy:
    """What AutoAugment chooses from: sub-policies, each a sequence of (augmentation, probability, magnitude's bin).

    The bin is None where the augmentation has no range. Attributes: the arguments, as they were given.

    Raises ArgumentTypeError for what is no such triple, ArgumentError for probabilities and bins that are not there.
    """

    def __init__(self, name: str, num_magnitude_bins: int, sub_policies: Sequence[Sequence[Step]]):
        if isinstance(num_magnitude_bins, bool) or not isinstance(num_magnitude_bins, int) or num_magnitude_bins < 1:
            raise ArgumentError(f"Policy: num_magnitude_bins={num_magnitude_bins!r}: expected 1 or more")
        self.name = name
        self.num_magnitude_bins = num_magnitude_bins
        self.sub_policies = [[self._checked(step) for step in steps] for steps in sub_policies]
        if not self.sub_policies:
            raise ArgumentError("Policy: sub_policies is empty: there is nothing to choose from")

    def _checked(self, step: Step) -> Step:
        if not (isinstance(step, tuple) and len(step) == 3 and isinstance(step[0], Augmentation)):
            raise ArgumentTypeError(f"Policy: {step!r}: expected (augmentation, probability, magnitude's bin)")
        augmentation, probability, magnitude = step
        if not 0 <= probability <= 1:
            raise ArgumentError(f"Policy: {augmentation.name}: probability {probability!r}: expected 0 to 1")
        if augmentation.mag_range is not None:
            if isinstance(magnitude, bool) or not isinstance(magnitude, int):
                raise ArgumentTypeError(f"Policy: {augmentation.name}: bin {magnitude!r}: expected a whole number")
            if not 0 <= magnitude < self.num_magnitude_bins:
                most = self.num_magnitude_bins - 1
                raise ArgumentError(f"Policy: {augmentation.name}: bin {magnitude!r}: expected 0 to {most}")
        return step

    def __repr__(self) -> str:
        lines = [f"    {[(a.name, p, m) for a, p, m in steps]}," for steps in self.sub_policies]
        head = f"Policy(name={self.name!r}, num_magnitude_bins={self.num_magnitude_bins}, sub_policies=["
        return "\n".join([head, *lines, "])"])
