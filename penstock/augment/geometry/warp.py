"""Arguments that operators which warp share."""

from __future__ import annotations

from penstock import types
from penstock.arguments.dtype import OldDtypeArgs
from penstock.op import arg

WARP_TYPES = (types.UINT8, types.INT16, types.INT32, types.FLOAT)


class WarpArgs(OldDtypeArgs):
    """The size and the type of the output, and what stands between and beyond pixels (ops/geometry/warp/operator.h)."""

    tiled = scattered = True

    size = arg(
        [],
        "Extents of the output, in pixels: (height, width) or (depth, height, width); constants are rounded, to 1 at "
        "least, of those that a node gives fractions are cut off, which may leave 0. None: not given.",
        kind="numbers",
        per_sample=True,
    )
    fill_value = arg(
        None,
        "What stands beyond the input, in every channel; default: the border's pixels are repeated. It is rounded to "
        "the output's type, with INTERP_LINEAR then to the input's.",
        kind="number",
        aka=["fill", "fill_values", "fillcolor"],
    )
    interp_type = arg(
        types.INTERP_LINEAR,
        "INTERP_LINEAR blends neighbours, INTERP_NN takes the nearest pixel.",
        choices=[types.INTERP_NN, types.INTERP_LINEAR],
        aka=["interpolation", "resample"],
    )
    dtype = arg(
        None,
        "Type of the output: the input's (the default), or FLOAT; of floats any of those that inputs may have.",
        kind="dtype",
        choices=WARP_TYPES,
    )
    output_dtype = arg(
        None, "The old name of `dtype`.", kind="dtype", choices=WARP_TYPES, deprecated="use dtype", to_kernel=False
    )

    def prepare(self) -> None:
        super().prepare()
        if self.size and len(self.size) not in (2, 3):
            raise self.wrong("size", "expected (height, width) or (depth, height, width)")
