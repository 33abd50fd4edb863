"""The index of a data set: which bytes of which files make each sample, and what is known of it without reading them.

A reader makes one, of NumPy tables, and that is all it has to do: the native library reads by it, shards and shuffles
are arithmetic on the numbers of its samples.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.types import UINT8

Array = npt.NDArray[Any]
_SHOWN = 1000  # rows that a digest is of, or up to twice as many


@dataclass(frozen=True)
class Column:
    """What is known of each sample: a label, boxes, a text. It is an output of the reader.

    Attributes:
        values: of any type; the first axis goes through the samples.
        starts: where samples have any number of rows, where those of each begin, and where the last one's end: int64 of
            shape ``(samples + 1,)``.

    Sample ``i`` is ``values[i]``, or ``values[starts[i]:starts[i + 1]]``.
    """

    values: Array
    starts: npt.NDArray[np.int64] | None = None


@dataclass(frozen=True)
class Index:
    """Which bytes make which sample.

    A *container* is a file that can be read from: one sample, an archive, a video. A *range* is bytes of a container.
    An output of a sample is one range, or several, one behind the other.

    Attributes:
        size: number of samples.
        names: of the containers, each ended by a zero byte; names with a scheme are of another storage than the disk.
        digest: tells data sets apart, wherever their folders are; kept in checkpoints.
        types: the element type of each output that is read.
        containers: of each range: int32. None: range ``i`` is the whole of container ``i``.
        offsets: where in its container each range begins: int64.
        lengths: bytes of each range: int64; -1: all that follow.
        members: a name for each range, as `names`; ``source_info`` tells it.
        picks: the range of each output of each sample: int64, shape ``(size, len(types))``; -1: none, which gives no
            bytes. None: the ranges one after the other.
        pick_starts: where outputs have several ranges, where those of each begin in ``picks``, which has one axis then:
            int64, shape ``(size * len(types) + 1,)``. Behind each output that is read comes another then: the bytes of
            its ranges, int64.
        columns: further outputs.
        groups: where samples of one container lie together, the number of the first one of each, in order.
    """

    size: int
    names: bytes
    digest: str
    types: Sequence[int] = (UINT8,)
    containers: npt.NDArray[np.int32] | None = None
    offsets: npt.NDArray[np.int64] | None = None
    lengths: npt.NDArray[np.int64] | None = None
    members: bytes | None = None
    picks: npt.NDArray[np.int64] | None = None
    pick_starts: npt.NDArray[np.int64] | None = None
    columns: tuple[Column, ...] = ()
    groups: npt.NDArray[np.int64] | None = None

    def tables(self) -> dict[str, Any]:
        """What the native reader is told."""
        found: dict[str, Any] = {
            "names": _bytes(self.names),
            "containers": self.containers,
            "offsets": self.offsets,
            "lengths": self.lengths,
            "members": None if self.members is None else _bytes(self.members),
            "picks": None if self.picks is None else self.picks.reshape(-1),
            "pick_starts": self.pick_starts,
            "types": [int(t) for t in self.types],
        }
        for i, column in enumerate(self.columns):
            found |= {f"column{i}": column.values, f"column{i}_starts": column.starts}
        return found


def packed(names: Sequence[str], root: str = "") -> bytes:
    """Names as an `Index` has them. Those that are relative are in the folder ``root``."""
    folder = os.path.join(root, "")
    joined = "\0".join(names)
    if folder and ("\0/" in joined or "://" in joined or names[0].startswith("/")):
        joined = "\0".join(name if is_absolute(name) else folder + name for name in names)
    elif folder:
        joined = folder + joined.replace("\0", "\0" + folder)
    return os.fsencode(joined + "\0")


def is_absolute(name: str) -> bool:
    """Whether a folder before the name would change what it means."""
    return name.startswith("/") or has_scheme(name)


def has_scheme(name: str) -> bool:
    """Whether the name is of another storage than the disk."""
    scheme, found, _ = name.partition("://")
    return bool(found) and scheme.isascii() and scheme.replace("+", "a").replace(".", "a").replace("-", "a").isalnum()


def digest_of(names: Sequence[str], tables: Iterable[Array] = ()) -> str:
    """A digest of the last parts of some of these names, and of some rows of tables."""
    some = names[:: max(len(names) // _SHOWN, 1)]
    digest = hashlib.blake2b(os.fsencode("\0".join(map(os.path.basename, some))), digest_size=8)
    for table in tables:
        digest.update(np.ascontiguousarray(table[:: max(len(table) // _SHOWN, 1)]).tobytes())
    return digest.hexdigest()


def _bytes(text: bytes) -> Array:
    return np.frombuffer(text, np.uint8)
