"""Between types of elements here and in other libraries, and between values of these types."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.types.enums import (
    BOOL,
    FLOAT,
    FLOAT16,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    DALIDataType,
)

INTEGERS = (INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64)
FLOATS = (FLOAT16, FLOAT, FLOAT64)

NUMPY_TYPES: dict[int, type[np.generic]] = {
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

NUMBERS = tuple(DALIDataType(d) for d in NUMPY_TYPES)  # all types that are numbers, or BOOL

# As NumPy, PyTorch, JAX and TensorFlow call them.
_BY_NAME = {np.dtype(t).name: DALIDataType(d) for d, t in NUMPY_TYPES.items()} | {
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
_BY_DTYPE = {np.dtype(t): DALIDataType(d) for d, t in NUMPY_TYPES.items()}


def to_numpy_type(dali_type: int) -> type[np.generic]:
    """The NumPy scalar type of a data type.

    Raises KeyError for types that no array has, such as STRING.

    >>> to_numpy_type(FLOAT)
    <class 'numpy.float32'>
    """
    return NUMPY_TYPES[dali_type]


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
        found = _BY_NAME.get(str(name).rpartition(".")[2])  # some say their module, too
    if found is None:
        raise TypeError(f"{framework_type!r} is no type that a tensor can have; these are: {', '.join(_BY_NAME)}")
    return found


def saturate(array: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Converts as operators do: floats to the nearest integer (halves away from zero), all to the nearest that fits."""
    if dtype.kind == "f" or array.dtype == dtype:
        return array.astype(dtype)
    if array.dtype.kind == "f":
        array = np.copysign(np.floor(np.abs(array.astype(np.float64)) + 0.5), array)
        array = np.nan_to_num(array, nan=0.0, posinf=np.inf, neginf=-np.inf)
    if dtype.kind == "b":
        return np.asarray(array != 0)
    limits = np.iinfo(dtype)
    # Compared before the conversion: a limit of 64 bits is no float.
    low, high = array <= float(limits.min) if array.dtype.kind == "f" else array < limits.min, array >= limits.max
    inside = np.where(low | high, 0, array).astype(dtype)
    nearest: np.ndarray[Any, Any] = np.where(low, limits.min, np.where(high, limits.max, inside)).astype(dtype)
    return nearest
