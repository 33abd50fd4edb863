"""Which features of TFRecord's examples are read, and as what: what `penstock.tfrecord` has."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.errors import ArgumentError, ArgumentTypeError

int64, string, float32 = 0, 1, 2
_TYPES = {int64: "int64", string: "string", float32: "float32"}
_MOST_AXES = 11  # one more comes before those of a variable length


@dataclass(frozen=True)
class Feature:
    """One feature of an example; `FixedLenFeature` and `VarLenFeature` make them.

    Attributes:
        fixed: whether it has ``shape``; else any number of rows of that shape.
        shape: extents.
        dtype: `int64`, `string` or `float32`.
        default: the value that stands for those of a fixed feature which an example lacks.
    """

    fixed: bool
    shape: tuple[int, ...]
    dtype: int
    default: Any


def FixedLenFeature(shape: Sequence[int], dtype: int, default_value: Any, /) -> Feature:  # noqa: N802 - DALI's name
    """A feature of the same shape in all examples.

    Args:
        shape: of the tensor; ``[]`` for one number, or for a byte string, whose bytes are one axis of the output.
        dtype: `int64`, `string` or `float32`.
        default_value: a number, or for `string` text or bytes: what stands for each value where an example lacks the
            feature. (DALI reads nothing then, and the output has whatever was in memory.)

    Errors: ArgumentError and ArgumentTypeError, which name the argument.

    Example:
        >>> FixedLenFeature([2], float32, 0.0).shape
        (2,)
    """
    extents = _extents("FixedLenFeature", shape, 0)
    if dtype == string and math.prod(extents) != 1:
        raise ArgumentError(f"FixedLenFeature: shape={shape!r}: of string, only one is read: [] or [1]")
    return Feature(True, extents, *_typed("FixedLenFeature", dtype, default_value))


def VarLenFeature(*arguments: Any) -> Feature:  # noqa: N802 - DALI's name
    """A feature of any number of values: ``VarLenFeature(dtype, default_value)``, which gives one axis, or
    ``VarLenFeature(partial_shape, dtype, default_value)``, which gives as many rows of this shape as there are.

    Args:
        partial_shape: the extents behind the first one.
        dtype: `int64` or `float32`.
        default_value: a number, for DALI's scripts; an example that lacks the feature gives no rows.

    Errors: ArgumentError and ArgumentTypeError, which name the argument.

    Example:
        >>> VarLenFeature([4], float32, 0.0).shape
        (4,)
    """
    if len(arguments) not in (2, 3):
        raise ArgumentTypeError(f"VarLenFeature takes 2 or 3 arguments by position, got {len(arguments)}")
    shape, dtype, default = arguments if len(arguments) == 3 else ([], *arguments)
    if dtype == string:
        raise ArgumentError(
            "VarLenFeature: dtype=string: strings are of a fixed length: FixedLenFeature([], string, '')"
        )
    extents = _extents("VarLenFeature", shape, 1)
    return Feature(False, extents, *_typed("VarLenFeature", dtype, default))


def _extents(what: str, shape: Any, least: int) -> tuple[int, ...]:
    name = "shape" if what == "FixedLenFeature" else "partial_shape"
    try:
        extents = tuple(map(operator.index, shape))
    except TypeError:
        raise ArgumentTypeError(f"{what}: {name}={shape!r}: expected a list of whole numbers") from None
    if len(extents) > _MOST_AXES or any(not least <= n < 2**31 for n in extents) or math.prod(extents) >= 2**40:
        raise ArgumentError(f"{what}: {name}={shape!r}: expected at most {_MOST_AXES} extents from {least} on")
    return extents


def _typed(what: str, dtype: Any, default: Any) -> tuple[int, Any]:
    """The type and the default value of it."""
    if dtype not in _TYPES or isinstance(dtype, bool):
        raise ArgumentError(f"{what}: dtype={dtype!r}: expected int64, string or float32 of penstock.tfrecord")
    wrong = ArgumentTypeError(f"{what}: default_value={default!r}: expected a value of type {_TYPES[dtype]}")
    if dtype == string:
        if not isinstance(default, (str, bytes)):
            raise wrong
        text = default.decode(errors="surrogateescape") if isinstance(default, bytes) else default
        if "\0" in text:
            raise ArgumentError(f"{what}: default_value={default!r}: expected a text without zeros")
        return string, text
    try:
        number = operator.index(default) if dtype == int64 else float(default)
    except (TypeError, ValueError):
        raise wrong from None
    if dtype == int64 and not -(2**63) <= number < 2**63:
        raise wrong
    return int(dtype), number


def to_plain(features: Any) -> list[Any]:
    """Features by name as lists of plain values, which can be serialized; the same of what this has made.

    Raises TypeError and ValueError where it is neither.
    """
    if isinstance(features, Mapping):
        return [[_name(name), *_plain(feature)] for name, feature in features.items()]
    return [[_name(name), *_plain(Feature(bool(f), tuple(s), t, d))] for name, f, s, t, d in features]


def _name(name: Any) -> str:
    if not isinstance(name, str) or "\0" in name:
        raise TypeError
    return name


def _plain(feature: Any) -> list[Any]:
    if not isinstance(feature, Feature):
        raise TypeError
    again = FixedLenFeature if feature.fixed else VarLenFeature
    checked = again(list(feature.shape), feature.dtype, feature.default)  # a text may say anything
    return [checked.fixed, list(checked.shape), checked.dtype, checked.default]
