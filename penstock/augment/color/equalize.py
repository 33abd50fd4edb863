"""``fn.equalize``: histograms made even."""

from __future__ import annotations

from penstock.op import Op, op


@op("equalize", devices=("cpu", "gpu"), legacy=["experimental.equalize"])
class Equalize(Op):
    """Spreads the values of each channel over all from 0 to 255, so that equally many pixels are in equal ranges.

    A value becomes ``255 * (n - m) / (N - m)``, where ``n`` pixels of ``N`` have this value or a lower one and ``m``
    have the lowest; it is rounded, halves to the even number. A channel with a single value stays as it is. Each frame
    of a sequence is a picture by itself.

    Input: HW, HWC, CHW, FHW, FHWC or FCHW (without a layout: HW, HWC or FHWC by the number of axes), UINT8. Output: the
    same shape, layout and type.

    Errors: OperatorError for other types and layouts.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.equalize(np.uint8([[100, 101, 102, 103]]))
        >>> pipeline().run()[0].at(0).tolist()
        [[0, 85, 170, 255]]
    """
