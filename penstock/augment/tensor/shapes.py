"""``fn.shapes``: extents as data."""

from __future__ import annotations

from penstock.graph.metadata import ShapeArgs
from penstock.op import arg, op


@op("shapes", devices=["cpu", "gpu"], deprecated="use node.shape()")
class Shapes(ShapeArgs):
    """The shape of each sample. ``node.shape()`` is the newer way to say it.

    Input: a tensor of any type, on the CPU or the GPU, wherever this operator runs; its elements are not looked at, so
    nothing has to be decoded for it.
    Output: one axis with one element for each axis of the input, of ``dtype``.

    Errors: ArgumentError for a ``dtype`` that is not INT32, UINT32, INT64, UINT64, FLOAT or FLOAT64.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     picture = types.Constant(np.zeros((4, 6, 3), np.uint8), layout="HWC")
        ...     return fn.shapes(picture)
        >>> pipeline().run()[0].at(0).tolist()
        [4, 6, 3]
    """

    type = arg(None, "The old name of `dtype`.", kind="dtype", deprecated="use dtype", to_kernel=False)

    def prepare(self) -> None:
        if self.type is not None:
            if "dtype" in self.given:
                raise self.twice("type", "dtype")
            accepted = self.arguments["dtype"].choices or ()
            if self.type not in accepted:
                raise self.wrong("type", f"expected one of {', '.join(map(repr, accepted))}")
            self.dtype = self.type
