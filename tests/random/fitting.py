"""What operators take, and what comes out of them: so that few calls are refused, and those behind others run, too."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from penstock import types
from penstock.op import Op
from tests.random.arguments import Given
from tests.random.compare import RESIZES
from tests.random.draw import COMMON, LAYOUTS, TYPE_NAMES, Draw, Input, picture

HUES = ("hsv", "hue", "saturation", "color_twist")
WARPS = ("rotate", "warp_affine")
# The types of their pictures.
TAKES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys((*RESIZES, "random_resized_crop"), ("uint8", "int16", "uint16", "float32")),
    **dict.fromkeys(WARPS, ("uint8", "int16", "int32", "float32")),
    **dict.fromkeys(
        (*HUES, "brightness", "contrast", "brightness_contrast"), ("uint8", "int16", "int32", "float16", "float32")
    ),
    "color_space_conversion": ("uint8",),
    "lookup_table": ("uint8", "int8", "uint16", "int16", "uint32", "int32", "int64"),
}
# The result is FLOAT or of the input's type.
AS_INPUT = (*RESIZES, "random_resized_crop", "gaussian_blur", "coord_transform", "warp_affine", "rotate")


def fitting(d: Draw, name: str) -> Input:
    """A picture for this operator, mostly one that it takes."""
    if d.chance(0.05):
        return picture(d)
    dtypes = tuple(t for t in COMMON if t in TAKES.get(name, COMMON)) + TAKES.get(name, ())
    layouts: Sequence[str] = LAYOUTS
    if name in (*HUES, *WARPS, "color_space_conversion"):
        layouts = [layout for layout in LAYOUTS if layout.endswith("C") or not layout]
    if name == "random_resized_crop":
        layouts = [layout for layout in LAYOUTS if "D" not in layout]
    return picture(d, dtypes, layouts, channels=3 if name in HUES else 0)


def fits(name: str, x: Input) -> bool:
    """Whether the operator takes such a picture."""
    if x.dtype not in TAKES.get(name, (x.dtype,)):
        return False
    if name in ("fast_resize_crop_mirror", "resize_crop_mirror") and len(x.layout) > 3:
        return False
    if name in (*HUES, "color_space_conversion"):
        return x.layout in ("", "HWC", "FHWC") and x.extent("C") == 3
    return name not in WARPS or x.layout in ("", "HWC", "FHWC", "DHWC")


def result_type(d: Draw, cls: type[Op], x: Input, choices: Sequence[str]) -> str:
    """One that the operator has, mostly."""
    if cls.name in AS_INPUT and x.dtype in TYPE_NAMES:
        choices = ("types.FLOAT", TYPE_NAMES[x.dtype])
    return d.choose(choices)


def after(cls: type[Op], found: Given, x: Input) -> Input:
    """What is known of the result: it has at least these extents, mostly."""
    by_name = {text: name for name, text in TYPE_NAMES.items()}
    default = "float32" if cls.name in ("crop_mirror_normalize", "lookup_table") else x.dtype
    dtype = by_name.get(found.get("dtype", found.get("output_dtype", "")), default)
    layout = x.layout
    extents = dict(zip(layout or "HWC", x.shape, strict=False))
    if cls.name == "crop_mirror_normalize":
        layout = found.get("output_layout", "'CHW'").strip("'")
    given = " ".join(t for n, t in found.items() if n.startswith(("crop", "size", "resize")) and "pos" not in n)
    sizes = [number for word in given.strip("[]").replace(",", " ").split() if (number := whole(word.strip("[]")))]
    if "output_type" in found and x.extent("C"):
        extents["C"] = 1 if "GRAY" in found["output_type"] else 3
    least = min(sizes, default=99)
    shape = [min(extents.get(axis, 1), least if axis in "HWD" else 99) for axis in layout or "HWC"]
    return Input("", shape if len(shape) == len(x.shape) else x.shape, layout, dtype)


def whole(word: str) -> int:
    """At least 1; 0 where it is no number."""
    try:
        return max(1, int(float(word)))
    except (ValueError, OverflowError):
        return 0


def makes_array(text: str) -> bool:
    """Whether NumPy makes an array of it: a text, say, is no number, and a node has no value yet."""
    try:
        eval(text, {"np": np, "types": types})
    except (ValueError, TypeError, OverflowError, NameError):
        return False
    return True
