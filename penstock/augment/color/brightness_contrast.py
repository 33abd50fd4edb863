"""``fn.brightness_contrast``: brighter or darker, with more or less contrast."""

from __future__ import annotations

from penstock.augment.color.pixels import BrightnessArgs, ContrastArgs
from penstock.op import op


@op("brightness_contrast", contract="pixel", devices=("cpu", "gpu"))
class BrightnessContrast(BrightnessArgs, ContrastArgs):
    """Changes the brightness and the contrast of pictures.

    Each value ``v`` becomes ``brightness_shift * range + brightness * (contrast_center + contrast * (v -
    contrast_center))``, in float32, where ``range`` is the largest value of the output's type, and 1 for floats.
    Integers are rounded half away from zero and saturate.

    Input: pictures, volumes or sequences with height and width in the layout (HWC, CHW, DHWC, FHWC ...), of type UINT8,
    INT16, INT32, FLOAT16 or FLOAT. Without a layout, three axes are HWC, four FHWC.

    Output: the same shape and layout, of type ``dtype``.

    Errors: ArgumentError for another ``dtype``; OperatorError for other types of the input, and for layouts without
    height and width.

    Example:
        >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None)
        ... def pipeline():
        ...     files, labels = fn.readers.file(file_root=photos)
        ...     images = fn.decoders.image(files, device="cpu")
        ...     return images, fn.brightness_contrast(images, brightness=2, contrast=0.5, contrast_center=0)
        >>> images, same = pipeline().run()
        >>> bool((images.at(0) == same.at(0)).all())
        True
    """
