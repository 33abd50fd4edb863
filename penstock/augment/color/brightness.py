"""``fn.brightness``: brighter or darker pictures."""

from __future__ import annotations

from penstock.augment.color.pixels import BrightnessArgs
from penstock.op import op


@op("brightness", kernel="brightness_contrast", contract="pixel", devices=("cpu", "gpu"))
class Brightness(BrightnessArgs):
    """Makes pictures brighter or darker.

    Each value ``v`` becomes ``brightness_shift * range + brightness * v``, in float32, where ``range`` is the largest
    value of the output's type, and 1 for floats. Integers are rounded half away from zero and saturate.

    Input: pictures, volumes or sequences with height and width in the layout (HWC, CHW, DHWC, FHWC ...), of type UINT8,
    INT16, INT32, FLOAT16 or FLOAT. Without a layout, three axes are HWC, four FHWC.

    Output: the same shape and layout, of type ``dtype``.

    Errors: ArgumentError for another ``dtype``; OperatorError for other types of the input, and for layouts without
    height and width.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     image = np.uint8([[[0], [100], [200]]])
        ...     return fn.brightness(image, brightness=1.5, brightness_shift=0.2)
        >>> pipeline().run()[0].at(0).ravel().tolist()
        [51, 201, 255]
    """
