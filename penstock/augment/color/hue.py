"""``fn.hue``: colours turned on the colour wheel."""

from __future__ import annotations

from penstock.augment.color.pixels import HueArgs, ImageTypeArgs
from penstock.op import op


@op("hue", kernel="color_twist", contract="pixel", devices=("cpu", "gpu"))
class Hue(HueArgs, ImageTypeArgs):
    """Changes the hue of pictures.

    Colours are turned in the plane of I and Q of the colour space YIQ, in float32; their luma stays as it is. Integers
    are rounded half away from zero and saturate.

    Input: pictures, volumes or sequences whose last axis is three channels, RGB (HWC, DHWC, FHWC ...), of type UINT8,
    INT16, INT32, FLOAT16 or FLOAT. Without a layout, three axes are HWC, four FHWC.

    Output: the same shape and layout, of type ``dtype``.

    Errors: ArgumentError for another ``dtype``; OperatorError for other types of the input, for layouts without height
    and width, and where the last axis is not three channels (with others DALI reads and writes beyond the pixels).

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     red = np.uint8([[[200, 0, 0]]])
        ...     return fn.hue(red, hue=360), fn.hue(red, hue=120)
        >>> [output.at(0).ravel().tolist() for output in pipeline().run()]
        [[200, 0, 0], [0, 147, 0]]
    """
