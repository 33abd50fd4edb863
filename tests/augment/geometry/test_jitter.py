"""fn.jitter: where pixels come from, and how often. (DALI has it on GPUs only.)"""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from penstock import fn, types
from penstock.errors import ArgumentError
from penstock.graph.constants import constant
from tests.augment.drawing import draw
from tests.cases import Array, case, per_sample, pictures

jitter = partial(case, "jitter", differs="DALI has it on GPUs only")

CASES = [
    jitter(pictures()),
    jitter(pictures(), nDegree=7, fill_value=9.0, mask=per_sample([0, 1, 1])),
    jitter(pictures(channels=1, dtype=np.float32), interp_type=types.INTERP_LINEAR),
    jitter(pictures(channels=4, dtype=np.int16), nDegree=1),
]

HEIGHT, WIDTH = 200, 300
PLACES = np.stack(np.mgrid[:HEIGHT, :WIDTH], -1).astype(np.float32)


def moves(degree: int, count: int = 1, interp_type: types.DALIInterpType = types.INTERP_NN) -> Array:
    """Which way each pixel has come, of so many samples; not-a-number beyond the border."""
    found = draw(
        lambda: fn.jitter(constant(PLACES, "HWC"), nDegree=degree, fill_value=-1e6, interp_type=interp_type),
        batch_size=count,
    )
    return np.where(found < 0, np.nan, found - PLACES)


@pytest.mark.parametrize(("degree", "reach"), [(1, 0), (2, 1), (3, 1), (4, 2), (9, 4)])
@pytest.mark.parametrize("interp_type", [types.INTERP_NN, types.INTERP_LINEAR])
def test_all_places_are_equally_likely(degree: int, reach: int, interp_type: types.DALIInterpType) -> None:
    inner = moves(degree, 1, interp_type)[0, reach : HEIGHT - reach or None, reach : WIDTH - reach or None]
    pairs, counts = np.unique(inner.reshape(-1, 2), axis=0, return_counts=True)
    side = np.arange(-reach, reach + 1)
    np.testing.assert_array_equal(pairs, np.stack(np.meshgrid(side, side, indexing="ij"), -1).reshape(-1, 2))
    expected = inner[..., 0].size / len(pairs)
    assert (np.abs(counts - expected) < 5 * np.sqrt(expected)).all()


def test_pixels_and_samples_are_independent() -> None:
    drawn = moves(8, 2)[:, 4:-4, 4:-4].reshape(2, -1, 2)
    flat = np.stack([drawn[0, :-1, 0], drawn[0, :-1, 1], drawn[1, :-1, 0], drawn[0, 1:, 0]])
    assert np.abs(np.corrcoef(flat) - np.eye(4)).max() < 5 / np.sqrt(flat.shape[1])


@pytest.mark.parametrize("degree", [0, -1, 65535])
def test_mistakes_are_named(degree: int) -> None:
    with pytest.raises(ArgumentError, match=f"jitter: nDegree={degree}: expected 1 to 65534"):
        fn.jitter(PLACES, nDegree=degree)
