"""``fn.clahe``: histograms made even, tile by tile."""

from __future__ import annotations

import math

from penstock.op import REQUIRED, Op, arg, op


@op("clahe", devices=("cpu", "gpu"))
class Clahe(Op):
    """Raises the contrast of a picture where it is low: contrast limited adaptive histogram equalization.

    The picture is divided into tiles, and the histogram of each is made even. First it is cut off at ``clip_limit``
    times the mean of its 256 counts, and what is cut off is spread over all of them, so that noise is not raised too
    much. A pixel gets the mean of what the four nearest tiles make of it, by their distance. A picture that the tiles
    do not divide evenly is mirrored beyond its right and lower border.

    Of coloured pictures the lightness is changed, in 8-bit CIE L*a*b* of sRGB, which rounds the other colours, too; or,
    with ``luma_only=False``, each channel by itself.

    Input: HW, HWC with one or three channels (RGB), or frames of these (FHW, FHWC), UINT8. Output: the same.

    Results on GPUs are those on the CPU, where those of DALI differ; ``luma_only=False`` counts there, too.

    Errors: ArgumentError for tiles below 1 and for a ``clip_limit`` that is not a number; OperatorError for other
    types, layouts and channels.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.clahe(np.uint8([[100, 101], [102, 103]]), tiles_x=1, tiles_y=1, clip_limit=0)
        >>> pipeline().run()[0].at(0).tolist()
        [[64, 128], [191, 255]]
    """

    tiles_x = arg(REQUIRED, "How many tiles there are along the width.", kind="integer")
    tiles_y = arg(REQUIRED, "How many tiles there are along the height.", kind="integer")
    clip_limit = arg(
        REQUIRED,
        "Where histograms are cut off: at this many times the mean of their counts, at least at 1. At 0 or below they "
        "are not.",
        kind="number",
    )
    luma_only = arg(True, "Of coloured pictures the lightness alone is changed.")
    bins = arg(256, "How many counts a histogram has.", unused="each of the 256 values has a count of its own")

    def prepare(self) -> None:
        for name in ("tiles_x", "tiles_y"):
            if not 1 <= getattr(self, name) < 1 << 20:
                raise self.wrong(name, "expected a number from 1 to 1048575")
        if self.tiles_x * self.tiles_y > 1 << 20:
            raise self.wrong("tiles_y", f"with tiles_x={self.tiles_x} there are more than 1048576 tiles")
        if math.isnan(self.clip_limit):
            raise self.wrong("clip_limit", "expected a number")
