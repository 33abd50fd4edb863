"""``fn.decoders.image_crop``: a window of each picture, of a given size."""

from __future__ import annotations

from penstock.arguments.crop_window import CropWindowArgs
from penstock.decode.options import ImageArgs
from penstock.op import op


@op(
    "decoders.image_crop",
    kernel="decode_image_crop",
    contract="source",
    devices=["cpu", "mixed"],
    legacy=["image_decoder_crop", "experimental.decoders.image_crop"],
    legacy_classes=["HostDecoderCrop", "nvJPEGDecoderCrop"],
)
class ImageCrop(CropWindowArgs, ImageArgs):
    """Decodes a window of each picture and no more than it needs: equal to `decoders.image` followed by `crop`.

    Input: the bytes of a file, uint8 of shape ``(size,)``. Output: as `decoders.image`'s, of the window's height and
    width. The window is that of the upright picture, after EXIF rotation.

    A window that is the first column alone has the colours of the whole picture, too. Of 4:2:0 JPEG files DALI
    interpolates its chroma otherwise, so there it differs from DALI's own whole picture.

    Errors: DecodeError as `decoders.image`; OperatorError where the window does not lie inside the picture.

    Example:
        >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None)
        ... def pipeline():
        ...     files, labels = fn.readers.file(file_root=photos)
        ...     return fn.decoders.image_crop(files, crop=(60, 80), crop_pos_x=0.0)
        >>> images, = pipeline().run()
        >>> images.shape()[0]
        (60, 80, 3)
    """
