"""``fn.sequence_rearrange``: the frames of a sequence in another order."""

from __future__ import annotations

from penstock.op import REQUIRED, Op, arg, op


@op("sequence_rearrange", devices=["cpu", "gpu"])
class SequenceRearrange(Op):
    """Puts the elements of a sequence, frames of a video say, into another order; some may be left out or repeated.

    Input: a tensor of any type with one axis or more (DALI wants two); its layout, if it has one, begins with "F".
    Output: element ``i`` along the first axis is the input's element ``new_order[i]``; the same type and layout.

    Errors: ArgumentError if ``new_order`` is empty or has negative numbers; OperatorError if it is for a single sample,
    if a sequence is too short, or if its layout is not a sequence's.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.sequence_rearrange(np.int32([[10, 11], [20, 21], [30, 31]]), new_order=[2, 0, 0])
        >>> pipeline().run()[0].at(0).tolist()
        [[30, 31], [10, 11], [10, 11]]
    """

    new_order = arg(
        REQUIRED,
        "The places of elements, from 0: a list for all samples, or a node with a list for each.",
        kind="integers",
        per_sample=True,
    )

    def prepare(self) -> None:
        order = self.new_order
        if order is not None and (not order or min(order) < 0):
            raise self.wrong("new_order", "expected one or more numbers from 0")
