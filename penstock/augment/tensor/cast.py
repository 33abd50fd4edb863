"""``fn.cast``: elements of another type."""

from __future__ import annotations

from penstock.op import REQUIRED, Op, arg, op


@op("cast", contract="pixel", devices=["cpu", "gpu"])
class Cast(Op):
    """Converts elements to another type.

    Floats become integers by rounding to the nearest, halves away from zero. What does not fit becomes the nearest
    number that does; not-a-number becomes 0. As a boolean, whatever rounds to 0 is False and all else True.

    Input: a tensor of any shape, layout and numeric type. Output: the same shape and layout, of ``dtype``.

    Errors: OperatorError if ``dtype`` is no numeric type.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.cast(np.float32([0.4, 0.5, -1.5, 300]), dtype=types.UINT8)
        >>> pipeline().run()[0].at(0).tolist()
        [0, 1, 0, 255]
    """

    dtype = arg(REQUIRED, "Type of the output.", kind="dtype", aka=["type", "to", "output_dtype"])
