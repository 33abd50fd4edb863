"""Types of elements, as objects that are also functions: ``ndd.float32``, ``ndd.uint8([1, 2, 3])``."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from penstock import types
from penstock.errors import ArgumentTypeError
from penstock.tensors.arrays import numpy_type

_LETTERS = {"u": "unsigned", "i": "signed", "f": "float", "b": "bool", "V": "float"}


class DType:
    """The type of a tensor's elements.

    >>> import penstock.experimental.dynamic as ndd
    >>> ndd.float32, ndd.float32.bytes, ndd.dtype("f16"), ndd.dtype(np.uint8) == ndd.uint8
    (DType(f32), 4, DType(f16), True)
    """

    class Kind(enum.Enum):
        """What its values are."""

        signed = "signed"
        unsigned = "unsigned"
        float = "float"
        bool = "bool"
        enum = "enum"

    def __init__(self, type_id: types.DALIDataType):
        self.type_id = types.DALIDataType(type_id)
        found = numpy_type(self.type_id)
        self.bits = found.itemsize * 8
        is_enum = self.type_id in (types.INTERP_TYPE, types.DATA_TYPE, types.IMAGE_TYPE)
        self.kind = DType.Kind("enum" if is_enum else _LETTERS[found.kind])
        letter = {"signed": "i", "unsigned": "u", "float": "f"}.get(self.kind.value)
        self.name = f"{letter}{self.bits}" if letter else "bool" if self.kind is DType.Kind.bool else self.type_id.name

    @property
    def bytes(self) -> int:
        """What an element takes."""
        return self.bits // 8

    @property
    def exponent_bits(self) -> int:
        """Bits of a float's exponent; 0 of other types."""
        return {16: 5, 32: 8, 64: 11}[self.bits] if self.kind is DType.Kind.float else 0

    @property
    def significand_bits(self) -> int:
        """Bits of a float's fraction; those of the value of other types."""
        return self.bits - (1 if self.kind in (DType.Kind.float, DType.Kind.signed) else 0) - self.exponent_bits

    @classmethod
    def from_type_id(cls, type_id: types.DALIDataType) -> DType:
        """Of a type of `penstock.types`."""
        return cls(type_id)

    @classmethod
    def from_fw_type(cls, given: Any) -> DType:
        """Of a type of NumPy's or of a framework's."""
        return dtype(given)

    @classmethod
    def parse(cls, name: str) -> DType:
        """Of a name: ``"float32"``, ``"f32"``, ``"uint8"``, ``"u8"``, ``"bool"`` ..."""
        return dtype(name)

    def __call__(self, data: Any, **arguments: Any) -> Any:
        """A tensor of this type, see `tensor`."""
        from penstock.experimental.dynamic._make import tensor

        return tensor(data, dtype=self, **arguments)

    def __eq__(self, other: object) -> bool:
        return self.type_id == (other.type_id if isinstance(other, DType) else other)

    def __hash__(self) -> int:
        return hash(self.type_id)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"DType({self.name})"


_SHORT = {"u": "uint", "i": "int", "f": "float"}


def dtype(given: Any) -> DType:
    """A `DType` of what may stand for one: another, one of `penstock.types`, NumPy's or a framework's, a name.

    Raises ArgumentTypeError for what is none.
    """
    if isinstance(given, DType):
        return given
    name = given
    if isinstance(given, str) and given[:1] in _SHORT and given[1:].isdigit():
        name = _SHORT[given[0]] + given[1:]
    elif type(given).__module__ == "torch":
        name = str(given).rpartition(".")[2]
    try:
        return DType(types.to_dali_type(np.dtype(name) if isinstance(name, str) else name))
    except (TypeError, ValueError, KeyError) as e:
        raise ArgumentTypeError(f"dtype={given!r}: expected a type such as ndd.float32, a NumPy type or a name") from e


def type_id(given: Any) -> types.DALIDataType:
    """The type of `penstock.types` that one of `dtype` stands for."""
    return dtype(given).type_id


TYPES = {
    name: DType(getattr(types, "FLOAT" if name == "float32" else name.upper()))
    for name in ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
                 "float16", "float32", "float64")
}  # fmt: skip
