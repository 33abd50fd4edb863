"""``fn.rotate``: pictures and volumes turned about their centre."""

from __future__ import annotations

from penstock.augment.geometry.warp import WarpArgs
from penstock.op import REQUIRED, arg, op


@op("rotate", contract="sampler", devices=["cpu", "gpu"])
class Rotate(WarpArgs):
    """Turns pictures about their centre, and volumes about an axis through their centre.

    Without ``size`` and ``keep_size`` the output is large enough for all of the turned input; an odd extent stays odd
    and an even one even, also when width and height change places, so that turns by 90 degrees move whole pixels. The
    frames of a sequence share one size, the largest, odd or even as that of most of them.

    Input: HWC, FHWC, DHWC or FDHWC (without a layout: HWC, FHWC or FDHWC by the number of axes), of type UINT8, INT16,
    INT32 or FLOAT. Output: the same layout, of type ``dtype``; integers are rounded half away from zero.

    On a GPU positions are computed one by one, not summed up along rows: fewer than one integer in fifty differs from
    the CPU's, by 1, and with INTERP_NN fewer than one pixel in a thousand is its neighbour.

    Errors: ArgumentError for other interpolations and types; OperatorError for other types and layouts, volumes without
    an axis of three numbers, an axis without a direction, sizes that are not positive, and angles that are no finite
    number (given a size, DALI then shows anything).

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     image = types.Constant(np.uint8([[[1], [2], [3]], [[4], [5], [6]]]))
        ...     return fn.rotate(image, angle=90)
        >>> pipeline().run()[0].at(0)[..., 0].tolist()
        [[3, 6], [2, 5], [1, 4]]
    """

    angle = arg(REQUIRED, "Degrees, counter-clockwise; of volumes, as seen against the axis.", kind="number",
                per_sample=True, aka=["degrees", "angles", "rotation"])  # fmt: skip
    axis = arg(
        None,
        "Of volumes: the direction (x, y, z), of any length but 0. Pictures need none.",
        kind="numbers",
        per_sample=True,
    )
    keep_size = arg(
        False, "Whether the output is as large as the input, unless `size` is given.", aka=["expand", "keep_shape"]
    )
