"""``fn.warp_affine``: pictures and volumes under an affine map."""

from __future__ import annotations

from penstock.augment.geometry.warp import WarpArgs
from penstock.op import arg, op


@op("warp_affine", contract="sampler", devices=["cpu", "gpu"], inputs=(1, 2))
class WarpAffine(WarpArgs):
    """Moves, scales, turns and shears pictures and volumes: an affine map of positions.

    The matrix ``[[a, b, c], [d, e, f]]`` gives for the position (x, y) of the output's pixel that of the input's,
    (a x + b y + c, d x + e y + f), or the other way round with ``inverse_map=False``; of volumes it has three rows and
    four columns, for (x, y, z). The centre of the first pixel is at 0.5.

    Inputs: HWC, FHWC, DHWC or FDHWC (without a layout: HWC, FHWC or FDHWC by the number of axes), of type UINT8, INT16,
    INT32 or FLOAT; then, perhaps, the matrix, FLOAT of shape ``(2, 3)`` or ``(3, 4)``, which takes precedence over the
    argument. Output: the same layout, of type ``dtype``; the input's size unless ``size`` is given; integers are
    rounded half away from zero.

    On a GPU positions are computed one by one, not summed up along rows: fewer than one integer in fifty differs from
    the CPU's, by 1, and with INTERP_NN fewer than one pixel in a thousand is its neighbour: more only of matrices by
    which many positions are exactly between two pixels.

    Errors: ArgumentError for other interpolations and types; OperatorError for other types and layouts, without a
    matrix, for matrices of other shapes, for one without an inverse where that is needed, and for sizes that are not
    positive.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     image = types.Constant(np.uint8([[[1], [2], [3]]]))
        ...     return fn.warp_affine(image, matrix=[1, 0, 1, 0, 1, 0], fill_value=9)
        >>> pipeline().run()[0].at(0)[..., 0].tolist()
        [[2, 3, 9]]
    """

    matrix = arg([], "The matrix, row by row: 6 numbers, or 12 of volumes.", kind="numbers", per_sample=True)
    inverse_map = arg(True, "Whether the matrix maps positions of the output to those of the input.")
