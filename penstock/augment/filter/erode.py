"""``fn.experimental.erode``: the smallest of the pixels around each."""

from __future__ import annotations

from penstock.augment.filter.morphology import MorphologyArgs
from penstock.op import op


@op("experimental.erode", kernel="erode", devices=("cpu", "gpu"))
class Erode(MorphologyArgs):
    """Replaces each pixel by the smallest of those that a rectangular mask covers, channel by channel: Erosion.

    Input: HW, HWC, CHW, FHW, FHWC or FCHW (without a layout: HW, HWC or FHWC by the number of axes), of type UINT8,
    UINT16, INT16 or FLOAT. Output: the same shape, layout and type. Mask and anchor may be given for each frame.

    Errors: ArgumentError for another ``border_mode`` and for negative ``iterations``; OperatorError for other types and
    layouts, for masks of no size and for anchors outside the mask.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.experimental.erode(np.uint8([[1, 5, 1, 1, 1]]))
        >>> pipeline().run()[0].at(0).tolist()
        [[1, 1, 1, 1, 1]]
    """
