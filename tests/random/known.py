"""Differences from DALI that are meant: each says why, and has an example that shows that it is still there."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from tests.random.arguments import ODD
from tests.random.case import Call, Case, Source
from tests.random.compare import Difference

REFUSED, VALUES = "only ours raises", "values"
Matches = Callable[[Case, Difference], bool]


@dataclass(frozen=True)
class Known:
    """``matches`` says of a case and its difference whether it is this one."""

    reason: str
    example: Case
    matches: Matches


def known_difference(case: Case, found: Difference) -> Known | None:
    return next((known for known in KNOWN if known.matches(case, found)), None)


def example(function: str, *sources: str, layout: str = "", **arguments: str) -> Case:
    """A call with these samples as inputs."""
    made = tuple(Source(f"v{i}", (text,), layout) for i, text in enumerate(sources))
    inputs = tuple(source.name for source in made)
    return Case((*made, Call(f"v{len(made)}", function, inputs, tuple(arguments.items()))), 1)


def expression(function: str, source: str, *others: str) -> Case:
    """One of Python's operators, or a slice."""
    return Case((Source("v0", (source,)), Call("v1", function, tuple(o.replace("_", "v0") for o in others))), 1)


def uses(case: Case, *operators: str) -> bool:
    return any(name in operators for name in case.operators())


def refused(*operators: str, text: str) -> Matches:
    """Only this library raises, with such a text."""
    return lambda case, found: (
        found.kind == REFUSED and uses(case, *operators) and re.search(text, found.detail) is not None
    )


def differ(*operators: str, kinds: tuple[str, ...] = (VALUES,)) -> Matches:
    return lambda case, found: found.kind in kinds and uses(case, *operators)


def odd(case: Case) -> bool:
    """Whether a text, a fraction and the like is given for an argument that may be of another type."""
    given = {text for call in case.calls for text in call.given().values()}
    samples = [text for source in case.sources().values() for text in source.samples]
    return bool(given & set(ODD)) or any(f"np.array({o}, " in s or f"(int({o})" in s for s in samples for o in ODD)


def odd_values(case: Case, found: Difference) -> bool:
    numbers = found.kind == "class" and "OverflowError" in found.detail
    raised = found.error in ("ArgumentTypeError", "ArgumentRangeError") or "expected at least one value" in found.detail
    return odd(case) and (found.kind == REFUSED or numbers) and raised


def steps(case: Case, found: Difference) -> bool:
    keys = " ".join(text for call in case.calls if call.operator == "operator.getitem" for text in call.inputs)
    return found.kind in ("shape", VALUES) and re.search(r"slice\([^()]*, [^()]*, -?[1-9]\d*\)", keys) is not None


def signed_and_floats(case: Case, found: Difference) -> bool:
    return found.kind == VALUES and any(name in COMPARISONS for name in case.operators())


def other_means(case: Case, found: Difference) -> bool:
    """The mean is none over the same axes."""
    means = {call.name: call.arguments for call in case.calls if call.operator == "reductions.mean"}
    wanted = [call for call in case.calls if call.operator in ("reductions.variance", "reductions.std_dev")]
    differs = found.kind == VALUES or (found.kind == REFUSED and "the mean's shape is" in found.detail)
    return differs and any(means.get(call.inputs[1]) != over(call) for call in wanted)


def rounded(case: Case, found: Difference) -> bool:
    """From numbers beyond the 24 bits of a FLOAT."""
    return found.kind == VALUES and uses(case, "reductions.variance", "reductions.std_dev") and large(case)


def large(case: Case) -> bool:
    return any(f", {2**31 - 1})" in text for source in case.sources().values() for text in source.samples)


def over(call: Call) -> tuple[tuple[str, str], ...]:
    return tuple((name, text) for name, text in call.arguments if name in ("axes", "axis_names"))


def several_mistakes(case: Case, found: Difference) -> bool:
    early = found.error in ("ArgumentTypeError", "OverflowError") or re.search("DALI (Type|Overflow)E", found.detail)
    return found.kind == "class" and ((odd(case) and bool(early)) or found.error == "DecodeError")


def other_channels(case: Case, found: Difference) -> bool:
    """A picture that is pasted has not ``n_channels`` channels."""
    wanted = {call.given().get("n_channels", "3") for call in case.calls if call.operator == "paste"}
    have = {text for source in case.sources().values() for text in re.findall(r", (\d+)\), ", " ".join(source.samples))}
    differs = found.kind == VALUES or (found.kind == REFUSED and "fill_value has" in found.detail)
    return differs and bool(wanted) and wanted != have


