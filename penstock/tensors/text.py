"""How tensors print, which is how DALI's do: what they are, and with str() some of their data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from penstock.tensors.arrays import Array
    from penstock.tensors.tensor import TensorCPU
    from penstock.tensors.tensor_gpu import TensorGPU
    from penstock.tensors.tensor_list import TensorListCPU
    from penstock.tensors.tensor_list_gpu import TensorListGPU

    _Tensor: TypeAlias = TensorCPU | TensorGPU
    _List: TypeAlias = TensorListCPU | TensorListGPU

_INDENT = " " * 4
_EDGE = 2  # of what is not shown whole: so many of its beginning and of its end
_MANY_ELEMENTS = 1000  # of a list: if it has more, not all samples are shown
_MANY_SHAPES = 16
_MANY_EXTENTS = 100  # of all shapes together
_WIDTH = 75  # a longer list of shapes has one in each line


def _data(array: Array) -> str:
    return np.array2string(array, prefix=_INDENT, edgeitems=_EDGE)


def _block(tensor: _Tensor | _List, data: Sequence[str], sizes: Sequence[str]) -> str:
    layout = tensor.layout()
    name = type(tensor).__name__
    device = "gpu" if name.endswith("GPU") else "cpu"
    properties = [f"dtype={tensor.dtype}", *([f'layout="{layout}"'] if layout else []), f'device="{device}"']
    return f"{name}(\n{_INDENT}" + f",\n{_INDENT}".join([*data, *properties, *sizes]) + ")"


def describe_tensor(tensor: _Tensor, show_data: bool) -> str:
    """The text of a tensor."""
    data = [_data(np.asarray(tensor.as_cpu()))] if show_data else []
    return _block(tensor, data, [f"shape={tuple(tensor.shape())}"])


def _edges(count: int) -> list[int]:
    return [*range(_EDGE), *range(count - _EDGE, count)]


def _with_gap(texts: Sequence[str]) -> list[str]:
    return [*texts[:_EDGE], "...", *texts[-_EDGE:]]


def _samples(tensors: _List) -> str:
    n = len(tensors)
    elements = sum(max(math.prod(shape), 1) for shape in tensors.shape())
    cut = n > 2 * _EDGE + 1 and elements > _MANY_ELEMENTS
    texts = [_data(np.asarray(tensors[i].as_cpu())) for i in (_edges(n) if cut else range(n))]
    between = ", " if tensors.ndim() == 0 else "," + "\n" * tensors.ndim() + _INDENT
    return "[" + between.join(_with_gap(texts) if cut else texts) + "]"


def _shapes(shapes: Sequence[tuple[int, ...]]) -> str:
    n = len(shapes)
    cut = n > _MANY_SHAPES or (n > 2 * _EDGE + 1 and n * len(shapes[0]) > _MANY_EXTENTS)
    texts = [str(shapes[i]) for i in (_edges(n) if cut else range(n))]
    texts = _with_gap(texts) if cut else texts
    text = ", ".join(texts)
    if len(text) > _WIDTH:
        text = (", \n" + _INDENT + " " * len("shape=[")).join(texts)
    return f"shape=[{text}]"


def describe_list(tensors: _List, show_data: bool) -> str:
    """The text of a list of tensors."""
    data = [_samples(tensors)] if show_data else []
    return _block(tensors, data, [f"num_samples={len(tensors)}", _shapes(tensors.shape())])
