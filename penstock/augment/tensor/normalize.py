"""``fn.normalize``: shifts and scales elements by means and standard deviations."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock import types
from penstock.augment.tensor.reductions import ReducedAxesArgs
from penstock.op import arg, op


@op("normalize", devices=["cpu", "gpu"])
class Normalize(ReducedAxesArgs):
    """Subtracts the mean and divides by the standard deviation, which are given or computed from the input.

    The output is ``(x - mean) / stddev * scale + shift``. What is not given is computed over ``axes`` or
    ``axis_names``, for each index on the other axes by itself; with ``batch=True``, over all samples of the batch too.
    Where all elements are equal, and ``epsilon`` is 0, the output is ``shift``.

    Input: a tensor of any shape, layout and numeric type; with ``batch=True``, of one extent in all samples on axes
    that are not reduced. Output: the same shape and layout, of ``dtype``; floats are rounded to integers, and limited.

    Errors: ArgumentError if both ``axes`` and ``axis_names`` are given, or one of them where ``mean`` and ``stddev``
    are numbers, or an array or a node with ``batch=True``; OperatorError if an axis is not there or is named twice, or
    if an array's shape does not fit.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.normalize(np.uint8([[1, 10], [3, 50]]), axes=0, scale=2)
        >>> pipeline().run()[0].at(0).tolist()
        [[-2.0, -2.0], [2.0, 2.0]]
    """

    batch = arg(False, "Compute over all samples of the batch.")
    mean = arg(
        None,
        "The mean: a number, or an array with the input's axes, of which those that are reduced have extent 1. Where "
        "no axes are given, they are those.",
        kind="any",
        per_sample=True,
    )
    stddev = arg(None, "The standard deviation, in the same forms.", kind="any", per_sample=True, aka=["std", "sigma"])
    ddof = arg(0, "What is subtracted from the number of elements where the standard deviation is computed.")
    epsilon = arg(0.0, "What is added to the variance, for it not to be too small.")
    scale = arg(1.0, "Standard deviation of the output.")
    shift = arg(0.0, "Mean of the output.")
    dtype = arg(types.FLOAT, "Type of the output.")

    def prepare(self) -> None:
        super().prepare()
        self.batchwise = self.batch
        numbers = 0
        for name in ("mean", "stddev"):
            value = getattr(self, name)
            if isinstance(value, types.ScalarConstant):
                value = value.value
            if value is None:
                continue
            try:
                array = np.asarray(value, np.float64)
            except (TypeError, ValueError, OverflowError) as e:
                raise self.wrong(name, "expected a number, an array of numbers or a node") from e
            setattr(self, name, array)
            numbers += array.size == 1
            if self.batch and array.size != 1:
                raise self.wrong(name, "expected one number with batch=True")
        if self.batch and self.tensors:
            raise self.wrong("batch", f"expected one number for {' and '.join(self.tensors)}, not a node")
        if numbers == 2 and (self.axes is not None or self.axis_names is not None):
            raise self.wrong("axes", "mean and stddev are numbers, so that nothing is computed over axes")

    def kernel_arguments(self) -> dict[str, Any]:
        given = super().kernel_arguments()
        for name in ("mean", "stddev"):
            array = given.get(name)
            if array is not None:
                given[name] = array.ravel().tolist()
            given[f"{name}_shape"] = None if array is None else array.shape
        return given