def node_of_axes(case: Case, found: Difference) -> bool:
    return found.kind != "class" and any(c.given().get("src_dims", "").startswith(("v", "np.")) for c in case.calls)


def whole_filler(case: Case, found: Difference) -> bool:
    return found.kind in ("shape", VALUES) and any(
        c.operator == "full" and "shape" not in c.given() for c in case.calls
    )


def wrapping(case: Case, found: Difference) -> bool:
    """A type for the sums is given, or there are squares of numbers beyond 16 bits."""
    sums = [call for call in case.calls if call.operator in SUMS]
    return found.kind == VALUES and any("dtype" in c.given() or (large(case) and c.operator in SQUARES) for c in sums)


def signed_resized(case: Case, found: Difference) -> bool:
    """What comes behind makes more of it than the 1 that resizing may be off by."""
    signed = any("'int16'" in text for source in case.sources().values() for text in source.samples)
    return found.kind == VALUES and signed and bool(RESIZES & set(case.operators()[:-1]))


def resized_by(case: Case, found: Difference, filters: str, *arguments: str) -> bool:
    """With such a filter, and one of these arguments where there are any."""
    text = case.text()
    resized = [call for call in case.calls if call.operator in (*RESIZES, "random_resized_crop")]
    given = not arguments or any(name in call.given() for name in arguments for call in resized)
    return found.kind == VALUES and bool(resized) and given and filters in text


def several_fills(case: Case, found: Difference) -> bool:
    given = [call.given() for call in case.calls if call.operator == "crop_mirror_normalize"]
    return found.kind == VALUES and any("," in arguments.get("fill_values", "") for arguments in given)


COMPARISONS = ("operator.lt", "operator.le", "operator.gt", "operator.ge", "operator.eq", "operator.ne")
SMALL, FOUR = "noise('uint8', (2, 4, 3), 461)", "noise('uint8', (6, 8, 4), 1)"
SUMS = tuple(f"reductions.{name}" for name in ("sum", "mean", "mean_square", "rms"))
SQUARES = ("reductions.mean_square", "reductions.rms")
RESIZES = {"resize", "resize_crop_mirror", "fast_resize_crop_mirror"}
HUES = ("hsv", "hue", "saturation", "color_twist")

