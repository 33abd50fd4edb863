"""The order of samples that the user's own sampler gives."""

from __future__ import annotations

import inspect
import operator
import reprlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NoReturn

import numpy as np

from penstock.errors import ArgumentError, ArgumentTypeError, ReadError
from penstock.read.broken_samples import BrokenSamples
from penstock.read.order import Indices, LastBatch, Part
from penstock.read.stages import Stage

Form = Literal["array", "iterable", "function"]

_END = object()
_SHORT = reprlib.Repr()
_SHORT.maxother = 100
_SPARE = 16  # indices from an epoch's beginning that may replace broken samples at its end


class SamplerOrder:
    """The order of a sampler: anything that can be iterated and gives indices of samples.

    It is iterated once per epoch, only as far as samples are needed, so it may as well have no end. What it gave is
    kept until nobody can go back to it (`forget`): one that gives another order each time is iterated again only for
    places that were forgotten, or never seen, as after a checkpoint.

    An index that comes several times in an epoch has a random key of its own each time: it is augmented differently.

    Args:
        sampler: a list, an array, a PyTorch sampler ..., or a function that returns one, which may take the epoch's
            number. ``set_epoch(epoch)`` is called before each epoch if it has that.
        size: number of samples in the data set.
        pad_last_batch: whether `last_batch` is ``"pad"``, else ``"wrap"``. Here ``"pad"`` is the same as ``"partial"``:
            the last sample is repeated in the epoch's last batch.

    Raises:
        ArgumentTypeError: it can't be iterated, or it gives something else than whole numbers.
        ArgumentError: an index is not in the data set; an epoch has none at all.

    >>> SamplerOrder([4, 0, 2], size=5).read(epoch=0, position=1, n=4).indices
    array([0, 2])
    """

    def __init__(self, sampler: Any, size: int, *, pad_last_batch: bool = False) -> None:
        if size < 1:
            raise ArgumentError(f"the data set has {size} samples: there is nothing to read")
        self.sampler, self.size, self.pad_last_batch = sampler, size, pad_last_batch
        self.form = form_of(sampler)
        self.last_batch: LastBatch = "pad" if pad_last_batch else "wrap"
        self.broken = BrokenSamples()
        self.stages: Mapping[int, Sequence[Stage]] = {}
        self._begun = False
        self._epochs: dict[int, _Epoch] = {}
        self._late: Exception | None = None  # came up behind what was read last
        if self.form == "array":
            self._whole(0)  # what is wrong is said now, and not in the middle of an epoch

    def read(self, epoch: int, position: int, n: int) -> Part:
        """Up to ``n`` samples of the epoch, from a position on. Positions count what the sampler gave."""
        late, self._late = self._late, None
        if late:
            try:
                raise late
            finally:
                del late  # its traceback shows this frame: both would keep each other alive
        drawn = self._drawn(epoch, position)
        places = drawn.some(position, n, self.broken)
        following = places[-1] + 1 if places else position
        try:
            needed = n if self.last_batch == "drop" else 1
            ends = len(drawn.some(following, needed, self.broken)) < needed
        except Exception as e:
            ends, self._late = False, e
        if self.last_batch == "drop" and len(places) < n:
            if not position:
                self._fail(f"epoch {epoch} has {len(places)} indices, less than one batch of {n}: if the last batch is "
                           "dropped, nothing remains")  # fmt: skip
            places = []
        indices, keys = drawn.taken(places, self.broken)
        if 0 < len(places) < n and self.last_batch != "wrap":
            indices, keys = (np.append(a, np.repeat(a[-1:], n - len(a))) for a in (indices, keys))
        return Part(indices, keys, None if ends else following)

    def go_to(self, epoch: int, position: int) -> None:
        """What was drawn is kept; what failed is tried again."""
        self._late = None

    def forget(self, epoch: int, position: int) -> None:
        """Lets go of what was drawn for places before this one."""
        self._epochs = {number: drawn for number, drawn in self._epochs.items() if number >= epoch}
        if epoch in self._epochs:
            self._epochs[epoch].forget(position)

    def remaining(self, epoch: int, position: int, most: int | None = None) -> int | None:
        """How many samples the epoch has from there on; None: nobody knows.

        With ``most`` at most that many, which are drawn. Else the sampler's own ``len()`` tells, if it has one.
        """
        if most is not None:
            return len(self._drawn(epoch, position).some(position, most, self.broken))
        try:
            announced = len(self.sampler)
        except TypeError:
            return None
        drawn = self._epochs.get(epoch)
        if drawn and drawn.first <= position and drawn.complete:
            return len(drawn.some(position, drawn.end - position, self.broken))
        return max(announced - position, 0)

    def reader_meta(self) -> dict[str, int]:
        """What ``Pipeline.reader_meta`` tells: an epoch has as many samples as ``len(sampler)``, or -1: unknown."""
        length = self.remaining(0, 0)
        return {
            "epoch_size": -1 if length is None else length,
            "epoch_size_padded": -1 if length is None else length,
            "number_of_shards": 1,
            "shard_id": 0,
            "pad_last_batch": int(self.pad_last_batch),
            "stick_to_shard": 0,
        }

    def _drawn(self, epoch: int, position: int) -> _Epoch:
        drawn = self._epochs.get(epoch)
        if drawn is None or drawn.first > position or drawn.failed:
            drawn = _Epoch(self, epoch, self._begin(epoch))
            drawn.skip(position)
            if drawn.complete and not drawn.end:
                self._fail(f"it gave no index in epoch {epoch}")
            self._epochs[epoch] = drawn
        return drawn

    def _begin(self, epoch: int) -> Iterator[Any]:
        if hasattr(self.sampler, "set_epoch"):
            self.sampler.set_epoch(epoch)
        if self.form == "array":
            return iter(self._whole(epoch).tolist())
        if self.form == "function":
            items = self.sampler(epoch) if _takes_epoch(self.sampler) else self.sampler()
            if not hasattr(items, "__iter__"):
                raise ArgumentTypeError(f"{self._named()}: expected a function that returns indices, not {items!r}")
            return iter(items)
        iterator: Iterator[Any] = iter(self.sampler)
        if iterator is self.sampler:
            if self._begun:
                self._fail(
                    f"epoch {epoch} cannot begin: an iterator can be gone through once. Give what can be iterated anew "
                    "for each epoch: a list, a sampler, or the generator function itself"
                )
            self._begun = True
        return iterator

    def _whole(self, epoch: int) -> Indices:
        try:
            values = np.asarray(self.sampler)
        except ValueError as e:
            raise ArgumentTypeError(f"{self._named()}: {e}") from e
        if values.ndim != 1:
            raise ArgumentTypeError(f"{self._named()}: expected one axis of indices, not the shape {values.shape}")
        if not values.size:
            self._fail("it is empty: an epoch has at least one index")
        if values.dtype.kind not in "iu":
            raise ArgumentTypeError(f"{self._named()}: expected whole numbers, not {values.dtype}")
        for place in np.flatnonzero((values < 0) | (values >= self.size))[:1]:
            self.refuse(epoch, int(place), values[place])
        return values.astype(np.int64)

    def refuse(self, epoch: int, place: int, index: Any) -> NoReturn:
        """Raises the error about an index that is none."""
        text = f"index number {place} of epoch {epoch} is {index!s}: expected a whole number from 0 to {self.size - 1}"
        if isinstance(index, (list, tuple)):
            raise ArgumentTypeError(
                f"{self._named()}: it gives batches, such as {index!r}, but the pipeline makes the batches: give it "
                "the sampler inside, and its batch size to the pipeline"
            )
        if isinstance(index, (int, np.integer)):
            self._fail(text)
        raise ArgumentTypeError(f"{self._named()}: {text}")

    def _fail(self, problem: str) -> NoReturn:
        raise ArgumentError(f"{self._named()}: {problem}")

    def _named(self) -> str:
        return f"sampler={described(self.sampler)}"


