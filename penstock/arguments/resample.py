"""Arguments that operators which resample share."""

from __future__ import annotations

from penstock import types
from penstock.op import Op, arg

# How the size of the output may be given; one of these must be.
_METHODS = (("size",), ("resize_x", "resize_y", "resize_z"), ("resize_shorter",), ("resize_longer",))


class ResampleArgs(Op):
    """How samples between and beyond pixels are found, and as what they come out."""

    tiled = True

    interp_type = arg(
        types.INTERP_LINEAR,
        "The filter for both enlarging and shrinking.",
        per_sample=True,
        aka=["interpolation", "resample", "filter"],
    )
    mag_filter = arg(
        types.INTERP_LINEAR, "The filter for enlarging, instead of `interp_type`.", per_sample=True, only_given=True
    )
    min_filter = arg(
        types.INTERP_LINEAR, "The filter for shrinking, instead of `interp_type`.", per_sample=True, only_given=True
    )
    antialias = arg(
        True,
        "When shrinking, filters grow with the scale so that every input pixel counts; without, linear interpolation "
        "reads 2 pixels per axis. Nearest neighbour has none.",
        aka=["antialiasing"],
    )
    dtype = arg(None, "Type of the output: the input's (the default) or FLOAT.", kind="dtype")
    minibatch_size = arg(32, "Pictures per kernel launch.", unused="pictures are resized one by one.")
    temp_buffer_hint = arg(0, "Bytes of temporary memory to begin with.", unused="memory is found as needed.")


class ExtentArgs(Op):
    """How extents follow from those given, and which part of the input fills them (ops/geometry/resize/size.h)."""

    mode = arg(
        "default",
        "'default': extents that are not given follow from the others, so that the picture keeps its shape; "
        "'stretch': they stay as they are; 'not_larger', 'not_smaller': the picture keeps its shape, and no extent "
        "is larger (smaller) than the one given.",
        choices=["default", "stretch", "not_larger", "not_smaller"],
    )
    max_size = arg(
        None,
        "Limits of the output's extents: one number, or one per axis. Where the picture keeps its shape, all of it "
        "becomes smaller. Without a size (all are 0) there is no limit either.",
        kind="numbers",
    )
    subpixel_scale = arg(
        True,
        "When an extent is rounded to whole pixels, the region of the input grows or shrinks with it, about its "
        "centre, so that the scale stays as asked; without, the scale changes a little.",
    )
    roi_start = arg(
        None,
        "Where the region that is resized begins, in the order of the axes. It may reach beyond the input, whose "
        "border pixels are repeated there, and begin behind its end: that mirrors.",
        kind="numbers",
        per_sample=True,
    )
    roi_end = arg(None, "Where the region that is resized ends.", kind="numbers", per_sample=True)
    roi_relative = arg(False, "Whether the region is given as shares of the input's extents.")

    def prepare(self) -> None:
        super().prepare()
        if len({"roi_start", "roi_end"} & self.given) == 1:
            raise self.wrong("roi_start", "roi_start and roi_end must be given together")


class ResizeArgs(ExtentArgs, ResampleArgs):
    """The size of the output."""

    size = arg(
        None,
        "Extents of the output in the order of the axes: (height, width) or (depth, height, width), or one number for "
        "all. 0: not given. Below 0: mirrored along that axis. Fractions are allowed, see `subpixel_scale`.",
        kind="numbers",
        per_sample=True,
        aka=["output_size", "shape", "new_size"],
    )
    resize_x = arg(0.0, "Width of the output, like one value of `size`.", per_sample=True, aka=["width", "w"])
    resize_y = arg(0.0, "Height of the output, like one value of `size`.", per_sample=True, aka=["height", "h"])
    resize_z = arg(0.0, "Depth of the output, of volumes, like one value of `size`.", per_sample=True, aka=["depth"])
    resize_shorter = arg(
        0.0,
        "Length of the shorter side; the picture keeps its shape.",
        per_sample=True,
        only_given=True,
        aka=["shorter", "short_side", "shorter_side"],
    )
    resize_longer = arg(
        0.0,
        "Length of the longer side; the picture keeps its shape.",
        per_sample=True,
        only_given=True,
        aka=["longer", "long_side", "longer_side"],
    )
    image_type = arg(None, "Colour space.", kind="image_type", unused="it changes nothing.", deprecated="leave it out")

    def prepare(self) -> None:
        super().prepare()
        used = [names for names in _METHODS if not self.given.isdisjoint(names)]
        if len(used) != 1:
            got = ", ".join(n for names in used for n in names if n in self.given) or "none"
            raise self.wrong(
                used[0][0] if used else "size",
                "give the size in exactly one way: size, or resize_x, resize_y, resize_z, or resize_shorter, or "
                f"resize_longer (given: {got})",
            )
        if "mode" in self.given and used[0][0] in ("resize_shorter", "resize_longer"):
            raise self.wrong("mode", f"cannot be given together with {used[0][0]}, which implies one")
