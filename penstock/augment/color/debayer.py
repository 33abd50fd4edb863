"""``fn.debayer``: colours of pictures whose pixels have one each."""

from __future__ import annotations

from penstock.op import REQUIRED, Op, arg, op

_ALGORITHMS = ("bilinear_ocv", "edgeaware_ocv", "gray_ocv", "default_npp")


@op("debayer", devices=("cpu", "gpu"), legacy=["experimental.debayer"])
class Debayer(Op):
    """Makes colour pictures of those that sensors give behind a Bayer filter: each pixel has one colour.

    Of the others, a pixel gets the mean of its nearest neighbours that have them. Pixels at the border are as those
    next to them; a picture of two rows or columns, which has no others, is black.

    Input: HW, HWC with one channel, or frames of these (FHW, FHWC), of type UINT8 or UINT16, of even height and width.
    Output: HWC or FHWC, the same type: red, green and blue, or one channel with ``"gray_ocv"``.

    All algorithms are on both devices. DALI's ``"vng_ocv"`` is not there, and ``"default_npp"`` is ``"edgeaware_ocv"``:
    what NPP computes is not known to the last bit.

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
        "bilinear_ocv",
        '"bilinear_ocv": means of neighbours; "edgeaware_ocv": green follows the direction in which it changes less; '
        '"gray_ocv": gray pictures.',
        choices=_ALGORITHMS,
    )
