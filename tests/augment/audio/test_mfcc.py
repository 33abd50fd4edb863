"""fn.mfcc, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn
from penstock.errors import ArgumentError, OperatorError
from penstock.graph.constants import constant
from tests.augment.audio.signals import spectra
from tests.cases import Apart, Array, case, samples


def mfcc(
    x: Array, axis: int = 0, n_mfcc: int = 20, dct_type: int = 2, normalize: bool = False, lifter: float = 0.0
) -> Array:
    n = x.shape[axis]
    k, i = np.mgrid[: min(n_mfcc, n), :n].astype(np.float64)
    angle = {
        1: lambda: i * k / (n - 1),
        2: lambda: (i + 0.5) * k / n,
        3: lambda: i * (k + 0.5) / n,
        4: lambda: (i + 0.5) * (k + 0.5) / n,
    }[dct_type]()
    matrix = np.cos(np.pi * angle)
    if dct_type == 1:
        matrix[:, [0, -1]] /= 2
    if normalize:
        matrix *= np.sqrt(2 / n)
        if dct_type == 2:
            matrix[0] /= np.sqrt(2)
        elif dct_type == 3:
            matrix[:, 0] /= np.sqrt(2)
    elif dct_type == 3:
        matrix[:, 0] /= 2
    if lifter:
        matrix *= 1 + lifter / 2 * np.sin(np.pi * (k + 1) / lifter)
    return np.moveaxis(np.tensordot(matrix, x.astype(np.float64), (1, axis)), 0, axis).astype(np.float32)


NEAR = Apart(tolerance=1e-4, why="DALI computes the lifter's factors in floats")
CASES = [
    case("mfcc", spectra(40), reference=mfcc, tolerance=1e-4, dct_type=kind, normalize=normalize)
    for kind in (1, 2, 3, 4)
    for normalize in (False, True)
    if kind > 1 or not normalize
]
CASES += [
    case("mfcc", spectra(40), reference=mfcc, tolerance=1e-4, from_dali=NEAR, n_mfcc=13, lifter=22.0),
    case("mfcc", spectra(40, "tf"), reference=mfcc, tolerance=1e-4, from_dali=NEAR, axis=1, lifter=-3.0, n_mfcc=100),
    case("mfcc", samples([np.stack([a] * 3) for a in spectra(20).arrays]), reference=mfcc, tolerance=1e-4, axis=1),
    case("mfcc", samples([np.stack([a] * 3) for a in spectra(20).arrays]), reference=mfcc, tolerance=1e-4, axis=2),
    case(
        "mfcc",
        samples([np.float32([3, 1, 2])] * 2),
        reference=mfcc,
        differs="DALI takes no inputs of one axis",
        dct_type=4,
    ),
]


@pytest.mark.parametrize(
    ("x", "arguments", "problem"),
    [
        (np.zeros((9, 2), np.int32), {}, "the input is INT32: expected FLOAT"),
        (np.zeros((9, 2), np.float32), {"axis": 2}, r"axis=2 is no axis of the shape \(9, 2\)"),
        (np.zeros((1, 2), np.float32), {"dct_type": 1}, "dct_type=1 needs an axis of 2 or more"),
    ],
)
def test_mistakes_are_named(x: Array, arguments: Any, problem: str) -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.mfcc(constant(x), **arguments))
    with pytest.raises(OperatorError, match=problem):
        pipe.run()


@pytest.mark.parametrize(
    "arguments", [{"axis": -1}, {"n_mfcc": 0}, {"dct_type": 5}, {"normalize": True, "dct_type": 1}]
)
def test_wrong_constants(arguments: Any) -> None:
    with pytest.raises(ArgumentError, match="mfcc: " + next(iter(arguments))):
        fn.mfcc(np.zeros((9, 2), np.float32), **arguments)
