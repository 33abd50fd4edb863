"""What becomes of windows that reach beyond the input."""

from __future__ import annotations

from penstock.op import Op, arg

# What may lie outside the input, and what is there then.
OUT_OF_BOUNDS = (
    "error", "trim_to_shape", "constant", "pad", "edge", "clamp", "reflect", "reflect_1001", "reflect_101", "wrap"
)  # fmt: skip


class OutOfBoundsArgs(Op):
    """What becomes of a window that reaches beyond the input (native/ops/arguments/border.h)."""

    out_of_bounds_policy = arg(
        "error",
        "What becomes of a window that reaches beyond the input: 'error' refuses it, 'trim_to_shape' cuts it, "
        "'pad' or 'constant' fills it with `fill_values`, 'edge' or 'clamp' repeats the edge, 'reflect' or "
        "'reflect_1001' mirrors with the edge, 'reflect_101' without it, 'wrap' starts again at the other side.",
        choices=OUT_OF_BOUNDS,
    )
    fill_values = arg(
        [0.0], "What 'pad' fills with: one value, or one per channel.", aka=["fill", "fill_value", "value"]
    )

    def prepare(self) -> None:
        super().prepare()
        if not self.fill_values:
            raise self.wrong("fill_values", "expected at least one value")
