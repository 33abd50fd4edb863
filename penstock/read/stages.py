"""Epochs that other readers began: what they have read of it, and what is left for those that go on.

After a checkpoint there may be another number of readers (``num_shards``). What the earlier ones have left of the epoch
that was under way is cut into equal parts then, one for each reader, so each sample still comes once. That may happen
more than once in an epoch: each time is a stage, which cuts what the stage before has left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from penstock.read.broken_samples import BrokenSamples

Indices = npt.NDArray[np.int64]


class ReadBefore(NamedTuple):
    """What one reader had read of an epoch.

    Attributes:
        seed: of the order within its part.
        samples: how many it had read, from the part's first one on; None: all of it.
    """

    seed: int
    samples: int | None


class Stage(NamedTuple):
    """What the readers of an epoch had read of it when others took over.

    Attributes:
        epoch: its number.
        readers: in the order of their ``shard_id``, beginning with 0.
        broken: samples that were known to be broken then, by action (see `BrokenSamples.state`). Those that are found
            later change nothing in who reads what.
    """

    epoch: int
    readers: Sequence[ReadBefore]
    broken: Mapping[str, Sequence[int]] = {}


def left_of(stages: Sequence[Stage], first_part: Callable[[int, int, int], Indices]) -> Indices:
    """The samples of an epoch that all its stages have left, in order: int64, shape ``(n,)``.

    ``first_part(k, n, seed)``: what reader ``k`` of ``n`` was to read when the epoch began.
    """
    left: Indices | None = None
    for stage in stages:
        known = BrokenSamples()
        known.restore({action: list(indices) for action, indices in stage.broken.items()})
        count, parts = len(stage.readers), [np.empty(0, np.int64)]
        for k, (seed, samples) in enumerate(stage.readers):
            if samples is None:
                continue
            part = first_part(k, count, seed) if left is None else part_of(left, k, count)
            good = known.without(part, stage.epoch) if left is None else without(part, known, stage.epoch)
            parts.append(good[samples:])
        left = np.concatenate(parts)
    assert left is not None
    return left


def part_of(left: Indices, k: int, count: int) -> Indices:
    """The part of reader ``k`` of ``count``; parts differ by at most one sample.

    >>> part_of(np.arange(7), 1, 2)
    array([3, 4, 5, 6])
    """
    return left[len(left) * k // count : len(left) * (k + 1) // count]


def without(part: Indices, broken: BrokenSamples, epoch: int) -> Indices:
    """A part of what was left, without broken samples: there may be none."""
    skipped = all(broken.action(int(index)) == "skip" for index in part)
    return part[:0] if skipped else broken.without(part, epoch)
