"""``fn.segmentation.random_object_bbox``: the box of a random object in a map of labels."""

from __future__ import annotations

from penstock.op import Op, arg, op

_FORMATS = ("anchor_shape", "start_end", "box")


@op("segmentation.random_object_bbox", kernel="segmentation_random_object_bbox")
class RandomObjectBbox(Op):
    """Draws an object of a map of labels, and gives its box.

    An object is a blob of pixels of one label that touch at their sides. A label is drawn first, of those in the map,
    and then one of its objects; with ``ignore_class``, one of all objects. If there is none that is large enough, and
    otherwise with probability ``1 - foreground_prob``, the box is all of the map, and its label the background's.

    Input: labels, BOOL or an integer type of up to 32 bits, of any number of axes. Outputs, of INT32: with
    ``format="anchor_shape"`` where the box starts along each axis, and its extents; ``"start_end"``: where it starts,
    and where it ends, which is behind it; ``"box"``: both of these in one output. With ``output_class`` one more: the
    label.

    A class whose weight is 0, or less, is never drawn.

    Errors: ArgumentError for a ``k_largest`` below 1, and for ``ignore_class`` together with ``classes``,
    ``class_weights`` or ``output_class``; OperatorError for other types, single numbers, a ``background`` that is one
    of the ``classes``, and for numbers of values that do not fit each other.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None, seed=1)
        ... def pipeline():
        ...     labels = np.uint8([[0, 0, 0, 0], [0, 5, 5, 0], [0, 0, 5, 0]])
        ...     return tuple(fn.segmentation.random_object_bbox(labels, output_class=True))
        >>> [output.at(0).tolist() for output in pipeline().run()]
        [[1, 1], [2, 2], 5]
    """

    random = True

    background = arg(
        0,
        "The label of what is no object. If it is not given and 0 is one of the `classes`, it is some other number.",
        per_sample=True,
        only_given=True,
    )
    classes = arg(None, "The labels of objects. Default: all but the background.", kind="integers", per_sample=True)
    class_weights = arg(
        None,
        "How likely each class is, as shares of their sum. Without `classes`, they are the numbers from 0 on, without "
        "the background. Default: all the same.",
        kind="numbers",
        per_sample=True,
    )
    foreground_prob = arg(1.0, "Probability of an object.", per_sample=True)
    format = arg("anchor_shape", "What the outputs are.", choices=_FORMATS)
    ignore_class = arg(False, "Whether all objects are as likely, whatever their class.")
    k_largest = arg(None, "Only so many objects are drawn from: those of the largest boxes.", kind="integer")
    output_class = arg(False, "Whether the label is an output, too.")
    threshold = arg(
        None,
        "Least extents of boxes: one number, or one for each axis. A class without such an object is not drawn.",
        kind="integers",
        per_sample=True,
    )
    cache_objects = arg(False, "Whether to keep boxes.", unused="they are found anew, with the same result.")

    def prepare(self) -> None:
        if "k_largest" in self.given and self.k_largest < 1:
            raise self.wrong("k_largest", "expected 1 or more")
        if self.ignore_class and (self.output_class or {"classes", "class_weights"} & self.given):
            raise self.wrong("ignore_class", "cannot be given together with classes, class_weights or output_class")

    def num_outputs(self) -> int:
        return (1 if self.format == "box" else 2) + int(self.output_class)
