"""``fn.resize``: pictures, videos and volumes of another size."""

from __future__ import annotations

from penstock.arguments.resample import ResizeArgs
from penstock.op import arg, op


@op("resize", kernel="resize", contract="sampler", devices=["cpu", "gpu"])
class Resize(ResizeArgs):
    """Resizes pictures, videos and volumes.

    Input: uint8, int16, uint16 or float32; the layout is one of HWC, CHW, FHWC, FCHW, CFHW, DHWC, FDHWC, CDHW and the
    like (without a layout: HWC, FHWC or FDHWC by the number of axes). Any number of channels; frames are resized alike.

    Output: the same type, or float32 with ``dtype=types.FLOAT``; the layout stays. Integers are rounded to the
    nearest, halves to the even one, and saturate. (DALI's CPU kernels round halves up or to even, as their vectors
    fall, and make -1 of int16 between -0.5 and 0.) With ``save_attrs`` a second output holds the input's extents, int32
    of shape ``(2,)`` (height, width) or ``(3,)`` (depth, height, width).

    Where a pixel lies just at the end of a Gaussian, or an output pixel just between two of the input (INTERP_NN), the
    last bit of its position decides; in one tie out of many it is not DALI's.

    Sizes and regions are in pixels; the centre of the first pixel is at 0.5. Extents are rounded to at least 1; an
    empty input stays empty. A region beyond the input repeats its border with all filters, where DALI's INTERP_NN reads
    what lies elsewhere in memory. When shrinking, filters are as long as the scale demands (DALI's have 8192 taps at
    most, so that it leaves pixels out where an axis shrinks to less than a few thousandths).

    On a GPU sums are formed in another order: fewer than one integer in a hundred differs from the CPU's, by 1 (at
    simple ratios such as 2:3, where sums often lie half-way between integers, up to four in a hundred).

    Errors: ArgumentError unless the size is given in exactly one way; OperatorError for other types and layouts, and
    for sizes that are infinite or not a number (DALI makes some other extent of them, or crashes).

    Example:
        >>> @pipeline_def(batch_size=2, num_threads=1, device_id=None)
        ... def pipeline():
        ...     files, labels = fn.readers.file(file_root=photos)
        ...     return fn.resize(fn.decoders.image(files), resize_x=224, resize_y=160)
        >>> images, = pipeline().run()
        >>> images.shape()
        [(160, 224, 3), (160, 224, 3)]
    """

    save_attrs = arg(False, "Whether there is a second output, the input's extents.", to_kernel=False)

    def num_outputs(self) -> int:
        return 2 if self.save_attrs else 1


@op("experimental.resize", kernel="resize", contract="sampler", devices=["cpu", "gpu"])
class ExperimentalResize(Resize):
    """Resizes pictures, videos and volumes: the same as `resize`. (In DALI it is another way to do so on GPUs.)

    Input, output and errors: those of `resize`.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.experimental.resize(types.Constant(np.zeros((2, 3, 1), np.uint8)), size=(4, 6))
        >>> pipeline().run()[0].at(0).shape
        (4, 6, 1)
    """