KNOWN = [
    Known(
        "an argument of another type is an error, where DALI converts texts and fractions",
        example("fn.reductions.sum", "noise('uint8', (2, 3), 1)", keep_dims="'yes'"),
        odd_values,
    ),
    Known(
        "colours need three channels, of others DALI reads and writes beyond the pixels",
        example("fn.hue", FOUR, layout="HWC", hue="30.0"),
        refused(*HUES, text="expected three channels"),
    ),
    Known(
        "a canvas is filled for the channels that there are, DALI goes by n_channels and fills too little or too much",
        example("fn.paste", "noise('uint8', (6, 8, 5), 1)", layout="HWC", ratio="2.0", fill_value="[7]"),
        other_channels,
    ),
    Known(
        "a negative size is an error, DALI shows what lies in memory or hangs",
        example("fn.random_resized_crop", SMALL, layout="HWC", size="-1"),
        refused("random_resized_crop", text=r"size=\["),
    ),
    Known(
        "DALI takes NumPy's 64-bit floats for no constants, whatever else is wrong",
        expression("operator.xor", "np.arange(3)", "_", "np.float64(1)"),
        lambda case, found: found.kind == "class" and "Got <class 'numpy.float64'>" in found.detail,
    ),
    Known(
        "inputs without elements add their extents, DALI has the first one's where the whole batch has none",
        Case(
            (
                Source("v0", ("np.zeros((2, 0))",)),
                Source("v1", ("np.zeros((3, 0))",)),
                Call("v2", "fn.cat", ("v0", "v1")),
            ),
            1,
        ),
        lambda case, found: found.kind == "shape" and uses(case, "cat") and re.search(r"[(, ]0[,)]", found.detail),
    ),
    Known(
        "axes that are not there are an error, DALI leaves them out",
        example("fn.squeeze", "noise('uint8', (8,), 1)", axes="[1, 2]"),
        refused("squeeze", "erase", text="is no axis of the shape"),
    ),
    Known(
        "negative axes count from the last one, DALI leaves them out",
        example("fn.squeeze", "noise('uint8', (1, 8), 1)", axes="[-2]"),
        lambda case, found: (
            found.kind in ("shape", "layout", VALUES, REFUSED)
            and any(
                re.search("-|NO_TYPE", c.given().get("axes", ""))
                for c in case.calls
                if c.operator in ("squeeze", "erase")
            )
        ),
    ),
    Known(
        "a filler has no more axes than the shape, of others DALI takes the first elements",
        example("fn.full", "np.arange(8)", shape="[1, 1]"),
        refused("full", "full_like", text="can't fill the shape"),
    ),
    Known(
        "without a shape the filler is the result, DALI takes its first element",
        example("fn.full", "np.arange(8)"),
        whole_filler,
    ),
    Known(
        "src_dims is read from a node, DALI ignores it where something else is given, too",
        Case(
            (
                Source("v0", ("noise('uint8', (6, 4, 2), 1)",)),
                Source("v1", ("np.array([0, 2], np.int32)",)),
                Call("v2", "fn.reshape", ("v0",), (("src_dims", "v1"), ("layout", "'ABC'"))),
            ),
            1,
        ),
        node_of_axes,
    ),
    Known(
        "an axis is padded to no extent where shape says so, DALI pads to that of the longest sample as for -1",
        Case(
            (
                Source("v0", ("np.zeros((2, 3), np.uint8)", "np.zeros((2, 1), np.uint8)")),
                Call("v1", "fn.pad", ("v0",), (("shape", "[4, 0]"),)),
            ),
            2,
        ),
        lambda case, found: (
            found.kind == "shape"
            and any(re.search(r"(^|\b)0\b", c.given().get("shape", "")) for c in case.calls if c.operator == "pad")
        ),
    ),
    Known(
        "int16 are resized to the nearest, DALI makes -1 of those between -0.5 and 0",
        Case(
            (
                Source("v0", ("noise('int16', (4, 47, 3), 762, 4)",)),
                Call("v1", "fn.resize", ("v0",), (("size", "[14, 4]"),)),
                Call("v2", "operator.mul", ("v1", "100")),
            ),
            1,
        ),
        signed_resized,
    ),
    Known(
        "whether a pixel just at the end of a Gaussian counts is decided by the last bit of its position",
        example(
            "fn.resize",
            "noise('float32', (11, 3, 1), 1)",
            resize_y="16.669876098632812",
            mode="'stretch'",
            interp_type="types.INTERP_GAUSSIAN",
        ),
        lambda case, found: resized_by(case, found, "INTERP_GAUSSIAN"),
    ),
    Known(
        "just between two pixels the last bit of a position decides, which need not be DALI's where a crop moves it",
        example(
            "fn.resize_crop_mirror",
            "noise('uint8', (47, 4, 1), 899, 255)",
            resize_y="53.85",
            crop_h="16.3",
            crop_w="3.408",
            interp_type="types.INTERP_NN",
        ),
        lambda case, found: resized_by(case, found, "INTERP_NN", "crop", "crop_w", "crop_h"),
    ),
    Known(
        "what lies beyond a picture repeats its border, DALI's nearest neighbour reads what is there in memory",
        example(
            "fn.resize",
            "noise('uint8', (2, 22, 1), 1)",
            size="[2, 15]",
            interp_type="types.INTERP_NN",
            roi_start="[0.0, 4.345]",
            roi_end="[2.0, 25.278]",
        ),
        lambda case, found: resized_by(case, found, "INTERP_NN", "roi_start"),
    ),
    Known(
        "a part of a JPEG is a part of the whole picture, DALI's first column alone has other colours",
        example("fn.decoders.image_slice", "file('4:2:0', 17, 16, 2)", axis_names="'W'", shape="[1]"),
        lambda case, found: (
            found.kind == VALUES
            and uses(case, "decoders.image_slice", "decoders.image_crop")
            and any(
                re.search(r"file\('[^']*', (17|33|49),", text)  # one column more than whole blocks have
                for source in case.sources().values()
                for text in source.samples
            )
        ),
    ),
    Known(
        "an infinite extent is an error, DALI gives some other one",
        example("fn.resize", SMALL, layout="HWC", resize_x="float('inf')"),
        refused("resize", "resize_crop_mirror", "fast_resize_crop_mirror", text=r"\binf\b"),
    ),
    Known(
        "an angle that is no number is an error, DALI rotates by some other one",
        example("fn.rotate", SMALL, layout="HWC", angle="float('inf')", size="[14, 5]"),
        refused("rotate", text="angle is (inf|-inf|nan)"),
    ),
    Known(
        "mirrored pictures are mirrored from left to right, DALI takes the last axes of CHW and of frames",
        example("fn.resize_crop_mirror", "noise('uint8', (2, 8, 16), 237)", layout="CHW", size="[10, 6]", mirror="1"),
        lambda case, found: (
            found.kind == VALUES
            and any("mirror" in call.given() for call in case.calls if call.operator.endswith("resize_crop_mirror"))
            and any(source.layout not in ("", "HWC") for source in case.sources().values())
        ),
    ),
    Known(
        "sums of whole numbers that become one do not wrap, DALI's do",
        example("fn.reductions.mean", "noise('uint8', (47, 32, 5), 574)", dtype="types.UINT8"),
        wrapping,
    ),
    Known(
        "an axis of no direction is an error, DALI's matrix has no numbers",
        example("fn.transforms.rotation", angle="30.0", axis="0"),
        refused("transforms.rotation", text="is no direction"),
    ),
    Known(
        "the least of nothing, or of infinities, is infinite, DALI has the largest finite float",
        example("fn.reductions.min", "np.zeros((5, 0), np.float32)"),
        lambda case, found: (
            found.kind == VALUES
            and uses(case, "reductions.min", "reductions.max")
            and re.search(r"inf\) != np\.float\d+\(-?\d", found.detail) is not None
        ),
    ),
    Known(
        "a picture scaled by 0 is 0, in DALI it is no number",
        example("fn.crop_mirror_normalize", SMALL, scale="0.0"),
        lambda case, found: (
            found.kind == VALUES and uses(case, "crop_mirror_normalize") and "!= np.float32(nan)" in found.detail
        ),
    ),
    Known(
        "what is infinite or no number stays where it is, DALI multiplies it by 0",
        example("fn.transforms.crop", "np.float32([[1, 2, 3], [4, 5, 6]])", from_end="[-0.31, 0.0]"),
        lambda case, found: (
            found.kind == VALUES
            and any(name.startswith("transforms.") for name in case.operators())
            and "np.float32(nan)" in found.detail
        ),
    ),
    Known(
        "a mean over other axes is broadcast, DALI reads beyond it",
        example("fn.reductions.variance", "noise('int64', (8, 13, 5), 460)", "np.float32(2.5)", axes="[0, 2]"),
        other_means,
    ),
    Known(
        "deviations are of integers as they are, DALI's of integers that were rounded to FLOAT",
        example("fn.reductions.variance", "noise('int64', (1,), 379, 2147483647)", "np.float32(952327232)"),
        rounded,
    ),
    Known(
        "of several mistakes in a pipeline the first one is raised, DALI looks at types first",
        Case(
            (
                Source("v0", ("noise('float32', (3, 8, 3), 1)",), "HWC"),
                Call("v1", "fn.erase", ("v0",), (("normalized", "False"), ("normalized_shape", "True"))),
                Call("v2", "fn.contrast", ("v1",), (("dtype", "[1, 2, 3, 4, 5]"),)),
            ),
            1,
        ),
        several_mistakes,
    ),
    Known(
        "DALI's slices with a step are wrong for large tensors and where nothing is left",
        expression("operator.getitem", "noise('uint8', (98306,), 1)", "_", "slice(None, None, 2)"),
        steps,
    ),
    Known(
        "DALI compares negative whole numbers with floats as if they had no sign",
        expression("operator.le", "np.int16([-2])", "_", "-3.0"),
        signed_and_floats,
    ),
    Known(
        "1 / sqrt(0) is infinite and 1 / sqrt(inf) is 0, in DALI neither is a number",
        expression("math.rsqrt", "np.float32([0.0])", "_"),
        differ("math.rsqrt"),
    ),
    Known(
        "DALI loses channels but the first where fill_values has several and mean and std have one",
        example("fn.crop_mirror_normalize", SMALL, std="[9.0]", fill_values="[1, 2, 3]", out_of_bounds_policy="'pad'"),
        several_fills,
    ),
]
