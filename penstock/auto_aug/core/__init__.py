"""What augmentations and policies are made of."""

from penstock.auto_aug.core.augmentation import Augmentation, augmentation
from penstock.auto_aug.core.magnitude import SignedBin, signed_bin
from penstock.auto_aug.core.policy import Policy
from penstock.auto_aug.core.select import select

__all__ = ["Augmentation", "Policy", "SignedBin", "augmentation", "select", "signed_bin"]
