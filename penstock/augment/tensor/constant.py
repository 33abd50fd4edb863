"""``fn.constant``: the same tensor for every sample."""

from __future__ import annotations

import math

import numpy as np

from penstock import types
from penstock.errors import OutOfMemoryError
from penstock.graph.constants import ConstantOp
from penstock.op import arg, op
from penstock.types.convert import NUMBERS, saturate


@op("constant", devices=["cpu", "gpu"], inputs=0)
class Constant(ConstantOp):
    """The same tensor for every sample.

    Output: a tensor of ``shape``, or of as many elements as are given; int32 from ``idata``, float from ``fdata``,
    or ``dtype``. Values are rounded and limited to what the type holds.

    Errors: ArgumentError if not just one of ``fdata`` and ``idata`` is given, or their number fits no shape, for
    negative extents, and for a ``dtype`` that tensors do not have; OutOfMemoryError where there is no room for
    the tensor.

    Example:
        >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.constant(idata=[1, 2, 3, 4], shape=[2, 2])
        >>> pipeline().run()[0].at(1).tolist()
        [[1, 2], [3, 4]]
    """

    fdata = arg(None, "The elements, as floats.", kind="numbers", to_kernel=False)
    idata = arg(None, "The elements, as integers.", kind="integers", to_kernel=False)
    shape = arg(None, "The shape; one element fills all of it.", kind="integers", to_kernel=False)
    dtype = arg(
        None,
        "Type of the output.",
        kind="dtype",
        choices=[*NUMBERS, types.IMAGE_TYPE, types.DATA_TYPE, types.INTERP_TYPE],
        to_kernel=False,
    )
    layout = arg("", "Names of the axes.", kind="layout", to_kernel=False)

    def prepare(self) -> None:
        if (self.fdata is None) == (self.idata is None):
            raise self.wrong("fdata", "expected just one of fdata and idata")
        data = self.fdata if self.idata is None else self.idata
        shape = [len(data)] if self.shape is None else self.shape
        if min(shape, default=0) < 0:
            raise self.wrong("shape", "expected no negative extents")
        if len(data) not in (1, math.prod(shape)):
            raise self.wrong("shape", f"expected 1 or {math.prod(shape)} elements, got {len(data)}")
        self.check_axes(len(shape))
        whole = self.fdata is None
        dtype = self.dtype if self.dtype is not None else types.INT32 if whole else types.FLOAT
        array = np.asarray(data, np.int64 if whole else np.float64)
        stored = types.INT32 if dtype in (types.IMAGE_TYPE, types.DATA_TYPE, types.INTERP_TYPE) else dtype
        values = saturate(array, np.dtype(types.to_numpy_type(stored)))
        try:
            self.array = np.full(shape, values[0]) if len(data) == 1 else values.reshape(shape)
        except (MemoryError, ValueError):  # NumPy's, where the elements cannot even be counted
            bytes_wanted = math.prod(shape) * values.itemsize
            problem = f"shape={shape}: there is no room for {bytes_wanted} bytes"
            raise OutOfMemoryError(f"{self.shown_name()}: {problem}") from None
