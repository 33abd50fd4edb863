"""Enums and module-level constants, with DALI's names and numbers."""

from __future__ import annotations

import enum
import warnings


class _NamedInt(enum.IntEnum):
    """An integer that prints as ``Class.NAME`` in every Python, in f-strings too."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __bool__(self) -> bool:  # as DALI's: `if dtype:` asks whether one is given, and UINT8 is number 0
        return True


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

    def __call__(self) -> str:
        """Python's code for such an element, such as "=B": old scripts say ``tensor.dtype()``."""
        warnings.warn("tensor.dtype() is deprecated: use tensor.dtype", DeprecationWarning, stacklevel=2)
        return f"={_CODES[self]}"


_CODES = dict(zip(range(12), "BHIQbhiqefd?", strict=True))  # of the module `struct`, by number of the type


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
