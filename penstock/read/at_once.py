"""What waits for files, done for several of them at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def at_once(function: Callable[[_Item], _Result], items: Sequence[_Item], most: int) -> Iterator[_Result]:
    """What the function makes of each item, in their order, by at most so many threads. Raises what it raises."""
    from concurrent.futures import ThreadPoolExecutor  # takes long to import, and most pipelines never need it

    with ThreadPoolExecutor(max(min(most, len(items)), 1)) as pool:
        yield from pool.map(function, items)
