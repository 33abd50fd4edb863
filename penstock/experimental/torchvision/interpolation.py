"""How pixels between pixels are found, by torchvision's names."""

from __future__ import annotations

import enum
from typing import Any

from penstock import types
from penstock.errors import ArgumentError, UnsupportedNameError


class InterpolationMode(enum.Enum):
    """torchvision's modes. Of these, nearest-exact, box and hamming are refused where they are used."""

    NEAREST = "nearest"
    NEAREST_EXACT = "nearest-exact"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"
    BOX = "box"
    HAMMING = "hamming"
    LANCZOS = "lanczos"


class UnsupportedModeError(UnsupportedNameError, NotImplementedError):
    """A mode that there is no filter for."""


_KINDS = {
    InterpolationMode.NEAREST: types.INTERP_NN,
    InterpolationMode.BILINEAR: types.INTERP_LINEAR,
    InterpolationMode.BICUBIC: types.INTERP_CUBIC,
    InterpolationMode.LANCZOS: types.INTERP_LANCZOS3,
}
_PILLOWS = ("NEAREST", "LANCZOS", "BILINEAR", "BICUBIC", "BOX", "HAMMING")  # by its numbers


def interpolation_of(operator: str, value: Any) -> types.DALIInterpType:
    """The type for a mode: of this module or of torchvision, or one of Pillow's numbers.

    Raises ArgumentError for what is none, UnsupportedModeError (a NotImplementedError) for those that are refused.
    """
    mode = _mode(value)
    if mode is None:
        raise ArgumentError(
            f"{operator}: interpolation={value!r}: expected an InterpolationMode, or one of Pillow's numbers 0 to 5"
        )
    if mode not in _KINDS:
        known = ", ".join(one.name for one in _KINDS)
        raise UnsupportedModeError(f"{operator}: interpolation={value!r} is not supported: use one of {known}")
    return _KINDS[mode]


def _mode(value: Any) -> InterpolationMode | None:
    if isinstance(value, int):
        return InterpolationMode[_PILLOWS[value]] if 0 <= value < len(_PILLOWS) else None
    name = getattr(value, "name", None)
    if name in InterpolationMode.__members__:
        return InterpolationMode[str(name)]
    return next((mode for mode in InterpolationMode if mode.value == getattr(value, "value", None)), None)
