"""``fn.preemphasis_filter``: signals with louder high tones."""

from __future__ import annotations

from penstock import types
from penstock.op import Op, arg, op

_INTEGERS = (
    types.UINT8, types.INT8, types.UINT16, types.INT16, types.UINT32, types.INT32, types.UINT64, types.INT64,
)  # fmt: skip


@op("preemphasis_filter", devices=["cpu", "gpu"])
class PreemphasisFilter(Op):
    """Subtracts from each sample a share of the one before it: ``y[t] = x[t] - preemph_coeff * x[t - 1]``.

    Computed in FLOAT, for FLOAT64 in FLOAT64.

    Input: integers, FLOAT or FLOAT64, of any shape; all elements are one signal. Output: the same shape and layout,
    of ``dtype``; rounded to integers, and limited.

    Errors: OperatorError for other types.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.preemphasis_filter(np.float32([4, 4, 8]), preemph_coeff=0.5)
        >>> pipeline().run()[0].at(0).tolist()
        [2.0, 2.0, 6.0]
    """

    preemph_coeff = arg(0.97, "The share.", per_sample=True, aka=["coef", "coeff"])
    border = arg(
        "clamp",
        'What stands before the first sample: "clamp", itself; "reflect", the second one; "zero". A single sample has '
        "a zero before it where it is reflected.",
        choices=("clamp", "reflect", "zero"),
    )
    dtype = arg(types.FLOAT, "Type of the output.", choices=(types.FLOAT, types.FLOAT64, *_INTEGERS))
