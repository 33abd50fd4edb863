"""``fn.fast_resize_crop_mirror``: the old name of `resize_crop_mirror`."""

from __future__ import annotations

from penstock.augment.geometry.resize_crop_mirror import ResizeCropMirror
from penstock.op import arg, op


@op(
    "fast_resize_crop_mirror",
    kernel="resize_crop_mirror",
    contract="sampler",
    devices=["cpu", "gpu"],
    deprecated="use fn.resize_crop_mirror, with antialias=False for the same result",
)
class FastResizeCropMirror(ResizeCropMirror):
    """The old name of `resize_crop_mirror`, with ``antialias=False`` unless it is given.

    Input and output are those of `resize_crop_mirror`.

    Errors: as `resize_crop_mirror`'s.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     image = types.Constant(np.float32([[[0], [1], [2], [30], [4], [5], [6], [7]]]))
        ...     return fn.fast_resize_crop_mirror(image, resize_x=2, resize_y=1, crop=(1, 2), mirror=1)
        >>> pipeline().run()[0].at(0).ravel().tolist()
        [5.5, 1.5]
    """

    antialias = arg(False, "As that of `resize_crop_mirror`, but for its default.", aka=["antialiasing"])
