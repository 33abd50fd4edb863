"""``fn.ones_like``: a tensor of ones like another one."""

from __future__ import annotations

from penstock.augment.tensor.filled import FilledLikeArgs
from penstock.op import fixed, op


@op("ones_like", kernel="full", devices=["cpu", "gpu"])
class OnesLike(FilledLikeArgs):
    """Makes a tensor of ones like another one.

    Input: a tensor. Output: its shape and layout, and its type unless ``dtype`` is given.

    Errors: ArgumentError for a ``dtype`` that is no type of numbers.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.ones_like(np.float32([[1, 2]]), dtype=types.INT8)
        >>> pipeline().run()[0].at(0).tolist()
        [[1, 1]]
    """

    value = fixed(1.0)
