"""``fn.random_crop_generator``: windows that are drawn, as data."""

from __future__ import annotations

from penstock.arguments.random_crop import RandomCropArgs
from penstock.op import op


@op("random_crop_generator")
class RandomCropGenerator(RandomCropArgs):
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

    stage = "decode"

    def num_outputs(self) -> int:
        return 2
