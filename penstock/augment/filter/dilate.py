"""``fn.experimental.dilate``: the largest of the pixels around each."""

from __future__ import annotations

from penstock.augment.filter.morphology import MorphologyArgs
from penstock.op import op


@op("experimental.dilate", kernel="dilate", devices=("cpu", "gpu"))
class Dilate(MorphologyArgs):
    """Replaces each pixel by the largest of those that a rectangular mask covers, channel by channel: Dilation.

    Input: HW, HWC, CHW, FHW, FHWC or FCHW (without a layout: HW, HWC or FHWC by the number of axes), of type UINT8,
    UINT16, INT16 or FLOAT. Output: the same shape, layout and type. Mask and anchor may be given for each frame.

    Errors: ArgumentError for another ``border_mode`` and for negative ``iterations``; OperatorError for other types and
    layouts, for masks of no size and for anchors outside the mask.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.experimental.dilate(np.uint8([[1, 5, 1, 1, 1]]))
        >>> pipeline().run()[0].at(0).tolist()
        [[5, 5, 5, 1, 1]]
    """
