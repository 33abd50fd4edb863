"""What a transform is: a part of the pipeline that a `Compose` makes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from penstock import fn, types
from penstock.errors import ArgumentError, ArgumentTypeError, GraphError
from penstock.graph.node import DataNode

Size = tuple[int, int]


@dataclass(frozen=True)
class Picture:
    """A picture in the pipeline."""

    node: DataNode
    layout: str  # "HWC" or "CHW"
    channels: int

    def extents(self) -> tuple[DataNode, DataNode]:
        """Height and width, INT64, of each sample."""
        shape = self.node.shape()
        first = self.layout.index("H")
        return shape[first], shape[first + 1]

    def of(self, node: DataNode, channels: int | None = None) -> Picture:
        """Another one of this layout."""
        return replace(self, node=node, channels=self.channels if channels is None else channels)

    def as_hwc(self) -> Picture:
        """Its channels last, where operators of colours want them."""
        if self.layout == "HWC":
            return self
        return Picture(fn.transpose(self.node, perm=[1, 2, 0]), "HWC", self.channels)

    def as_before(self, other: Picture) -> Picture:
        """In the other one's layout."""
        if self.layout == other.layout:
            return self
        return Picture(fn.transpose(self.node, perm=[2, 0, 1]), "CHW", self.channels)


class Transform:
    """Base of all transforms. ``device``: "cpu" or "gpu", where it runs."""

    def __init__(self, device: str = "cpu"):
        if device not in ("cpu", "gpu"):
            raise self.wrong("device", device, "expected 'cpu' or 'gpu'")
        self.device = device

    def define(self, picture: Picture) -> Picture:
        """What becomes of a picture, which is on the transform's device."""
        raise NotImplementedError

    def apply(self, picture: Picture) -> Picture:
        """Adds the transform to the pipeline that is being defined."""
        if self.device == "gpu" and picture.node.device == "cpu":
            picture = picture.of(picture.node.gpu())
        return self.define(picture)

    def __call__(self, data_input: Any) -> Any:
        raise GraphError(
            f"{type(self).__name__} cannot be called: use it inside Compose([...]), or a function of v2.functional"
        )

    @classmethod
    def wrong(cls, argument: str, value: object, problem: str) -> ArgumentError:
        """An error about an argument, a ValueError."""
        return ArgumentError(f"{cls.__name__}: {argument}={value!r}: {problem}")

    @classmethod
    def wrong_type(cls, argument: str, value: object, problem: str) -> ArgumentTypeError:
        """The same, which is a TypeError."""
        return ArgumentTypeError(f"{cls.__name__}: {argument}={value!r}: {problem}")

    @classmethod
    def checked_size(cls, size: Any) -> Size:
        """Height and width, of a size that may be one number, or a sequence of one or two."""
        if not isinstance(size, (int, list, tuple)):
            raise cls.wrong_type("size", size, "expected a whole number, or one or two of them")
        values = [size] if isinstance(size, int) else list(size)
        if len(values) not in (1, 2):
            raise cls.wrong("size", size, "expected one or two numbers")
        if not all(isinstance(value, int) and value > 0 for value in values):
            raise cls.wrong("size", size, "expected positive whole numbers")
        return values[0], values[-1]

    @classmethod
    def checked_range(cls, argument: str, value: Any, least: float) -> tuple[float, float]:
        """Two numbers, the first of which is not greater; none is below ``least``."""
        if not isinstance(value, (list, tuple)) or len(value) != 2:
            raise cls.wrong_type(argument, value, "expected two numbers, (min, max)")
        low, high = value
        if not all(isinstance(one, (int, float)) for one in value):
            raise cls.wrong_type(argument, value, "expected two numbers, (min, max)")
        if not least <= low <= high:
            raise cls.wrong(argument, value, f"expected (min, max) of {least} or more")
        return float(low), float(high)

    @classmethod
    def checked_probability(cls, p: Any) -> float:
        """A number from 0 to 1."""
        if not isinstance(p, (int, float)) or not 0 <= p <= 1:
            raise cls.wrong("p", p, "expected a number from 0 to 1")
        return float(p)


def sliced(
    picture: Picture, anchor: Sequence[Any], extents: Sequence[Any], beyond: str = "pad", fill: Any = 0
) -> DataNode:
    """The part of a picture from an anchor (top, left) on: numbers, or nodes of them.

    ``beyond``: what lies outside of it, as ``out_of_bounds_policy`` of `fn.slice` has it.
    """
    return fn.slice(
        picture.node,
        fn.stack(*(_whole(value) for value in anchor)),
        fn.stack(*(_whole(value) for value in extents)),
        axis_names="HW",
        out_of_bounds_policy=beyond,
        fill_values=fill,
    )


def _whole(value: Any) -> DataNode:
    return fn.cast(value, dtype=types.INT64)
