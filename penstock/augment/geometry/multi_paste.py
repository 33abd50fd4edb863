"""``fn.multi_paste``: parts of several pictures side by side, or one over the other."""

from __future__ import annotations

from penstock.op import Op, arg, op


@op("multi_paste", devices=["cpu", "gpu"], inputs=(1, 64))
class MultiPaste(Op):
    """Pastes parts of pictures into a picture that is 0 otherwise; the later ones over the earlier ones.

    With ``in_ids``, from any samples of the one input: sample i gets what its ``in_ids`` name. Otherwise sample i gets
    those of sample i of all inputs, one each.

    Which part of a picture, and where it goes, the other arguments say: (y, x), for each part that is pasted, a node of
    shape ``(parts, 2)``. By `fn.per_frame`, of shape ``(frames, parts, 2)``, frames get their own. Shares are rounded
    to whole pixels: down where parts start, up for their extents.

    Inputs: pictures, HWC or FHWC, of one type and number of channels; those that are pasted onto each other have the
    same number of frames. Output: the layout of the input, of type ``dtype``; as large as ``output_size``, or as the
    pictures if they are all of one size.

    Errors: ArgumentError for an argument together with the one that has it in shares, and for ``in_ids`` with several
    inputs; OperatorError for other layouts, for pictures that do not fit each other, for parts that reach beyond the
    picture or the output, for shares that are not from 0 to 1, and for samples that are not there.

    Example:
        >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None)
        ... def pipeline():
        ...     pictures = fn.external_source(source=lambda: np.uint8([[[[1], [2]]], [[[7], [8]]]]), layout="HWC")
        ...     corners = np.int32([[0, 0], [1, 1]])
        ...     return fn.multi_paste(pictures, in_ids=[0, 1], out_anchors=corners, output_size=[2, 3])
        >>> pipeline().run()[0].at(0)[:, :, 0].tolist()
        [[1, 2, 0], [0, 7, 8]]
    """

    in_ids = arg(
        None, "The samples of the input that are pasted: their numbers in the batch.", kind="integers", per_sample=True
    )
    in_anchors = arg(None, "Where the parts start in their pictures. Default: 0.", kind="integers", per_sample=True)
    in_anchors_rel = arg(None, "The same, in shares of the picture's extents.", kind="numbers", per_sample=True)
    shapes = arg(None, "The parts' extents. Default: up to the picture's end.", kind="integers", per_sample=True)
    shapes_rel = arg(None, "The same, in shares of the picture's extents.", kind="numbers", per_sample=True)
    out_anchors = arg(None, "Where the parts start in the output. Default: 0.", kind="integers", per_sample=True)
    out_anchors_rel = arg(None, "The same, in shares of the output's extents.", kind="numbers", per_sample=True)
    output_size = arg(
        None, "The output's height and width; more numbers do not count.", kind="integers", per_sample=True
    )
    dtype = arg(None, "Type of the output. Default: the input's.", kind="dtype")

    def prepare(self) -> None:
        self.batchwise = "in_ids" in self.given
        for name in ("in_anchors", "shapes", "out_anchors"):
            if {name, f"{name}_rel"} <= self.given:
                raise self.wrong(name, f"cannot be given together with {name}_rel")
