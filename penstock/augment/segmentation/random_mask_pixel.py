"""``fn.segmentation.random_mask_pixel``: where a random pixel of a mask is."""

from __future__ import annotations

from penstock.op import Op, arg, op


@op("segmentation.random_mask_pixel", kernel="segmentation_random_mask_pixel")
class RandomMaskPixel(Op):
    """Draws a pixel of a mask, or one of its foreground; each is as likely as another.

    The foreground is what is above ``threshold``, or equal to ``value``. Where there is none, any pixel is drawn.

    Input: a mask of any type and number of axes. Output: INT64, the pixel's place along each axis.

    Errors: ArgumentError for ``threshold`` together with ``value``; OperatorError for a mask without pixels (DALI gives
    some place).

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None, seed=1)
        ... def pipeline():
        ...     return fn.segmentation.random_mask_pixel(np.uint8([[0, 1, 0], [0, 7, 0]]), foreground=1, value=7)
        >>> pipeline().run()[0].at(0).tolist()
        [1, 1]
    """

    random = True

    foreground = arg(0, "Whether pixels of the foreground alone are drawn: 0 or another number.", per_sample=True)
    threshold = arg(0.0, "The foreground is above it.", per_sample=True)
    value = arg(None, "The foreground is equal to it.", kind="integer", per_sample=True)

    def prepare(self) -> None:
        if {"threshold", "value"} <= self.given:
            raise self.wrong("value", "cannot be given together with threshold")
