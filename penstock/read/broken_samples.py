"""The broken samples of a data set, and an epoch's order without them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from penstock.errors import PenstockError, ReadError, one_line

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True)
class BrokenSample:
    """A sample that could not be read or decoded.

    Attributes:
        reader: the name of the reader that gave it.
        index: its number in the reader's data set.
        file: that it came from.
        epoch: in which it was found broken; it is left out of later ones, too.
        action: what was done: "skip" or "replace".
        error: the exception that ``on_error="raise"`` would have raised.
    """

    reader: str
    index: int
    file: str | None
    epoch: int
    action: Literal["skip", "replace"]
    error: PenstockError


class BrokenSamples:
    """Those of one reader that are known so far. The order without them depends on nothing else, and neither on when
    they were found.
    """

    def __init__(self) -> None:
        self._actions: dict[int, str] = {}

    def add(self, index: int, action: str) -> None:
        """Leaves a sample out of all that is read from now on."""
        self._actions[index] = action

    def action(self, index: int) -> str | None:
        """What becomes of a sample: "skip", "replace", or None: it is not known to be broken."""
        return self._actions.get(index)

    def state(self) -> dict[str, list[int]]:
        """Their numbers, by action."""
        found: dict[str, list[int]] = {}
        for index, action in sorted(self._actions.copy().items()):  # others may find more meanwhile
            found.setdefault(action, []).append(index)
        return found

    def restore(self, state: dict[str, list[int]]) -> None:
        """Takes over what `state` gave."""
        self._actions = {index: action for action, indices in state.items() for index in indices}

    def without(self, indices: Indices, epoch: int) -> Indices:
        """The samples of an epoch that are left, with substitutes in the places of those to be replaced."""
        if not self._actions:
            return indices
        broken = np.isin(indices, list(self._actions))
        if broken.all():
            raise ReadError(f"epoch {epoch} has no sample that is not broken: all {len(indices)} are")
        candidates, indices = np.sort(indices), indices.copy()
        for place in np.flatnonzero(broken):
            indices[place] = self._substitute(int(indices[place]), epoch, candidates)
        return indices[indices >= 0]

    def _substitute(self, index: int, epoch: int, candidates: Indices) -> int:
        """The first of a sequence of random candidates that is not broken; -1: none is wanted."""
        if self._actions[index] == "skip":
            return -1
        draw = np.random.Philox(key=np.array([index, epoch], np.uint64)).random_raw
        while True:
            found = int(candidates[int(draw()) % len(candidates)])
            if found not in self._actions:
                return found


def report(samples: list[BrokenSample], shown: int = 20) -> str:
    """What a warning says at the end of an epoch about those that were found in it."""
    lines = []
    for action, done in (("skip", "skipped"), ("replace", "replaced")):
        some = sorted((s for s in samples if s.action == action), key=lambda s: (s.reader, s.index))
        if some:
            lines.append(f"epoch {some[0].epoch}: {len(some)} broken sample{'s' * (len(some) > 1)} {done}:")
            lines += [f"  {_shown(s)}: {_reason(s.error)}" for s in some[:shown]]
            lines += [f"  and {len(some) - shown} more, see Pipeline.broken_samples()"] * (len(some) > shown)
    return "\n".join(lines)


def _shown(sample: BrokenSample) -> str:
    return one_line(sample.file) if sample.file else f"sample {sample.index} of {sample.reader}"


def _reason(error: Any) -> str:
    return str(error).partition("\n")[0]
