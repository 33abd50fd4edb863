"""``fn.random_bbox_crop``: a random window that has as much of the boxes as is wanted."""

from __future__ import annotations

from penstock.op import Op, arg, op

_LAYOUTS = {2: ("xyXY", "xyWH"), 3: ("xyzXYZ", "xyzWHD")}


@op("random_bbox_crop", inputs=(1, 2))
class RandomBboxCrop(Op):
    """Draws a window of a picture, and says which boxes it has and where in it they are.

    One of ``thresholds`` is drawn, or, with ``allow_no_crop``, none: then the window is the whole picture. Windows are
    drawn, ``num_attempts`` of them, until all boxes (or unless ``all_boxes_above_threshold``, one) have as much in
    common with one as the threshold says, and at least one is kept. If none does, a threshold is drawn anew, up to
    ``total_num_attempts`` windows; then it is the best of them, or if none has a valid aspect ratio, the whole picture.

    A window's extents are drawn from ``scaling``, and drawn anew where their ratios are not within ``aspect_ratio``;
    where that is a single ratio, the larger extent is as drawn, and the other one follows from it. With ``crop_shape``
    they are given. All places are as likely.

    Inputs: boxes, FLOAT of shape ``(boxes, 4)``, or ``(boxes, 6)`` in volumes, in shares of the picture's extents, as
    ``bbox_layout`` says; optionally their labels, of any type, with an axis for the boxes at first. Outputs: where the
    window starts, and its extents, both FLOAT, x first, in shares, or with ``crop_shape`` in pixels; the boxes that are
    kept, in shares of the window, cut off at its edges; with labels, theirs; with ``output_bbox_indices``, INT32, which
    of the boxes these are. A box is kept if its middle is in the window, or if more than ``bbox_prune_threshold`` of it
    is.

    With ``input_shape``, the larger extent is that in shares of the picture, so a window is not larger than it (DALI's
    may be). The search ends with an error after about a million windows; DALI's does not.

    Errors: ArgumentError for values out of their ranges, and for arguments that exclude or need each other;
    OperatorError for boxes that are not within 0 to 1, for layouts that do not fit their number of axes, for other
    types and shapes, where there is not a label for each box, and where no window is found.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None, seed=1)
        ... def pipeline():
        ...     boxes, labels = np.float32([[0.25, 0.25, 0.5, 0.5]]), np.int32([7])
        ...     crop = {"crop_shape": [10, 10], "input_shape": [20, 20]}
        ...     return tuple(fn.random_bbox_crop(boxes, labels, **crop, thresholds=[1.0], threshold_type="overlap"))
        >>> anchor, shape, boxes, labels = (output.at(0) for output in pipeline().run())
        >>> bool((anchor <= 5).all()), shape.tolist(), (boxes[0, 2:] - boxes[0, :2]).round(3).tolist(), labels.tolist()
        (True, [10.0, 10.0], [0.5, 0.5], [7])
    """

    random = True
    setup_reads = (0,)

    all_boxes_above_threshold = arg(True, "Whether all boxes are to reach the threshold, or one of them.")
    allow_no_crop = arg(True, "Whether the whole picture may come out; not with `crop_shape`.")
    aspect_ratio = arg(
        [1.0, 1.0],
        "Least and largest ratio of x to y; in volumes those of x to z and of y to z may follow. In pixels if "
        "`input_shape` is given, or else in shares: 1 is then the ratio of the picture.",
    )
    bbox_layout = arg(
        None, "The order of a box's numbers: 'xyXY' or 'xyWH', in volumes 'xyzXYZ' or 'xyzWHD', in any order.",
        kind="layout",
    )  # fmt: skip
    bbox_prune_threshold = arg(
        None, "Boxes are kept of which a larger share is in the window. Default: those whose middle is.", kind="number"
    )
    crop_shape = arg(None, "Extents of the window in pixels, as `shape_layout` says.", kind="integers", per_sample=True)
    input_shape = arg(
        None, "Extents of the picture in pixels, as `shape_layout` says.", kind="integers", per_sample=True
    )
    ltrb = arg(True, "The older way to say `bbox_layout`: whether boxes are 'xyXY', or 'xyWH'.")
    num_attempts = arg(1, "Windows that are drawn for a threshold.")
    output_bbox_indices = arg(False, "Whether one more output says which boxes are kept.")
    quiet = arg(False, "Whether not to warn.", unused="there is no warning")
    scaling = arg([1.0, 1.0], "Least and largest extents of the window, in shares of the picture's.")
    shape_layout = arg(None, "The order of extents: W and H, in volumes D, too. Default: 'WHD'.", kind="layout")
    threshold_type = arg(
        "iou",
        "What a threshold is of: 'iou', what window and box have in common, to all that they have; 'overlap', to the "
        "box.",
        choices=["iou", "overlap"],
    )
    thresholds = arg([0.0], "Thresholds, from 0 to 1, of which one is drawn.")
    total_num_attempts = arg(-1, "Windows that are drawn at most. Default: as many as needed.", only_given=True)

    def prepare(self) -> None:
        if self.bbox_layout is not None:
            if "ltrb" in self.given:
                raise self.twice("ltrb", "bbox_layout")
            known = [sorted(layout) for pair in _LAYOUTS.values() for layout in pair]
            if sorted(self.bbox_layout) not in known:
                raise self.wrong("bbox_layout", "expected the letters of 'xyXY', 'xyWH', 'xyzXYZ' or 'xyzWHD'")
        self._check_ranges()
        self._check_crop()

    def _check_ranges(self) -> None:
        if len(self.scaling) != 2 or not 0 <= self.scaling[0] <= self.scaling[1]:
            raise self.wrong("scaling", "expected two numbers from 0, the larger one last")
        ratios = self.aspect_ratio
        if len(ratios) not in (2, 6) or not all(0 <= a <= b for a, b in zip(ratios[::2], ratios[1::2], strict=True)):
            raise self.wrong("aspect_ratio", "expected two or six numbers from 0, of each two the larger one last")
        if not self.thresholds or not all(0 <= t <= 1 for t in self.thresholds):
            raise self.wrong("thresholds", "expected one or more numbers from 0 to 1")
        for name in ("num_attempts", "total_num_attempts"):
            if getattr(self, name) < 1 and (name in self.given or name == "num_attempts"):
                raise self.wrong(name, "expected 1 or more")
        if self.bbox_prune_threshold is not None and not 0 <= self.bbox_prune_threshold <= 1:
            raise self.wrong("bbox_prune_threshold", "expected 0 to 1")

    def _check_crop(self) -> None:
        if (
            "input_shape" in self.given
            and self.shape_layout is not None
            and sorted(self.shape_layout) not in (["H", "W"], ["D", "H", "W"])
        ):
            raise self.wrong("shape_layout", "expected the letters W and H, in volumes D, too")
        if "crop_shape" in self.given:
            for name in ("scaling", "aspect_ratio"):
                if name in self.given:
                    raise self.wrong(name, "cannot be given together with crop_shape")
            if "input_shape" not in self.given:
                raise self.wrong("crop_shape", "needs input_shape")

    def num_outputs(self) -> int:
        return 2 + self.input_count + int(self.output_bbox_indices)
