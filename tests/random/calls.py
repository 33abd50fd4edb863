"""One call of each operator: its inputs, and the arguments that make sense together; the registry has the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from penstock.op import Argument, Op
from tests.random.arguments import Given, axes, odd, outside, part, points, size, value, window
from tests.random.case import Source
from tests.random.detection import DETECTION
from tests.random.draw import (
    DTYPES,
    INTERPOLATIONS,
    LAYOUTS,
    TYPE_NAMES,
    TYPES,
    Draw,
    Input,
    files,
    numbers,
    picture,
    tensor,
)
from tests.random.fitting import after, fitting, makes_array, result_type
from tests.random.sounds import SOUNDS

Made = tuple[list[Input], Given]
ALTERNATIVES = (
    {"axes", "axis_names"}, {"axis", "axis_name"}, {"crop", "crop_w", "crop_h", "crop_d"}, {"MT", "M", "T"},
    {"size", "resize_x", "resize_y", "resize_z", "resize_shorter", "resize_longer"}, {"resize_x", "resize_z", "mode"},
    {"start", "rel_start"}, {"end", "rel_end", "shape", "rel_shape"}, {"shape", "rel_shape", "src_dims"},
    {"normalized", "normalized_anchor"}, {"normalized", "normalized_shape"}, {"mode", "resize_shorter"},
    {"mode", "resize_longer"}, {"layout", "shape"}, {"layout", "rel_shape"}, {"layout", "src_dims"},
    {"shear", "angles"}, {"idata", "fdata"}, {"sigma", "window_size"}, {"range", "values"},
    {"roi_start", "roi_end", "roi_relative", "size", "resize_x", "resize_y", "resize_shorter", "resize_longer"},
)  # fmt: skip
INTEGERS = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "int64")


def any_input(d: Draw) -> Made:
    return [tensor(d)], {}


def any_picture(d: Draw) -> Made:
    return [picture(d)], {}


def of_pictures(*groups: Callable[[Draw, Input], Given], name: str = "") -> Callable[[Draw], Made]:
    """``name``: the operator that takes them."""

    def make(d: Draw) -> Made:
        x = fitting(d, name)
        return [x], {name: text for group in groups for name, text in group(d, x).items()}

    return make


def of_tensors(*groups: Callable[[Draw, Input], Given], least: int = 0) -> Callable[[Draw], Made]:
    def make(d: Draw) -> Made:
        x = tensor(d, least)
        return [x], {name: text for group in groups for name, text in group(d, x).items()}

    return make


def of_files(*groups: Callable[[Draw, Input], Given]) -> Callable[[Draw], Made]:
    def make(d: Draw) -> Made:
        x = files(d)
        return [x], {name: text for group in groups for name, text in group(d, x).items()}

    return make


def nothing(d: Draw) -> Made:
    return [], {}


def given(d: Draw, samples: str, layout: str = "", dtype: str = "") -> Input:
    """The same array in each sample."""
    return Input(d.source([samples] * d.batch, layout).name, (), layout, dtype)


def alike(d: Draw) -> Made:
    """Several inputs of one type that can be joined."""
    x = tensor(d, 1)
    first = d.values[-1]
    assert isinstance(first, Source)
    return [
        x,
        *(Input(d.source(first.samples, x.layout).name, x.shape, x.layout, x.dtype) for _ in range(d.whole(0, 2))),
    ], {}


def boxes(d: Draw) -> Made:
    shape = d.choose([(4,), (1, 4), (3, 4), (0, 4)])
    return [given(d, floats(d, shape, 0, 1) if shape[0] else "np.zeros((0, 4), np.float32)")], {}


def floats(d: Draw, shape: Sequence[int], least: float = -3, most: float = 3) -> str:
    """Some of them infinite or no numbers, at times."""
    if d.chance(0.04):
        return f"wild('float32', {tuple(shape)}, {d.whole(0, 99)}, {most})"
    return numbers(d, shape, least, most)


def coordinates(d: Draw) -> Made:
    n = d.whole(1, 3)
    dtype = d.choose(["float32", "uint8", "int16", "int32"]) if d.chance(0.4) else "float32"
    x = given(d, numbers(d, (d.whole(1, 5), n), -9, 9, dtype), dtype=dtype)
    m = d.whole(1, 3)
    forms: list[Given] = [
        {},
        points(d, m * n, "M"),
        {"M": f"{d.number(-2, 2)}"},
        points(d, m * n, "M") | points(d, m, "T"),
        points(d, n, "T"),
        points(d, m * (n + 1), "MT"),
    ]
    return [x], d.choose(forms)


def transform(make: Callable[[Draw, int], Given]) -> Callable[[Draw], Made]:
    """One of fn.transforms, on its own or behind another matrix."""

    def made(d: Draw) -> Made:
        n = d.choose([2, 2, 2, 3])
        before = [given(d, floats(d, (n, n + 1)))] if d.chance(0.3) else []
        return before, make(d, n)

    return made


def rotation(d: Draw, n: int) -> Given:
    found: Given = {"angle": f"{d.number(-180, 180)}"} | (points(d, 3, "axis", least=0.1) if n == 3 else {})
    return found | (points(d, n, "center") if d.chance(0.4) else {})


def two_matrices(d: Draw) -> Made:
    n = d.choose([2, 3])
    return [given(d, floats(d, (n, n + 1))) for _ in range(d.whole(2, 3))], {}


def statistics(d: Draw) -> Made:
    """A second input for the mean, over the same axes."""
    x = tensor(d, 1)
    over = axes(d, x)
    return [x, Input(d.call("fn.reductions.mean", [x.name], over).name, (), "", "")], over


def lookup(d: Draw) -> Made:
    x = picture(d, INTEGERS)
    keys = d.some(range(40), d.whole(1, 5))
    return [x], {"keys": repr(keys), "values": repr([d.number(0, 99) for _ in keys])}


def warp(d: Draw) -> Made:
    x = fitting(d, "warp_affine")
    n = 3 if "D" in x.layout else 2
    near = [
        [d.number(0.6, 1.4) if i == j else d.number(-3, 3) * (1 if j == n else 0.1) for j in range(n + 1)]
        for i in range(n)
    ]
    found: Given = {"matrix": repr([round(v, 5) for row in near for v in row])}
    if d.chance(0.3):
        found["size"] = repr([d.choose([d.whole(1, 40), d.number(1, 40)]) for _ in range(n)])
    return [x], found | nearest_or_linear(d)


def nearest_or_linear(d: Draw) -> Given:
    return {"interp_type": d.choose(INTERPOLATIONS[:2])} if d.chance(0.5) else {}


def rotate(d: Draw) -> Made:
    x = fitting(d, "rotate")
    found: Given = {"angle": f"{d.number(-180, 180)}" if d.chance(0.8) else d.choose(["90", "45", "0"])}
    if "D" in x.layout:
        found |= points(d, 3, "axis", least=0.1)
    if d.chance(0.2):
        found["size"] = repr([d.choose([d.whole(1, 40), d.number(1, 40)]) for _ in range(3 if "D" in x.layout else 2)])
    return [x], found | nearest_or_linear(d)


def erased(d: Draw, x: Input) -> Given:
    chosen = axes(d, x, 1)
    n = len(eval(chosen["axes"] if "axes" in chosen else chosen["axis_names"]))
    count = n * d.whole(1, 2)
    relative = d.chance(0.5)
    most = 1.0 if relative else 20.0
    found = chosen | points(d, count, "anchor", "shape", least=0, most=most)
    return found | ({"normalized": "True"} if relative else {})


def normalized(d: Draw, x: Input) -> Given:
    found = axes(d, x) if d.chance(0.6) else {}
    if d.chance(0.2):
        found |= {"mean": f"{d.number(-5, 99)}"}
    if d.chance(0.2):
        found |= {"stddev": f"{d.number(0.5, 9)}"}
    return found


def cmn(d: Draw, x: Input) -> Given:
    found = (window(d, x) if d.chance(0.7) else {}) | outside(d, x)
    channels = x.extent("C")
    for name, least, most in (("mean", 0, 255), ("std", 1, 99)):
        if d.chance(0.5):
            # One per channel only where there are pixels: without, DALI reads fills that are not there.
            found[name] = repr([d.number(least, most) for _ in range(d.choose([1, channels]) if all(x.shape) else 1)])
    if x.layout and (d.chance(0.4) or (x.layout not in ("HWC", "CHW") and d.chance(0.9))):
        found["output_layout"] = repr(d.choose([x.layout, "".join(sorted(x.layout)), x.layout[::-1]]))
    return found


def reshaped(d: Draw, x: Input) -> Given:
    shape = list(x.shape)
    if d.chance(0.4):
        return {"rel_shape": repr([d.choose([1, 1, 0.5, 2, -1]) for _ in shape])}
    if d.chance(0.3):
        kept = d.some(range(len(shape)), len(shape)) if d.chance(0.7) else [d.whole(0, max(0, len(shape) - 1))]
        return {"src_dims": repr(d.some([*kept, *[-1] * d.whole(0, 2)], 9) if shape else [-1])}
    count = 1
    for extent in shape:
        count *= extent
    return {"shape": d.choose([repr([count]), "[-1]", repr(shape[::-1]), repr([1, *shape]), repr([-1, *shape[1:]])])}


def reinterpreted(d: Draw) -> Made:
    x = tensor(d)
    found = {name: text for name, text in reshaped(d, x).items() if name != "src_dims"} if d.chance(0.4) else {}
    if found and d.chance(0.5):
        return [x], found
    alike = [TYPE_NAMES[t] for t in DTYPES if np.dtype(t).itemsize == np.dtype(x.dtype).itemsize]
    return [x], found | {"dtype": d.choose(alike if d.chance(0.6) else TYPES)}


def uniform(d: Draw) -> Made:
    low = d.number(-5, 5)
    forms: list[Given] = [
        {},
        {"range": f"[{low}, {low + d.whole(1, 9)}]"},
        {"values": repr([d.number(-9, 9) for _ in range(3)])},
    ]
    return [], d.choose(forms) | some_shape(d)


def some_shape(d: Draw) -> Given:
    return {"shape": repr([d.whole(1, 5) for _ in range(d.whole(1, 3))])} if d.chance(0.7) else {}


def constants(d: Draw) -> Made:
    shape = [d.whole(1, 4) for _ in range(d.whole(1, 3))]
    found: Given = d.choose([{"idata": "[7]"}, {"fdata": "[2.5]"}, {"idata": "[1, 2, 3]"}])
    return [], found | ({"shape": repr(shape)} if "," not in found.get("idata", "") and d.chance(0.6) else {})


def second(make: Callable[[Draw], Made], other: Callable[[Draw], Input]) -> Callable[[Draw], Made]:
    """A further input."""

    def both(d: Draw) -> Made:
        inputs, found = make(d)
        return [*inputs, other(d)], found

    return both


def chosen(d: Draw) -> Made:
    text, n = d.choose([("np.int32(5)", 5), ("np.arange(6)", 6), ("np.float32([1, 2, 3])", 3)])
    p = {"p": repr([0.5, 0.5, *[0.0] * (n - 2)])} if d.chance(0.3) else {}
    return [given(d, text)], some_shape(d) | p


def fully(d: Draw) -> Made:
    """A filler, and a shape whose last axes are the filler's."""
    x = tensor(d)
    if d.chance(0.2):
        return [x], some_shape(d)
    own = [d.choose([extent, d.whole(0, 5)]) if extent == 1 else extent for extent in x.shape]
    return [x], {"shape": repr([d.whole(1, 3) for _ in range(d.whole(0, 2))] + own)}


