"""``fn.random_crop_generator``, and the arguments of random crops."""

from __future__ import annotations

from penstock.op import Op, arg, op


class RandomCropOptions(Op):
    """How random windows are drawn."""

    stage = "decode"
    random = True

    random_area = arg(
        [0.08, 1.0],
        "Least and largest area of the window, as shares of the picture's; 0: one pixel.",
        aka=["scale", "area"],
    )
    random_aspect_ratio = arg(
        [3 / 4, 4 / 3],
        "Least and largest width / height of the window. Those of 0 and below stand for windows one pixel wide, ranges "
        "from there up for windows one pixel high.",
        aka=["ratio", "aspect_ratio"],
    )
    num_attempts = arg(10, "How often a window may be drawn that does not fit.", aka=["attempts", "max_attempts"])

    def prepare(self) -> None:
        super().prepare()
        for name in ("random_area", "random_aspect_ratio"):
            values = getattr(self, name)
            if len(values) not in (1, 2) or not values[0] <= values[-1]:
                raise self.wrong(name, "expected the least and the largest value")


@op("random_crop_generator", kernel="random_crop_generator")
class RandomCropGenerator(RandomCropOptions):
    """Draws the windows of `decoders.image_random_crop`, for use by `slice` or `decoders.image_slice`.

    Input: a picture's shape, ``(H, W)`` or ``(H, W, C)``, as 1-D whole numbers: `peek_image_shape` gives it.

    Outputs: the window's anchor (y, x) and its shape (height, width), each int32 of shape ``(2,)``.

    Errors: OperatorError where the input is no shape; ArgumentError for ranges that are none.

    Example:
        >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None, seed=1)
        ... def pipeline():
        ...     files, labels = fn.readers.file(file_root=photos)
        ...     anchor, shape = fn.random_crop_generator(fn.peek_image_shape(files), random_area=(0.5, 1.0))
        ...     return fn.decoders.image_slice(files, anchor, shape, axes=(0, 1)), shape
        >>> images, shapes = pipeline().run()
        >>> images.shape()[0][:2] == tuple(shapes.as_array()[0])
        True
    """

    def num_outputs(self) -> int:
        return 2
