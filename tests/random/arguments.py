"""Values of arguments: by operators' groups of arguments that depend on each other, by name, and by kind."""

from __future__ import annotations

from collections.abc import Callable

from penstock.op import Argument
from tests.random.draw import INTERPOLATIONS, TYPES, Draw, Input

Given = dict[str, str]
ODD = (
    "-1", "0", "0.5", "1.5", "-7", "'yes'", "''", "'HH'", "float('nan')", "float('inf')", "[]", "[1, 2, 3, 4, 5]",
    "True", "[-1]", "[0.25, -3.0]", "np.zeros((2, 2), np.float32)", "types.NO_TYPE",
)  # fmt: skip


def odd(d: Draw) -> str:
    """What may be out of range, or of another type."""
    return d.choose(ODD)


def window(d: Draw, x: Input) -> Given:
    """As crop has it."""
    given: Given = {}
    height, width = (d.number(1, max(1, x.extent(axis) * (1.1 if d.chance(0.1) else 1))) for axis in "HW")
    if d.chance(0.4):
        height, width = int(height), int(width)
    if d.chance(0.4):
        given["crop"] = f"[{height}, {width}]"
    else:
        given |= {"crop_h": f"{height}", "crop_w": f"{width}"}
        if "D" in x.layout or d.chance(0.05):
            given["crop_d"] = f"{d.whole(1, x.extent('D'))}"
    for name in ("crop_pos_x", "crop_pos_y", "crop_pos_z")[: 3 if "D" in x.layout else 2]:
        if d.chance(0.3):
            given[name] = f"{d.number(0, 1)}"
    return given


def outside(d: Draw, x: Input, *policies: str) -> Given:
    """What becomes of what lies outside."""
    given: Given = {}
    if d.chance(0.4):
        given["out_of_bounds_policy"] = d.choose(["'pad'", "'pad'", "'trim_to_shape'", "'error'", *policies])
    if d.chance(0.2):
        given["fill_values"] = f"{[d.number(0, 255) for _ in range(d.choose([1, x.extent('C')]))]}"
    return given


def axes(d: Draw, x: Input, least: int = 0) -> Given:
    """Some of the input's."""
    n = len(x.shape)
    if not n or (not least and d.chance(0.3)):
        return {}
    chosen = d.some(range(n), d.whole(max(least, 1), n))
    if len(x.layout) == n and d.chance(0.3):
        return {"axis_names": repr("".join(x.layout[i] for i in chosen))}
    return {"axes": repr([i - n if d.chance(0.15) else i for i in chosen])}


def part(d: Draw, x: Input) -> Given:
    """As slice has it."""
    given = axes(d, x, 1)
    n = len(given.get("axis_names", "''").strip("'")) or given.get("axes", "").count(",") + 1
    extents = [x.shape[i] for i in eval(given["axes"])] if "axes" in given else [5] * n
    starts = [d.whole(0, max(0, e - 1)) for e in extents]
    ends = [d.whole(s, max(s, e)) for s, e in zip(starts, extents, strict=True)]
    low = [d.number(0, 0.5) for _ in range(n)]
    high = [d.number(0.5, 1) for _ in range(n)]
    if d.chance(0.8):
        given |= d.choose([{"start": repr(starts)}, {"rel_start": repr(low)}])
    sizes = [max(0, e - s) for s, e in zip(starts, ends, strict=True)]
    given |= d.choose(
        [
            {"end": repr(ends)},
            {"shape": repr(sizes)},
            {"rel_end": repr(high)},
            {"rel_shape": repr([round(h - w, 3) for h, w in zip(high, low, strict=True)])},
        ]
    )
    return given


def size(d: Draw, x: Input) -> Given:
    """As resize has it."""
    n = 3 if "D" in x.layout else 2

    def extent() -> str:
        return f"{d.whole(1, 60)}" if d.chance(0.5) else f"{d.number(1, 60)}"

    given: Given = d.choose(
        [
            {"size": f"[{', '.join(extent() for _ in range(n))}]"},
            {"resize_x": extent()},
            {"resize_y": extent()},
            {"resize_x": extent(), "resize_y": extent()},
            {"resize_shorter": extent()},
            {"resize_longer": extent()},
        ]
    )
    if d.chance(0.2) and (d.chance(0.1) or not {"resize_shorter", "resize_longer"} & set(given)):
        given["mode"] = d.choose(["'default'", "'stretch'", "'not_larger'", "'not_smaller'"])
    if d.chance(0.1) and "resize_shorter" in given:
        given["max_size"] = f"{d.whole(20, 80)}"
    if d.chance(0.15):
        given |= {
            "roi_relative": "True",
            "roi_start": repr([d.number(0, 0.4) for _ in range(n)]),
            "roi_end": repr([d.number(0.6, 1) for _ in range(n)]),
        }
    elif d.chance(0.2):
        given |= region(d, x, "DHW"[-n:])
    return given


def region(d: Draw, x: Input, axes: str) -> Given:
    """In pixels: within the picture, beyond it, or turned over; without any room rarely."""
    starts, ends = [], []
    for extent in map(x.extent, axes):
        beyond = d.choose([0, 0, 5, 40])
        a, b = d.number(-beyond, extent + beyond), d.number(-beyond, extent + beyond)
        a, b = (a, b) if d.chance(0.2) else (min(a, b), max(a, b))
        starts.append(a)
        ends.append(b if d.chance(0.03) or abs(a - b) > 0.5 else a + 2)
    return {"roi_start": repr(starts), "roi_end": repr(ends)} | ({"roi_relative": "False"} if d.chance(0.2) else {})


