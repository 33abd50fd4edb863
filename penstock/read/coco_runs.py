"""Masks of COCO's that are run lengths: lists of numbers, or texts of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

RUN_COLUMNS = 4
_MOST_LETTERS = 7  # of a number of 32 bits


@dataclass(frozen=True)
class Runs:
    """The masks of each picture: ``..._starts`` as those of `Annotations`.

    Attributes:
        rows: the object's number in the picture, its first count, the first one behind, both counted in the picture,
            and whether counts are differences to the last but one: int32 of shape ``(masks, 4)``.
        counts: pixels, by turns outside and inside, from top to bottom and then from left to right: int64.
    """

    row_starts: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int32]
    count_starts: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]

    @classmethod
    def none(cls, pictures: int) -> Runs:
        starts = np.zeros(pictures + 1, np.int64)
        return cls(starts, np.zeros((0, RUN_COLUMNS), np.int32), starts, np.zeros(0, np.int64))


def runs_of(
    masks: Sequence[dict[str, Any]],
    picture: npt.NDArray[np.int64],
    number: npt.NDArray[np.int64],
    sizes: npt.NDArray[np.int32],
) -> Runs:
    """These masks, of the objects of such a number in such a picture; pictures ascend. Raises ValueError."""
    if not masks:
        return Runs.none(len(sizes))
    counts: list[Any] = []
    for mask, of in zip(masks, picture, strict=True):
        height, width = (int(side) for side in sizes[of])
        if mask.get("size") != [height, width]:
            raise ValueError(f"a mask has size={mask.get('size')!r} in an image of {height} x {width} pixels")
        counts.append(mask.get("counts"))
    found: list[npt.NDArray[np.int64]] = []
    texts = [c.encode("ascii", "replace") for c in counts if isinstance(c, str)]
    decoded = iter(_decoded(texts))
    for one in counts:
        if isinstance(one, str):
            found.append(next(decoded))
            continue
        if not isinstance(one, list) or not set(map(type, one)) <= {int}:
            raise ValueError("the counts of some segmentation are neither whole numbers nor a text of them")
        try:
            found.append(np.array(one, np.int64))
        except OverflowError:
            raise ValueError("the counts of some segmentation are too large") from None
    lengths = np.array([len(one) for one in found], np.int64)
    many = len(sizes)
    ends = np.cumsum(lengths)
    row_starts = np.concatenate([[0], np.cumsum(np.bincount(picture, minlength=many))])
    count_starts = np.concatenate([[0], ends])[row_starts]
    first = ends - lengths - count_starts[:-1][picture]
    is_text = np.array([isinstance(one, str) for one in counts])
    rows = np.stack([number, first, first + lengths, is_text], axis=1).astype(np.int32)
    return Runs(row_starts.astype(np.int64), rows, count_starts.astype(np.int64), np.concatenate(found))


def _decoded(texts: Sequence[bytes]) -> list[npt.NDArray[np.int64]]:
    """The numbers of each text. A letter has five bits of a number, the lowest first, and whether more follow; the last
    one's highest bit is the sign.
    """
    if not texts:
        return []
    letters = np.frombuffer(b"".join(texts), np.uint8).astype(np.int64) - 48
    if ((letters < 0) | (letters > 63)).any():
        raise ValueError("the counts of some segmentation are a text with letters that no such text has")
    is_last = (letters & 32) == 0
    behind = np.cumsum([len(text) for text in texts])
    if not is_last[behind[behind > 0] - 1].all():
        raise ValueError("the counts of some segmentation end within a number")
    ends = np.flatnonzero(is_last) + 1
    begins = np.concatenate([[0], ends[:-1]])
    length = ends - begins
    if len(length) and length.max() > _MOST_LETTERS:
        raise ValueError("the counts of some segmentation are too large")
    if not len(ends):
        return [np.zeros(0, np.int64) for _ in texts]
    shift = 5 * (np.arange(len(letters)) - np.repeat(begins, length))
    numbers = np.add.reduceat((letters & 31) << shift, begins)
    negative = (letters[ends - 1] & 16) != 0
    numbers -= np.where(negative, np.int64(1) << (5 * length), 0)
    return np.split(numbers, np.searchsorted(ends, behind, side="right"))[: len(texts)]
