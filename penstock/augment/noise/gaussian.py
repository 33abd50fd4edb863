"""``fn.noise.gaussian``: numbers of a normal distribution added."""

from __future__ import annotations

from penstock.op import Op, arg, op


@op("noise.gaussian", kernel="noise_gaussian", contract="pixel", devices=("cpu", "gpu"))
class Gaussian(Op):
    """Adds to each element a number of its own, drawn from a normal distribution.

    Sums are FLOAT, of INT32 and larger types and of FLOAT64 they are FLOAT64; integers are rounded half away from zero
    and saturate.

    Input: a tensor of any shape, layout and numeric type. Output: the same shape, layout and type.

    Errors: OperatorError for an input of BOOL.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None, seed=1)
        ... def pipeline():
        ...     return fn.noise.gaussian(np.zeros(10000, np.float32), mean=5, stddev=2)
        >>> noise = pipeline().run()[0].at(0)
        >>> bool(4.9 < noise.mean() < 5.1), bool(1.9 < noise.std() < 2.1)
        (True, True)
    """

    random = True

    mean = arg(0.0, "The mean, in units of the input.", per_sample=True, aka=["loc", "mu"])
    stddev = arg(1.0, "The standard deviation, in units of the input.", per_sample=True, aka=["std", "sigma", "scale"])
