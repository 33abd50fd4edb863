"""``fn.decoders.image``: pictures out of files."""

from __future__ import annotations

from penstock.decode.options import CacheArgs, ImageArgs
from penstock.op import op


@op(
    "decoders.image",
    kernel="decode_image",
    contract="source",
    devices=["cpu", "mixed"],
    legacy=["image_decoder", "experimental.decoders.image"],
    legacy_classes=["HostDecoder", "nvJPEGDecoder"],
)
class Image(CacheArgs, ImageArgs):
    """Decodes JPEG, JPEG 2000, PNG, TIFF, WebP, BMP and PNM pictures, whatever a file's name says.

    JPEG: baseline, progressive, arithmetic; grayscale, colour, CMYK and YCCK; pixels are those of libjpeg-turbo (exact
    DCT, interpolated chroma), bit for bit. Lossless JPEG: 2 to 16 bits, all predictors. PNG: 1 to 16 bits, gray,
    colour, palette, interlaced. BMP: 1 to 32 bits, palettes, bit fields, run lengths. PNM: PBM, PGM and PPM, text and
    bytes. JPEG 2000 (JP2 and codestreams, to 16 bits; by OpenJPEG), TIFF (strips and tiles, interleaved and planar, 1
    to 16 bits and floats, any channels, first page; by libtiff) and WebP (of an animation the first frame; by libwebp)
    need those libraries, which are loaded when the first such file comes: the system's, or else those that
    ``pip install pillow`` brings. Transparency is dropped, not blended, but for an alpha channel with
    ``output_type=types.ANY_DATA``.

    With ``device="mixed"`` the GPU decodes JPEG files of the kinds that nearly all are (baseline or extended, of one
    scan), by kernels of our own, which give the same pixels, or by nvJPEG, as ``jpeg_engine`` says; and nvImageCodec
    JPEG 2000, TIFF and lossless JPEG, of 8 to 16 bits. ``pip install penstock[cuda13]`` brings NVIDIA's libraries. The
    CPU decodes the rest, and what a missing library would. `Pipeline.explain` says which engine decodes what,
    `penstock.profile` how many files each has decoded.

    Input: the bytes of a file, uint8 of shape ``(size,)``.

    Output: ``(H, W, C)``, layout ``"HWC"``, of type ``dtype``; C is 3, for GRAY 1, for ANY_DATA what is stored (a
    palette counts as 3).

    Errors: DecodeError for files that are no picture, broken or cut off, and for pictures of more pixels than
    `penstock.backend.set_max_decoded_pixels` or the environment variable ``PENSTOCK_MAX_PIXELS`` allows (2**29 unless
    set). Damage that libjpeg only warns about is not an error. OperatorError where a format's library is missing: it
    says what to install.

    Example:
        >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None)
        ... def pipeline():
        ...     files, labels = fn.readers.file(file_root=photos)
        ...     return fn.decoders.image(files, output_type=types.RGB)
        >>> images, = pipeline().run()
        >>> images.layout(), images.dtype
        ('HWC', DALIDataType.UINT8)
    """
