"""``fn.decoders.image_slice``: a window of each picture, given by its corners."""

from __future__ import annotations

from penstock.arguments.slice_window import SliceWindowArgs
from penstock.decode.options import ImageArgs
from penstock.op import op


@op(
    "decoders.image_slice",
    kernel="decode_image_slice",
    contract="source",
    devices=["cpu", "mixed"],
    inputs=(1, 3),
    legacy=["image_decoder_slice", "experimental.decoders.image_slice"],
    legacy_classes=["HostDecoderSlice", "nvJPEGDecoderSlice"],
)
class ImageSlice(SliceWindowArgs, ImageArgs):
    """Decodes a window of each picture and no more than it needs: equal to `decoders.image` followed by `slice`.

    Inputs: the bytes of a file, uint8 of shape ``(size,)``; and, unless ``start``, ``end`` and so on are given, the
    window's anchor and shape: 1-D, one value for each of ``axes`` (x, then y, unless said otherwise), FLOAT as shares
    of the picture or whole numbers of pixels. Output: as `decoders.image`'s, of the window's height and width. The
    window is that of the upright picture, after EXIF rotation.

    A window that is the first column alone has the colours of the whole picture, too. Of 4:2:0 JPEG files DALI
    interpolates its chroma otherwise, so there it differs from DALI's own whole picture.

    Errors: DecodeError as `decoders.image`; OperatorError where the window does not lie inside the picture.

    Example:
        >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None)
        ... def pipeline():
        ...     files, labels = fn.readers.file(file_root=photos)
        ...     return fn.decoders.image_slice(files, start=(20, 10), shape=(80, 60))
        >>> images, = pipeline().run()
        >>> images.shape()[0]
        (60, 80, 3)
    """

    setup_reads = (0, 1, 2)  # type: ignore[assignment]  # one more than the arguments alone read
