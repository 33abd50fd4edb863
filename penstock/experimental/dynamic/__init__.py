"""Dynamic mode: operators on arrays that there are, without a pipeline, with the API of DALI's dynamic mode.

    import penstock.experimental.dynamic as ndd

    reader = ndd.readers.File(file_root="photos", random_shuffle=True)
    for jpegs, labels in reader.next_epoch(batch_size=32):
        images = ndd.resize(ndd.decoders.image(jpegs), size=[224, 224])
        if images.batch_size < 32: ...

All operators of `penstock.fn` are here, by the same names; readers are classes. What a call gives is computed when it
is asked for, with all that leads to it in one fused plan, as a pipeline would (docs/dynamic.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock import _catalog
from penstock.experimental.dynamic import capture as capture
from penstock.experimental.dynamic import checkpoint as checkpoint
from penstock.experimental.dynamic import math as math
from penstock.experimental.dynamic import random as random
from penstock.experimental.dynamic._batch import Batch as Batch
from penstock.experimental.dynamic._call import function_of as _function_of
from penstock.experimental.dynamic._context import EvalContext as EvalContext
from penstock.experimental.dynamic._context import get_num_threads as get_num_threads
from penstock.experimental.dynamic._context import set_num_threads as set_num_threads
from penstock.experimental.dynamic._device import Device as Device
from penstock.experimental.dynamic._device import DeviceLike as DeviceLike
from penstock.experimental.dynamic._device import device as device
from penstock.experimental.dynamic._dtype import TYPES as _TYPES
from penstock.experimental.dynamic._dtype import DType as DType
from penstock.experimental.dynamic._dtype import dtype as dtype
from penstock.experimental.dynamic._dtype import type_id as type_id
from penstock.experimental.dynamic._external import ExternalSource as ExternalSource
from penstock.experimental.dynamic._imread import imread as imread
from penstock.experimental.dynamic._make import as_batch as as_batch
from penstock.experimental.dynamic._make import as_tensor as as_tensor
from penstock.experimental.dynamic._make import batch as batch
from penstock.experimental.dynamic._make import tensor as tensor
from penstock.experimental.dynamic._mode import EvalMode as EvalMode
from penstock.experimental.dynamic._reader import class_of as _class_of
from penstock.experimental.dynamic._streams import Stream as Stream
from penstock.experimental.dynamic._streams import ThreadPool as ThreadPool
from penstock.experimental.dynamic._streams import get_current_stream as get_current_stream
from penstock.experimental.dynamic._streams import get_default_stream as get_default_stream
from penstock.experimental.dynamic._streams import set_current_stream as set_current_stream
from penstock.experimental.dynamic._streams import set_default_stream as set_default_stream
from penstock.experimental.dynamic._streams import stream as stream
from penstock.experimental.dynamic._tensor import Tensor as Tensor
from penstock.op import Op as _Op
from penstock.types import DALIDataType as DataType
from penstock.types import DALIImageType as ImageType
from penstock.types import DALIInterpType as InterpType

__all__ = ["DataType", "ImageType", "InterpType"]

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...


def _is_reader(schema: type[_Op], name: str) -> bool:
    return schema.fed and name == schema.name


def _is_function(schema: type[_Op], name: str) -> bool:
    return not (schema.fed or schema.external) and name == schema.name


def _made(schema: type[_Op], name: str) -> Any:
    return _class_of(schema, name, __name__) if schema.fed else _function_of(schema, name, __name__)


globals().update(_TYPES)
_catalog.fill(globals(), __name__, _made, lambda name: name, of=_is_function)
_catalog.fill(globals(), __name__, _made, _catalog.class_name, of=_is_reader)
