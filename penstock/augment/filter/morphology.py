"""Arguments that dilation and erosion share."""

from __future__ import annotations

from penstock.op import Op, arg


class MorphologyArgs(Op):
    """The mask, and what is beyond the border (ops/filter/morphology.h)."""

    mask_size = arg(
        [3, 3],
        "Width and height of the mask, in this order; one number is both.",
        per_sample=True,
        aka=["kernel_size", "ksize"],
    )
    anchor = arg(
        [-1, -1],
        "Column and row of the mask that lie over the pixel, in this order; -1: the middle, rounded down.",
        per_sample=True,
    )
    iterations = arg(1, "How often it is done; 0 copies.")
    border_mode = arg(
        "constant",
        "What stands beyond the border: nothing, which changes no pixel (constant), the last row and column "
        "(replicate), the picture mirrored with these (reflect) or without them (reflect_101), or over again (wrap).",
        choices=("constant", "replicate", "reflect", "reflect_101", "wrap"),
        aka=["border"],
    )

    def prepare(self) -> None:
        if not 0 <= self.iterations <= 1 << 20:
            raise self.wrong("iterations", f"expected 0 to {1 << 20}")
