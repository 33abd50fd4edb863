"""``fn.reductions``: sums, means, extremes and deviations, over some or all axes."""

from __future__ import annotations

import enum

from penstock.op import Op, arg, fixed, op


class Reduction(enum.IntEnum):
    """What is computed; the numbers are the kernel's."""

    SUM = 0
    MEAN = 1
    MEAN_SQUARE = 2
    RMS = 3
    MIN = 4
    MAX = 5
    VARIANCE = 6
    STD_DEV = 7


class ReducedAxesArgs(Op):
    """Which axes are gone over."""

    axes = arg(
        None,
        "The axes that are reduced; negative ones count from the end. Default: all. With none, each element is reduced "
        "by itself.",
        kind="integers",
    )
    axis_names = arg(None, "These axes by their letters in the layout.", kind="layout")

    def prepare(self) -> None:
        if self.axes is not None and self.axis_names is not None:
            raise self.wrong("axis_names", "axes are given too; expected one of the two")


class Reductions(ReducedAxesArgs):
    """What all reductions share."""

    keep_dims = arg(False, "Keep reduced axes, with extent 1.")
    dtype = fixed(None)
    ddof = fixed(0)


class TypedReduction(Reductions):
    """One with a choice of the output's type."""

    dtype = arg(
        None, "Type of the output. Fractions are cut off where it is an integer type. Default: see above.", kind="dtype"
    )


class Deviation(Reductions):
    """One that needs the mean."""

    ddof = arg(0, "What is subtracted from the number of elements before the sum is divided by it.")


@op("reductions.sum", kernel="reductions", devices=["cpu", "gpu"])
class Sum(TypedReduction):
    """Adds up elements.

    Input: a tensor of any shape and numeric type. Output: the axes that are not reduced; 64-bit integers of the same
    signedness for integers, else float, unless ``dtype`` is given. Sums of integers that their type does not hold wrap
    round, as in NumPy; those of floats are kept as doubles on their way.

    Errors: ArgumentError if both ``axes`` and ``axis_names`` are given; OperatorError if an axis is not there or is
    named twice.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.reductions.sum(np.uint8([[200, 1], [100, 2]]), axes=0)
        >>> pipeline().run()[0].at(0).tolist()
        [300, 3]
    """

    reduction = fixed(Reduction.SUM)


@op("reductions.mean", kernel="reductions", devices=["cpu", "gpu"])
class Mean(TypedReduction):
    """Takes the mean of elements.

    Input: a tensor of any shape and numeric type. Output: the axes that are not reduced; float (of no elements:
    not-a-number) unless ``dtype`` is given. The sum is exact for integers, where DALI's is one of ``dtype`` that wraps
    round, and a double for floats.

    Errors: ArgumentError if both ``axes`` and ``axis_names`` are given; OperatorError if an axis is not there or is
    named twice.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.reductions.mean(np.uint8([[200, 1], [101, 2]]), axes=0)
        >>> pipeline().run()[0].at(0).tolist()
        [150.5, 1.5]
    """

    reduction = fixed(Reduction.MEAN)


@op("reductions.mean_square", kernel="reductions", devices=["cpu", "gpu"])
class MeanSquare(TypedReduction):
    """Takes the mean of elements' squares.

    Input: a tensor of any shape and numeric type. Output: the axes that are not reduced; float unless ``dtype`` is
    given. The squares do not overflow, as those of integers do in DALI.

    Errors: ArgumentError if both ``axes`` and ``axis_names`` are given; OperatorError if an axis is not there or is
    named twice.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.reductions.mean_square(np.int8([-1, 7]))
        >>> float(pipeline().run()[0].at(0))
        25.0
    """

    reduction = fixed(Reduction.MEAN_SQUARE)


@op("reductions.rms", kernel="reductions", devices=["cpu", "gpu"])
class Rms(TypedReduction):
    """Takes the root of the mean of elements' squares.

    Input: a tensor of any shape and numeric type. Output: the axes that are not reduced; float unless ``dtype`` is
    given. The squares do not overflow, as those of integers do in DALI.

    Errors: ArgumentError if both ``axes`` and ``axis_names`` are given; OperatorError if an axis is not there or is
    named twice.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.reductions.rms(np.int8([-1, 7]))
        >>> float(pipeline().run()[0].at(0))
        5.0
    """

    reduction = fixed(Reduction.RMS)