def converted(d: Draw) -> Made:
    """Between kinds of pictures: of three channels, or gray ones."""
    kinds = {f"{name}_type": f"types.{d.choose(['RGB', 'BGR', 'GRAY', 'YCbCr'])}" for name in ("image", "output")}
    channels = 1 if "GRAY" in kinds["image_type"] else 3
    layouts = [layout for layout in LAYOUTS if layout.endswith("C")]
    return [picture(d, ("uint8",), layouts, channels if d.chance(0.95) else 4)], kinds


def pasted(d: Draw) -> Made:
    x = picture(d, ("uint8",), ("HWC",))
    channels = x.extent("C")
    found = {"ratio": f"{d.number(1, 3)}", "fill_value": repr([40, 50, 60, 70, 80][:channels])}
    return [x], found | ({"n_channels": f"{channels}"} if channels != 3 and d.chance(0.9) else {})


def extracted(d: Draw) -> Made:
    x = picture(d, layouts=("FHWC", "FHWC", "FHWC", ""))
    n = x.shape[0]
    return [x], {"element_map": repr(d.some(range(n + d.chance(0.1)), d.whole(1, 2)) or [0])}


def expanded(d: Draw, x: Input) -> Given:
    axes = sorted(d.some(range(len(x.shape) + 1), d.whole(1, 2)))
    return {"axes": repr(axes)} | ({"new_axis_names": repr("UV"[: len(axes)])} if x.layout and d.chance(0.3) else {})


