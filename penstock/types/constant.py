"""Constants that a pipeline's definition combines with nodes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from penstock.errors import ArgumentError, ArgumentRangeError, ArgumentTypeError
from penstock.types.convert import FLOATS, INTEGERS, NUMPY_TYPES, saturate, to_dali_type, to_numpy_type
from penstock.types.enums import (
    BOOL,
    DATA_TYPE,
    FLOAT,
    FLOAT16,
    FLOAT64,
    IMAGE_TYPE,
    INT8,
    INT16,
    INT32,
    INT64,
    INTERP_TYPE,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    DALIDataType,
    DALIImageType,
    DALIInterpType,
)


class ScalarConstant:
    """A number with a type, as an operand or argument; `Constant` makes it.

    A ``value`` that is a bool, int or float stands for BOOL, INT32 or FLOAT; NumPy scalars and 0-dimensional arrays
    have their own type. ``dtype`` is the type that the promotion rules of arithmetic go by.
    Raises TypeError where ``value`` is no number or ``dtype`` is no type of numbers.

    >>> str(ScalarConstant(3).uint8())
    '3:DALIDataType.UINT8'
    """

    __array_ufunc__ = None  # `array + constant` is not NumPy's to compute

    def __init__(self, value: Any, dtype: int | None = None):
        self.shape: list[int] = []
        if hasattr(value, "dtype"):
            dtype = to_dali_type(value.dtype) if dtype is None else dtype
            value = value.item()
        if not isinstance(value, (bool, int, float)):
            raise TypeError(f"a scalar constant is a bool, an int or a float, not {value!r}")
        self._typed = dtype is not None  # rather than by its value
        if dtype is None:
            dtype = BOOL if isinstance(value, bool) else INT32 if isinstance(value, int) else FLOAT
        self.dtype = to_dali_type(dtype)
        _check_type(self.dtype)
        kind = bool if self.dtype == BOOL else int if self.dtype in INTEGERS else float
        if kind is int and not math.isfinite(value):
            # DALI's kinds of exceptions: OverflowError for infinities, ValueError for not-a-number.
            wrong = ArgumentRangeError if math.isinf(value) else ArgumentError
            raise wrong(f"Constant: value={value!r}: {self.dtype} has no such number")
        self.value: bool | int | float = kind(value)

    def bool(self) -> ScalarConstant:
        return ScalarConstant(self.value, BOOL)

    def int8(self) -> ScalarConstant:
        return ScalarConstant(self.value, INT8)

    def int16(self) -> ScalarConstant:
        return ScalarConstant(self.value, INT16)

    def int32(self) -> ScalarConstant:
        return ScalarConstant(self.value, INT32)

    def int64(self) -> ScalarConstant:
        return ScalarConstant(self.value, INT64)

    def uint8(self) -> ScalarConstant:
        return ScalarConstant(self.value, UINT8)

    def uint16(self) -> ScalarConstant:
        return ScalarConstant(self.value, UINT16)

    def uint32(self) -> ScalarConstant:
        return ScalarConstant(self.value, UINT32)

    def uint64(self) -> ScalarConstant:
        return ScalarConstant(self.value, UINT64)

    def float16(self) -> ScalarConstant:
        return ScalarConstant(self.value, FLOAT16)

    def float32(self) -> ScalarConstant:
        return ScalarConstant(self.value, FLOAT)

    def float64(self) -> ScalarConstant:
        return ScalarConstant(self.value, FLOAT64)

    def __eq__(self, other: object) -> Any:
        if isinstance(other, ScalarConstant):
            return self.value == other.value and self.dtype == other.dtype
        return NotImplemented  # a node answers with a node

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> Any:
        if self.dtype in FLOATS:
            raise TypeError(f"{self} has no truth value: convert it to an integer type or to bool first")
        return self.value != 0

    def __int__(self) -> int:
        if self.dtype in FLOATS:
            raise TypeError(f"{self} is no integer: convert it to an integer type first")
        return int(self.value)

    def __float__(self) -> float:
        if self.dtype not in FLOATS:
            raise TypeError(f"{self} is no float: convert it to a float type first")
        return float(self.value)

    def __str__(self) -> str:
        return f"{self.value}:{self.dtype}"

    def __repr__(self) -> str:
        return f"ScalarConstant({self.value!r}, {self.dtype!r})"


_node_of: Callable[[np.ndarray[Any, Any], str | None, str, str | None], Any]
_Maker = TypeVar("_Maker", bound=Callable[..., Any])


def makes_nodes(function: _Maker) -> _Maker:
    """Marks the function by which `Constant` makes a node of array, layout, device and name.

    It is the graph's, which is made of these types, so they do not know it.
    """
    global _node_of
    _node_of = function
    return function


def Constant(  # noqa: N802
    value: Any,
    dtype: int | None = None,
    shape: Sequence[int] | int | None = None,
    layout: str | None = None,
    device: str | None = None,
    name: str | None = None,
) -> Any:
    """A constant for a pipeline's definition.

    A scalar by itself becomes a `ScalarConstant`. A list, tuple or array, or a scalar with ``shape``, ``layout``,
    ``device`` or ``name``, becomes a node that is this tensor in every sample.

    - ``value``: a number, a NumPy array, anything that NumPy takes for an array, an enum of this module, or lists of
      them. Python's numbers are FLOAT, INT32 or BOOL, whichever holds all of them; arrays keep their type, but 64 bits
      become 32.
    - ``dtype``: the type to convert to: floats are rounded (halves away from zero), and what does not fit becomes the
      nearest value that does.
    - ``shape``: of the tensor; a scalar fills it, else the number of elements must be the same.
    - ``layout``: names of the axes, such as "HWC".
    - ``device``: "cpu" or "gpu", where the tensor is copied to.
    - ``name``: of the node; a scalar with a name becomes one.

    Raises ArgumentTypeError for what is no number, ArgumentError where ``shape`` or ``layout`` does not fit,
    ArgumentRangeError where a 64-bit integer does not fit 32 bits and no ``dtype`` is given.

    >>> Constant(5, dtype=UINT8)
    ScalarConstant(5, DALIDataType.UINT8)
    """
    one = shape is None or shape == 1 or (not isinstance(shape, int) and list(shape) in ([], [1]))
    plain = device is None and layout is None and name is None
    if one and plain and _is_number(value) and not _is_enum_type(dtype):
        return ScalarConstant(value, dtype)
    return _node_of(constant_array(value, dtype, shape), layout, device or "cpu", name)


def ConstantNode(  # noqa: N802
    device: str | None,
    value: Any,
    dtype: int | None,
    shape: Sequence[int] | int | None,
    layout: str | None,
    name: str | None = None,
) -> Any:
    """The node that `Constant` makes of what is no scalar by itself: here of a scalar, too."""
    return _node_of(constant_array(value, dtype, shape), layout, device or "cpu", name)


def _is_number(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return False
    return np.ndim(value) == 0 and not isinstance(value, (DALIDataType, DALIImageType, DALIInterpType))


def _is_enum_type(dtype: int | None) -> bool:
    return dtype in (DATA_TYPE, IMAGE_TYPE, INTERP_TYPE)


def scalar_array(constant: ScalarConstant) -> np.ndarray[Any, Any]:
    """The array of a scalar, in its type: of an integer that does not fit a type that was given, the nearest one.

    Raises ArgumentRangeError for an integer that fits no 64 bits, or, where no type was given, no 32.
    """
    dtype = np.dtype(to_numpy_type(constant.dtype))
    if dtype.kind not in "iu":
        return np.array(constant.value, dtype)
    if not constant._typed or not -(1 << 63) <= constant.value < 1 << 64:
        check_fits(constant)
    limits = np.iinfo(dtype)
    return np.array(min(max(constant.value, limits.min), limits.max), dtype)


def check_fits(constant: ScalarConstant) -> None:
    """Raises ArgumentRangeError for an integer that does not fit its type."""
    dtype = np.dtype(to_numpy_type(constant.dtype))
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        if not limits.min <= constant.value <= limits.max:
            raise ArgumentRangeError(
                f"{constant.value} does not fit {constant.dtype}: give a wider type, such as "
                f"types.Constant({constant.value}, types.INT64)"
            )


def constant_array(value: Any, dtype: int | None = None, shape: Any = None) -> np.ndarray[Any, Any]:
    """The array of a `Constant`, whose docstring has the rules. Members of enums are INT32."""
    try:
        array: np.ndarray[Any, Any] = np.asarray(value)
    except (ValueError, OverflowError) as error:  # lists of several lengths, and what NumPy cannot hold
        raise ArgumentTypeError(f"Constant: value={value!r}: {error}") from error
    if array.size == 0 and not hasattr(value, "dtype"):
        array = array.astype(np.float32)
    if array.dtype.kind not in "buif":
        raise ArgumentTypeError(f"Constant: value={value!r}: a constant is made of numbers")
    if dtype is not None and not _is_enum_type(dtype):
        array = saturate(array, np.dtype(to_numpy_type(_check_type(to_dali_type(dtype)))))
    elif array.dtype == np.float64:
        array = array.astype(np.float32)
    elif array.dtype.itemsize == 8:
        narrow = np.dtype(f"{array.dtype.kind}4")
        if array.size and not np.array_equal(array.astype(narrow), array):
            raise ArgumentRangeError(f"{value!r} does not fit {narrow}: give dtype= to Constant")
        array = array.astype(narrow)
    if shape is None:
        return array
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    if min(shape, default=0) < 0:
        raise ArgumentError(f"Constant: shape={list(shape)}: expected no negative extents")
    if array.ndim == 0:
        return np.full(shape, array, array.dtype)
    if array.size != np.prod(shape, dtype=np.int64):
        raise ArgumentError(f"Constant: shape={list(shape)}: cannot be made of {array.size} values")
    return np.reshape(array, shape)


def _check_type(dtype: DALIDataType) -> DALIDataType:
    if dtype not in NUMPY_TYPES:
        raise ArgumentTypeError(f"Constant: dtype={dtype!r}: expected BOOL, or a type of integers or floats")
    return dtype
