"""``fn.full``, ``fn.zeros``, ``fn.ones`` and their likes: tensors filled with a value."""

from __future__ import annotations

from penstock import types
from penstock.op import Op, arg, fixed, op
from penstock.types.convert import NUMBERS


class Filled(Op):
    """What the kernel reads."""

    shape = layout = dtype = value = fixed(None)


class FillShape(Filled):
    """Shape and layout of a tensor made from nothing."""

    shape = arg(None, "The output's shape.", kind="integers", per_sample=True)
    layout = arg(None, "The output's layout.", kind="layout")


class FilledLike(Filled):
    """A tensor like another one."""

    metadata_inputs = (0,)

    dtype = arg(None, "Type of the output. Default: the input's.", kind="dtype", choices=NUMBERS)


@op("full", devices=["cpu", "gpu"])
class Full(FillShape):
    """Fills a tensor with a value, or with a smaller tensor again and again (by NumPy's rules of broadcasting).

    Input: the value. Output: its type, ``shape`` (default: the value's own, so that nothing of it is lost; DALI gives
    its first element then) and ``layout``.

    Errors: OperatorError if the value's shape can't be broadcast to ``shape`` (DALI may take the first elements of a
    value that has more of them, or more axes), or the layout does not fit it.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.full(np.int32([1, 2]), shape=[2, 2])
        >>> pipeline().run()[0].at(0).tolist()
        [[1, 2], [1, 2]]
    """


@op("full_like", kernel="full", devices=["cpu", "gpu"], inputs=2)
class FullLike(Filled):
    """Fills a tensor like another one with a value, or with a smaller tensor again and again.

    Inputs: a tensor; the value, which is converted as by ``fn.cast``. Output: the first input's shape, type and layout.

    Errors: OperatorError if the value's shape can't be broadcast to the first input's (DALI may take the first elements
    of a value that has more of them, or more axes).

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.full_like(np.zeros((1, 2), np.uint8), 7)
        >>> pipeline().run()[0].at(0).tolist()
        [[7, 7]]
    """

    metadata_inputs = (0,)


@op("zeros", kernel="full", devices=["cpu", "gpu"], inputs=0)
class Zeros(FillShape):
    """Makes a tensor of zeros.

    Output: ``shape`` (default: a single number), of ``dtype``, with ``layout``.

    Errors: ArgumentError for a ``dtype`` that is no type of numbers; OperatorError for a negative extent, or a layout
    that does not fit the shape.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.zeros(shape=[3], dtype=types.UINT8)
        >>> pipeline().run()[0].at(0).tolist()
        [0, 0, 0]
    """

    value = fixed(0.0)
    dtype = arg(types.INT32, "Type of the output.", choices=NUMBERS)


@op("ones", kernel="full", devices=["cpu", "gpu"], inputs=0)
class Ones(FillShape):
    """Makes a tensor of ones.

    Output: ``shape`` (default: a single number), of ``dtype``, with ``layout``.

    Errors: ArgumentError for a ``dtype`` that is no type of numbers; OperatorError for a negative extent, or a layout
    that does not fit the shape.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.ones(shape=[3], dtype=types.UINT8)
        >>> pipeline().run()[0].at(0).tolist()
        [1, 1, 1]
    """

    value = fixed(1.0)
    dtype = arg(types.INT32, "Type of the output.", choices=NUMBERS)


@op("zeros_like", kernel="full", devices=["cpu", "gpu"])
class ZerosLike(FilledLike):
    """Makes a tensor of zeros like another one.

    Input: a tensor. Output: its shape and layout, and its type unless ``dtype`` is given.

    Errors: ArgumentError for a ``dtype`` that is no type of numbers.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.zeros_like(np.float32([[1, 2]]))
        >>> pipeline().run()[0].at(0).tolist()
        [[0.0, 0.0]]
    """

    value = fixed(0.0)


@op("ones_like", kernel="full", devices=["cpu", "gpu"])
class OnesLike(FilledLike):
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
