"""`augmentation`, by the name of the module that DALI has it in."""

from __future__ import annotations

from penstock.auto_aug.core.augmentation import Augmentation, augmentation

__all__ = ["Augmentation", "augmentation"]