def squeezed(d: Draw) -> Made:
    """Axes of extent 1, mostly."""
    x = tensor(d, 1, ones=0.6)
    flat = [i for i, extent in enumerate(x.shape) if extent == 1]
    if not flat or d.chance(0.1):
        return [x], axes(d, x, 1)
    chosen = d.some(flat, d.whole(1, len(flat)))
    if x.layout and d.chance(0.3):
        return [x], {"axis_names": repr("".join(x.layout[i] for i in chosen))}
    return [x], {"axes": repr(chosen)}


CALLS: dict[str, Callable[[Draw], Made]] = {
    "bb_flip": boxes,
    "cast": lambda d: ([tensor(d)], {"dtype": d.choose(TYPES)}),
    "cast_like": second(any_input, tensor),
    "cat": alike,
    "stack": alike,
    "color_space_conversion": converted,
    "constant": constants,
    "coord_transform": coordinates,
    "crop": of_pictures(window, lambda d, x: outside(d, x, "'edge'")),
    "crop_mirror_normalize": of_pictures(cmn),
    "decoders.image": of_files(),
    "decoders.image_crop": of_files(window),
    "decoders.image_random_crop": of_files(),
    "decoders.image_slice": of_files(lambda d, x: part(d, Input("", (31, 33), "HW", ""))),
    "element_extract": extracted,
    "erase": of_tensors(erased, least=1),
    "expand_dims": of_tensors(expanded),
    "full": fully,
    "full_like": second(any_input, lambda d: given(d, d.choose(["np.float32(2.5)", "np.uint8(3)", "np.int32([1])"]))),
    "gaussian_blur": of_pictures(
        lambda d, x: d.choose([{"sigma": f"{d.number(0.3, 4)}"}, {"window_size": f"{d.choose([1, 3, 5, 9])}"}])
    ),
    "lookup_table": lookup,
    "normalize": of_tensors(normalized, least=1),
    "one_hot": lambda d: (
        [tensor(d, 0, INTEGERS) if d.chance(0.5) else given(d, f"np.int32({d.whole(0, 5)})")],
        {"num_classes": f"{d.whole(1, 6)}"},
    ),
    "ones": lambda d: ([], some_shape(d)),
    "zeros": lambda d: ([], some_shape(d)),
    "pad": of_tensors(
        axes, lambda d, x: d.choose([{}, {"align": f"{d.whole(1, 8)}"}, {"shape": f"{d.whole(1, 60)}"}]), least=1
    ),
    "paste": pasted,
    "peek_image_shape": of_files(),
    "permute_batch": lambda d: ([tensor(d)], {"indices": repr([d.whole(0, d.batch - 1) for _ in range(d.batch)])}),
    "random.beta": lambda d: ([], some_shape(d)),
    "random.choice": chosen,
    "random.coin_flip": lambda d: ([], some_shape(d)),
    "random.normal": lambda d: ([], some_shape(d)),
    "random.uniform": uniform,
    "random_crop_generator": lambda d: ([given(d, "np.int64([48, 64, 3])")], {}),
    "random_resized_crop": of_pictures(
        lambda d, x: {"size": repr([d.whole(1, 40) for _ in range(2)])}, name="random_resized_crop"
    ),
    **{f"reductions.{name}": of_tensors(axes) for name in ("max", "min", "mean", "mean_square", "rms", "sum")},
    **{f"reductions.{name}": statistics for name in ("std_dev", "variance")},
    "reinterpret": reinterpreted,
    "reshape": of_tensors(reshaped),
    "resize": of_pictures(size, name="resize"),
    **{
        name: of_pictures(size, lambda d, x: window(d, x) if d.chance(0.4) else {}, name=name)
        for name in ("resize_crop_mirror", "fast_resize_crop_mirror")
    },
    "rotate": rotate,
    "slice": of_tensors(part, lambda d, x: outside(d, x, "'edge'"), least=1),
    "squeeze": squeezed,
    "transforms.combine": two_matrices,
    "transforms.crop": transform(
        lambda d, n: points(d, n, *d.some(["from_start", "from_end", "to_start", "to_end"], 2))
    ),
    "transforms.rotation": transform(rotation),
    "transforms.scale": transform(lambda d, n: points(d, n, "scale", *(["center"] if d.chance(0.4) else []))),
    "transforms.shear": transform(lambda d, n: points(d, 2 if n == 2 else 6, d.choose(["shear", "angles"]))),
    "transforms.translation": transform(lambda d, n: points(d, n, "offset")),
    "transpose": of_tensors(lambda d, x: {"perm": repr(d.some(range(len(x.shape)), len(x.shape)))} if x.shape else {}),
    "warp_affine": warp,
    **DETECTION,
    **SOUNDS,
}  # fmt: skip


