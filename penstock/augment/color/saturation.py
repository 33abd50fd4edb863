"""``fn.saturation``: more or less colourful pictures."""

from __future__ import annotations

from penstock.augment.color.pixels import ImageTypeArgs, SaturationArgs
from penstock.op import op


@op("saturation", kernel="color_twist", contract="pixel", devices=("cpu", "gpu"))
class Saturation(SaturationArgs, ImageTypeArgs):
    """Changes the saturation of pictures.

    Colours are stretched in the plane of I and Q of the colour space YIQ, in float32; their luma stays as it is.
    Integers are rounded half away from zero and saturate.

    Input: pictures, volumes or sequences whose last axis is three channels, RGB (HWC, DHWC, FHWC ...), of type UINT8,
    INT16, INT32, FLOAT16 or FLOAT. Without a layout, three axes are HWC, four FHWC.

    Output: the same shape and layout, of type ``dtype``.

    Errors: ArgumentError for another ``dtype``; OperatorError for other types of the input, for layouts without height
    and width, and where the last axis is not three channels (with others DALI reads and writes beyond the pixels).

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.saturation(np.uint8([[[200, 100, 0], [7, 7, 7]]]), saturation=0)
        >>> pipeline().run()[0].at(0).tolist()
        [[[118, 118, 119], [7, 7, 7]]]
    """
