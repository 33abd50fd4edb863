"""``fn.per_frame``: a tensor as a sequence with an element for each frame."""

from __future__ import annotations

from penstock.op import Op, arg, op


@op("per_frame", devices=["cpu", "gpu"])
class PerFrame(Op):
    """Says in the layout that the first axis is that of frames, as arguments with a value per frame need it.

    Nothing is copied. For example, ``fn.rotate(video, angle=fn.per_frame(angles))`` turns each frame by its own angle.
    There must be as many values as the sequence has frames, or one for all of them. Operators whose arguments have one
    value for a sample are errors with more.

    Input: a tensor of any type with one axis or more. Output: the same elements. A layout begins with "F"; where the
    input has none, its other axes are called "*".

    Errors: OperatorError for single numbers, and unless ``replace``, for a layout that does not begin with "F".

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.per_frame(types.Constant(np.zeros((8, 2), np.float32)))
        >>> pipeline().run()[0].layout()
        'F*'
    """

    alias = True

    replace = arg(False, "Whether the first axis of a layout becomes 'F' where it has another name.")
