"""``fn.debayer``: colours of pictures whose pixels have one each."""

from __future__ import annotations

from penstock.op import REQUIRED, Op, arg, op

_ALGORITHMS = ("bilinear_ocv", "edgeaware_ocv", "vng_ocv", "gray_ocv", "default_npp")


@op("debayer", devices=("cpu", "gpu"), legacy=["experimental.debayer"])
class Debayer(Op):
    """Makes colour pictures of those that sensors give behind a Bayer filter: each pixel has one colour.

    Of the others, a pixel gets means of its neighbours that have them. Pixels at the border are as those next to them,
    and a picture of two rows or columns, which has no others, is black; but for ``"vng_ocv"`` and ``"default_npp"``,
    which mirror pictures without their last pixels.

    Input: HW, HWC with one channel, or frames of these (FHW, FHWC), of type UINT8 or UINT16 (``"vng_ocv"``: UINT8), of
    even height and width. Output: HWC or FHWC, the same type: red, green and blue, or one channel with ``"gray_ocv"``.

    All algorithms are on both devices; in DALI ``"default_npp"`` is on the GPU alone, and the others on the CPU.

    Errors: ArgumentError for another ``algorithm``, and without ``blue_position``; OperatorError for other types,
    layouts, channels and odd extents, and for positions other than 0 and 1.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     sensor = np.uint8([[9, 5, 9, 5], [5, 1, 5, 1], [9, 5, 9, 5], [5, 1, 5, 1]])
        ...     return fn.debayer(sensor, blue_position=(0, 0))
        >>> pipeline().run()[0].at(0)[2, 1].tolist()
        [9, 5, 1]
    """

    blue_position = arg(
        REQUIRED,
        "Where blue is in the two rows and columns that begin with the second ones: (0, 0), (0, 1), (1, 0) or (1, 1).",
        kind="integers",
        per_sample=True,
    )
    algorithm = arg(
        None,
        '"bilinear_ocv" (the default on the CPU): means of neighbours; "edgeaware_ocv": green follows the direction in '
        'which it changes less; "vng_ocv": means of the directions in which the picture changes little, and '
        '"bilinear_ocv" for pictures below 8 x 8; "gray_ocv": gray pictures; "default_npp" (the default on the GPU): '
        "green follows the direction in which red or blue changes less, and means are cut off.",
        kind="string",
        choices=_ALGORITHMS,
    )
