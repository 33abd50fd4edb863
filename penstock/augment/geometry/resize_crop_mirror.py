"""``fn.resize_crop_mirror``: resize, crop and flip in one go."""

from __future__ import annotations

from penstock.augment.geometry.resize_args import ResizeArgs
from penstock.op import arg, op
from penstock.windows import CropWindowArgs


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


@op(
    "fast_resize_crop_mirror",
    kernel="resize_crop_mirror",
    contract="sampler",
    devices=["cpu", "gpu"],
    deprecated="use fn.resize_crop_mirror, with antialias=False for the same result",
)
class FastResizeCropMirror(ResizeCropMirror):
    """The old name of `resize_crop_mirror`, with ``antialias=False`` unless it is given.

    Input and output are those of `resize_crop_mirror`.

    Errors: as `resize_crop_mirror`'s.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     image = types.Constant(np.float32([[[0], [1], [2], [30], [4], [5], [6], [7]]]))
        ...     return fn.fast_resize_crop_mirror(image, resize_x=2, resize_y=1, crop=(1, 2), mirror=1)
        >>> pipeline().run()[0].at(0).ravel().tolist()
        [5.5, 1.5]
    """

    antialias = arg(False, "As that of `resize_crop_mirror`, but for its default.", aka=["antialiasing"])
