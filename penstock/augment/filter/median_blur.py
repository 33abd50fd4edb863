"""``fn.experimental.median_blur``: the median of the pixels around each."""

from __future__ import annotations

from penstock.op import Op, arg, op


@op("experimental.median_blur", kernel="median_blur", devices=("cpu", "gpu"))
class MedianBlur(Op):
    """Replaces each pixel by the median of those in a window around it, channel by channel.

    Beyond the border stand the last row and column.

    Input: HW, HWC, CHW, FHW, FHWC or FCHW (without a layout: HW, HWC or FHWC by the number of axes), of type UINT8,
    UINT16, INT16, INT32 or FLOAT. Output: the same shape, layout and type.

    Errors: OperatorError for other types and layouts, and for windows of even sizes.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.experimental.median_blur(np.uint8([[1, 2, 90, 4, 5]]))
        >>> pipeline().run()[0].at(0).tolist()
        [[1, 2, 4, 5, 5]]
    """

    window_size = arg(
        [3, 3],
        "Width and height of the window, in this order, odd numbers; one number is both.",
        per_sample=True,
        aka=["kernel_size", "ksize"],
    )
