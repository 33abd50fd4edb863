"""``fn.squeeze``: axes of extent 1 taken out."""

from __future__ import annotations

from penstock.op import Op, arg, op


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
