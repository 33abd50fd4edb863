"""A window by its size and its position."""

from __future__ import annotations

from penstock.op import Op, arg


class CropWindowArgs(Op):
    """A window by its size, and its position as a share of what is left over (native/ops/arguments/crop_window.h)."""

    crop = arg(
        None,
        "(height, width) or (depth, height, width), of sequences (frames, height, width); 0: the whole extent.",
        kind="numbers",
        per_sample=True,
        aka=["crop_size", "size", "window"],
    )
    crop_w = arg(0.0, "Width; 0: the whole extent.", per_sample=True, aka=["width", "w"])
    crop_h = arg(0.0, "Height; 0: the whole extent.", per_sample=True, aka=["height", "h"])
    crop_d = arg(
        0.0,
        "Depth of volumes, or number of frames of sequences; 0: the whole extent.",
        per_sample=True,
        aka=["depth"],
    )
    crop_pos_x = arg(
        0.5, "Left edge, from 0 to 1: times (input's width - window's width).", per_sample=True, aka=["x", "left"]
    )
    crop_pos_y = arg(
        0.5, "Upper edge, from 0 to 1: times (input's height - window's height).", per_sample=True, aka=["y", "top"]
    )
    crop_pos_z = arg(
        0.5,
        "Front, or first frame, from 0 to 1: times (input's depth - window's depth).",
        per_sample=True,
    )
    rounding = arg("round", "How an edge becomes a whole number.", choices=["round", "truncate"])

    def prepare(self) -> None:
        super().prepare()
        sizes = [name for name in ("crop_w", "crop_h", "crop_d") if name in self.given]
        if "crop" in self.given:
            if sizes:
                raise self.wrong("crop", f"cannot be given together with {' and '.join(sizes)}")
            if self.crop is not None and len(self.crop) not in (2, 3):
                raise self.wrong("crop", "expected (height, width) or (depth, height, width)")
        elif sizes and not {"crop_w", "crop_h"} <= set(sizes):
            raise self.wrong(sizes[0], "crop_w and crop_h must be given together")
