"""Pipelines of one definition, built here and by DALI, whose batches must be equal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from penstock import Pipeline, fn
from tests.small import made


def ragged(iteration: int) -> list[np.ndarray[Any, Any]]:
    """Four samples of shapes of their own."""
    return [np.arange(6 * (k + 1), dtype=np.int16).reshape(3, -1) + 100 * iteration for k in range(4)]


def pictures(iteration: int) -> list[np.ndarray[Any, Any]]:
    """Four of one shape."""
    return [np.arange(40, dtype=np.uint8).reshape(4, 5, 2) + np.uint8(3 * k + iteration) for k in range(4)]


def compare(define: Callable[[Any, bool], Any], batches: int = 3) -> None:
    """``define`` gets the module `fn`, and whether it is DALI's."""
    import nvidia.dali as dali

    ours = made(lambda: define(fn, False))
    theirs = dali.Pipeline(4, 2, None)
    with theirs:
        outputs = define(dali.fn, True)
        theirs.set_outputs(*(outputs if isinstance(outputs, (list, tuple)) else [outputs]))
    for _ in range(batches):
        check(ours, theirs)


def check(ours: Pipeline, theirs: Any) -> None:
    """One batch."""
    for mine, its in zip(ours.run(), theirs.run(), strict=True):
        assert mine.layout() == its.layout()
        for k in range(4):
            found, wanted = mine.at(k), its.at(k)
            assert found.dtype == wanted.dtype
            np.testing.assert_array_equal(found, wanted)
