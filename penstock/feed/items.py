"""What a source gave at once, taken apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.errors import TensorError


def outputs_of(item: Any, count: int | None, batch: bool) -> Sequence[Any]:
    """A batch for each output: of a batch of all, or without ``batch`` of a list of samples of all.

    ``count`` is None where the source gives no tuples. Raises TensorError where one has not that many parts.
    """
    if count is None:
        return [item]
    if batch:
        return [_part(item, k, count) for k in range(count)]
    return [[_part(sample, k, count) for sample in item] for k in range(count)]


def _part(item: Any, k: int, count: int) -> Any:
    try:
        return item[k]
    except (IndexError, KeyError, TypeError) as e:
        raise TensorError(f"num_outputs={count}, but the source gave {type(item).__name__} without a [{k}]") from e
