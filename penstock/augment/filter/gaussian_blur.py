"""``fn.gaussian_blur``: pictures out of focus."""

from __future__ import annotations

from penstock.op import Op, arg, op


@op("gaussian_blur", devices=("cpu", "gpu"))
class GaussianBlur(Op):
    """Blurs pictures: each pixel becomes the mean of those around it, weighted by a Gaussian.

    The window reaches ``(window_size - 1) / 2`` pixels to each side. With ``sigma`` alone that is ``ceil(3 * sigma)``;
    with ``window_size`` alone, sigma is ``((window_size - 1) / 2 - 1) * 0.3 + 0.8``. At the edges the picture is
    mirrored without its last row or column (``reflect_101``). Sums are float32; integers are rounded half away from
    zero. (DALI adds in another order: where integers are beyond 2^22, their last bits differ.)

    Input: a tensor of any numeric type. All its axes are blurred, but frames (F), and channels (C) where they come
    first or last: HWC, CHW, DHWC, FHWC ... Without a layout, all axes are.

    Output: the same shape and layout, of ``dtype``.

    Errors: OperatorError for layouts with frames or channels elsewhere, if neither ``sigma`` nor ``window_size`` is
    given for an axis, for negative values and even window sizes, for numbers of values that do not fit the axes, and
    for another ``dtype``.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.gaussian_blur(np.float32([0, 0, 0, 8, 0, 0, 0]), window_size=3, sigma=0.849322)
        >>> pipeline().run()[0].at(0).round(3).tolist()
        [0.0, 0.0, 2.0, 4.0, 2.0, 0.0, 0.0]
    """

    sigma = arg(
        [0.0],
        "Standard deviation in pixels: one, or one per axis that is blurred; 0: not given.",
        per_sample=True,
        aka=["std", "stddev"],
    )
    window_size = arg(
        [0],
        "Odd number of pixels: one, or one per axis that is blurred; 0: not given.",
        per_sample=True,
        aka=["kernel_size", "ksize"],
    )
    dtype = arg(None, "Type of the output: FLOAT, or the input's, which is the default.", kind="dtype")
