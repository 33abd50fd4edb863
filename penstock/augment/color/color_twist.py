"""``fn.color_twist``: hue, saturation, contrast and brightness at once."""

from __future__ import annotations

from penstock.augment.color.pixels import HueArgs, ImageTypeArgs, SaturationArgs
from penstock.op import arg, op


@op("color_twist", contract="pixel", devices=("cpu", "gpu"))
class ColorTwist(HueArgs, SaturationArgs, ImageTypeArgs):
    """Changes hue, saturation, contrast and brightness of pictures in one step.

    Colours are turned by ``hue`` and stretched by ``saturation`` in the plane of I and Q of the colour space YIQ. Of
    what comes out, each value ``v`` becomes ``brightness * (center + contrast * (v - center))``, where ``center`` is
    128 for inputs of integers, of whatever type, and 0.5 for floats. All of it is one linear function in float32;
    integers are rounded half away from zero and saturate.

    Input: pictures, volumes or sequences whose last axis is three channels, RGB (HWC, DHWC, FHWC ...), of type UINT8,
    INT16, INT32, FLOAT16 or FLOAT. Without a layout, three axes are HWC, four FHWC.

    Output: the same shape and layout, of type ``dtype``.

    Errors: ArgumentError for another ``dtype``; OperatorError for other types of the input, for layouts without height
    and width, and where the last axis is not three channels (with others DALI reads and writes beyond the pixels).

    Example:
        >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None)
        ... def pipeline():
        ...     files, labels = fn.readers.file(file_root=photos)
        ...     images = fn.decoders.image(files, device="cpu")
        ...     return images, fn.color_twist(
        ...         images, hue=fn.random.uniform(range=[-15, 15]), saturation=fn.random.uniform(range=[0.6, 1.4]),
        ...         contrast=1.2, brightness=0.9, dtype=types.FLOAT)
        >>> images, twisted = pipeline().run()
        >>> images.at(0).shape == twisted.at(0).shape, twisted.at(0).dtype
        (True, dtype('float32'))
    """

    contrast = arg(1.0, "Factor of the distance from the middle; 0 gives pictures of one gray.", per_sample=True)
    brightness = arg(1.0, "Factor of all values.", per_sample=True)
