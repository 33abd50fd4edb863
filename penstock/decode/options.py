"""Arguments that all decoders of pictures share."""

from __future__ import annotations

from penstock import types
from penstock.arguments.on_error import OnErrorArgs
from penstock.decode.engines import JpegEngine, choose
from penstock.op import Op, arg

_GPU = "memory is found as it is needed"
_CACHE = "it is a cache on the GPU"

# Full scale becomes full scale of the type; FLOAT is 0 to 1.
PICTURE_DTYPES = (
    types.UINT8, types.INT8, types.UINT16, types.INT16, types.UINT32, types.INT32, types.FLOAT,
)  # fmt: skip


JPEG_ENGINES = ("auto", "cuda", "hardware", "cpu")


class ImageArgs(OnErrorArgs):
    """What to make of a file's pixels."""

    stage = "decode"
    setup_reads = (0,)

    output_type = arg(
        types.RGB,
        "Colours: RGB, BGR, GRAY, YCbCr (BT.601, luma 16 to 235) or ANY_DATA, as stored.",
        aka=["image_type", "color_mode", "color_space", "format"],
    )
    dtype = arg(
        types.UINT8, "Type of the pixels; full scale is mapped to full scale, FLOAT's to 1.", choices=PICTURE_DTYPES
    )
    adjust_orientation = arg(True, "Turn pictures upright by their EXIF orientation.")
    use_fast_idct = arg(
        False,
        "Use libjpeg's less exact inverse DCT, but for pictures that are turned upright. It is slower here than the "
        "exact one.",
    )
    jpeg_fancy_upsampling = arg(
        False, 'Interpolate the chroma of JPEG, with device="mixed". On the CPU it always is, as DALI does it.'
    )

    jpeg_engine = arg(
        "auto",
        "With device=\"mixed\": what decodes JPEG. 'cuda': kernels of our own, bit for bit as the CPU does it; "
        "'hardware': nvJPEG, by the GPU's engines or, where it has none, by its kernels; 'cpu'; or 'auto': 'cuda', "
        "unless the environment variable PENSTOCK_JPEG names another. The CPU does what an engine can't: the fast "
        "IDCT, with 'hardware' types other than UINT8 and progressive files. DALI has no such argument.",
        choices=JPEG_ENGINES,
    )
    jpeg_index = arg(
        None,
        "An index that ``python -m penstock index`` has made of a data set's JPEG files, or several. Crops are then "
        "decoded without what lies above and beside them; and the GPU's kernels need not find out where to begin. "
        "Pixels are the same. Files that it has not, or that have changed since, are decoded without. DALI has no such "
        "argument.",
        kind="paths",
        aka=["index_path", "jpeg_index_path"],
    )
    hw_decoder_load = arg(
        0.65,
        'With device="mixed": the share of a batch\'s JPEG files, in bytes, that the GPU decodes of those it can. '
        "It gets the first ones, and the CPU's threads the others. Where it is not given, kernels of our own get all; "
        "with 0 the CPU gets all, whatever the engine.",
    )
    preallocate_width_hint = arg(
        0, "Width of the largest picture: the GPU's engines make room for a batch of them. 0: as it is needed."
    )
    preallocate_height_hint = arg(0, "Its height.")
    device_memory_padding = arg(16_777_216, "Bytes by whose multiples the GPU's decoder takes device memory.")
    host_memory_padding = arg(8_388_608, "Bytes by whose multiples it takes pinned memory.")
    hybrid_huffman_threshold = arg(1_000_000, "Pixels from which Huffman decoding is done on the GPU.", unused=_GPU)
    device_memory_padding_jpeg2k = arg(0, "As `device_memory_padding`, for JPEG 2000.", unused=_GPU)
    host_memory_padding_jpeg2k = arg(0, "As `host_memory_padding`, for JPEG 2000.", unused=_GPU)
    affine = arg(
        True, "Bind the decoder's own threads to processors.", unused="it has none; see Pipeline(set_affinity=)"
    )
    memory_stats = arg(False, "Print memory statistics.", unused=_GPU, deprecated="it does nothing")
    split_stages = arg(False, "Decode in two stages.", unused=_GPU, deprecated="it does nothing")
    use_chunk_allocator = arg(False, "Another way to allocate.", unused=_GPU, deprecated="it does nothing")

    def chosen(self, device: str) -> JpegEngine | None:
        if device != "mixed":
            return None
        return choose(
            self.jpeg_engine,
            dtype=self.dtype,
            output_type=self.output_type,
            use_fast_idct=self.use_fast_idct,
            hw_decoder_load=self.hw_decoder_load,
            all_to_own="hw_decoder_load" not in self.given,
        )


class CacheArgs(Op):
    """DALI's cache of decoded pictures in GPU memory."""

    cache_size = arg(0, "Megabytes of the cache.", unused=_CACHE)
    cache_type = arg("", "What to keep: 'threshold' or 'largest'.", unused=_CACHE)
    cache_threshold = arg(0, "Bytes from which pictures are kept.", unused=_CACHE)
    cache_debug = arg(False, "Print what the cache does.", unused=_CACHE)
    cache_batch_copy = arg(True, "Copy out of the cache in one go.", unused=_CACHE)
