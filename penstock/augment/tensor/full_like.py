"""``fn.full_like``: a tensor like another one, filled with a value."""

from __future__ import annotations

from penstock.augment.tensor.filled import FilledArgs
from penstock.op import op


@op("full_like", kernel="full", devices=["cpu", "gpu"], inputs=2)
class FullLike(FilledArgs):
    """Fills a tensor like another one with a value, or with a smaller tensor again and again.

    Inputs: a tensor; the value, which is converted as by ``fn.cast``. Output: the first input's shape, type and layout.

    Errors: OperatorError if the value's shape can't be broadcast to the first input's (DALI may take the first elements
    of a value that has more of them, or more axes).

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.full_like(np.zeros((1, 2), np.uint8), 7)
        >>> pipeline().run()[0].at(0).tolist()
        [[7, 7]]
    """

    metadata_inputs = (0,)
