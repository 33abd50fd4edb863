"""fn.to_decibels, against NumPy."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from penstock import Pipeline, fn
from penstock.errors import OperatorError
from penstock.graph.constants import constant
from tests.augment.audio.signals import spectra
from tests.cases import Apart, Array, case, samples


def decibels(x: Array, multiplier: float = 10.0, reference: float = 0.0, cutoff_db: float = -200.0) -> Array:
    largest = np.fmax.reduce(x.ravel(), initial=0)
    least = max(10 ** (cutoff_db / multiplier), np.finfo(np.float32).smallest_subnormal)
    with np.errstate(invalid="ignore"):
        ratio = x.astype(np.float64) / (reference or largest or 1)
    return np.float32(multiplier * np.log10(np.where(ratio > least, ratio, least)))


NEAR = Apart(tolerance=1e-6)
ODD = samples([[0, -1, 1e-30, 1, np.nan, 2, 1e-40, 3e38], np.zeros(5), -np.ones(3)], dtype=np.float32)
CASES = [
    # one of the arguments is called "reference", as one of case()
    dataclasses.replace(case("to_decibels", spectra(), reference=decibels, from_dali=NEAR), arguments=arguments)
    for arguments in (
        {}, {"multiplier": 20.0, "cutoff_db": -30.0}, {"reference": 3.0}, {"reference": 1e-5, "cutoff_db": 30.0},
        {"reference": -1.0}, {"cutoff_db": -100.0, "multiplier": -10.0}, {"cutoff_db": -1e5, "reference": 1.0},
    )
]  # fmt: skip
CASES += [
    case("to_decibels", ODD, reference=decibels, from_dali=NEAR),
    case("to_decibels", samples([np.float32(3), np.float32(0)]), reference=decibels, from_dali=NEAR),
]


def test_logarithms_are_exact() -> None:
    x = np.exp(np.random.default_rng(0).uniform(-87, 88, 100_000)).astype(np.float32)
    x = np.concatenate([x, np.float32([1, 10, 1e-45, 1e-40, 3e38, np.inf])])
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.to_decibels(constant(x), reference=1.0, cutoff_db=-1e4))
    found, wanted = pipe.run()[0].at(0)[:-1], 10 * np.log10(x[:-1].astype(np.float64))
    assert np.all(np.abs(found - wanted) <= 3.5 * np.spacing(np.abs(wanted).astype(np.float32)) + 1e-7)
    assert pipe.run()[0].at(0)[-1] == np.inf


def test_mistakes_are_named() -> None:
    pipe = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(fn.to_decibels(constant(np.zeros(3, np.uint8))))
    with pytest.raises(OperatorError, match="the input is UINT8: expected FLOAT"):
        pipe.run()
