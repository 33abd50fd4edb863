"""fn.water, against NumPy."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from penstock import Pipeline, fn, types
from penstock.errors import OperatorError
from penstock.graph.constants import constant
from tests.augment.displace_reference import moved
from tests.cases import Apart, Array, case, per_sample, pictures

USUAL = 2 * np.pi / 128


def under_water(
    x: Array,
    ampl_x: float = 10.0,
    ampl_y: float = 10.0,
    freq_x: float = USUAL,
    freq_y: float = USUAL,
    phase_x: float = 0.0,
    phase_y: float = 0.0,
    mask: int = 1,
    interp_type: types.DALIInterpType = types.INTERP_NN,
    fill_value: float = 0.0,
) -> Array:
    if not mask:
        return x
    f = np.float32
    ys, xs = (v.astype(f) for v in np.mgrid[: x.shape[0], : x.shape[1]])
    right = f(ampl_x) * np.sin((f(freq_x) * ys + f(phase_x)).astype(np.float64)).astype(f)
    down = f(ampl_y) * np.cos((f(freq_y) * xs + f(phase_y)).astype(np.float64)).astype(f)
    return moved(x, xs + right, ys + down, interp_type, fill_value)


# A GPU's sines are other ones by their last bits.
water = partial(case, "water", reference=under_water)
near = partial(water, off_by=1, on_gpu=Apart(1, 0.01))
LINEAR = types.INTERP_LINEAR
WAVES = {"ampl_x": 3.3, "ampl_y": -4.0, "freq_x": 0.21, "freq_y": 1.1, "phase_x": 0.4, "phase_y": 2.0}

CASES = [
    water(pictures()),
    water(pictures(), **WAVES, fill_value=300.75),
    near(pictures(), **WAVES, fill_value=-3.5, interp_type=LINEAR),
    water(pictures(), mask=per_sample([0, 1, 2]), fill_value=9.0),
    near(pictures(channels=1), **WAVES, interp_type=LINEAR),
    near(pictures(channels=5), **WAVES, interp_type=LINEAR, fill_value=100.0),
    water(pictures(channels=4), fill_value=100.0),
    water(pictures(dtype=np.float32), **WAVES, fill_value=2.5),
    water(pictures(dtype=np.float32), **WAVES, interp_type=LINEAR, tolerance=2e-3, on_gpu=Apart(tolerance=1e-3)),
    water(pictures(sizes=((1, 1), (1, 9), (2, 1))), ampl_x=0.4),
    water(pictures(dtype=np.int16), **WAVES, differs="DALI has UINT8 and FLOAT only"),
]


def test_mistakes_are_named() -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.water(constant(np.zeros((3, 4, 5), np.uint8), "CHW")))
    with pytest.raises(OperatorError, match=r"water: .*expected pictures \(HWC\), got the layout 'CHW'"):
        pipe.run()
