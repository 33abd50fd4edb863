"""``fn.peek_image_shape``: a picture's shape without decoding it."""

from __future__ import annotations

from penstock import types
from penstock.arguments.on_error import OnErrorArgs
from penstock.op import arg, op


@op("peek_image_shape", legacy=["experimental.peek_image_shape"])
class PeekImageShape(OnErrorArgs):
    """Reads the shape that `decoders.image` would give from the file's header.

    Input: the bytes of a file, uint8 of shape ``(size,)``. Output: (height, width, channels), of shape ``(3,)`` and
    type ``dtype``.

    Errors: DecodeError for files that are no picture, or broken in the header.

    Example:
        >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None)
        ... def pipeline():
        ...     files, labels = fn.readers.file(file_root=photos)
        ...     return fn.peek_image_shape(files), fn.decoders.image(files)
        >>> shapes, images = pipeline().run()
        >>> tuple(shapes.as_array()[0]) == images.shape()[0]
        True
    """

    stage = "decode"

    image_type = arg(types.RGB, "Colours that the picture would be decoded to.")
    dtype = arg(
        types.INT64,
        "Type of the output.",
        choices=(types.INT64, types.INT32, types.UINT64, types.UINT32, types.FLOAT, types.FLOAT64),
    )
    adjust_orientation = arg(True, "Whether the picture would be turned upright by its EXIF orientation.")
