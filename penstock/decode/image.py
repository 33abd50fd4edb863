"""``fn.decoders.image``: pictures out of files."""

from __future__ import annotations

from penstock.decode.options import CacheOptions, ImageOptions
from penstock.op import op


@op(
    "decoders.image",
    kernel="decode_image",
    contract="source",
    devices=["cpu", "mixed"],
    legacy=["image_decoder", "experimental.decoders.image"],
)
class Image(CacheOptions, ImageOptions):
    """Decodes JPEG and PNG pictures, whatever a file's name says.

    JPEG: baseline, progressive, arithmetic; grayscale, colour, CMYK and YCCK; pixels are those of libjpeg-turbo (exact
    DCT, interpolated chroma), bit for bit. PNG: 1 to 16 bits, gray, colour, palette, interlaced; transparency is
    dropped, not blended, but for an alpha channel with ``output_type=types.ANY_DATA``.

    With ``device="mixed"`` nvJPEG decodes ``hw_decoder_load`` of the JPEG files that the GPU can do, and nvImageCodec
    also JPEG 2000, TIFF and lossless JPEG, of 8 to 16 bits; ``pip install penstock[cuda13]`` brings both.

    Input: the bytes of a file, uint8 of shape ``(size,)``.

    Output: ``(H, W, C)``, layout ``"HWC"``, of type ``dtype``; C is 3, for GRAY 1, for ANY_DATA what is stored (1 to 4;
    a palette counts as 3).

    Errors: DecodeError for files that are no picture, broken or cut off, and for pictures of more pixels than
    ``PENSTOCK_MAX_PIXELS`` (an environment variable; 2**29 unless set). Damage that libjpeg only warns about is not an
    error. DeviceError for files that need nvImageCodec where it is missing.

    Example:
        >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None)
        ... def pipeline():
        ...     files, labels = fn.readers.file(file_root=photos)
        ...     return fn.decoders.image(files, output_type=types.RGB)
        >>> images, = pipeline().run()
        >>> images.layout(), images.dtype
        ('HWC', DALIDataType.UINT8)
    """
