"""``fn.noise.shot``: as if light had been counted."""

from __future__ import annotations

from penstock.op import Op, arg, op


@op("noise.shot", kernel="noise_shot", contract="pixel", devices=("cpu", "gpu"))
class Shot(Op):
    """Makes each element what a counter would have shown that was expected to show it.

    An element ``v`` becomes ``factor * n``, where ``n`` is a whole number of the Poisson distribution whose mean is ``v
    / factor``: so the mean stays what it is, and the variance is ``factor * v``. Integers are rounded half away from
    zero and saturate. Where ``v / factor`` is negative, the output is 0; where it is above 2^50, and so the noise is
    less than what a number's last bits say, it is the input; with a ``factor`` of 0 it is the input.

    Input: a tensor of any shape, layout and numeric type. Output: the same shape, layout and type.

    Errors: OperatorError for an input of BOOL.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None, seed=1)
        ... def pipeline():
        ...     return fn.noise.shot(np.full(10000, 100, np.int32), factor=10)
        >>> noise = pipeline().run()[0].at(0)
        >>> bool((noise % 10 == 0).all()), bool(99 < noise.mean() < 101)
        (True, True)
    """

    random = True

    factor = arg(20.0, "By how much a single event raises the output; 0: no noise.", per_sample=True, aka=["gain"])
