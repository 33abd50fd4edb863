"""``fn.squeeze`` and ``fn.expand_dims``: axes of extent 1 taken out and put in."""

from __future__ import annotations

from penstock.op import REQUIRED, Op, arg, op


@op("squeeze", devices=["cpu", "gpu"])
class Squeeze(Op):
    """Takes out axes of extent 1. Nothing is copied.

    Input: a tensor of any type. Output: the same elements without these axes, in the shape as in the layout.

    Errors: ArgumentError if not just one of ``axes`` and ``axis_names`` is given; OperatorError if an axis is not
    there, is named twice, or is not of extent 1 (unless there are no elements, before and after). DALI leaves out axes
    that are not there, negative ones too, so that a wrong number goes unnoticed.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.squeeze(types.Constant(np.zeros((4, 6, 1), np.uint8), layout="HWC"), axis_names="C")
        >>> squeezed, = pipeline().run()
        >>> squeezed.at(0).shape, squeezed.layout()
        ((4, 6), 'HW')
    """

    alias = True

    axes = arg(None, "The axes; negative ones count from the end.", kind="integers", per_sample=True)
    axis_names = arg(None, "The axes by their letters in the layout.", kind="layout")

    def prepare(self) -> None:
        if ("axes" in self.given) == ("axis_names" in self.given):
            raise self.wrong("axes", "expected just one of axes and axis_names")


@op("expand_dims", devices=["cpu", "gpu"])
class ExpandDims(Op):
    """Puts in axes of extent 1. Nothing is copied.

    Input: a tensor of any type. Output: the same elements with new axes, and a layout only if these have names.

    Errors: ArgumentError for axes that are negative or given twice, or a wrong number of names; OperatorError for axes
    beyond the output's last, or for names where the input has no layout.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     plane = types.Constant(np.zeros((4, 6), np.uint8), layout="HW")
        ...     return fn.expand_dims(plane, axes=[0, 3], new_axis_names="FC")
        >>> expanded, = pipeline().run()
        >>> expanded.at(0).shape, expanded.layout()
        ((1, 4, 6, 1), 'FHWC')
    """

    alias = True

    axes = arg(REQUIRED, "Where the new axes are in the output.", kind="integers")
    new_axis_names = arg("", "Their letters in the layout, in the order of `axes`.", kind="layout")

    def prepare(self) -> None:
        if min(self.axes, default=0) < 0 or len(set(self.axes)) < len(self.axes):
            raise self.wrong("axes", "expected different numbers from 0")
        if self.new_axis_names and len(self.new_axis_names) != len(self.axes):
            raise self.wrong("new_axis_names", f"expected one letter for each of the {len(self.axes)} axes")
