"""fn.random.coin_flip: ones and zeros."""

from __future__ import annotations

import math

import numpy as np
import pytest

from penstock import fn, types
from tests.augment.drawing import N, draw
from tests.cases import case, per_sample, pictures

CASES = [
    case("random.coin_flip"),
    case("random.coin_flip", shape=[7], probability=per_sample([0.0, 0.5, 1.0]), dtype=types.BOOL),
    case("random.coin_flip", pictures("HW"), dtype=types.UINT8),
]


@pytest.mark.parametrize("probability", [0.0, 0.1, 0.5, 1.0])
def test_coin_flip(probability: float) -> None:
    drawn = draw(lambda: fn.random.coin_flip(probability=probability, shape=[N]))
    assert set(np.unique(drawn)) <= {0, 1}
    assert abs(drawn.mean() - probability) <= 4 * math.sqrt(probability * (1 - probability) / N)
