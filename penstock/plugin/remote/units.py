"""What goes between trainers and those who make batches for them: units of work, and what becomes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from penstock.read.broken_samples import BrokenSample
from penstock.run.told import Samples


class Unit(NamedTuple):
    """One batch that is to be made.

    All that it depends on is here, but for the pipeline: whoever makes it, and however often, the batch is the same.

    Attributes:
        seed: of the pipeline's random numbers.
        samples: of each reader.
    """

    seed: int
    samples: Mapping[str, Samples]


class Made(NamedTuple):
    """What became of a unit.

    Attributes:
        outputs: for each its layout, and an array, or a list of arrays of which each has a shape of its own.
        broken: samples that are to be left out: there are no outputs then, and the batch has others instead.
        failure: why there are neither.
    """

    outputs: Sequence[tuple[str, Any]] = ()
    broken: Sequence[BrokenSample] = ()
    failure: Exception | None = None

    @property
    def nbytes(self) -> int:
        """Of all outputs."""
        arrays = [a for _, data in self.outputs for a in (data if isinstance(data, list) else [data])]
        return sum(array.nbytes for array in arrays)


class LostError(Exception):
    """Whoever was to make a unit is gone, and what was made of it, too."""
