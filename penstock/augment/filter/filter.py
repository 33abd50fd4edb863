"""``fn.filter``: windows of any weights."""

from __future__ import annotations

from penstock.op import Op, arg, op

_BORDERS = ("reflect_101", "reflect_1001", "wrap", "clamp", "constant")


@op("filter", devices=("cpu", "gpu"), inputs=(2, 3), legacy=["experimental.filter"])
class Filter(Op):
    """Makes each pixel a sum of those around it, weighted by a filter.

    The filter is laid over the picture as it is (what is called a correlation), its element ``anchor`` over the pixel.
    Sums are float32; integers are rounded, halves to the even one, and saturate.

    Inputs: pictures, volumes or frames of them, of type UINT8, INT8, UINT16, INT16, FLOAT16 or FLOAT: two or three axes
    besides frames (F), which come first, and channels (C), which come first or last. Without a layout they have no
    channels. Then the filter, FLOAT, with as many axes, or one more, F, for a filter of each frame. Then, perhaps, what
    stands beyond the border with ``border="constant"``: a number of the input's type, or one for each frame; else 0.

    Output: of ``dtype``, of the same layout; the same shape, or with ``mode="valid"`` as much smaller as keeps the
    filter inside the picture.

    Errors: ArgumentError for another ``border`` or ``mode``; OperatorError for other types and layouts, for filters and
    fill values that do not fit, for an anchor outside the filter, for another ``dtype``, and with ``mode="valid"`` for
    filters larger than the input.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.filter(np.uint8([[1, 2, 3, 4]]), np.float32([[1, 0, 10]]))
        >>> pipeline().run()[0].at(0).tolist()
        [[22, 31, 42, 33]]
    """

    anchor = arg(
        [-1],
        "The filter's element that lies over the pixel: one number, or one per axis; -1: its middle, rounded down. It "
        'counts for nothing with `mode="valid"`.',
        per_sample=True,
    )
    border = arg(
        "reflect_101",
        "What stands beyond the border: the picture mirrored without its last row and column (reflect_101) or with "
        "them (reflect_1001), over again (wrap), its last row and column (clamp), or a number (constant).",
        choices=_BORDERS,
        aka=["border_mode", "padding_mode"],
    )
    mode = arg("same", "Whether the output is as large as the input (same), or has whole sums only (valid).",
               choices=("same", "valid"))  # fmt: skip
    dtype = arg(None, "Type of the output: FLOAT, or the input's, which is the default.", kind="dtype")
