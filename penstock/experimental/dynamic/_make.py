"""Tensors and batches of data that there is: `tensor` and `batch` copy it, `as_tensor` and `as_batch` do not."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.errors import ArgumentError, TensorError
from penstock.experimental.dynamic import _dtype
from penstock.experimental.dynamic._batch import Batch
from penstock.experimental.dynamic._device import device as device_of
from penstock.experimental.dynamic._lazy import Lazy, from_python, pieces
from penstock.experimental.dynamic._tensor import Tensor
from penstock.feed.data import dense, has_device_memory
from penstock.tensors import TensorCPU, TensorGPU, TensorListCPU, TensorListGPU
from penstock.tensors.arrays import numpy_type

_LISTS = (TensorListCPU, TensorListGPU)


def as_tensor(data: Any, dtype: Any = None, device: Any = None, layout: str | None = None, pad: bool = False) -> Tensor:
    """A `Tensor` of data, which shares its memory where it can; it must not be written to then before it was used.

    Args:
        data: a number, (nested) lists of them, an array of NumPy's or a framework's, a `Tensor`, or a `Batch`, whose
            samples come along the first axis.
        dtype: of the elements, see `dtype`; None: the data's. Python's integers are INT32, its floats FLOAT.
        device: where it is to be; None: where the data is.
        layout: names of the axes; None: the data's.
        pad: of a batch: smaller samples get zeros at their ends. Without it, samples of several shapes are an error.

    Raises TensorError for data that makes no tensor, TypeError for elements that no tensor has.

    >>> import penstock.experimental.dynamic as ndd
    >>> ndd.as_tensor(np.ones((2, 3), np.uint8), layout="HW").layout
    'HW'
    >>> ndd.as_tensor(ndd.batch([[1, 2, 3], [4]]), pad=True).shape
    (2, 3)
    """
    return _finished(_tensor(data, dtype, pad), dtype, device, layout)  # type: ignore[no-any-return]


def tensor(data: Any, dtype: Any = None, device: Any = None, layout: str | None = None, pad: bool = False) -> Tensor:
    """As `as_tensor`, of a copy of the data.

    >>> import penstock.experimental.dynamic as ndd
    >>> ndd.tensor([1, 2, 3], dtype=ndd.float32)
    Tensor([1. 2. 3.], dtype=f32, device='cpu', shape=(3,))
    """
    return _copied(as_tensor(data, dtype, device, layout, pad))  # type: ignore[no-any-return]


def as_batch(tensors: Any, dtype: Any = None, device: Any = None, layout: str | None = None) -> Batch:
    """A `Batch` of data, which shares its memory where it can; it must not be written to then before it was used.

    Args:
        tensors: the samples: a list of what `as_tensor` takes, or one array with the samples along its first axis; or a
            `Batch`, or a list of tensors of a pipeline's.
        dtype, device, layout: as of `as_tensor`; the layout is that of a sample.

    Raises TensorError for data that makes no batch, TypeError for elements that no tensor has.

    >>> import penstock.experimental.dynamic as ndd
    >>> ndd.as_batch(np.zeros((4, 2, 3))).shape
    [(2, 3), (2, 3), (2, 3), (2, 3)]
    """
    return _finished(_batch(tensors, dtype), dtype, device, layout)  # type: ignore[no-any-return]


def batch(tensors: Any, dtype: Any = None, device: Any = None, layout: str | None = None) -> Batch:
    """As `as_batch`, of a copy of the data.

    >>> import penstock.experimental.dynamic as ndd
    >>> ndd.batch([[1, 2], [3]]).shape
    [(2,), (1,)]
    """
    return _copied(as_batch(tensors, dtype, device, layout))  # type: ignore[no-any-return]


def _tensor(data: Any, dtype: Any, pad: bool) -> Tensor:
    if isinstance(data, Tensor):
        return data
    if isinstance(data, (Batch, *_LISTS)):
        return _joined(data if isinstance(data, Batch) else Batch._known(data), pad)
    if isinstance(data, (TensorCPU, TensorGPU)) or has_device_memory(data):
        made = TensorListGPU([data]) if has_device_memory(data) else TensorListCPU([data])
        return Tensor._known(made)  # type: ignore[no-any-return]
    array = data if hasattr(data, "__dlpack__") or hasattr(data, "shape") else _from_python(data, dtype)
    if isinstance(array, np.generic) or (isinstance(array, np.ndarray) and not array.flags.writeable):
        array = np.array(array)
    return Tensor._known(TensorListCPU([dense(array)]))  # type: ignore[no-any-return]


def _from_python(data: Any, dtype: Any) -> Any:
    """Numbers that are to have a type have it at once: there is none between."""
    if dtype is None:
        return from_python(data)
    return np.asarray(data, numpy_type(_dtype.type_id(dtype)))


def _joined(data: Batch, pad: bool) -> Tensor:
    if pad:
        from penstock.experimental.dynamic._call import call_named

        data = call_named("pad", data)
    value = data._value()
    if not value.is_dense_tensor():
        raise TensorError(f"the samples have different shapes, {value.shape()}: pad=True fills them up with zeros")
    whole: Any = value.as_tensor()
    return Tensor._known(type(value)([whole]))  # type: ignore[no-any-return]


def _batch(data: Any, dtype: Any) -> Batch:
    if isinstance(data, Batch):
        return data
    if isinstance(data, _LISTS):
        return Batch._known(data)  # type: ignore[no-any-return]
    if isinstance(data, Tensor):
        value: Any = data._value()
        whole = value[0]
        layout = whole.layout()[1:]
        kind = type(value)
        return Batch._known(kind(whole, layout) if layout else kind(whole))  # type: ignore[no-any-return]
    if isinstance(data, (list, tuple)) or not hasattr(data, "shape"):
        items = list(data)
        if any(isinstance(item, Batch) for item in items):
            raise ArgumentError("as_batch: a list that has batches makes none: samples are tensors")
        if any(isinstance(item, Tensor) for item in items):
            items = [as_tensor(item)._value()[0] for item in items]
            on_gpu = any(isinstance(item, TensorGPU) for item in items)
        else:
            items = pieces(items) if dtype is None else [_piece(item, dtype) for item in items]
            on_gpu = bool(items) and has_device_memory(items[0])
        return Batch._known(TensorListGPU(items) if on_gpu else TensorListCPU(dense(items)))  # type: ignore[no-any-return]
    return Batch._known(TensorListGPU(data) if has_device_memory(data) else TensorListCPU(dense(data)))  # type: ignore[no-any-return]


def _piece(item: Any, dtype: Any) -> Any:
    return item if hasattr(item, "__dlpack__") or hasattr(item, "shape") else _from_python(item, dtype)


def _finished(made: Any, dtype: Any, device: Any, layout: str | None) -> Any:
    from penstock.experimental.dynamic._call import call_named, moved

    if dtype is not None and made.dtype != _dtype.dtype(dtype):
        made = call_named("cast", made, dtype=_dtype.type_id(dtype))
    if device is not None:
        made = moved(made, device_of(device))
    if layout:
        value: Any = type(made._value())(made._value())
        value.set_layout(layout)
        made = type(made)._known(value)
    return made


def _copied(made: Lazy) -> Any:
    from penstock.experimental.dynamic._call import copied

    return copied(made)
