"""``fn.decoders.image_random_crop``: a random window of each picture."""

from __future__ import annotations

from penstock.arguments.random_crop import RandomCropArgs
from penstock.decode.options import ImageArgs
from penstock.op import op


@op(
    "decoders.image_random_crop",
    kernel="decode_image_random_crop",
    contract="source",
    devices=["cpu", "mixed"],
    legacy=["image_decoder_random_crop", "experimental.decoders.image_random_crop"],
    legacy_classes=["HostDecoderRandomCrop", "nvJPEGDecoderRandomCrop"],
)
class ImageRandomCrop(RandomCropArgs, ImageArgs):
    """Decodes a random window of each picture and no more than it needs: the crop of Inception-style training.

    An area and an aspect ratio (width / height) are drawn until a window of that shape fits into the picture, or
    ``num_attempts`` is used up and the largest one that is allowed is taken; then its place.

    Input: the bytes of a file, uint8 of shape ``(size,)``. Output: as `decoders.image`'s, of the window's height and
    width. The window is that of the upright picture, after EXIF rotation.

    A window that is the first column alone has the colours of the whole picture, too. Of 4:2:0 JPEG files DALI
    interpolates its chroma otherwise, so there it differs from DALI's own whole picture.

    Errors: DecodeError as `decoders.image`; ArgumentError for ranges that are none.

    Example:
        >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None, seed=1)
        ... def pipeline():
        ...     files, labels = fn.readers.file(file_root=photos)
        ...     return fn.decoders.image_random_crop(files, random_area=(0.25, 0.25), random_aspect_ratio=(1.0, 1.0))
        >>> images, = pipeline().run()
        >>> height, width, channels = images.shape()[0]
        >>> height == width
        True
    """
