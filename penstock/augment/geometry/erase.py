"""``fn.erase``: boxes of a picture overwritten."""

from __future__ import annotations

from penstock.op import Op, arg, op


@op("erase", contract="pixel", devices=("cpu", "gpu"))
class Erase(Op):
    """Overwrites one or several boxes of tensors with ``fill_value``.

    A box goes from ``anchor`` to ``anchor + shape``, both rounded down, along the axes that ``axis_names`` or ``axes``
    name, and over the whole extent of the others. Several boxes are given one behind the other: ``anchor=[y0, x0, y1,
    x1]``, ``shape=[h0, w0, h1, w1]``. What lies outside the tensor is left out.

    Input: a tensor of any shape, layout and type. Output: the same shape, layout and type. ``fill_value`` is converted
    as by casts in C: fractions are cut off, and integers that do not fit keep their lower bits.

    Errors: ArgumentError for ``normalized`` together with ``normalized_anchor`` or ``normalized_shape``; OperatorError
    for axes that the input does not have or that are named twice (DALI then overlooks some of the values), for numbers
    of values in ``anchor`` and ``shape`` that differ or are no multiple of the number of axes, and for several fill
    values that are not one for each channel.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.erase(np.int32([1, 2, 3, 4, 5]), anchor=[1], shape=[2], axes=[0], fill_value=9)
        >>> pipeline().run()[0].at(0).tolist()
        [1, 9, 9, 4, 5]
    """

    anchor = arg([], "First elements of the boxes; none: 0.", kind="numbers", per_sample=True)
    shape = arg([], "Extents of the boxes; none: no boxes.", kind="numbers", per_sample=True)
    axis_names = arg(
        "HW",
        "The axes by their letters in the layout, in the order of `anchor` and `shape`; by default, all but the "
        "channels. It counts more than `axes`.",
        kind="layout",
        only_given=True,
    )
    axes = arg([1, 0], "The axes by number; negative ones count from the end.", only_given=True)
    fill_value = arg([0.0], "What the boxes are filled with: one number, or one per channel.", per_sample=True)
    normalized = arg(False, "Whether `anchor` and `shape` are shares of the extents.")
    normalized_anchor = arg(False, "Whether `anchor` is a share of the extents.")
    normalized_shape = arg(False, "Whether `shape` is a share of the extents.")
    centered_anchor = arg(False, "Whether `anchor` is the middle of the box.")

    def prepare(self) -> None:
        if "normalized" in self.given and {"normalized_anchor", "normalized_shape"} & self.given:
            raise self.wrong("normalized", "cannot be given together with normalized_anchor or normalized_shape")
