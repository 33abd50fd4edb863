"""``fn.crop_mirror_normalize``: the last step before training."""

from __future__ import annotations

from penstock import types
from penstock.arguments.border import OutOfBoundsArgs
from penstock.arguments.crop_window import CropWindowArgs
from penstock.arguments.dtype import OutputTypeArgs
from penstock.op import arg, op


@op("crop_mirror_normalize", contract="store", devices=["cpu", "gpu"])
class CropMirrorNormalize(CropWindowArgs, OutOfBoundsArgs, OutputTypeArgs):
    """Crops and mirrors pictures, normalizes their values and puts the axes in another order, in one pass.

    Each value becomes ``scale * (value - mean) / std + shift``, in float32; integers are rounded half away from zero
    and saturate. The window is that of `crop`; without arguments for it, the whole picture.

    One ``mean`` and one ``std`` are for all channels, also where ``fill_values`` has several numbers. With 'pad' DALI
    makes 0 of all channels but the first then, if one of the two is given.

    Input: pictures, volumes or sequences with height, width and channels in the layout (HWC, CHW, DHWC, FHWC ...), of
    type UINT8, UINT16, INT16, INT32, FLOAT16 or FLOAT. Without a layout, three axes are HWC, four DHWC.

    Output: layout ``output_layout``, type ``dtype``; extents W, H and D (or F) are the window's.

    Errors: ArgumentError as for `crop`; OperatorError for a window that reaches beyond the input (unless
    ``out_of_bounds_policy`` allows it), for an ``output_layout`` without just the input's axes, for numbers of
    ``mean``, ``std`` or ``fill_values`` that do not fit the channels, and for other types of the input.

    Example:
        >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None)
        ... def pipeline():
        ...     files, labels = fn.readers.file(file_root=photos)
        ...     images = fn.decoders.image(files, device="cpu")
        ...     return fn.crop_mirror_normalize(
        ...         images, crop=[30, 40], mirror=fn.random.coin_flip(), dtype=types.FLOAT16,
        ...         mean=[123.7, 116.3, 103.5], std=[58.4, 57.1, 57.4])
        >>> images, = pipeline().run()
        >>> images.as_array().shape, images.as_array().dtype
        ((2, 3, 30, 40), dtype('float16'))
    """

    mean = arg([0.0], "Taken off each value: one number, or one per channel.", per_sample=True, aka=["means"])
    std = arg([1.0], "Divides each value: one number, or one per channel.", per_sample=True, aka=["stddev", "sigma"])
    scale = arg(1.0, "Multiplies each value.")
    shift = arg(0.0, "Added to each value at last.")
    mirror = arg(
        0, "Whether to flip left to right: 0 or another number.", per_sample=True, aka=["flip", "hflip", "horizontal"]
    )
    dtype = arg(types.FLOAT, "Type of the output.", choices=[types.FLOAT, types.FLOAT16, types.UINT8, types.INT8])
    output_layout = arg(
        "CHW",
        "Axes of the output in order, a permutation of the input's; '': the input's.",
        kind="layout",
        aka=["layout", "data_format"],
    )
    pad_output = arg(
        False,
        "Whether to add channels up to a power of two; they are 0, or `fill_values` with 'pad'. With it `mean`, `std` "
        "and `fill_values` may have other numbers of values, up to that: channels without `mean` and `std`, and fills "
        "that are not given, are 0.",
    )
    out_of_bounds_policy = arg(
        "error",
        "What becomes of a window that reaches beyond the input: 'error' refuses it, 'trim_to_shape' cuts it, 'pad' or "
        "'constant' fills it with `fill_values`, which are not normalized.",
        choices=["error", "trim_to_shape", "constant", "pad"],
    )

    def prepare(self) -> None:
        super().prepare()
        accepted = self.arguments["dtype"].choices or ()
        if self.dtype not in accepted:  # given by its old name
            raise self.wrong("output_dtype", f"expected one of {', '.join(map(repr, accepted))}")
