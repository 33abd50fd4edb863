"""``fn.transpose``: axes in another order."""

from __future__ import annotations

from penstock.op import Op, arg, op


@op("transpose", devices=["cpu", "gpu"])
class Transpose(Op):
    """Puts axes into another order.

    Input: a tensor of any shape and type. Output: a tensor of the same type; its axis ``i`` is the input's axis
    ``perm[i]``, and likewise in the layout, unless ``transpose_layout`` or ``output_layout`` say otherwise.

    Errors: ArgumentError if ``perm`` is no permutation; OperatorError if it does not have one element per axis of the
    input, or if ``output_layout`` has not.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     picture = types.Constant(np.zeros((4, 6, 3), np.uint8), layout="HWC")
        ...     return fn.transpose(picture, perm=[2, 0, 1])
        >>> planes, = pipeline().run()
        >>> planes.at(0).shape, planes.layout()
        ((3, 4, 6), 'CHW')
    """

    perm = arg(
        None,
        "The order: for each axis of the output, which one of the input it is. Default: reversed.",
        kind="integers",
        aka=["axes", "order", "dims", "permutation"],
    )
    transpose_layout = arg(True, "Put the layout's names into the new order too; else they stay where they are.")
    output_layout = arg(None, "The output's layout.", kind="layout")

    def prepare(self) -> None:
        if self.perm is not None and sorted(self.perm) != list(range(len(self.perm))):
            raise self.wrong("perm", f"expected each of the numbers 0 to {len(self.perm) - 1} once")
