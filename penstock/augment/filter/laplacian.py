"""``fn.laplacian``: where pictures have edges."""

from __future__ import annotations

from penstock.op import Op, arg, op


@op("laplacian", devices=("cpu", "gpu"))
class Laplacian(Op):
    """Adds up the second derivatives of pictures along all of their axes.

    The derivative along an axis is a window ``[1, -2, 1]``, smoothed to ``window_size`` pixels by binomial
    coefficients; along the other axes it is smoothed by windows of ``smoothing_size`` pixels: as many as the
    derivative's where that is not given. At the edges the picture is mirrored without its last row or column
    (``reflect_101``). Sums are float32; integers are rounded half away from zero and saturate.

    Input: a tensor of any numeric type, with one to three axes besides frames (F) and channels (C), where they come
    first or last: HWC, CHW, DHWC, FHWC ... Without a layout, all axes are derived along. Windows and factors may be
    given for each frame.

    Output: the same shape and layout, of ``dtype``.

    Errors: ArgumentError for ``normalized_kernel`` together with ``scale``; OperatorError for layouts with frames or
    channels elsewhere or with more axes, for windows of other sizes, for numbers of values that do not fit the axes,
    and for another ``dtype``.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.laplacian(np.float32([0, 0, 1, 0, 0, 5, 5, 5]))
        >>> pipeline().run()[0].at(0).tolist()
        [0.0, 1.0, -2.0, 1.0, 5.0, -5.0, 0.0, 0.0]
    """

    window_size = arg(
        [3],
        "Odd number of pixels of the derivatives, from 3 to 31: one, or one per axis.",
        per_sample=True,
        aka=["kernel_size", "ksize"],
    )
    smoothing_size = arg(
        None,
        "Odd number of pixels that are smoothed along the other axes, from 1 (not at all) to 31: one, or one per axis.",
        kind="integers",
        per_sample=True,
    )
    scale = arg([1.0], "Factors of the derivatives: one, or one per axis.", per_sample=True)
    normalized_kernel = arg(
        False, "Whether each derivative is divided by what its windows make of it, so that it has the input's units."
    )
    dtype = arg(None, "Type of the output: FLOAT, or the input's, which is the default.", kind="dtype")

    def prepare(self) -> None:
        if self.normalized_kernel and "scale" in self.given:
            raise self.wrong("normalized_kernel", "cannot be given together with scale")
