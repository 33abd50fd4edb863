"""``fn.sphere``: pictures as a sphere shows them."""

from __future__ import annotations

from penstock.arguments.displace import DisplaceArgs
from penstock.op import op


@op("sphere", contract="sampler", devices=("cpu", "gpu"))
class Sphere(DisplaceArgs):
    """Shows pictures as if they were bent round a sphere: the middle is enlarged, and the more the nearer to it.

    A pixel at the distance ``r`` from the middle shows what is at the distance ``r * r / R`` in the same direction,
    where ``R`` is half of the longer side, rounded down. What lies beyond the picture is ``fill_value``, which is
    converted as by a cast in C.

    Input: HWC, of type UINT8, INT16, INT32 or FLOAT. Output: the same shape, layout and type; integers are rounded half
    away from zero.

    Errors: ArgumentError for other interpolations; OperatorError for other types and layouts.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.sphere(types.Constant(np.uint8([[[1], [2], [3], [4], [5], [6], [7], [8]]])))
        >>> pipeline().run()[0].at(0)[..., 0].tolist()
        [[1, 3, 4, 4, 5, 5, 6, 8]]
    """
