"""Data of a user's own, batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from penstock.errors import ArgumentError, ArgumentTypeError
from penstock.experimental.dynamic._batch import Batch
from penstock.experimental.dynamic._make import as_batch, as_tensor
from penstock.experimental.dynamic._tensor import Tensor

_CYCLES = {None: "no", False: "no", True: "quiet", "no": "no", "quiet": "quiet", "raise": "raise"}


class ExternalSource:
    """Gives what a callable or an iterable of the user's gives, as tensors or batches.

    Args:
        source: a function without arguments, or an iterable. It gives a sample (an array), a batch (a list of arrays,
            or a `Batch`), or with several outputs a tuple of such.
        num_outputs: how many outputs there are.
        cycle: what an iterable does at its end: "no": StopIteration from then on; "quiet" (or True): it begins anew;
            "raise": StopIteration, and it begins anew.
        device, layout, dtype: of the data; the latter two may be lists, one for each output.

    Calling it gives the next item; with ``batch_size=`` a sample becomes a batch that has it so many times.

    >>> import penstock.experimental.dynamic as ndd
    >>> source = ndd.ExternalSource([np.full(2, k) for k in range(3)])
    >>> np.asarray(source()).tolist(), np.asarray(source() + 1).tolist()
    ([0, 0], [2, 2])
    """

    def __init__(
        self, source: Callable[[], Any] | Iterable[Any], num_outputs: int = 1, *, cycle: str | bool | None = None,
        device: Any = "cpu", layout: Any = None, dtype: Any = None,
    ):  # fmt: skip
        if not (callable(source) or hasattr(source, "__iter__")):
            raise ArgumentTypeError(f"ExternalSource: source={source!r}: expected a function or an iterable")
        if cycle not in _CYCLES:
            raise ArgumentError(f"ExternalSource: cycle={cycle!r}: expected 'no', 'quiet' or 'raise'")
        self._source, self._count, self._cycle, self._device = source, num_outputs, _CYCLES[cycle], device
        if self._cycle != "no" and callable(source):
            raise ArgumentError(f"ExternalSource: cycle={cycle!r}: only an iterable can begin anew")
        self._layouts, self._dtypes = self._each(layout), self._each(dtype)
        self._items: Iterator[Any] | None = None

    def __call__(self, *, batch_size: int | None = None) -> Any:
        """The next item; a tuple of several outputs. Raises what the source raises, StopIteration at its end."""
        item = self._source() if callable(self._source) else self._next()
        items = (item,) if self._count == 1 else tuple(item)
        if len(items) != self._count:
            raise ArgumentError(f"ExternalSource: the source gave {len(items)} outputs, not {self._count}")
        made = tuple(self._made(k, one, batch_size) for k, one in enumerate(items))
        return made[0] if self._count == 1 else made

    def _next(self) -> Any:
        if self._items is None:
            self._items = iter(self._source)  # type: ignore[arg-type]
        try:
            return next(self._items)
        except StopIteration:
            if self._cycle == "no":
                raise
            self._items = None
            if self._cycle == "raise":
                raise
        self._items = iter(self._source)  # type: ignore[arg-type]
        return next(self._items)

    def _made(self, k: int, item: Any, batch_size: int | None) -> Tensor | Batch:
        given: dict[str, Any] = {"dtype": self._dtypes[k], "device": self._device, "layout": self._layouts[k]}
        if isinstance(item, (Batch, list)):
            found = as_batch(item, **given)
            if batch_size not in (None, found.batch_size):
                raise ArgumentError(f"ExternalSource: the source gave {found.batch_size} samples, not {batch_size}")
            return found
        sample = as_tensor(item, **given)
        return sample if batch_size is None else Batch.broadcast(sample, batch_size)

    def _each(self, given: Any) -> list[Any]:
        return list(given) if isinstance(given, (list, tuple)) else [given] * self._count
