"""What a pipeline promises about its outputs, checked with each batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock import types
from penstock.errors import ArgumentError, ArgumentTypeError, GraphError
from penstock.tensors.samples import Samples

# The argument's name, what it asks for, and where an output has it.
_Wanted = tuple[str, Any, Callable[[Samples], Any]]


class OutputCheck:
    """The constructor's output_dtype, output_ndim and output_layout: one value for all outputs, or one per output."""

    def __init__(self, dtype: Any, ndim: Any, layout: Any):
        self._wanted: list[_Wanted] = []
        if dtype is not None:
            self._wanted.append(("output_dtype", _each(dtype, _dtype), lambda t: t.dtype))
        if ndim is not None:
            self._wanted.append(("output_ndim", _each(ndim, _ndim), lambda t: t.ndim()))
        if layout is not None:
            self._wanted.append(("output_layout", _each(layout, str), lambda t: t.layout()))

    def __call__(self, outputs: Sequence[Samples]) -> None:
        for name, wanted, get in self._wanted:
            if isinstance(wanted, list) and len(wanted) != len(outputs):
                raise ArgumentError(f"{name} has {len(wanted)} values, but the pipeline has {len(outputs)} outputs")
            for i, output in enumerate(outputs):
                expected = wanted[i] if isinstance(wanted, list) else wanted
                if expected is not None and get(output) != expected:
                    raise GraphError(f"{name}: output {i} was to be {expected!r}, but is {get(output)!r}")


def _each(wanted: Any, convert: Any) -> Any:
    if isinstance(wanted, (list, tuple)):
        return [None if w is None else convert(w) for w in wanted]
    return convert(wanted)


def _dtype(value: Any) -> types.DALIDataType:
    if value is types.DALIDataType.NO_TYPE:
        raise ArgumentError("output_dtype=types.NO_TYPE: expected a type; None stands for any")
    try:
        return types.to_dali_type(value)
    except (TypeError, ValueError, KeyError) as e:
        raise ArgumentTypeError(f"output_dtype={value!r}: expected a type such as types.FLOAT") from e


def _ndim(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ArgumentTypeError(f"output_ndim={value!r}: expected a whole number")
    if value < 0:
        raise ArgumentError(f"output_ndim={value!r}: expected 0 or more")
    return value
