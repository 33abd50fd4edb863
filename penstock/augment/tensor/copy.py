"""``fn.copy``: the same elements in other memory."""

from __future__ import annotations

from penstock.op import Op, op


@op("copy", devices=["cpu", "gpu"])
class Copy(Op):
    """Copies a tensor.

    Input: a tensor of any type. Output: the same elements, shape and layout, in memory of its own.

    Errors: OutOfMemoryError if there is no room for it.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     numbers = types.Constant(np.uint8([1, 2, 3]))
        ...     return numbers, fn.copy(numbers)
        >>> numbers, copied = pipeline().run()
        >>> copied.at(0)[0] = 9
        >>> numbers.at(0).tolist(), copied.at(0).tolist()
        ([1, 2, 3], [9, 2, 3])
    """
