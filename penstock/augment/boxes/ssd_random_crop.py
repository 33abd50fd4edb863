"""``fn.ssd_random_crop``: pictures cut to a random window, and the boxes that it has."""

from __future__ import annotations

from penstock.op import Op, arg, fixed, op


@op("ssd_random_crop", inputs=3, deprecated="use fn.random_bbox_crop")
class SsdRandomCrop(Op):
    """Cuts pictures to random windows, as SSD (https://arxiv.org/abs/1512.02325) does it.

    That is `fn.random_bbox_crop`, with windows of 0.3 to 1 of the picture's extents, in ratios of 0.5 to 2, of which
    all boxes have an intersection over union of 0, 0.1, 0.3, 0.5, 0.7 or 0.9 at least; or the whole picture.

    Inputs: pictures, HWC, of any type; boxes, FLOAT of shape ``(boxes, 4)``: left, top, right, bottom, as shares of the
    picture's extents; their labels, with an axis for the boxes at first. Outputs: the window, from the nearest pixel to
    the nearest; the boxes whose middles are in it, in shares of it, cut off at its edges; their labels.

    Errors: ArgumentError for a ``num_attempts`` below 1 (DALI gives the whole picture then); OperatorError for other
    layouts, types and shapes, for boxes that are not within 0 to 1, and where there is not a label for each box.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None, seed=1)
        ... def pipeline():
        ...     picture = types.Constant(np.zeros((100, 200, 3), np.uint8), layout="HWC")
        ...     return tuple(fn.ssd_random_crop(picture, np.float32([[0, 0, 1, 1]]), np.int32([7]), num_attempts=9))
        >>> picture, boxes, labels = pipeline().run()
        >>> bool(picture.at(0).shape[1] >= 60), boxes.at(0).tolist(), labels.at(0).tolist()
        (True, [[0.0, 0.0, 1.0, 1.0]], [7])
    """

    random = True
    setup_reads = (1,)

    num_attempts = arg(1, "Windows that are drawn for a threshold, before another one is drawn.")

    all_boxes_above_threshold = fixed(True)
    allow_no_crop = fixed(True)
    aspect_ratio = fixed([0.5, 2.0])
    bbox_layout = fixed(None)
    bbox_prune_threshold = fixed(None)
    crop_shape = fixed(None)
    input_shape = fixed(None)
    ltrb = fixed(True)
    output_bbox_indices = fixed(False)
    scaling = fixed([0.3, 1.0])
    shape_layout = fixed(None)
    threshold_type = fixed("iou")
    thresholds = fixed([0.0, 0.1, 0.3, 0.5, 0.7, 0.9])
    total_num_attempts = fixed(None)

    def prepare(self) -> None:
        if self.num_attempts < 1:
            raise self.wrong("num_attempts", "expected 1 or more")

    def num_outputs(self) -> int:
        return 3
