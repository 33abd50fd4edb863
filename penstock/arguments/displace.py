"""Arguments that operators share which move pixels one by one."""

from __future__ import annotations

from penstock import types
from penstock.op import Op, arg


class DisplaceArgs(Op):
    """What stands between and beyond pixels (ops/geometry/displace/operator.h)."""

    tiled = scattered = True

    mask = arg(
        1,
        "Whether the sample is changed: 0 leaves it as it is (DALI overlooks a 0 that no node gives).",
        per_sample=True,
    )
    interp_type = arg(
        types.INTERP_NN,
        "INTERP_NN takes the nearest pixel, INTERP_LINEAR blends neighbours.",
        choices=[types.INTERP_NN, types.INTERP_LINEAR],
        aka=["interpolation", "resample"],
    )
    fill_value = arg(0.0, "What stands beyond the input, in every channel.", aka=["fill", "fill_values", "fillcolor"])
