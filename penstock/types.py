"""Types and constants of the API, with DALI's names and numbers.

``types.FLOAT`` and its like are members of `DALIDataType`, ``types.RGB`` of `DALIImageType`, ``types.INTERP_LINEAR``
of `DALIInterpType`. They are integers too, as DALI's are when they reach an operator.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


class _NamedInt(enum.IntEnum):
    """An integer that prints as ``Class.NAME`` in every Python, in f-strings too."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)


class DALIDataType(_NamedInt):
    """Type of a tensor's elements, or of an argument."""

    NO_TYPE = -1
    UINT8 = 0
    UINT16 = 1
    UINT32 = 2
    UINT64 = 3
    INT8 = 4
    INT16 = 5
    INT32 = 6
    INT64 = 7
    FLOAT16 = 8
    FLOAT = 9
    FLOAT64 = 10
    BOOL = 11
    STRING = 12
    FEATURE = 17
    IMAGE_TYPE = 20
    DATA_TYPE = 21
    INTERP_TYPE = 22
    TENSOR_LAYOUT = 23
    PYTHON_OBJECT = 24


class DALIImageType(_NamedInt):
    """Colour space of decoded pictures."""

    RGB = 0
    BGR = 1
    GRAY = 2
    YCbCr = 3
    ANY_DATA = 4


class DALIInterpType(_NamedInt):
    """How values between pixels are found."""

    INTERP_NN = 0
    INTERP_LINEAR = 1
    INTERP_CUBIC = 2
    INTERP_LANCZOS3 = 3
    INTERP_TRIANGULAR = 4
    INTERP_GAUSSIAN = 5


NO_TYPE, STRING, FEATURE = DALIDataType.NO_TYPE, DALIDataType.STRING, DALIDataType.FEATURE
UINT8, UINT16, UINT32, UINT64 = DALIDataType.UINT8, DALIDataType.UINT16, DALIDataType.UINT32, DALIDataType.UINT64
INT8, INT16, INT32, INT64 = DALIDataType.INT8, DALIDataType.INT16, DALIDataType.INT32, DALIDataType.INT64
FLOAT16, FLOAT, FLOAT64, BOOL = DALIDataType.FLOAT16, DALIDataType.FLOAT, DALIDataType.FLOAT64, DALIDataType.BOOL
IMAGE_TYPE, DATA_TYPE, INTERP_TYPE = DALIDataType.IMAGE_TYPE, DALIDataType.DATA_TYPE, DALIDataType.INTERP_TYPE
TENSOR_LAYOUT, PYTHON_OBJECT = DALIDataType.TENSOR_LAYOUT, DALIDataType.PYTHON_OBJECT

RGB, BGR, GRAY = DALIImageType.RGB, DALIImageType.BGR, DALIImageType.GRAY
YCbCr, ANY_DATA = DALIImageType.YCbCr, DALIImageType.ANY_DATA

INTERP_NN, INTERP_LINEAR = DALIInterpType.INTERP_NN, DALIInterpType.INTERP_LINEAR
INTERP_CUBIC, INTERP_LANCZOS3 = DALIInterpType.INTERP_CUBIC, DALIInterpType.INTERP_LANCZOS3
INTERP_TRIANGULAR, INTERP_GAUSSIAN = DALIInterpType.INTERP_TRIANGULAR, DALIInterpType.INTERP_GAUSSIAN

# Layouts of one sample: N is the batch.
NCHW, NHWC, NFCHW, NFHWC, SAME = "CHW", "HWC", "FCHW", "FHWC", ""

CPU_ONLY_DEVICE_ID = -99999


