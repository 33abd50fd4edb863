"""``fn.roi_random_crop``: where a random window of a given size starts that holds what matters."""

from __future__ import annotations

from penstock.op import REQUIRED, Op, arg, op


@op("roi_random_crop", inputs=(0, 1))
class RoiRandomCrop(Op):
    """Draws where a window of ``crop_shape`` starts, so that it has as much as it can of a region of interest.

    Along each axis, a window that is larger than the region holds all of it, and one that is smaller lies within it;
    all such places are as likely. With an input, or ``in_shape``, the window does not reach beyond it.

    The numbers of an argument are those of each axis, or one for all of them.

    Input: optionally, the tensor that is to be cropped, of which the shape alone counts. It may have further axes, at
    its end. Output: INT64, of one axis: the place of the window's first element along each axis, as ``start`` of
    ``fn.slice`` and ``crop_pos`` in elements have it.

    Errors: ArgumentError if not just one of ``roi_end`` and ``roi_shape`` is given; OperatorError for an input together
    with ``in_shape``, for a window or a region that is not within that shape, for numbers of values that do not fit
    each other, and for negative extents (DALI draws nonsense then).

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None, seed=1)
        ... def pipeline():
        ...     picture = types.Constant(np.zeros((100, 80, 3), np.uint8))
        ...     start = fn.roi_random_crop(picture, roi_start=[40, 70], roi_shape=[5, 10], crop_shape=[50, 20])
        ...     return start, fn.slice(picture, start=start, shape=[50, 20], axes=[0, 1])
        >>> start, window = pipeline().run()
        >>> y, x = start.at(0)
        >>> bool(0 <= y <= 40 and x == 60), window.at(0).shape
        (True, (50, 20, 3))
    """

    random = True
    metadata_inputs = (0,)

    crop_shape = arg(REQUIRED, "Extents of the window.", kind="integers", per_sample=True)
    roi_start = arg(REQUIRED, "Where the region of interest starts.", kind="integers", per_sample=True)
    roi_end = arg(None, "Where it ends: the first element behind it.", kind="integers", per_sample=True)
    roi_shape = arg(None, "Its extents, instead of its end.", kind="integers", per_sample=True)
    in_shape = arg(
        None, "Extents of what is cropped. Default: the input's, or no limits.", kind="integers", per_sample=True
    )

    def prepare(self) -> None:
        if ("roi_end" in self.given) == ("roi_shape" in self.given):
            raise self.wrong("roi_end", "expected just one of roi_end and roi_shape")