class _Epoch:
    """One epoch of a sampler, as far as it was drawn: the indices and keys from number ``first`` on."""

    def __init__(self, order: SamplerOrder, number: int, iterator: Iterator[Any]) -> None:
        self.first, self.complete, self.failed = 0, False, False  # failed: it must be begun anew
        self._order, self._number, self._iterator = order, number, iterator
        self._indices: list[int] = []
        self._keys: list[int] = []
        self._spare: list[int] = []
        self._times = np.zeros(order.size, np.int32).data  # that each index came so far; memory is taken as it does

    @property
    def end(self) -> int:
        """How many were drawn."""
        return self.first + len(self._indices)

    def skip(self, position: int) -> None:
        """Draws up to a position at least, and one to begin with; what comes before it is not kept."""
        while self.end < position and self._draw():
            self.forget(self.end)
        if not self.end:
            self._draw()

    def forget(self, position: int) -> None:
        """Lets go of all before a position."""
        passed = min(position - self.first, len(self._indices))
        if passed > 0:
            failed, self.failed = self.failed, True  # until all agrees again
            del self._indices[:passed], self._keys[:passed]
            self.first += passed
            self.failed = failed

    def some(self, position: int, n: int, broken: BrokenSamples) -> list[int]:
        """The places of the next ``n`` samples that are to be read, or of fewer at the end."""
        places: list[int] = []
        while len(places) < n and (position < self.end or self._draw()):
            if position < self.end and broken.action(self._indices[position - self.first]) != "skip":
                places.append(position)
            position += 1
        return places

    def taken(self, places: list[int], broken: BrokenSamples) -> tuple[Indices, Indices]:
        """The indices at these places, broken ones replaced, and their keys."""
        found = [self._indices[p - self.first] for p in places]
        for k, place in enumerate(places):
            if broken.action(found[k]):
                found[k] = self._substitute(place, broken)
        return np.array(found, np.int64), np.array([self._keys[p - self.first] for p in places], np.int64)

    def _substitute(self, place: int, broken: BrokenSamples) -> int:
        """The next index that is not broken; at the epoch's end one from its beginning."""
        following = place + 1
        while following < self.end or self._draw():
            if not broken.action(self._indices[following - self.first]):
                return self._indices[following - self.first]
            following += 1
        for index in self._spare:
            if not broken.action(index):
                return index
        raise ReadError(f"epoch {self._number} has no sample left to replace broken ones by")

    def _draw(self) -> bool:
        """Draws one more index; False at the end."""
        if self.complete:
            return False
        self.failed = True  # unless all goes well: a generator that raised is dead, and Ctrl-C may lose an index
        item = next(self._iterator, _END)
        if item is _END:
            self.complete = True
        else:
            index = self._checked(item)
            if self.end < _SPARE:
                self._spare.append(index)
            self._keys.append(index + self._times[index] * self._order.size)
            self._times[index] += 1
            self._indices.append(index)
        self.failed = False
        return not self.complete

    def _checked(self, item: Any) -> int:
        try:
            index = operator.index(item)
        except TypeError:
            self._order.refuse(self._number, self.end, item)
        if not 0 <= index < self._order.size:
            self._order.refuse(self._number, self.end, index)
        return index


def described(sampler: Any) -> str:
    """The sampler in an error."""
    return _SHORT.repr(sampler)


def form_of(sampler: Any) -> Form:
    """What kind of sampler it is; ArgumentTypeError: it is none."""
    if isinstance(sampler, (list, tuple, range)) or (hasattr(sampler, "__array__") and not callable(sampler)):
        return "array"
    if not isinstance(sampler, (str, bytes, type)):
        if hasattr(sampler, "__iter__"):
            return "iterable"
        if callable(sampler):
            return "function"
    raise ArgumentTypeError(
        f"sampler={described(sampler)}: expected an iterable of indices (a list, an array, a PyTorch sampler ...), or "
        "a function that returns one"
    )


def _takes_epoch(function: Any) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # a builtin that does not tell
        return False
    return any(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty for p in parameters)
