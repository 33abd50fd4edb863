"""Random choices, and random inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from tests.random.case import Branch, Call, Case, Source
from tests.random.data import FORMATS

Item = TypeVar("Item")
DTYPES = (
    "uint8",
    "int8",
    "uint16",
    "int16",
    "uint32",
    "int32",
    "uint64",
    "int64",
    "float16",
    "float32",
    "float64",
    "bool",
)
COMMON = ("uint8", "uint8", "uint8", "float32", "float32", "int16", "int32", "uint16")
TYPES = tuple(
    f"types.{name}"
    for name in ("UINT8", "INT8", "UINT16", "INT16", "UINT32", "INT32", "INT64", "FLOAT", "FLOAT64", "FLOAT16", "BOOL")
)
TYPE_NAMES = {name: f"types.{ {'float32': 'FLOAT'}.get(name, name.upper()) }" for name in DTYPES}
INTERPOLATIONS = tuple(
    f"types.INTERP_{name}" for name in ("NN", "LINEAR", "CUBIC", "TRIANGULAR", "GAUSSIAN", "LANCZOS3")
)
EXTENTS = (1, 2, 3, 4, 5, 7, 8, 13, 16, 19, 32, 33, 47)
LAYOUTS = ("HWC",) * 8 + ("",) * 2 + ("CHW", "FHWC", "FHWC", "FCHW", "DHWC", "HW")


class Draw:
    """The random choices of one case, and what has been made for it up to now."""

    def __init__(self, seed: Sequence[int]):
        self._random = np.random.default_rng(seed)
        self.values: list[Source | Call | Branch] = []
        self.first: Input | None = None  # a value that is taken instead of the next tensor or picture
        self.batch = self.choose([1, 1, 1, 2, 3])

    def chance(self, probability: float) -> bool:
        return bool(self._random.random() < probability)

    def choose(self, items: Sequence[Item]) -> Item:
        return items[int(self._random.integers(len(items)))]

    def some(self, items: Sequence[Item], count: int) -> list[Item]:
        return [items[int(i)] for i in self._random.permutation(len(items))[:count]]

    def whole(self, least: int, most: int) -> int:
        return int(self._random.integers(least, most, endpoint=True))

    def number(self, least: float, most: float) -> float:
        """Of few digits, at either end or half-way more often than by chance."""
        if self.chance(0.15):
            return self.choose([least, most, (least + most) / 2])
        return round(float(self._random.uniform(least, most)), self.choose([1, 2, 3, 5]))

    def extent(self) -> int:
        return 0 if self.chance(0.04) else self.choose(EXTENTS)

    def new_name(self) -> str:
        return f"v{len(self.values)}"

    def source(self, samples: Sequence[str], layout: str = "") -> Source:
        value = Source(self.new_name(), tuple(samples), layout)
        self.values.append(value)
        return value

    def taken(self) -> Input:
        """The first value, once."""
        assert self.first
        taken, self.first = self.first, None
        return taken

    def call(self, function: str, inputs: Sequence[str] = (), arguments: dict[str, str] | None = None) -> Call:
        value = Call(self.new_name(), function, tuple(inputs), tuple((arguments or {}).items()))
        self.values.append(value)
        return value

    def case(self) -> Case:
        return Case(tuple(self.values), self.batch).pruned()

    def array(self, dtype: str, shape: Sequence[int]) -> str:
        largest = 2**31 - 1 if self.chance(0.05) else self.choose([4, 255])
        function = "wild" if "float" in dtype and self.chance(0.06) else "noise"
        return f"{function}({dtype!r}, {tuple(shape)}, {self.whole(0, 999)}, {largest})"

    def repeated(self, value: str) -> str:
        """A per-sample argument: this value for each sample."""
        return self.source([value] * self.batch).name


class Input:
    """The first input of a call: what its arguments depend on."""

    def __init__(self, name: str, shape: Sequence[int], layout: str, dtype: str, device: str = "cpu"):
        self.name, self.shape, self.layout, self.dtype, self.device = name, tuple(shape), layout, dtype, device

    def extent(self, axis: str) -> int:
        """Of the axis with this name, or that it would have in a picture."""
        layout = self.layout or {2: "HW", 3: "HWC", 4: "FHWC"}.get(len(self.shape), "")
        return self.shape[layout.index(axis)] if axis in layout and len(layout) == len(self.shape) else 9


def tensor(d: Draw, least: int = 0, dtypes: Sequence[str] = DTYPES, ones: float = 0) -> Input:
    """Any array: other numbers in each sample, and other extents mostly; ``ones``: how many of the extents are 1."""
    if d.first:
        return d.taken()
    axes, dtype = d.whole(least, 4), d.choose(dtypes)
    shape = [1 if d.chance(ones) else d.extent() if axes < 4 else min(d.extent(), 13) for _ in range(axes)]
    layout = d.choose(["", "", "ABCD"[:axes], "FHWC"[:axes], "XYZT"[:axes]])
    return _made(d, dtype, shape, layout)


def picture(d: Draw, dtypes: Sequence[str] = COMMON, layouts: Sequence[str] = LAYOUTS, channels: int = 0) -> Input:
    if d.first:
        return d.taken()
    layout, dtype = d.choose(layouts), d.choose(dtypes)
    few = channels or (3 if d.chance(0.7) else d.choose([1, 2, 4, 5]))
    extents = {"C": few, "F": d.whole(1, 4), "D": d.whole(1, 5)}
    shape = [extents.get(axis, 0) or d.extent() for axis in layout or "HWC"]
    return _made(d, dtype, shape, layout)


def _made(d: Draw, dtype: str, shape: Sequence[int], layout: str) -> Input:
    shapes = [list(shape)]
    for _ in range(d.batch - 1):
        vary = layout[:1] != "F" and d.chance(0.7)
        shapes.append([max(1, e - d.whole(0, 3)) if vary and e > 5 else e for e in shape])
    source = d.source([d.array(dtype, s) for s in shapes], layout)
    return Input(source.name, shape, layout, dtype)


def files(d: Draw) -> Input:
    """Encoded photographs."""
    made = [
        f"file({d.choose(FORMATS[: -2 * (not d.chance(0.1)) or None])!r}, {d.choose([17, 33, 48, 64])}, "
        f"{d.choose([16, 31, 48])}, {d.whole(0, 3)})"
        for _ in range(d.batch)
    ]
    return Input(d.source(made).name, (31, 33, 3), "HWC", "uint8")


def numbers(d: Draw, shape: Sequence[int], least: float = -3, most: float = 3, dtype: str = "float32") -> str:
    """A literal array."""
    count = int(np.prod(shape))
    if dtype.startswith("uint"):
        least = max(least, 0)
    drawn: list[Any] = [
        d.number(least, most) if "float" in dtype else d.whole(int(least), int(most)) for _ in range(count)
    ]
    return f"np.array({np.reshape(drawn, shape).tolist()}, np.{dtype})"
