"""``fn.contrast``: more or less contrast."""

from __future__ import annotations

from penstock.augment.color.pixels import ContrastArgs
from penstock.op import op


@op("contrast", kernel="brightness_contrast", contract="pixel", devices=("cpu", "gpu"))
class Contrast(ContrastArgs):
    """Changes the contrast of pictures.

    Each value ``v`` becomes ``contrast_center + contrast * (v - contrast_center)``, in float32. Integers are rounded
    half away from zero and saturate.

    Input: pictures, volumes or sequences with height and width in the layout (HWC, CHW, DHWC, FHWC ...), of type UINT8,
    INT16, INT32, FLOAT16 or FLOAT. Without a layout, three axes are HWC, four FHWC.

    Output: the same shape and layout, of type ``dtype``.

    Errors: ArgumentError for another ``dtype``; OperatorError for other types of the input, and for layouts without
    height and width.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     image = np.uint8([[[0], [128], [200]]])
        ...     return fn.contrast(image, contrast=0.5), fn.contrast(image, contrast=2, contrast_center=100)
        >>> [output.at(0).ravel().tolist() for output in pipeline().run()]
        [[64, 128, 164], [0, 156, 255]]
    """
