"""``fn.pad``: tensors of different extents made equal."""

from __future__ import annotations

from penstock.op import Op, arg, op


@op("pad", devices=("cpu", "gpu"))
class Pad(Op):
    """Makes tensors larger, by ``fill_value`` behind their last elements.

    Along each of ``axes``, the extent becomes the largest in the batch, or the one given by ``shape`` if the tensor is
    not larger anyway (so 0 adds nothing; DALI takes it for -1); then it is rounded up to a multiple of ``align``.

    Input: a tensor of any shape, layout and type. Output: the same type and layout. ``fill_value`` is converted as by
    casts in C: fractions are cut off, and integers that do not fit keep their lower bits.

    Errors: ArgumentError for ``axes`` together with ``axis_names``; OperatorError for axes that the input does not have
    or that are named twice, for numbers of values that do not fit the axes, and for an ``align`` below 1.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     x = np.int32([[1, 2, 3]])
        ...     return fn.pad(x, axes=[1], align=4), fn.pad(x, shape=[2, -1], fill_value=9)
        >>> [output.at(0).tolist() for output in pipeline().run()]
        [[[1, 2, 3, 0]], [[1, 2, 3], [9, 9, 9]]]
    """

    fill_value = arg(0.0, "What is put in.", per_sample=True, aka=["value", "fill"])
    axes = arg(
        None,
        "The axes; negative ones count from the end. Default: all.",
        kind="integers",
        per_sample=True,
        aka=["axis", "dim"],
    )
    axis_names = arg(None, "The axes by their letters in the layout.", kind="layout")
    shape = arg(
        None,
        "Extents along the axes, one for all or one for each; -1: the largest in the batch.",
        kind="integers",
        per_sample=True,
    )
    align = arg(
        None, "What the extents are multiples of, one for all or one for each.", kind="integers", per_sample=True
    )

    def prepare(self) -> None:
        if {"axes", "axis_names"} <= self.given:
            raise self.wrong("axes", "cannot be given together with axis_names")
        # Other samples do not matter where all extents are given.
        self.batchwise = self.shape is None or any(extent < 0 for extent in self.shape) or not self.shape
