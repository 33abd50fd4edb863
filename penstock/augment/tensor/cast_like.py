"""``fn.cast_like``: elements of another tensor's type."""

from __future__ import annotations

from penstock.op import Op, fixed, op


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
