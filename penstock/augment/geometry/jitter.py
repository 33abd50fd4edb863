"""``fn.jitter``: each pixel replaced by one of its neighbours."""

from __future__ import annotations

from penstock.arguments.displace import DisplaceArgs
from penstock.op import arg, op

_FARTHEST = 65534


@op("jitter", contract="sampler", devices=("cpu", "gpu"))
class Jitter(DisplaceArgs):
    """Replaces each pixel by one of its neighbours, drawn at random.

    Pixels come from up to ``nDegree / 2`` pixels (rounded down) to each side, above and below: whole pixels, all
    equally likely; so ``interp_type`` changes nothing. What lies beyond the picture is ``fill_value``, which is
    converted as by a cast in C.

    Input: HWC, of type UINT8, INT16, INT32 or FLOAT. Output: the same shape, layout and type.

    Errors: ArgumentError for other interpolations, and for ``nDegree`` below 1 or above 65534; OperatorError for other
    types and layouts.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None, seed=1)
        ... def pipeline():
        ...     return fn.jitter(types.Constant(np.full((9, 9, 1), 7, np.uint8)), fill_value=7)
        >>> bool((pipeline().run()[0].at(0) == 7).all())
        True
    """

    random = True

    nDegree = arg(2, "Extent in pixels of the square that a pixel is taken from, around it.")  # noqa: N815, DALI's name

    def prepare(self) -> None:
        if not 1 <= self.nDegree <= _FARTHEST:
            raise self.wrong("nDegree", f"expected 1 to {_FARTHEST}")
