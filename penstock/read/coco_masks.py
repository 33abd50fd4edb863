"""Masks as labels of pixels: the operator behind `fn.readers.coco` with ``pixelwise_masks``."""

from __future__ import annotations

from penstock.op import Op, op


@op("_readers.coco_masks", kernel="coco_masks", inputs=6)
class CocoMasks(Op):
    """Draws the masks of a picture's objects, of lower labels first.

    Inputs: labels, (height, width), polygons, vertices, run lengths and their counts, as `Annotations` has them.
    Output: the label of each pixel, int32 of shape ``(height, width, 1)``, layout HWC; 0 where there is no object.
    """

    stage = "read"
    setup_reads = (1,)
