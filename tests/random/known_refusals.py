"""What this library refuses on purpose, where DALI has some result."""

from __future__ import annotations

import re

from tests.random.case import Call, Case, Source
from tests.random.compare import RESIZES
from tests.random.known import FOUR, SMALL, Known, example
from tests.random.matchers import (
    HUES,
    REDUCTIONS,
    odd_values,
    refused,
    several_mistakes,
)

REFUSALS = [
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
        "a negative size is an error, DALI shows what lies in memory or hangs",
        example("fn.random_resized_crop", SMALL, layout="HWC", size="-1"),
        refused("random_resized_crop", text=r"size=\["),
    ),
    Known(
        "windows of inputs without elements are checked, too",
        example("fn.laplacian", "noise('int16', (0, 0, 3), 64, 255)", layout="FHW", smoothing_size="[3, 4, 0]"),
        lambda case, found: (
            refused("laplacian", text="window_size|smoothing_size|scale")(case, found)
            and any(re.search(r"\((\d+, )*0[,)]", text) for s in case.sources().values() for text in s.samples)
        ),
    ),
    Known(
        "axes that are not there are an error, DALI leaves them out",
        example("fn.squeeze", "noise('uint8', (8,), 1)", axes="[1, 2]"),
        refused("squeeze", "erase", text="is no axis of the shape"),
    ),
    Known(
        "a filler has no more axes than the shape, of others DALI takes the first elements",
        example("fn.full", "np.arange(8)", shape="[1, 1]"),
        refused("full", "full_like", text="can't fill the shape"),
    ),
    Known(
        "an axis that is named twice is an error, DALI counts its elements twice",
        example("fn.normalize", "noise('uint32', (2, 7, 1), 179, 255)", axes="[1, 0, 0]"),
        lambda case, found: (
            refused("normalize", "erase", text="is named twice")(case, found)
            or (refused(*REDUCTIONS, text="is named twice")(case, found) and "axis_names" in case.text())
        ),
    ),
    Known(
        "a window without pixels is an error, DALI has an empty picture if others of the batch have pixels",
        Case(
            (
                Source("v0", ("file('tiff', 17, 31, 2)", "file('tiff', 64, 48, 1)")),
                Call(
                    "v1",
                    "fn.decoders.image_slice",
                    ("v0",),
                    (("start", "np.array([15], np.int32)"), ("rel_end", "[0.894]")),
                ),
            ),
            2,
        ),
        refused("decoders.image_slice", text="is empty in the picture"),
    ),
    Known(
        "one number is no matrix, DALI takes it nine times",
        example("fn.experimental.warp_perspective", SMALL, layout="HWC", matrix="[1.38]"),
        refused("experimental.warp_perspective", text="matrix has 1 values"),
    ),
    Known(
        "an infinite sample rate is an error, DALI's filters are all zeros",
        example("fn.mel_filter_bank", "noise('float32', (56, 26), 964, 1)", sample_rate="float('inf')"),
        refused("mel_filter_bank", text="sample_rate=inf"),
    ),
    Known(
        "a background that is also a class is an error, DALI looks for it only where a box is drawn around an object",
        example(
            "fn.segmentation.random_object_bbox",
            "noise('int32', (7, 9), 13, 3)",
            background="3",
            classes="[2, 3]",
            foreground_prob="0.0",
        ),
        refused("segmentation.random_object_bbox", text="which is one of the classes"),
    ),
    Known(
        "an infinite extent is an error, DALI gives some other one",
        example("fn.resize", SMALL, layout="HWC", resize_x="float('inf')"),
        refused(*RESIZES, "paste", text=r"\b(inf|nan)\b"),
    ),
    Known(
        "filters of frames are for inputs with frames, DALI has a frame of any other input for each",
        Case(
            (
                Source("v0", ("noise('uint16', (3, 16), 962, 255)",)),
                Source("v1", ("noise('float32', (5, 1, 2), 430, 1)",), "FHW"),
                Call("v2", "fn.filter", ("v0", "v1"), ()),
            ),
            1,
        ),
        refused("filter", "experimental.filter", text="but the input has no frames"),
    ),
    Known(
        "an angle that is no number is an error, DALI rotates by some other one",
        example("fn.rotate", SMALL, layout="HWC", angle="float('inf')", size="[14, 5]"),
        refused("rotate", text="angle is (inf|-inf|nan)"),
    ),
    Known(
        "a picture of a negative extent, or an angle that is no number, is an error, DALI drops all boxes",
        example("fn.bbox_rotate", "np.float32([[0.1, 0.1, 0.5, 0.5]])", angle="30.0", input_shape="[10, -3]"),
        refused("bbox_rotate", text=r"negative extent|angle is (inf|-inf|nan)"),
    ),
    Known(
        "an infinite share of a box is an error like all beyond 1, DALI refuses those and drops all boxes for this one",
        example(
            "fn.bbox_rotate",
            "np.float32([[0.1, 0.1, 0.5, 0.5]])",
            angle="30.0",
            input_shape="[10, 3]",
            remove_threshold="float('inf')",
        ),
        refused("bbox_rotate", text="remove_threshold=inf"),
    ),
    Known(
        "a header of .npy that is no dictionary is an error, DALI reads what it finds of one",
        example("fn.decoders.numpy", "harmed(npy(noise('uint8', (0,), 217, 2147483647), False), 0.5, 5)"),
        lambda case, found: (
            refused("decoders.numpy", text="npy file is broken")(case, found) and "harmed" in case.text()
        ),
    ),
    Known(
        "an axis of no direction is an error, DALI's matrix has no numbers",
        example("fn.transforms.rotation", angle="30.0", axis="0"),
        refused("transforms.rotation", text="is no direction"),
    ),
    Known(
        "where axes come from a node, too, both ways to name them are an error, DALI takes axis_names",
        Case(
            (
                Source("v0", ("noise('int32', (1, 3), 77, 4)",), "AB"),
                Source("v1", ("np.array([0], np.int32)",)),
                Call("v2", "fn.squeeze", ("v0",), (("axes", "v1"), ("axis_names", "'A'"))),
            ),
            1,
        ),
        refused("squeeze", text="just one of axes and axis_names"),
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
        "mean and std have a value or one per channel, DALI loses channels where fill_values has more",
        example(
            "fn.crop_mirror_normalize", SMALL, mean="[2.0, 1.0]", fill_values="[1, 2, 3]", out_of_bounds_policy="'pad'"
        ),
        refused("crop_mirror_normalize", text=r"(mean|std) has \d+ values for"),
    ),
    Known(
        "a fill for other channels than the picture's is an error, in DALI only where something is erased",
        example("fn.erase", SMALL, layout="HWC", anchor="[1.0]", shape="[0.0]", axes="[0]", fill_value="[1, 2]"),
        refused("erase", text=r"fill_value has \d+ values for"),
    ),
    Known(
        "a picture without pixels has no windows, DALI draws some",
        example("fn.random_bbox_crop", "np.float32([[0.1, 0.1, 0.5, 0.5]])", input_shape="[0, 3]"),
        refused("random_bbox_crop", text="has the extent 0"),
    ),
    Known(
        "a crop has no negative extent, and a region does not end before it starts; DALI draws some window",
        example("fn.roi_random_crop", roi_start="[9]", roi_end="[17]", crop_shape="[-1]"),
        refused("roi_random_crop", text="expected 0 or more|ends before it starts"),
    ),
    Known(
        "what an operator cannot do with a type is an error, in DALI only where a mask lets it do anything",
        Case(
            (
                Source("v0", ("noise('uint16', (7, 4, 3), 624, 255)",), "HWC"),
                Source("v1", ("np.array(0, np.int32)",)),
                Call("v2", "fn.water", ("v0",), (("mask", "v1"),)),
            ),
            1,
        ),
        refused("water", "sphere", "jitter", text="the input is"),
    ),
    Known(
        "width stands right behind height in pictures, DALI takes others for them",
        example("fn.grid_mask", "noise('uint8', (3, 8, 9, 2), 1)", layout="CWHD"),
        refused("grid_mask", text="expected W right behind H"),
    ),
    Known(
        "a signal shorter than a window has none that is not centered, DALI reads beyond it where the step is longer",
        example("fn.spectrogram", "noise('float32', (17,), 1, 1)", window_step="999", center_windows="False"),
        refused("spectrogram", text="fewer than a window"),
    ),
    Known(
        "what is infinite or no number is no scale of decibels, nor are there windows of no samples",
        example("fn.to_decibels", "np.float32([1, 2])", cutoff_db="float('nan')"),
        refused("to_decibels", "nonsilent_region", text="expected a finite number|expected 1 or more|expected a pos"),
    ),
    Known(
        "a detector without anchors is an error, DALI crashes as soon as there is a box",
        Case(
            (
                Source("v0", ("np.zeros((0, 4), np.float32)",)),
                Source("v1", ("np.zeros(0, np.int32)",)),
                Call("v2", "fn.box_encoder", ("v0", "v1"), (("anchors", "[]"),)),
            ),
            1,
        ),
        refused("box_encoder", text=r"anchors=\[\]"),
    ),
    Known(
        "a filter of frames for an input that has none is an error, DALI takes the frames for rows without a layout",
        Case(
            (
                Source("v0", ("noise('float32', (3, 8), 201, 255)",)),
                Source("v1", ("noise('float32', (16, 5), 999, 4)",), "FH"),
                Call("v2", "fn.filter", ("v0", "v1"), ()),
            ),
            1,
        ),
        refused("filter", text="the filter has the shape"),
    ),
]
