"""``fn.water``: pictures as seen through waves."""

from __future__ import annotations

import math

from penstock.arguments.displace import DisplaceArgs
from penstock.op import arg, op


@op("water", contract="sampler", devices=("cpu", "gpu"))
class Water(DisplaceArgs):
    """Bends pictures as waves do that one sees them through.

    The pixel (x, y) shows what is at ``(x + ampl_x * sin(freq_x * y + phase_x), y + ampl_y * cos(freq_y * x +
    phase_y))``, in float32. What lies beyond the picture is ``fill_value``, which is converted as by a cast in C. With
    INTERP_LINEAR pixels count from their centre, so the picture goes half a pixel to the right and down, as in DALI.

    Input: HWC, of type UINT8, INT16, INT32 or FLOAT. Output: the same shape, layout and type; integers are rounded half
    away from zero.

    Errors: ArgumentError for other interpolations; OperatorError for other types and layouts.

    Example:
        >>> @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        ... def pipeline():
        ...     image = types.Constant(np.uint8([[[1], [2], [3]], [[4], [5], [6]]]))
        ...     return fn.water(image, ampl_x=1, freq_x=0, phase_x=1.6, ampl_y=0)
        >>> pipeline().run()[0].at(0)[..., 0].tolist()
        [[1, 2, 3], [4, 5, 6]]
    """

    ampl_x = arg(10.0, "How far rows go to the right or left, in pixels.")
    ampl_y = arg(10.0, "How far columns go down or up, in pixels.")
    freq_x = arg(math.pi / 64, "Radians from one row to the next.")
    freq_y = arg(math.pi / 64, "Radians from one column to the next.")
    phase_x = arg(0.0, "Radians of the first row.")
    phase_y = arg(0.0, "Radians of the first column.")
