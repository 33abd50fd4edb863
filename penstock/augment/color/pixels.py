"""Arguments that the colour operators share."""

from __future__ import annotations

from penstock import types
from penstock.op import Op, arg, fixed

PIXEL_TYPES = (types.UINT8, types.INT16, types.INT32, types.FLOAT16, types.FLOAT)


class PixelTypeArgs(Op):
    """The type of the output."""

    dtype = arg(None, "Type of the output; default: the input's.", kind="dtype", choices=PIXEL_TYPES)


class ImageTypeArgs(Op):
    """What DALI has kept from its past."""

    image_type = arg(types.RGB, "Colour space of the input.", unused="it has always been taken for RGB.")


class AffineArgs(PixelTypeArgs):
    """What the kernel brightness_contrast reads."""

    brightness = contrast = fixed(1.0)
    brightness_shift = fixed(0.0)
    contrast_center = fixed(None)


class TwistArgs(PixelTypeArgs):
    """What the kernel color_twist reads."""

    hue = fixed(0.0)
    saturation = value = brightness = contrast = fixed(1.0)


class BrightnessArgs(AffineArgs):
    """How bright."""

    brightness = arg(1.0, "Factor of all values.", per_sample=True)
    brightness_shift = arg(
        0.0, "Added at last, as a share of the output's range: 1 is the type's largest value.", per_sample=True
    )


class ContrastArgs(AffineArgs):
    """How far values are from each other."""

    contrast = arg(1.0, "Factor of the distance from `contrast_center`; 0 gives pictures of one gray.", per_sample=True)
    contrast_center = arg(
        0.5,
        "The value that contrast leaves as it is, in units of the input. Without it, the middle of the input's range: "
        "0.5 of floats, 128 of UINT8, 16384 of INT16, 1073741824 of INT32.",
        per_sample=True,
        only_given=True,
    )


class HueArgs(TwistArgs):
    """Which way colours are turned."""

    hue = arg(0.0, "Degrees by which colours are turned on the colour wheel.", per_sample=True)


class SaturationArgs(TwistArgs):
    """How colourful."""

    saturation = arg(1.0, "Factor of colourfulness; 0 gives gray pictures.", per_sample=True)
