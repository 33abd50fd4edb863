"""``fn.hsv``: hue, saturation and value."""

from __future__ import annotations

from penstock import types
from penstock.augment.color.pixels import PIXEL_TYPES, HueArgs, SaturationArgs
from penstock.op import arg, op


@op("hsv", kernel="color_twist", contract="pixel", devices=("cpu", "gpu"))
class Hsv(HueArgs, SaturationArgs):
    """Changes hue, saturation and value of pictures.

    Colours are turned by ``hue`` and stretched by ``saturation`` in the plane of I and Q of the colour space YIQ; then
    everything is multiplied by ``value``. All of it is one linear function in float32; integers are rounded half away
    from zero and saturate.

    Input: pictures, volumes or sequences whose last axis is three channels, RGB (HWC, DHWC, FHWC ...), of type UINT8,
    INT16, INT32, FLOAT16 or FLOAT. Without a layout, three axes are HWC, four FHWC.

    Output: the same shape and layout, of type ``dtype``, which is UINT8 whatever the input is unless given.

    Errors: ArgumentError for another ``dtype``; OperatorError for other types of the input, for layouts without height
    and width, and where the last axis is not three channels (with others DALI reads and writes beyond the pixels).

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     red = np.float32([[[200, 0, 0]]])
        ...     return fn.hsv(red, value=0.5), fn.hsv(red, hue=120), fn.hsv(red, saturation=0)
        >>> [output.at(0).ravel().tolist() for output in pipeline().run()]
        [[100, 0, 0], [0, 147, 0], [60, 60, 60]]
    """

    value = arg(1.0, "Factor of all values.", per_sample=True)
    dtype = arg(types.UINT8, "Type of the output; NO_TYPE: the input's.", choices=(*PIXEL_TYPES, types.NO_TYPE))
