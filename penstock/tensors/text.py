"""How tensors print: what they are, and with str() some of their data."""

from __future__ import annotations

import textwrap
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

_SHOWN_SAMPLES = 4  # of a list; of longer ones the first three and the last


def _data(array: Array) -> str:
    return np.array2string(array, threshold=100, edgeitems=2, precision=5, separator=", ")


def _indented(text: str, by: int) -> str:
    return textwrap.indent(text, " " * by).lstrip()


def _block(name: str, items: Sequence[str]) -> str:
    return f"{name}(\n    " + ",\n    ".join(_indented(item, 4) for item in items) + ")"


def _properties(tensor: _Tensor | _List) -> list[str]:
    layout = tensor.layout()
    device = "gpu" if type(tensor).__name__.endswith("GPU") else "cpu"
    return [f"dtype={tensor.dtype}", *([f'layout="{layout}"'] if layout else []), f'device="{device}"']


def describe_tensor(tensor: _Tensor, show_data: bool) -> str:
    """The text of a tensor."""
    data = [_data(np.asarray(tensor.as_cpu()))] if show_data else []
    return _block(type(tensor).__name__, [*data, *_properties(tensor), f"shape={tuple(tensor.shape())}"])


def _samples(tensors: _List) -> str:
    n = len(tensors)
    shown = list(range(n)) if n <= _SHOWN_SAMPLES else [*range(_SHOWN_SAMPLES - 1), n - 1]
    texts = [_indented(_data(np.asarray(tensors[i].as_cpu())), 1) for i in shown]
    if n > _SHOWN_SAMPLES:
        texts.insert(-1, "...")
    between = ",\n " if tensors.ndim() == 0 else ",\n\n "
    return "[" + between.join(texts) + "]"


def _shapes(shapes: list[tuple[int, ...]]) -> str:
    if len(shapes) <= _SHOWN_SAMPLES:
        return str(shapes)
    if len(set(shapes)) == 1:
        return f"[{shapes[0]}] * {len(shapes)}"
    first = ", ".join(map(str, shapes[: _SHOWN_SAMPLES - 1]))
    return f"[{first}, ..., {shapes[-1]}]"


def describe_list(tensors: _List, show_data: bool) -> str:
    """The text of a list of tensors."""
    data = [_samples(tensors)] if show_data else []
    counts = [f"num_samples={len(tensors)}", f"shape={_shapes(tensors.shape())}"]
    return _block(type(tensors).__name__, [*data, *_properties(tensors), *counts])