def inputs_of(d: Draw, cls: type[Op]) -> Made:
    if cls.name in CALLS:
        return CALLS[cls.name](d)
    if cls.num_inputs[0] == 0:
        return [], {}
    if cls.contract.value in ("pixel", "sampler"):
        return [fitting(d, cls.name) for _ in range(cls.num_inputs[0])], {}
    return [tensor(d) for _ in range(cls.num_inputs[0])], {}


def call(d: Draw, cls: type[Op], known: list[str], first: Input | None = None) -> Input:
    """Adds a call of this operator; ``first``: its first input, ``known``: the arguments that DALI has."""
    d.first = first
    inputs, found = inputs_of(d, cls)
    if d.first and inputs:
        inputs[0] = d.taken()
    x = inputs[0] if inputs else Input("", (), "", "")
    others = [a for a in cls.arguments.values() if a.name not in found and a.name in known and not a.deprecated]
    others = [a for a in others if d.chance(0.03) or not excluded(a.name, found)]
    for argument in others:
        if argument.required or d.chance((0.03 if argument.unused else 0.6) / max(1, len(others)) ** 0.5):
            if excluded(argument.name, found) and d.chance(0.97):
                continue
            text = value(d, x, argument)
            if argument.name in ("dtype", "output_dtype") and text and d.chance(0.9):
                text = result_type(d, cls, x, [text])
            if text is not None:
                found[argument.name] = text
    if found and d.chance(0.06):
        found[d.choose(list(found))] = odd(d)
    for name in found:
        if d.chance(0.15) and cls.arguments[name].per_sample:
            array = as_array(found[name], cls.arguments[name])
            if makes_array(array):
                found[name] = d.repeated(array)
    if x.device == "gpu":
        inputs = [i if k in cls.cpu_inputs else moved(d, i, "gpu") for k, i in enumerate(inputs)]
    made = after(cls, found, x)
    made.name, made.device = d.call(f"fn.{cls.name}", [i.name for i in inputs], found).name, x.device
    return made


def moved(d: Draw, x: Input, device: str) -> Input:
    """The value on that device."""
    if x.device == device:
        return x
    return Input(d.call(f"{x.name}.{device}").name, x.shape, x.layout, x.dtype, device)


def excluded(name: str, found: Given) -> bool:
    """Whether it does not go with another one that is given."""
    return any(name in group and group & set(found) for group in ALTERNATIVES)


def as_array(text: str, argument: Argument) -> str:
    """Of the type that nodes of this argument have."""
    if argument.kind.startswith("number"):
        return f"np.array({text}, np.float32)"
    return (
        f"np.array({text}, np.int32)"
        if argument.kind.startswith(("integer", "boolean"))
        else f"np.array(int({text}), np.int32)"
    )
