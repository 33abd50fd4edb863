"""What the sweeping tests (tests/augment/test_sweep.py) try each operator on.

A test module of an operator, tests/augment/geometry/test_flip.py say, has a list of cases:

    def flipped(x, horizontal=1, vertical=0):  # one sample, by NumPy alone
        ...

    CASES = [
        case("flip", pictures(), reference=flipped),
        case("flip", pictures(), reference=flipped, horizontal=per_sample([0, 1, 1]), vertical=1),
    ]

The reference gets one sample's arrays and arguments (a per-sample argument as this sample's value), and returns the
output's array, or a tuple of them. From that alone each case is checked against its reference and against DALI, fused
and unfused, with several numbers of threads and sizes of batch, and the operator on empty and misshapen inputs; and, if
the operator runs on GPUs, against the CPU's result (test_sweep_gpu.py). Results must be DALI's and the CPU's to the
last bit, unless `from_dali` and `on_gpu` say how far they may be from them; docs/operators.md is made of that.

The sweep imports each module, so these must not skip themselves as a whole where something is missing.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from penstock import fn
from penstock.graph.node import DataNode

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Samples:
    """One array per sample of the batch, of one type and number of axes; an input, or a per-sample argument."""

    arrays: tuple[Array, ...]
    layout: str = ""

    def __len__(self) -> int:
        return len(self.arrays)

    @property
    def dtype(self) -> np.dtype[Any]:
        dtype: np.dtype[Any] = self.arrays[0].dtype
        return dtype

    def node(self) -> DataNode:
        """These samples in a pipeline, in order and over again."""
        arrays = itertools.cycle(self.arrays)
        return fn.external_source(lambda: next(arrays), batch=False, layout=self.layout or None)


def samples(arrays: Sequence[Any], layout: str = "", dtype: Any = None) -> Samples:
    """These arrays."""
    return Samples(tuple(np.asarray(a, dtype) for a in arrays), layout)


def per_sample(values: Sequence[Any], dtype: Any = None) -> Samples:
    """An argument's values, one per sample; floats and ints have 32 bits unless they are arrays already."""
    arrays = [np.asarray(v, dtype) for v in values]
    if dtype is None and not hasattr(values[0], "dtype"):
        arrays = [a.astype({"f": np.float32, "i": np.int32}.get(a.dtype.kind, a.dtype)) for a in arrays]
    return Samples(tuple(arrays))


def random_array(shape: Sequence[int], dtype: Any = np.uint8, seed: int = 0) -> Array:
    """Integers over the whole range of their type (within 32 bits); floats around 0 that rounding can get wrong."""
    random = np.random.default_rng([seed, *shape])
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return random.random(shape) < 0.5
    if dtype.kind == "f":
        return (np.round(random.normal(0, 100, shape) * 4) / 4).astype(dtype)
    low, high = max(np.iinfo(dtype).min, -(1 << 31)), min(int(np.iinfo(dtype).max), (1 << 31) - 1)
    return random.integers(low, high, shape, dtype, endpoint=True)


_SIZES = ((37, 51), (64, 33), (19, 90))  # of pictures: height, width


def pictures(
    layout: str = "HWC", dtype: Any = np.uint8, channels: int = 3, count: int = 3, sizes: Sequence[Any] = _SIZES
) -> Samples:
    """Random pictures of different sizes; further axes such as F and D are a few long."""
    arrays = []
    for i, (height, width) in zip(range(count), itertools.cycle(sizes), strict=False):
        extents = {"H": height, "W": width, "C": channels, "F": 2 + i, "D": 3 + i}
        arrays.append(random_array([extents[axis] for axis in layout], dtype, seed=i))
    return Samples(tuple(arrays), layout)


@dataclass(frozen=True)
class Apart:
    """How far results may be from others: the CPU's where a GPU computes in another way, or DALI's. Nothing: they are
    the same.
    """

    off_by: int = 0  # integers
    share: float = 1.0  # of the integers that may be off
    tolerance: float = 0.0  # floats, relative to the larger of 1 and the others
    why: str = ""  # needed where it is more than the rounding of floats


SAME = Apart()


@dataclass(frozen=True, eq=False)
class Case:
    """One way to call an operator, and what comes out."""

    op: str
    inputs: tuple[Samples, ...]
    arguments: dict[str, Any]
    reference: Callable[..., Any] | None
    off_by: int  # how far integers may be from the reference
    tolerance: float  # how far floats may be, relative to the larger of 1 and the reference
    differs: str | None  # why DALI gives another result on purpose
    on_gpu: Apart  # from the CPU's result
    from_dali: Apart  # from DALI's result
    whole_batch: bool = False  # a sample's result depends on the others: the reference gets lists of all arrays

    @property
    def count(self) -> int:
        """Samples of the batch."""
        lengths = {len(s) for s in (*self.inputs, *self.arguments.values()) if isinstance(s, Samples)}
        assert len(lengths) <= 1, f"{self}: inputs and arguments have different numbers of samples: {lengths}"
        return lengths.pop() if lengths else 3

    def expected(self, i: int) -> list[Array]:
        """The reference's outputs for sample i."""
        assert self.reference is not None
        if self.whole_batch:
            all_given = {k: list(v.arrays) if isinstance(v, Samples) else v for k, v in self.arguments.items()}
            return [np.asarray(self.reference(*(list(s.arrays) for s in self.inputs), **all_given)[i])]
        given = {k: v.arrays[i] if isinstance(v, Samples) else v for k, v in self.arguments.items()}
        given = {k: v[()] if isinstance(v, np.ndarray) and v.ndim == 0 else v for k, v in given.items()}
        result = self.reference(*(s.arrays[i] for s in self.inputs), **given)
        return [np.asarray(r) for r in (result if isinstance(result, tuple) else (result,))]

    def __str__(self) -> str:
        shown = [f"{s.dtype}{list(s.arrays[0].shape)}{s.layout}" for s in self.inputs]
        shown += [f"{k}={'node' if isinstance(v, Samples) else _short(v)}" for k, v in self.arguments.items()]
        return f"{self.op}({','.join(shown)})"


def _short(value: Any) -> str:
    text = getattr(value, "name", None) or str(value).replace(" ", "")
    return text if len(text) < 30 else text[:27] + "..."


def case(
    op: str,
    *inputs: Samples,
    reference: Callable[..., Any] | None = None,
    off_by: int = 0,
    tolerance: float = 1e-5,
    differs: str | None = None,
    on_gpu: Apart = SAME,
    from_dali: Apart = SAME,
    whole_batch: bool = False,
    **arguments: Any,
) -> Case:
    """A case; operators that draw random numbers need no reference, since the drawn numbers have none."""
    return Case(op, inputs, arguments, reference, off_by, tolerance, differs, on_gpu, from_dali, whole_batch)
