"""``fn.expand_dims``: axes of extent 1 put in."""

from __future__ import annotations

from penstock.op import REQUIRED, Op, arg, op


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
