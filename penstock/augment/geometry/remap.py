"""``fn.experimental.remap``: pictures read where tensors say."""

from __future__ import annotations

from penstock import types
from penstock.op import Op, arg, op


@op("experimental.remap", kernel="remap", devices=("cpu", "gpu"), inputs=3)
class Remap(Op):
    """Makes a picture of pixels of another, whose positions two tensors say.

    The pixel (x, y) shows what is at (mapx[y, x], mapy[y, x]); beyond the picture that is 0. Integers are rounded,
    halves to the even one.

    Inputs: HW, HWC, CHW, FHW, FHWC or FCHW (without a layout: HW, HWC or FHWC by the number of axes), of type UINT8,
    UINT16, INT16 or FLOAT; then mapx and mapy, FLOAT, of equal height and width (HW, or HWC with one channel), or one
    of each frame (FHW, FHWC). Output: the same layout and type, of the maps' height and width.

    Errors: ArgumentError for other interpolations and origins; OperatorError for other types and layouts, and for maps
    that differ in their extents or are for another number of frames.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     xs, ys = np.float32([[2.5, 0.5, 1]]), np.float32([[0.5, 0.5, 0.5]])
        ...     return fn.experimental.remap(np.uint8([[10, 20, 30]]), xs, ys)
        >>> pipeline().run()[0].at(0).tolist()
        [[30, 10, 15]]
    """

    interp = arg(
        types.INTERP_LINEAR,
        "INTERP_NN takes the nearest pixel, INTERP_LINEAR blends 2 x 2 pixels, INTERP_CUBIC 4 x 4, INTERP_LANCZOS3 "
        "6 x 6.",
        choices=[types.INTERP_NN, types.INTERP_LINEAR, types.INTERP_CUBIC, types.INTERP_LANCZOS3],
        aka=["interp_type", "interpolation"],
    )
    pixel_origin = arg(
        "corner",
        "Whether (0, 0) is the first pixel's corner, as in OpenGL, or its centre, as in OpenCV.",
        choices=("corner", "center"),
    )
