"""Results that are others than DALI's on purpose."""

from __future__ import annotations

import re

from tests.random.case import Call, Case, Source
from tests.random.known import SMALL, Known, example, expression
from tests.random.matchers import (
    REFUSED,
    VALUES,
    as_halves,
    beyond,
    beyond_the_type,
    crop_beyond,
    either_not_finite,
    few,
    first_column,
    low_mels,
    mirrored,
    nearest_beside_less_than_a_pixel,
    no_number_cast,
    node_of_axes,
    not_finite,
    one_fill,
    only_no_numbers,
    other_channels,
    other_means,
    padded_to_nothing,
    resized_by,
    rounded,
    scaled_by_zero,
    several_fills,
    shared_component,
    signed_and_floats,
    signed_resized,
    small,
    steps,
    two_filters,
    uses,
    whole_filler,
    whole_sounds,
    without_pixels,
    without_sign,
    wrapping,
)

RESULTS = [
    Known(
        "a canvas is filled for the channels that there are, DALI goes by n_channels and fills too little or too much",
        example("fn.paste", "noise('uint8', (6, 8, 5), 1)", layout="HWC", ratio="2.0", fill_value="[7]"),
        other_channels,
    ),
    Known(
        "features that are no dictionary are an error of this library's own",
        example("fn.readers.tfrecord", path="['a']", index_path="['b']", features="''"),
        lambda case, found: found.kind == "class" and "has no attribute 'items'" in found.detail,
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
        "a grid masks all of the input, DALI shows what lies in memory where that has not three axes",
        example("fn.grid_mask", "noise('uint8', (3, 40, 5, 3), 1)", tile="4"),
        lambda case, found: found.kind == VALUES and uses(case, "grid_mask") and found.ours[0].ndim != 3,
    ),
    Known(
        "a mask leaves samples as they are, DALI overlooks one that is the same for all",
        example("fn.sphere", "noise('uint8', (8, 6, 3), 1)", layout="HWC", mask="0"),
        lambda case, found: (
            found.kind == VALUES
            and uses(case, "sphere", "water")
            and any("mask" in call.given() for call in case.calls)
        ),
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
        padded_to_nothing,
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
        "rows are filtered though columns are not, DALI's are others where extents are fractions",
        Case(
            (
                Source("v0", ("noise('uint8', (38, 8, 3), 953, 255)",), "HWC"),
                Call(
                    "v1",
                    "fn.resize",
                    ("v0",),
                    (("resize_x", "19"), ("resize_y", "2.134"), ("mag_filter", "types.INTERP_NN")),
                ),
            ),
            1,
        ),
        two_filters,
    ),
    Known(
        "laplacian sums up floats, DALI halves where the input has them",
        example("fn.laplacian", "noise('float16', (7, 19), 811, 4)", scale="[-0.38466, -1.365]", dtype="types.FLOAT"),
        lambda case, found: uses(case, "laplacian") and "'float16'" in case.text() and as_halves(case, found),
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
        lambda case, found: resized_by(case, found, "INTERP_GAUSSIAN") and small(case, found, 0.03),
    ),
    Known(
        "just between two pixels the last bit of a position decides, which need not be DALI's where a crop or a limit "
        "moves it",
        example(
            "fn.resize_crop_mirror",
            "noise('uint8', (47, 4, 1), 899, 255)",
            resize_y="53.85",
            crop_h="16.3",
            crop_w="3.408",
            interp_type="types.INTERP_NN",
        ),
        lambda case, found: (
            resized_by(case, found, "INTERP_NN", "crop", "crop_w", "crop_h", "max_size")
            and (few(case, found, 0.5) or crop_beyond(case) or any(1 in array.shape[:2] for array in found.ours))
        ),
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
        lambda case, found: resized_by(case, found, "INTERP_NN", "roi_start") and beyond(case),
    ),
    Known(
        "a part's rows are where they are, DALI's are one further where only one axis has the nearest pixel",
        example(
            "fn.resize_crop_mirror",
            "np.float32(np.arange(7)[:, None, None] * 100 + np.arange(33)[None, :, None])",
            resize_x="15.52",
            resize_y="41.22",
            crop="[3.588, 12.0]",
            min_filter="types.INTERP_NN",
        ),
        two_filters,
    ),
    Known(
        "what lies wholly beyond a picture is its border, DALI reads what is there in memory, or ends",
        example(
            "fn.resize",
            "noise('uint8', (3, 7, 5, 1), 752, 4)",
            layout="DHWC",
            size="[8, 9, 20]",
            roi_start="[-40.0, 0.0, 1.0]",
            roi_end="[-13.0, 7.0, 5.0]",
        ),
        lambda case, found: resized_by(case, found, "", "roi_start") and beyond(case, wholly=True),
    ),
    Known(
        "an infinite pixel that a filter gives no weight is left out, DALI multiplies it by 0, or by a last bit",
        example(
            "fn.resize",
            "wild('float32', (4, 7, 5), 937, 4)",
            resize_x="47",
            roi_start="[-1.438, 0.47]",
            roi_end="[1.0, 2.47]",
            interp_type="types.INTERP_CUBIC",
        ),
        lambda case, found: resized_by(case, found, "") and "wild(" in case.text() and either_not_finite(case, found),
    ),
    Known(
        "a number as MT scales coordinates, DALI adds an axis to them where it comes from a node",
        Case(
            (
                Source("v0", ("np.float32([[8.75, -3.5, 1.25]])",)),
                Source("v1", ("np.float32(2)",)),
                Call("v2", "fn.coord_transform", ("v0",), (("MT", "v1"),)),
            ),
            1,
        ),
        lambda case, found: (
            found.kind == "shape"
            and any(c.operator == "coord_transform" and c.given().get("MT", "").startswith("v") for c in case.calls)
        ),
    ),
    Known(
        "an axis that keeps its extent keeps its pixels, DALI's nearest neighbour moves them where another one becomes "
        "less than a pixel",
        example(
            "fn.tensor_resize",
            "noise('uint8', (7, 4, 3), 988, 255)",
            layout="HWC",
            mag_filter="types.INTERP_NN",
            scales="[0.104]",
            axis_names="'C'",
        ),
        nearest_beside_less_than_a_pixel,
    ),
    Known(
        "a part of a JPEG is a part of the whole picture, DALI's first column alone has other colours",
        example("fn.decoders.image_slice", "file('4:2:0', 17, 16, 2)", axis_names="'W'", shape="[1]"),
        first_column,
    ),
    Known(
        "mirrored pictures are mirrored from left to right, DALI takes the last axes of CHW and of frames",
        example("fn.resize_crop_mirror", "noise('uint8', (2, 8, 16), 237)", layout="CHW", size="[10, 6]", mirror="1"),
        mirrored,
    ),
    Known(
        "sums of whole numbers that become one do not wrap, DALI's do",
        example("fn.reductions.mean", "noise('uint8', (47, 32, 5), 574)", dtype="types.UINT8"),
        wrapping,
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
        scaled_by_zero,
    ),
    Known(
        "what is no number is 0 as a whole one, an infinity the limit; in DALI both are what the processor makes",
        example("fn.cast", "np.float16([np.nan] * 7)", dtype="types.INT64"),
        no_number_cast,
    ),
    Known(
        "coordinates are flipped by themselves, DALI makes no number of those beside what is infinite or no number",
        example("fn.bb_flip", "np.float32([0.1, np.nan, 0.2, 0.25])"),
        lambda case, found: found.kind == VALUES and uses(case, "bb_flip") and only_no_numbers(case, found),
    ),
    Known(
        "what is infinite or no number stays where it is, DALI multiplies it by 0",
        example("fn.transforms.crop", "np.float32([[1, 2, 3], [4, 5, 6]])", from_end="[-0.31, 0.0]"),
        lambda case, found: (
            found.kind == VALUES
            and any(name.startswith("transforms.") for name in case.operators())
            and only_no_numbers(case, found)
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
        lambda case, found: (
            found.kind == VALUES
            and (uses(case, "math.rsqrt") or (re.search("epsilon=(-|.*inf)", case.text()) and uses(case, "normalize")))
            and only_no_numbers(case, found)
        ),
    ),
    Known(
        "what is divided by infinity is 0, in DALI it is no number",
        example("fn.crop_mirror_normalize", "noise('uint8', (3, 4, 3), 1, 255)", layout="HWC", std="float('inf')"),
        lambda case, found: (
            uses(case, "crop_mirror_normalize")
            and any("inf" in call.given().get("std", "") for call in case.calls)
            and only_no_numbers(case, found)
        ),
    ),
    Known(
        "low frequencies are turned into mels in double precision, by DALI in single",
        example("fn.mel_filter_bank", "noise('float32', (17, 22), 469, 1)", sample_rate="0.5", mel_formula="'htk'"),
        low_mels,
    ),
    Known(
        "sounds of floats become whole numbers of full scale, DALI makes -1, 0 and 1 of them if nothing else changes",
        example("fn.decoders.audio", "sound('WAV', 'FLOAT', 300, 2, 16000)", dtype="types.INT32"),
        whole_sounds,
    ),
    Known(
        "a component may stand for two outputs, DALI misses one then and skips the sample",
        example(
            "fn.readers.webdataset",
            paths="stored_files('webdataset', 18, 1, '.tar')",
            ext="['jpg;cls', 'cls']",
            missing_component_behavior="'skip'",
        ),
        shared_component,
    ),
    Known(
        "a picture without pixels has no other extent after resizing either, DALI's crop gives it one",
        example(
            "fn.fast_resize_crop_mirror",
            "noise('uint16', (4, 1, 0, 3), 506, 255)",
            resize_x="43.331",
            roi_start="[0.31, 0.12]",
            roi_end="[0.8, 0.8841]",
            crop="[-0.69, 2.23, -0.5]",
        ),
        lambda case, found: found.kind == "shape" and "resize_crop_mirror" in case.text() and without_pixels(case),
    ),
    Known(
        "sums of squares are of doubles, which hold what is infinite in DALI's floats",
        example("fn.normalize", "np.float32([[1, 1e38, 3e38]])"),
        lambda case, found: (
            found.kind == VALUES
            and uses(case, "normalize")
            and ("wild(" in case.text() or "e38" in case.text())
            and not_finite(case, found)
        ),
    ),
    Known(
        "a fill beyond the type's limits is the limit, DALI's wraps round",
        example("fn.slice", "noise('int8', (3, 7), 1)", end="[3, 8]", out_of_bounds_policy="'pad'", fill_values="208"),
        beyond_the_type,
    ),
    Known(
        "DALI loses channels but the first where fill_values has several and mean and std have one",
        example("fn.crop_mirror_normalize", SMALL, std="[9.0]", fill_values="[1, 2, 3]", out_of_bounds_policy="'pad'"),
        several_fills,
    ),
    Known(
        "without names for new axes there is no layout, DALI keeps the letters before the first of them",
        example("fn.expand_dims", "noise('int32', (4, 2, 3), 977, 4)", layout="XYZ", axes="[1]", new_axis_names="''"),
        lambda case, found: found.kind == "layout" and uses(case, "expand_dims") and "new_axis_names=''" in case.text(),
    ),
    Known(
        "what is masked is 0, whatever it was",
        example("fn.grid_mask", "np.full((300, 300, 1), np.inf, np.float32)", layout="HWC"),
        lambda case, found: found.kind == VALUES and uses(case, "grid_mask") and only_no_numbers(case, found),
    ),
    Known(
        "negative axes count from the last one, DALI takes the last one for all of them",
        example("fn.power_spectrum", "noise('float32', (6, 8), 1, 1)", axis="-2"),
        lambda case, found: uses(case, "power_spectrum") and "axis=-" in case.text(),
    ),
    Known("beyond a signal there is silence, in DALI the least number of integers without a sign", None, without_sign),
    Known("a fill is of all channels, in DALI those beyond four are what was in memory", None, one_fill),
]
