"""Windows of every layout beside DALI's: of sequences, depth means frames."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn
from tests.cases import Array, random_array

LAYOUTS = ["HWC", "CHW", "DHWC", "CDHW", "FHWC", "FCHW", "CFHW", "FDHWC", "FCDHW", "CFDHW"]
SMALL = {"crop_h": 5, "crop_w": 6}
WINDOWS: list[dict[str, Any]] = [
    {},
    {"crop": [5, 6]},
    {"crop": [4, 5, 6]},
    {"crop": [0, 5, 6], "crop_pos_z": 0.3},
    {"crop_d": 4.7, "crop_pos_z": 0.0, **SMALL},
    {"crop_d": 4, "crop_pos_z": 0.5, **SMALL},
    {"crop_d": 4, "crop_pos_z": 1.0, "rounding": "truncate", **SMALL},
    {"crop_d": 3, "crop_pos_z": 0.7, "rounding": "truncate", **SMALL},
    {"crop": [12, 7, 6], "out_of_bounds_policy": "pad", "fill_values": 9.0, "crop_pos_z": 0.4},
]


def results(package: Any, operator: str, picture: Array, layout: str, arguments: dict[str, Any]) -> list[Any]:
    """Array and layout for each of the windows."""
    pipe = package.Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        x = package.fn.external_source(lambda: [picture], layout=layout)
        pipe.set_outputs(*(getattr(package.fn, operator)(x, **window, **arguments) for window in WINDOWS))
    pipe.build()
    return [(np.array(output.at(0)), output.layout()) for output in pipe.run()]


@pytest.mark.parametrize("operator", ["crop", "crop_mirror_normalize"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_windows_are_dalis(layout: str, operator: str) -> None:
    import penstock

    dali = pytest.importorskip("nvidia.dali", reason="DALI, the oracle, is not installed")
    if operator == "crop" and len(layout) > 4:
        pytest.skip("DALI crops no such input")
    extents = {"F": 10 if "D" not in layout else 2, "D": 10, "H": 6, "W": 8, "C": 3}
    picture = random_array([extents[axis] for axis in layout])
    arguments = {} if operator == "crop" else {"output_layout": layout, "mean": [1.0, 2.0, 3.0], "mirror": 1}
    own, wanted = (results(package, operator, picture, layout, arguments) for package in (penstock, dali))
    for window, (found, axes), (expected, dalis_axes) in zip(WINDOWS, own, wanted, strict=True):
        assert axes == dalis_axes, window
        np.testing.assert_array_equal(found, expected, str(window))


def test_frames_of_volumes_stay_all() -> None:
    """`crop` takes them, too; where there is depth, it is depth that is cropped."""
    volumes = random_array((2, 5, 6, 7, 3))
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.crop(fn.external_source(lambda: [volumes], layout="FDHWC"), crop=[3, 4, 5]))
    np.testing.assert_array_equal(pipe.run()[0].at(0), volumes[:, 1:4, 1:5, 1:6])