class TensorLayout(str):
    """Names of a tensor's axes, one letter each, such as ``TensorLayout("HWC")``: a string in all respects."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"TensorLayout({str(self)!r})"


class PipelineAPIType(enum.Enum):
    """Which of the ways to run a pipeline is in use: they must not be mixed."""

    BASIC = 0
    ITERATOR = 1
    SCHEDULED = 2


@dataclass
class SampleInfo:
    """Which sample an external source is asked for; all counts start at 0."""

    idx_in_epoch: int
    idx_in_batch: int
    iteration: int
    epoch_idx: int


@dataclass
class BatchInfo:
    """Which batch an external source is asked for; both counts start at 0."""

    iteration: int
    epoch_idx: int


_INTEGERS = (INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64)
_FLOATS = (FLOAT16, FLOAT, FLOAT64)

_TO_NUMPY: dict[int, type[np.generic]] = {
    UINT8: np.uint8,
    UINT16: np.uint16,
    UINT32: np.uint32,
    UINT64: np.uint64,
    INT8: np.int8,
    INT16: np.int16,
    INT32: np.int32,
    INT64: np.int64,
    FLOAT16: np.float16,
    FLOAT: np.float32,
    FLOAT64: np.float64,
    BOOL: np.bool_,
}

# As NumPy, PyTorch, JAX and TensorFlow call them.
_BY_NAME = {np.dtype(t).name: DALIDataType(d) for d, t in _TO_NUMPY.items()} | {
    "bool_": BOOL,
    "boolean": BOOL,
    "sbyte": INT8,
    "byte": UINT8,
    "ubyte": UINT8,
    "short": INT16,
    "ushort": UINT16,
    "long": INT64,
    "ulong": UINT64,
    "half": FLOAT16,
    "float": FLOAT,
    "double": FLOAT64,
}
_BY_DTYPE = {np.dtype(t): DALIDataType(d) for d, t in _TO_NUMPY.items()}


def to_numpy_type(dali_type: int) -> type[np.generic]:
    """The NumPy scalar type of a data type.

    Raises KeyError for types that no array has, such as STRING.

    >>> to_numpy_type(FLOAT)
    <class 'numpy.float32'>
    """
    return _TO_NUMPY[dali_type]


def to_dali_type(framework_type: Any) -> DALIDataType:
    """The data type for a type of NumPy, PyTorch, JAX or TensorFlow, its name, or a DALIDataType or its number.

    Python's ``float`` and ``bool`` are FLOAT and BOOL. Raises TypeError for all else, such as complex types and
    types with swapped bytes.

    >>> to_dali_type(np.float32), to_dali_type("uint8"), to_dali_type(9)
    (DALIDataType.FLOAT, DALIDataType.UINT8, DALIDataType.FLOAT)
    """
    if isinstance(framework_type, DALIDataType):
        return framework_type
    if isinstance(framework_type, np.dtype):
        found = _BY_DTYPE.get(framework_type)
    elif isinstance(framework_type, (int, np.integer)) and not isinstance(framework_type, bool):
        found = DALIDataType._value2member_map_.get(int(framework_type))  # type: ignore[assignment]
    else:
        is_class = isinstance(framework_type, type)
        name = framework_type.__qualname__ if is_class else getattr(framework_type, "name", str(framework_type))
        found = _BY_NAME.get(str(name).removeprefix("torch."))
    if found is None:
        raise TypeError(f"{framework_type!r} is no type that a tensor can have; these are: {', '.join(_BY_NAME)}")
    return found


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
        if dtype is None:
            dtype = BOOL if isinstance(value, bool) else INT32 if isinstance(value, int) else FLOAT
        self.dtype = to_dali_type(dtype)
        if self.dtype not in _TO_NUMPY:
            raise TypeError(f"a scalar constant cannot have the type {self.dtype}: it is a bool, an integer or a float")
        kind = bool if self.dtype == BOOL else int if self.dtype in _INTEGERS else float
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
        if self.dtype in _FLOATS:
            raise TypeError(f"{self} has no truth value: convert it to an integer type or to bool first")
        return self.value != 0

    def __int__(self) -> int:
        if self.dtype in _FLOATS:
            raise TypeError(f"{self} is no integer: convert it to an integer type first")
        return int(self.value)

    def __float__(self) -> float:
        if self.dtype not in _FLOATS:
            raise TypeError(f"{self} is no float: convert it to a float type first")
        return float(self.value)

    def __str__(self) -> str:
        return f"{self.value}:{self.dtype}"

    def __repr__(self) -> str:
        return f"ScalarConstant({self.value!r}, {self.dtype!r})"


def Constant(  # noqa: N802
    value: Any,
    dtype: int | None = None,
    shape: Sequence[int] | int | None = None,
    layout: str | None = None,
    device: str | None = None,
) -> Any:
    """A constant for a pipeline's definition.

    A scalar by itself becomes a `ScalarConstant`. A list, tuple or array, or a scalar with ``shape``, ``layout`` or
    ``device``, becomes a node that is this tensor in every sample.

    - ``value``: a number, a NumPy array, anything that NumPy takes for an array, an enum of this module, or lists of
      them. Python's numbers are FLOAT, INT32 or BOOL, whichever holds all of them; arrays keep their type, but 64 bits
      become 32.
    - ``dtype``: the type to convert to: floats are rounded (halves away from zero), and what does not fit becomes the
      nearest value that does.
    - ``shape``: of the tensor; a scalar fills it, else the number of elements must be the same.
    - ``layout``: names of the axes, such as "HWC".
    - ``device``: "cpu".

    Raises TypeError for what is no number, ValueError where ``shape`` or ``layout`` does not fit, OverflowError where
    a 64-bit integer does not fit 32 bits and no ``dtype`` is given.

    >>> Constant(5, dtype=UINT8)
    ScalarConstant(5, DALIDataType.UINT8)
    """
    one = shape is None or shape == 1 or (not isinstance(shape, int) and list(shape) in ([], [1]))
    if one and device is None and layout is None and _is_number(value) and not _is_enum_type(dtype):
        return ScalarConstant(value, dtype)
    from penstock.graph.constants import constant  # the graph is made of these types

    return constant(constant_array(value, dtype, shape), layout, device or "cpu")


def _is_number(value: Any) -> bool:
    return np.ndim(value) == 0 and not isinstance(value, (DALIDataType, DALIImageType, DALIInterpType))


def _is_enum_type(dtype: int | None) -> bool:
    return dtype in (DATA_TYPE, IMAGE_TYPE, INTERP_TYPE)


def constant_array(value: Any, dtype: int | None = None, shape: Any = None) -> np.ndarray[Any, Any]:
    """The array of a `Constant`, whose docstring tells the rules. Enums are INT32."""
    array = np.asarray(value)
    if array.size == 0 and not hasattr(value, "dtype"):
        array = array.astype(np.float32)
    if array.dtype.kind not in "buif":
        raise TypeError(f"a constant is made of numbers, not of {value!r}")
    if dtype is not None and not _is_enum_type(dtype):
        array = saturate(array, np.dtype(to_numpy_type(to_dali_type(dtype))))
    elif array.dtype == np.float64:
        array = array.astype(np.float32)
    elif array.dtype.itemsize == 8:
        narrow = np.dtype(f"{array.dtype.kind}4")
        if array.size and not np.array_equal(array.astype(narrow), array):
            raise OverflowError(f"{value!r} does not fit {narrow}: give dtype= to Constant")
        array = array.astype(narrow)
    if shape is None:
        return array
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    if array.ndim == 0:
        return np.full(shape, array)
    if array.size != np.prod(shape, dtype=np.int64):
        raise ValueError(f"a constant of shape {shape} cannot be made of {array.size} values")
    return array.reshape(shape)


def saturate(array: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Converts as operators do: floats to the nearest integer (halves away from zero), all to the nearest that fits."""
    if dtype.kind == "f" or array.dtype == dtype:
        return array.astype(dtype)
    if array.dtype.kind == "f":
        array = np.copysign(np.floor(np.abs(array.astype(np.float64)) + 0.5), array)
        array = np.nan_to_num(array, nan=0.0, posinf=np.inf, neginf=-np.inf)
    if dtype.kind == "b":
        return array != 0
    limits = np.iinfo(dtype)
    # Compared before the conversion: a limit of 64 bits is no float.
    low, high = array <= float(limits.min) if array.dtype.kind == "f" else array < limits.min, array >= limits.max
    inside = np.where(low | high, 0, array).astype(dtype)
    return np.where(low, limits.min, np.where(high, limits.max, inside)).astype(dtype)
