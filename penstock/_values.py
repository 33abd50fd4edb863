"""Kinds of argument values: what is accepted for each, and as what it goes to a kernel."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from penstock import types
from penstock.errors import ArgumentError, ArgumentTypeError
from penstock.types.convert import NUMBERS


def whole_number(name: str, value: object, least: int | None = None) -> int:
    """The value as an int, for an argument that errors call ``name``, such as ``"Pipeline: seed"``."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ArgumentTypeError(f"{name}={value!r}: expected a whole number")
    number = operator.index(value)
    if least is not None and number < least:
        raise ArgumentError(f"{name}={value!r}: expected {least} or more")
    return number


def plain(value: Any) -> Any:
    """A number as Python's own type has it: NumPy's scalars, and arrays and tensors of one element, are numbers, too.

    Raises TypeError for what is no real number. That a string is none is on purpose: DALI's ``bool("False")`` is True,
    and a number that comes as a string is one that a script forgot to convert.
    """
    if hasattr(value, "item"):
        value = value.item()  # ValueError where there are several elements
    if isinstance(value, (int, float)):
        return value
    if isinstance(value, (str, bytes, complex)):
        raise TypeError
    return operator.index(value) if hasattr(value, "__index__") else float(value)


def _boolean(value: Any) -> bool:
    return bool(plain(value))


def integer(value: Any) -> int:
    """As a whole number: fractions are cut off, as in DALI.

    Raises ValueError for not-a-number, OverflowError for infinity and what 64 bits do not hold.
    """
    number = int(plain(value))
    if not -(2**63) <= number < 2**63:
        raise OverflowError
    return number


def _number(value: Any) -> float:
    return float(plain(value))


def _string(value: Any) -> str:
    text = value.decode() if isinstance(value, bytes) else value
    if not isinstance(text, str):
        raise TypeError
    return _c_string(text)


def _path(value: Any) -> str:
    import os

    return _c_string(os.fsdecode(value))


def _c_string(text: str) -> str:
    """The same; ValueError for what the native library could not be given."""
    if "\0" in text:
        raise ValueError
    text.encode(errors="surrogateescape")
    return text


def _dtype(value: Any) -> types.DALIDataType:
    found = types.to_dali_type(value)
    if found not in (*NUMBERS, types.NO_TYPE, types.IMAGE_TYPE, types.DATA_TYPE, types.INTERP_TYPE):
        raise TypeError
    return found


def _list_of(item: Callable[[Any], Any]) -> Callable[[Any], list[Any]]:
    def convert(value: Any) -> list[Any]:
        if isinstance(value, (str, bytes)):
            return [item(value)]
        if isinstance(value, np.ndarray):
            return [item(v) for v in value.ravel()]
        try:
            items = list(value)
        except TypeError:
            items = [value]
        return [item(v) for v in items]

    return convert


# kind: (conversion, what it accepts in words)
KINDS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "boolean": (_boolean, "True or False"),
    "integer": (integer, "a whole number"),
    "number": (_number, "a number"),
    "string": (_string, "a string"),
    "path": (_path, "a path"),
    "layout": (_string, "a layout such as 'HWC'"),
    "dtype": (_dtype, "a type such as types.FLOAT"),
    "dtypes": (_list_of(_dtype), "types such as types.FLOAT, or one of them"),
    "image_type": (lambda v: types.DALIImageType(v), "an image type such as types.RGB"),
    "interp_type": (lambda v: types.DALIInterpType(v), "an interpolation such as types.INTERP_LINEAR"),
    "integers": (_list_of(integer), "a whole number or a list of them"),
    "numbers": (_list_of(_number), "a number or a list of them"),
    "strings": (_list_of(_string), "a string or a list of them"),
    "paths": (_list_of(_path), "a path or a list of them"),
    "any": (lambda v: v, "anything"),
}


def kind_of(default: Any) -> str:
    """The kind that follows from a default value."""
    for cls, kind in (
        (types.DALIDataType, "dtype"),
        (types.DALIImageType, "image_type"),
        (types.DALIInterpType, "interp_type"),
        (bool, "boolean"),
        (int, "integer"),
        (float, "number"),
        (str, "string"),
    ):
        if isinstance(default, cls):
            return kind
    if isinstance(default, (list, tuple)) and default:
        return kind_of(default[0]) + "s"
    raise TypeError(f"the default {default!r} does not tell its kind: give kind=")


def convert(kind: str, value: Any) -> Any:
    """The value as this kind; TypeError or ValueError where it is none."""
    if isinstance(value, types.ScalarConstant):
        value = value.value
    return KINDS[kind][0](value)


def describe(kind: str) -> str:
    """What this kind accepts, in words."""
    return KINDS[kind][1]
