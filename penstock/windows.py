"""Arguments that several folders share: which part of a picture or tensor is wanted, and the type of what is made."""

from __future__ import annotations

from typing import Any

from penstock.op import Op, arg

# What may lie outside the input, and what is there then.
OUT_OF_BOUNDS = (
    "error", "trim_to_shape", "constant", "pad", "edge", "clamp", "reflect", "reflect_1001", "reflect_101", "wrap"
)  # fmt: skip


class CropWindowArgs(Op):
    """A window by its size, and its position as a share of the room that is left (crop_window.h)."""

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


class SliceWindowArgs(Op):
    """A window by start and end or size, along some axes (native/ops/arguments/slice_window.h).

    Instead of the arguments, two more inputs may be given, anchor and shape, with one value per axis: whole numbers
    count elements, floats are shares of the extent unless ``normalized_anchor`` or ``normalized_shape`` is False.
    """

    setup_reads = (1, 2)
    cpu_inputs = (1, 2)

    start = arg(None, "First elements, one for each axis.", kind="integers", per_sample=True, aka=["begin", "anchor"])
    end = arg(None, "Elements behind the last ones.", kind="integers", per_sample=True, aka=["stop"])
    shape = arg(None, "Numbers of elements.", kind="integers", per_sample=True)
    rel_start = arg(None, "First elements, as shares of the extents.", kind="numbers", per_sample=True)
    rel_end = arg(None, "Elements behind the last ones, as shares of the extents.", kind="numbers", per_sample=True)
    rel_shape = arg(None, "Numbers of elements, as shares of the extents.", kind="numbers", per_sample=True)
    axes = arg(
        [1, 0], "The axes by number, in the order of the other arguments; none: all.", per_sample=True, only_given=True
    )
    axis_names = arg(
        "WH",
        "The axes by their names in the layout (without one: HW, HWC, DHWC), unless `axes` is given.",
        kind="layout",
    )
    normalized_anchor = arg(True, "Whether an input `anchor` of floats is a share of the extents.")
    normalized_shape = arg(True, "Whether an input `shape` of floats is a share of the extents.")

    def prepare(self) -> None:
        super().prepare()
        for group in (("start", "rel_start"), ("end", "rel_end", "shape", "rel_shape"), ("axes", "axis_names")):
            both = [name for name in group if name in self.given]
            if len(both) > 1:
                raise self.wrong(both[0], f"cannot be given together with {' and '.join(both[1:])}")

    def kernel_arguments(self) -> dict[str, Any]:
        found = super().kernel_arguments()
        if "axes" in self.given:
            found["axis_names"] = None
        return found


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


class OldDtypeArgs(Op):
    """The name that ``dtype`` had before."""

    dtype: Any  # declared by subclasses
    output_dtype = arg(None, "The old name of `dtype`.", kind="dtype", deprecated="use dtype", to_kernel=False)

    def prepare(self) -> None:
        super().prepare()
        if self.output_dtype is not None:
            if "dtype" in self.given:
                raise self.twice("output_dtype", "dtype")
            self.dtype = self.output_dtype


class OutputTypeArgs(OldDtypeArgs):
    """The type of the output, with the names that it had before."""

    dtype = arg(None, "Type of the output; default: the input's.", kind="dtype", aka=["type", "output_type"])
    image_type = arg(
        None,
        "Formerly: the colour space.",
        kind="image_type",
        unused="nothing depends on it",
        deprecated="leave it out",
    )
