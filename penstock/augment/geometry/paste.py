"""``fn.paste``: pictures on a larger canvas."""

from __future__ import annotations

from penstock.op import REQUIRED, Op, arg, op

_MOST_CHANNELS = 1024


@op("paste", devices=("cpu", "gpu"))
class Paste(Op):
    """Puts pictures on a larger canvas of one colour.

    The canvas is ``ratio`` times as wide and high as the picture, rounded down, and at least ``min_canvas_size``.
    The picture's upper left corner is at ``paste_x * (canvas width - width)``, ``paste_y * (canvas height - height)``.

    Input: pictures of type UINT8 and layout HWC. Output: the same type and layout.

    A single number of ``fill_value`` fills all channels that there are. (Where these are not ``n_channels``, DALI
    leaves memory as it was, or writes beyond it.)

    Errors: ArgumentError for numbers of ``fill_value`` that are neither one nor ``n_channels``; OperatorError for a
    ``ratio`` below 1, a ``min_canvas_size`` below 0, for positions outside 0 to 1, for other types and layouts, and
    where ``fill_value`` does not have the picture's channels.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     return fn.paste(np.uint8([[[1], [2]]]), ratio=2, fill_value=9, n_channels=1, paste_x=1, paste_y=0)
        >>> pipeline().run()[0].at(0)[:, :, 0].tolist()
        [[9, 9, 1, 2], [9, 9, 9, 9]]
    """

    ratio = arg(REQUIRED, "How many times larger the canvas is; at least 1.", kind="number", per_sample=True)
    fill_value = arg(REQUIRED, "Colour of the canvas: one number, or one per channel.", kind="integers")
    n_channels = arg(3, "Channels of the pictures: how many numbers a `fill_value` of several has.", to_kernel=False)
    paste_x = arg(0.5, "Left edge of the picture, from 0 to 1.", per_sample=True)
    paste_y = arg(0.5, "Upper edge of the picture, from 0 to 1.", per_sample=True)
    min_canvas_size = arg(0.0, "Least width and height of the canvas.", per_sample=True)

    def prepare(self) -> None:
        if not 0 <= self.n_channels <= _MOST_CHANNELS:
            raise self.wrong("n_channels", f"expected 0 to {_MOST_CHANNELS}")
        if len(self.fill_value) not in (1, self.n_channels):
            raise self.wrong("fill_value", f"expected one number, or one for each of {self.n_channels} channels")