def points(d: Draw, n: int, *names: str, least: float = -3, most: float = 3) -> Given:
    """A coordinate per axis, for each of these."""
    return {name: repr([d.number(least, most) for _ in range(n)]) for name in names}


def in_layout(d: Draw, x: Input) -> str | None:
    """The name of an axis; where there are none, none."""
    return repr(d.choose(list(x.layout) or ["Z"])) if x.layout or d.chance(0.1) else None


def rarely(text: str) -> Callable[[Draw, Input], str | None]:
    """What fits hardly any call but those that give it themselves."""
    return lambda d, x: text if d.chance(0.1) else None


BY_NAME: dict[str, Callable[[Draw, Input], str | None]] = {
    "horizontal": lambda d, x: d.choose(["0", "1"]),
    "vertical": lambda d, x: d.choose(["0", "1"]),
    "depthwise": lambda d, x: d.choose(["0", "1"]),
    "mirror": lambda d, x: d.choose(["0", "1"]),
    "axis": lambda d, x: f"{d.whole(-1, max(0, len(x.shape) - 1))}",
    "axis_name": in_layout,
    "axis_names": in_layout,
    "center": rarely("[1.0, 2.0]"),
    "p": rarely("[0.5, 0.5]"),
    "size": lambda d, x: repr([d.whole(1, 40) for _ in range(3 if "D" in x.layout else 2)]),
    "align": lambda d, x: f"{d.whole(1, 8)}",
    "crop_pos_x": lambda d, x: f"{d.number(0, 1)}",
    "crop_pos_y": lambda d, x: f"{d.number(0, 1)}",
    "crop_pos_z": lambda d, x: f"{d.number(0, 1)}",
    "output_layout": lambda d, x: repr(x.layout[::-1] or "ABCDEFG"[: len(x.shape)]),
    "rounding": lambda d, x: d.choose(["'round'", "'truncate'"]),
    "layout": lambda d, x: repr("ABCDEFG"[: len(x.shape)]),
    "new_axis_names": rarely("'U'"),
    "n_channels": lambda d, x: f"{x.extent('C')}",
    "min_canvas_size": lambda d, x: f"{d.number(0, 60)}",
    "hue": lambda d, x: f"{d.number(-180, 360)}",
    "saturation": lambda d, x: f"{d.number(0, 2)}",
    "value": lambda d, x: f"{d.number(0, 2)}",
    "brightness": lambda d, x: f"{d.number(0, 2)}",
    "contrast": lambda d, x: f"{d.number(0, 2)}",
    "contrast_center": lambda d, x: f"{d.number(0, 255)}",
    "ddof": lambda d, x: f"{d.choose([0, 0, 1])}",
    "fill_value": lambda d, x: f"{d.number(0, 255)}",
    "paste_x": lambda d, x: f"{d.number(0, 1)}",
    "paste_y": lambda d, x: f"{d.number(0, 1)}",
    "seed": lambda d, x: f"{d.whole(0, 99)}",
    "max_size": lambda d, x: f"{d.whole(10, 60)}",
    "normalized_anchor": lambda d, x: d.choose(["True", "False"]),
    "key": lambda d, x: "'source_info'",
    "num_attempts": lambda d, x: f"{d.whole(1, 20)}",
    "random_area": lambda d, x: d.choose(["[0.1, 0.9]", "[0.5, 1.0]"]),
    "random_aspect_ratio": lambda d, x: "[0.7, 1.4]",
    "image_type": lambda d, x: d.choose(["types.RGB", "types.RGB", "types.GRAY", "types.BGR", "types.YCbCr"]),
    "out_of_bounds_policy": lambda d, x: d.choose(["'pad'", "'trim_to_shape'"]),
    "fill_values": lambda d, x: f"[{d.number(0, 255)}]",
    **dict.fromkeys(("in_anchors_rel", "shapes_rel", "out_anchors_rel"), lambda d, x: None),  # nodes alone, in DALI
    **dict.fromkeys(("in_anchors", "shapes", "out_anchors"), lambda d, x: None),
    "probability": lambda d, x: f"{d.number(0, 1)}",
    "hw_decoder_load": lambda d, x: "0.5",
    "cache_type": lambda d, x: "''",
}
BY_KIND: dict[str, Callable[[Draw, Input], str | None]] = {
    "boolean": lambda d, x: d.choose(["True", "False"]),
    "integer": lambda d, x: f"{d.whole(0, 3)}",
    "number": lambda d, x: f"{d.number(-2, 3)}",
    "string": lambda d, x: "''",
    "layout": lambda d, x: repr(x.layout or "HWC"),
    "dtype": lambda d, x: d.choose([*TYPES, "types.FLOAT", "types.FLOAT", "types.UINT8"]),
    "image_type": lambda d, x: d.choose(["types.RGB", "types.GRAY"]),
    "interp_type": lambda d, x: d.choose(INTERPOLATIONS),
    "integers": lambda d, x: repr([d.whole(0, 5) for _ in range(d.whole(1, 3))]),
    "numbers": lambda d, x: repr([d.number(-2, 3) for _ in range(d.whole(1, 3))]),
}


def value(d: Draw, x: Input, argument: Argument) -> str | None:
    """Of this argument, mostly in its range; None where there is no idea of it."""
    if argument.choices is not None and all(isinstance(choice, str) for choice in argument.choices):
        return repr(d.choose(argument.choices))
    if argument.name == "axis" and argument.kind == "numbers":
        return "[0.0, 0.0, 1.0]" if "D" in x.layout or d.chance(0.1) else None
    if argument.choices is not None and argument.kind in ("dtype", "interp_type") and d.chance(0.9):
        return f"types.{d.choose(argument.choices).name}"
    make = BY_NAME.get(argument.name) or BY_KIND.get(argument.kind)
    return make(d, x) if make else None
