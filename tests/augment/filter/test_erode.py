"""fn.experimental.erode: its cases are those of dilation, in test_dilate.py; this is how the two are related."""

from __future__ import annotations

import numpy as np

from penstock import Pipeline, fn
from penstock.graph.constants import constant
from tests.cases import random_array


def test_it_is_the_dilation_of_the_negative() -> None:
    x = random_array((40, 50, 3))
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(
            fn.experimental.erode(constant(x, "HWC"), mask_size=(5, 4)),
            fn.experimental.dilate(constant(255 - x, "HWC"), mask_size=(5, 4)),
        )
    dark, bright = (np.array(found.at(0)) for found in pipe.run())
    np.testing.assert_array_equal(dark, 255 - bright)
