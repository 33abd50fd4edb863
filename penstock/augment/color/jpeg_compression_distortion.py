"""``fn.jpeg_compression_distortion``: what JPEG makes of pictures."""

from __future__ import annotations

from penstock.op import Op, arg, op


@op("jpeg_compression_distortion", devices=("cpu", "gpu"))
class JpegCompressionDistortion(Op):
    """Shows pictures as they are when they have been stored as JPEG files: with blocks, and colours that run.

    Colours are halved in width and height (4:2:0). Frames of a sequence are pictures by themselves.

    Input: HWC or FHWC (without a layout by the number of axes) with three channels, UINT8. Output: the same shape,
    layout and type.

    Errors: OperatorError for other types and layouts.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     image = types.Constant(np.full((8, 8, 3), 100, np.uint8))
        ...     return fn.jpeg_compression_distortion(image, quality=5)
        >>> pipeline().run()[0].at(0)[0, 0].tolist()
        [108, 108, 108]
    """

    quality = arg(50, "From 1 to 100, the best; what is less or more counts as 1 or 100.", per_sample=True)
