"""``fn.cast`` and ``fn.cast_like``: elements of another type."""

from __future__ import annotations

from penstock.op import REQUIRED, Op, arg, fixed, op


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


@op("cast_like", kernel="cast", contract="pixel", devices=["cpu", "gpu"], inputs=2)
class CastLike(Op):
    """Converts elements of the first input to the second input's type, as ``fn.cast`` does.

    Inputs: a tensor of any shape, layout and numeric type; a tensor whose type, and nothing else, counts.
    Output: the first input's shape and layout, the second one's type.

    Errors: OperatorError if one of the types is not numeric.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.cast_like(np.float32([0.4, 2.5]), np.int8([0]))
        >>> pipeline().run()[0].at(0).dtype
        dtype('int8')
    """

    metadata_inputs = (1,)

    dtype = fixed(None)
