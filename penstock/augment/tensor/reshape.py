"""``fn.reshape``: the same elements under another shape or layout."""

from __future__ import annotations

from penstock.op import Op, arg, fixed, op


class ReshapeArgs(Op):
    """What says which shape it is to be."""

    alias = True
    setup_reads = (1,)
    cpu_inputs = (1,)

    shape = arg(
        None,
        "The output's shape. One extent may be negative: it becomes what is needed to hold all elements.",
        kind="integers",
        per_sample=True,
    )
    rel_shape = arg(
        None,
        "The output's shape in multiples of the input's extents, rounded to whole numbers. One may be negative, as in "
        "`shape`; if it is the last one, it may be a new axis.",
        kind="numbers",
        per_sample=True,
    )
    src_dims = arg(
        None,
        "For each axis of the output, the axis of the input that has its extent (or that `rel_shape` is relative to); "
        "-1 makes a new axis of extent 1.",
        kind="integers",
        per_sample=True,
    )
    layout = arg(
        None,
        "The output's layout, one letter per axis, or '' for none. Default: the input's if there are as many axes.",
        kind="layout",
    )
    dtype = fixed(None)


@op("reshape", devices=["cpu", "gpu"], inputs=(1, 2))
class Reshape(ReshapeArgs):
    """Gives the elements another shape, another layout, or both. Nothing is copied.

    Inputs: a tensor of any type; optionally the output's shape, as ``shape`` has it, in one axis of
    integers on the CPU.
    Output: the same elements in the same order.

    Errors: OperatorError for arguments that do not go together, if the new shape does not hold exactly
    the input's elements, or the layout does not fit it.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.reshape(np.zeros((4, 6), np.uint8), shape=[2, -1, 3], layout="HWC")
        >>> shaped, = pipeline().run()
        >>> shaped.at(0).shape, shaped.layout()
        ((2, 4, 3), 'HWC')
    """
