"""``fn.experimental.warp_perspective``: pictures under a perspective map."""

from __future__ import annotations

from penstock import types
from penstock.op import Op, arg, op


@op("experimental.warp_perspective", kernel="warp_perspective", devices=("cpu", "gpu"), inputs=(1, 2))
class WarpPerspective(Op):
    """Shows pictures in perspective: a projective map of positions.

    The matrix ``[[a, b, c], [d, e, f], [g, h, i]]`` gives for the position (x, y) of the output's pixel that of the
    input's, ((a x + b y + c) / w, (d x + e y + f) / w) with w = g x + h y + i, or the other way round with
    ``inverse_map=False``. Positions are computed in float32, and those of INT16 rounded to a 32nd of a pixel; integers
    are rounded, halves to the even one.

    Inputs: HW, HWC, CHW, FHW, FHWC or FCHW (without a layout: HW, HWC or FHWC by the number of axes), of type UINT8,
    UINT16, INT16 or FLOAT; then, perhaps, the matrix, FLOAT of shape ``(3, 3)``, which takes precedence over the
    argument. Either may be given for each frame. Output: the same layout and type; the input's size unless ``size`` is
    given.

    Errors: ArgumentError for other interpolations, borders and origins; OperatorError for other types and layouts,
    without a matrix, for matrices of other shapes, for sizes that are not positive, and for several fill values that
    are not one for each channel.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.experimental.warp_perspective(np.uint8([[1, 2, 3]]), matrix=[1, 0, 1, 0, 1, 0, 0, 0, 1])
        >>> pipeline().run()[0].at(0).tolist()
        [[2, 3, 0]]
    """

    matrix = arg([], "The matrix, row by row: 9 numbers.", kind="numbers", per_sample=True)
    inverse_map = arg(True, "Whether the matrix maps positions of the output to those of the input.")
    size = arg([], "Height and width of the output, in pixels, rounded; none: the input's.", kind="numbers",
               per_sample=True)  # fmt: skip
    fill_value = arg(
        [],
        'What stands beyond the input with `border_mode="constant"`: one number, or one per channel; none: 0.',
        kind="numbers",
        aka=["fill", "fill_values"],
    )
    interp_type = arg(
        types.INTERP_LINEAR,
        "INTERP_NN takes the nearest pixel, INTERP_LINEAR blends 2 x 2 pixels, INTERP_CUBIC 4 x 4.",
        choices=[types.INTERP_NN, types.INTERP_LINEAR, types.INTERP_CUBIC],
        aka=["interpolation", "resample"],
    )
    border_mode = arg(
        "constant",
        "What stands beyond the input: `fill_value` (constant), the last row and column (replicate), the picture "
        "mirrored with these (reflect) or without them (reflect_101), or over again (wrap).",
        choices=("constant", "replicate", "reflect", "reflect_101", "wrap"),
        aka=["border"],
    )
    pixel_origin = arg(
        "corner",
        "Whether (0, 0) is the first pixel's corner, as in OpenGL, or its centre, as in OpenCV.",
        choices=("corner", "center"),
    )
