"""``fn.resize_crop_mirror``: resize, crop and flip in one go."""

from __future__ import annotations

from penstock.arguments.crop_window import CropWindowArgs
from penstock.arguments.resample import ResizeArgs
from penstock.op import arg, op


@op("resize_crop_mirror", contract="sampler", devices=["cpu", "gpu"])
class ResizeCropMirror(CropWindowArgs, ResizeArgs):
    """Resizes, cuts a window out of the result, and mirrors that. Only what the window shows is computed.

    Input, output and sizes are as `resize`'s, and the window is as `crop`'s. A window that reaches beyond the resized
    picture shows more of the input, whose border pixels are repeated there. With INTERP_NN, where an output pixel lies
    just between two of the input, the last bit of its position decides, which need not be that of `resize`'s.

    Errors: ArgumentError unless the size is given in exactly one way, or if ``crop`` and ``crop_w`` are both given;
    OperatorError for other types and layouts, and for sizes that are infinite or not a number.

    Example:
        >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None)
        ... def pipeline():
        ...     files, labels = fn.readers.file(file_root=photos)
        ...     images = fn.decoders.image(files)
        ...     return fn.resize_crop_mirror(images, resize_shorter=256, crop=(224, 224), mirror=fn.random.coin_flip())
        >>> images, = pipeline().run()
        >>> images.shape()
        [(224, 224, 3), (224, 224, 3)]
    """

    mirror = arg(
        0, "What to mirror: 1 left and right, 2 top and bottom, 4 front and back; sums of them.", per_sample=True
    )