@op("reductions.min", kernel="reductions", devices=["cpu", "gpu"])
class Min(Reductions):
    """Finds the smallest element.

    Input: a tensor of any shape and numeric type. Output: the axes that are not reduced, of the same type.
    Not-a-number is passed over, unless it is the only element. Of no other elements, the result is the type's largest
    number, or infinity (not the largest finite float as in DALI, which it gives for infinities, too).

    Errors: ArgumentError if both ``axes`` and ``axis_names`` are given; OperatorError if an axis is not there or is
    named twice.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.reductions.min(np.uint8([[200, 1], [101, 2]]), axes=1)
        >>> pipeline().run()[0].at(0).tolist()
        [1, 2]
    """

    reduction = fixed(Reduction.MIN)


@op("reductions.max", kernel="reductions", devices=["cpu", "gpu"])
class Max(Reductions):
    """Finds the largest element.

    Input: a tensor of any shape and numeric type. Output: the axes that are not reduced, of the same type.
    Not-a-number is passed over, unless it is the only element. Of no other elements, the result is the type's smallest
    number, or minus infinity (not the smallest finite float as in DALI, which it gives for infinities, too).

    Errors: ArgumentError if both ``axes`` and ``axis_names`` are given; OperatorError if an axis is not there or is
    named twice.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.reductions.max(np.uint8([[200, 1], [101, 2]]), axes=1)
        >>> pipeline().run()[0].at(0).tolist()
        [200, 101]
    """

    reduction = fixed(Reduction.MAX)


@op("reductions.variance", kernel="reductions", devices=["cpu", "gpu"], inputs=2)
class Variance(Deviation):
    """Takes the mean of elements' squared distances from a mean.

    Inputs: a tensor of any shape and numeric type; the mean, one number or one for each element of the output, as
    ``fn.reductions.mean`` gives it with or without ``keep_dims``. Output: the axes that are not reduced; float.

    Distances are those of the elements as they are; DALI rounds integers to FLOAT first, so where they are beyond 2^24
    its distances differ by that. With ``axes=[]`` they are those of each element by itself; DALI gives 0 then.

    Where ``ddof`` leaves nothing to divide by, the result is infinite, or not-a-number where all distances are 0.

    Errors: ArgumentError if both ``axes`` and ``axis_names`` are given; OperatorError if an axis is not there or is
    named twice, or if the mean has another shape.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     numbers = types.Constant(np.uint8([[1, 3], [5, 5]]))
        ...     return fn.reductions.variance(numbers, fn.reductions.mean(numbers, axes=1), axes=1)
        >>> pipeline().run()[0].at(0).tolist()
        [1.0, 0.0]
    """

    reduction = fixed(Reduction.VARIANCE)


@op("reductions.std_dev", kernel="reductions", devices=["cpu", "gpu"], inputs=2)
class StdDev(Deviation):
    """Takes the root of what ``fn.reductions.variance`` does: the standard deviation.

    Inputs: a tensor of any shape and numeric type; the mean, one number or one for each element of the output, as
    ``fn.reductions.mean`` gives it with or without ``keep_dims``. Output: the axes that are not reduced; float.

    Distances are those of the elements as they are; DALI rounds integers to FLOAT first, so where they are beyond 2^24
    its distances differ by that. With ``axes=[]`` they are those of each element by itself; DALI gives 0 then.

    Where ``ddof`` leaves nothing to divide by, the result is infinite, or not-a-number where all distances are 0.

    Errors: ArgumentError if both ``axes`` and ``axis_names`` are given; OperatorError if an axis is not there or is
    named twice, or if the mean has another shape.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     numbers = types.Constant(np.uint8([1, 3, 5, 7]))
        ...     return fn.reductions.std_dev(numbers, fn.reductions.mean(numbers), ddof=3)
        >>> round(float(pipeline().run()[0].at(0)), 4)
        4.4721
    """

    reduction = fixed(Reduction.STD_DEV)
