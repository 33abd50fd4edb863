"""``fn.zeros_like``: a tensor of zeros like another one."""

from __future__ import annotations

from penstock.augment.tensor.filled import FilledLikeArgs
from penstock.op import fixed, op


@op("zeros_like", kernel="full", devices=["cpu", "gpu"])
class ZerosLike(FilledLikeArgs):
    """Makes a tensor of zeros like another one.

    Input: a tensor. Output: its shape and layout, and its type unless ``dtype`` is given.

    Errors: ArgumentError for a ``dtype`` that is no type of numbers.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.zeros_like(np.float32([[1, 2]]))
        >>> pipeline().run()[0].at(0).tolist()
        [[0.0, 0.0]]
    """

    value = fixed(0.0)
