"""``fn.full``: a tensor filled with a value."""

from __future__ import annotations

from penstock.augment.tensor.filled import FilledShapeArgs
from penstock.op import op


@op("full", devices=["cpu", "gpu"])
class Full(FilledShapeArgs):
    """Fills a tensor with a value, or with a smaller tensor again and again (by NumPy's rules of broadcasting).

    Input: the value. Output: its type, ``shape`` (default: the value's own, so that nothing of it is lost; DALI gives
    its first element then) and ``layout``.

    Errors: OperatorError if the value's shape can't be broadcast to ``shape`` (DALI may take the first elements of a
    value that has more of them, or more axes), or the layout does not fit it.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.full(np.int32([1, 2]), shape=[2, 2])
        >>> pipeline().run()[0].at(0).tolist()
        [[1, 2], [1, 2]]
    """
