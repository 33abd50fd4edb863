"""`resize_crop_mirror` against plain NumPy; the sweep compares it with DALI too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from penstock import fn, types
from penstock.errors import ArgumentError
from tests.augment.resample_reference import FROM_DALI, ON_GPU, apply, extents, scenes, split
from tests.cases import SAME, Apart, Array, Case, case, per_sample


def reference(layout: str) -> Callable[..., Array]:
    def made(x: Array, mirror: int = 0, crop: Any = None, rounding: str = "round", **arguments: Any) -> Array:
        filters, geometry = split(arguments)
        space = [axis for axis in "DHW" if axis in layout]
        crop = [geometry.pop(f"crop_{axis.lower()}", 0) for axis in space] if crop is None else list(crop)
        crop = ([0] * len(space) + crop)[-len(space) :]  # of frames, nothing is cut
        place = [geometry.pop(f"crop_pos_{axis}", 0.5) for axis in "zyx"[3 - len(space) :]]
        geometry.pop("crop_pos_z", None)
        out, lo, hi = extents([x.shape[layout.index(axis)] for axis in space], **geometry)
        for i in range(len(space)):
            scale = (hi[i] - lo[i]) / out[i]
            if int(crop[i]) > 0:
                room = place[i] * (out[i] - int(crop[i]))
                start = int(np.trunc(room) if rounding == "truncate" else np.copysign(np.floor(abs(room) + 0.5), room))
                lo[i], hi[i], out[i] = lo[i] + start * scale, lo[i] + (start + int(crop[i])) * scale, int(crop[i])
            if mirror >> (len(space) - 1 - i) & 1:
                lo[i], hi[i] = hi[i], lo[i]
        return apply(x, layout, out, lo, hi, **filters)

    return made


def made(
    layout: str = "HWC",
    of: Any = np.uint8,
    differs: str | None = None,
    op: str = "resize_crop_mirror",
    from_dali: Apart = FROM_DALI,
    **arguments: Any,
) -> Case:
    by_default = {"antialias": op == "resize_crop_mirror"}
    return case(
        op,
        scenes(layout, of),
        reference=lambda x, **given: reference(layout)(x, **{**by_default, **given}),
        off_by=1,
        tolerance=1e-4,
        differs=differs,
        on_gpu=ON_GPU,
        from_dali=SAME if differs else from_dali,
        **arguments,
    )


OLD = "fast_resize_crop_mirror"
WRONG_AXIS = "DALI 2.4 mirrors another axis where the layout does not begin with the axes of space"

CASES = [
    made(resize_shorter=53, crop=(41, 37)),
    made(resize_shorter=53, crop=(41, 37), mirror=1),
    made(resize_shorter=53, crop=(41, 37), mirror=per_sample([1, 2, 3])),
    made(size=(53, 67), mirror=3, dtype=types.FLOAT),
    made(size=(53, 67), crop_w=30.7, crop_h=41, crop_pos_x=0.13, crop_pos_y=0.9),
    made(size=(53, 67), crop=(41, 37), rounding="truncate", crop_pos_x=per_sample([0.1, 0.5, 1.0])),
    made(size=(53, 67), crop=(60, 37)),
    made(size=(53, 67), crop=(0, 37)),
    made(size=(-53, 67), crop=(41, 37), mirror=1),
    made(resize_longer=89.3, crop=(29, 31), roi_start=(5, 7), roi_end=(38, 51.5), interp_type=types.INTERP_CUBIC,
         from_dali=SAME),
    made(resize_x=71, crop=per_sample([(41.0, 37.0), (20.0, 25.0), (10.0, 11.0)]), antialias=False),
    made(of=np.float32, size=(53, 67), crop=(41, 37), mirror=2, interp_type=types.INTERP_LANCZOS3),
    made("DHWC", size=(5, 53, 67), crop=(3, 41, 37), crop_pos_z=0.2, mirror=5),
    made("DHWC", size=(5, 53, 67), crop_d=4, crop_h=21, crop_w=22, max_size=60, from_dali=SAME),
    made("CHW", size=(53, 67), crop=(41, 37)),
    made("FHWC", size=(53, 67), crop=(1, 41, 37), crop_pos_z=1.0),
    made(op=OLD, resize_shorter=23, crop=(21, 17), mirror=per_sample([1, 2, 3])),
    made(op=OLD, size=(13, 17), antialias=True),
    made("CHW", np.float32, op=OLD, size=(13, 17), interp_type=types.INTERP_CUBIC),
    made("CHW", size=(53, 67), crop=(41, 37), mirror=1, differs=WRONG_AXIS),
    made("FHWC", size=(53, 67), crop=(41, 37), mirror=2, differs=WRONG_AXIS),
    made("CDHW", size=(5, 53, 67), mirror=4, differs=WRONG_AXIS),
    made(
        size=(41, 167), crop=(23, 41), min_filter=types.INTERP_NN, mag_filter=types.INTERP_LINEAR,
        differs="DALI 2.4 shifts a region when one axis takes the nearest neighbour and another one does not",
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "argument"),
    [
        ({"crop": (4, 4)}, "size"),
        ({"size": 8, "crop": (4, 4), "crop_w": 3, "crop_h": 3}, "crop"),
        ({"size": 8, "crop_w": 3}, "crop_w"),
        ({"size": 8, "rounding": "up"}, "rounding"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], argument: str) -> None:
    with pytest.raises(ArgumentError, match=rf"resize_crop_mirror: .*{argument}"):
        fn.resize_crop_mirror(types.Constant(np.zeros((4, 4, 3), np.uint8)), **arguments)
