"""``fn.crop``: a window of pictures, volumes or sequences."""

from __future__ import annotations

from penstock.arguments.border import OutOfBoundsArgs
from penstock.arguments.crop_window import CropWindowArgs
from penstock.arguments.dtype import OutputTypeArgs
from penstock.op import op


@op("crop", contract="sampler", devices=["cpu", "gpu"])
class Crop(CropWindowArgs, OutOfBoundsArgs, OutputTypeArgs):
    """Cuts a window of a given size out of pictures.

    The window's upper left corner is ``crop_pos_x * (width - crop_w)``, ``crop_pos_y * (height - crop_h)``, rounded; so
    0 is at the left or top, 0.5 in the middle. Sizes are in pixels; their fractions are cut off.

    Input: pictures, volumes or sequences with height and width in the layout (HWC, CHW, HW, DHWC, FHWC ...), of any
    type. Without a layout, three axes are HWC, four DHWC. Each frame of a sequence is cropped alike; where there is no
    depth, ``crop_d``, ``crop_pos_z`` and the first of three numbers in ``crop`` say which frames stay.

    Output: the same layout; extents W, H and D (or F) become the window's. With ``dtype``, values that do not fit
    saturate and fractions are cut off.

    Errors: ArgumentError for ``crop`` together with ``crop_w``, ``crop_h`` or ``crop_d``, and for ``crop_w`` without
    ``crop_h``; OperatorError, naming the axis, for a window that reaches beyond the input (unless
    ``out_of_bounds_policy`` allows it), for positions outside 0 to 1 and for layouts without height and width.

    Example:
        >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None)
        ... def pipeline():
        ...     files, labels = fn.readers.file(file_root=photos)
        ...     images = fn.decoders.image(files, device="cpu")
        ...     return fn.crop(images, crop=[30, 40], crop_pos_x=fn.random.uniform(range=[0.0, 1.0]))
        >>> images, = pipeline().run()
        >>> images.as_array().shape
        (2, 30, 40, 3)
    """
