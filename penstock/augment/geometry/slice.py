"""``fn.slice``: a part of a tensor."""

from __future__ import annotations

from penstock.arguments.border import OutOfBoundsArgs
from penstock.arguments.dtype import OutputTypeArgs
from penstock.arguments.slice_window import SliceWindowArgs
from penstock.op import op


@op("slice", contract="sampler", devices=["cpu", "gpu"], inputs=(1, 3))
class Slice(SliceWindowArgs, OutOfBoundsArgs, OutputTypeArgs):
    """Cuts a part out of tensors, along some of their axes.

    The part is given by ``start`` or ``rel_start`` (default 0) and one of ``end``, ``rel_end``, ``shape`` and
    ``rel_shape`` (default: the input's end), each with one value per axis, or one for all. ``rel_`` means shares of the
    extent; the results are rounded. Which axes, and in which order, ``axes`` or ``axis_names`` say: by default, width
    and height. An empty list of one sample leaves that argument out for it.

    Or by two more inputs, ``anchor`` and ``shape``, with one value per axis: integers count elements; floats are shares
    of the extent, unless ``normalized_anchor`` or ``normalized_shape`` is False.

    Inputs: tensors of any type, layout and number of axes; then, perhaps, anchor and shape, which are on the CPU.

    Output: the same layout; the extents of the axes become the part's. With ``dtype``, values that do not fit saturate
    and fractions are cut off.

    Errors: ArgumentError for arguments that exclude each other; OperatorError, naming the axis, for a part that reaches
    beyond the input (unless ``out_of_bounds_policy`` allows it) or ends before it starts, for axes that the input does
    not have, and for numbers of values that do not fit the axes.

    Example:
        >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None)
        ... def pipeline():
        ...     files, labels = fn.readers.file(file_root=photos)
        ...     images = fn.decoders.image(files, device="cpu")
        ...     return fn.slice(images, start=[8, 4], shape=[40, 30]), fn.slice(files, start=0, end=2, axes=0)
        >>> images, magic = pipeline().run()
        >>> images.as_array().shape, magic.as_array().shape
        ((2, 30, 40, 3), (2, 2))
    """
