"""``fn.color_space_conversion``: RGB, BGR, gray and YCbCr."""

from __future__ import annotations

from penstock import types
from penstock.op import REQUIRED, Op, arg, op

_SPACES = (types.RGB, types.BGR, types.GRAY, types.YCbCr)


@op("color_space_conversion", contract="pixel", devices=("cpu", "gpu"))
class ColorSpaceConversion(Op):
    """Converts pictures from one colour space to another.

    YCbCr is that of ITU-R BT.601 as in video: Y from 16 to 235, Cb and Cr from 16 to 240. Gray is the luma, ``0.299 R +
    0.587 G + 0.114 B``. Values are rounded to the nearest, and saturate. The same colour space twice gives a copy.

    Input: pictures, volumes or sequences of type UINT8, whose last axis is the channels: one of GRAY, three of the
    others (HWC, FHWC, DHWC, FDHWC). Without a layout, three axes are HWC, four FHWC.

    Output: the same layout and type; the last axis has the channels of ``output_type``.

    Errors: ArgumentError for other colour spaces; OperatorError for other types of the input, and where the last axis
    does not have the channels of ``image_type``.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     orange = np.uint8([[[255, 128, 0]]])
        ...     return [fn.color_space_conversion(orange, image_type=types.RGB, output_type=to)
        ...             for to in (types.BGR, types.GRAY, types.YCbCr)]
        >>> [output.at(0).ravel().tolist() for output in pipeline().run()]
        [[0, 128, 255], [151], [146, 53, 193]]
    """

    image_type = arg(REQUIRED, "Colour space of the input.", kind="image_type", choices=_SPACES)
    output_type = arg(REQUIRED, "Colour space of the output.", kind="image_type", choices=_SPACES)
