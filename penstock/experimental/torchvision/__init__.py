"""Transforms with torchvision's API, as DALI's ``experimental.torchvision`` has them.

A `Compose` of transforms takes a picture of Pillow's or a tensor of PyTorch's, and gives what torchvision's would: it
makes a pipeline of them when it is first called. Functions of the same names are in ``v2.functional``. Both need
PyTorch and Pillow.

>>> import torch
>>> from penstock.experimental.torchvision import CenterCrop, Compose, RandomHorizontalFlip
>>> transform = Compose([CenterCrop(2), RandomHorizontalFlip(p=1.0)])
>>> transform(torch.arange(16, dtype=torch.uint8).reshape(1, 4, 4)).tolist()
[[[6, 5], [10, 9]]]
"""

from __future__ import annotations

from penstock.experimental.torchvision.apply import RandomApply
from penstock.experimental.torchvision.blur import GaussianBlur
from penstock.experimental.torchvision.color import ColorJitter, Grayscale, RandomGrayscale
from penstock.experimental.torchvision.compose import Compose
from penstock.experimental.torchvision.crop import CenterCrop, RandomCrop, RandomResizedCrop
from penstock.experimental.torchvision.flips import RandomHorizontalFlip, RandomVerticalFlip
from penstock.experimental.torchvision.interpolation import InterpolationMode
from penstock.experimental.torchvision.normalize import Normalize
from penstock.experimental.torchvision.outputs import PILToTensor, ToPILImage, ToPureTensor
from penstock.experimental.torchvision.pad import Pad
from penstock.experimental.torchvision.resize import Resize

__all__ = [
    "CenterCrop",
    "ColorJitter",
    "Compose",
    "GaussianBlur",
    "Grayscale",
    "InterpolationMode",
    "Normalize",
    "PILToTensor",
    "Pad",
    "RandomApply",
    "RandomCrop",
    "RandomGrayscale",
    "RandomHorizontalFlip",
    "RandomResizedCrop",
    "RandomVerticalFlip",
    "Resize",
    "ToPILImage",
    "ToPureTensor",
]
