"""What NumPy makes of a case's samples: whether ours is right where DALI differs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from penstock import newaxis, types
from tests.random import data
from tests.random.case import Call, Case
from tests.random.outcome import Array

TYPES = SimpleNamespace(**{**vars(types), "Constant": lambda number: number})


def evaluated(case: Case, sample: int, texts: tuple[str, ...]) -> list[Any]:
    """Expressions in which the sources' names are their arrays."""
    scope = {"np": np, **vars(data), "newaxis": newaxis, "types": TYPES}
    own = {name: eval(source.samples[sample], scope) for name, source in case.sources().items()}
    return [eval(text, {**scope, **own}) for text in texts]


def sliced(case: Case, sample: int) -> Array:
    array, key = evaluated(case, sample, case.last.inputs)
    keys = key if isinstance(key, tuple) else (key,)
    index = [None if k is newaxis else slice(None) if k is None else k for k in keys]  # None is a whole axis in DALI
    return np.asarray(np.asarray(array)[tuple(index)])


def axes_of(case: Case, call: Call, sample: int, count: int) -> tuple[int, ...]:
    """That are reduced."""
    given, source = call.given(), case.sources().get(call.inputs[0])
    if "axis_names" in given:
        names = str(eval(given["axis_names"]))
        return tuple(source.layout.index(name) for name in names) if source else ()
    if "axes" not in given:
        return tuple(range(count))
    return tuple(int(axis) % count for axis in np.atleast_1d(evaluated(case, sample, (given["axes"],))[0]))


def reduced(case: Case, call: Call, sample: int) -> Array:
    """As a float, with all axes kept."""
    array = np.asarray(evaluated(case, sample, call.inputs[:1])[0]).astype(np.float64)
    axes = axes_of(case, call, sample, array.ndim)
    name = call.operator.removeprefix("reductions.")
    if name in ("variance", "std_dev"):
        makers = {other.name: other for other in case.calls}
        text = call.inputs[1]
        mean = reduced(case, makers[text], sample) if text in makers else evaluated(case, sample, (text,))[0]
        squares = np.sum((array - mean) ** 2, axis=axes, keepdims=True)
        count = array.size / max(1, squares.size) - int(call.given().get("ddof", 0))
        with np.errstate(divide="ignore", invalid="ignore"):  # as many degrees as elements
            variance = squares / np.float64(count) if array.size else 0 * squares
        return np.asarray(np.sqrt(variance) if name == "std_dev" else variance)
    powers = array**2 if name in ("mean_square", "rms") else array
    total = (np.sum if name == "sum" else np.mean)(powers, axis=axes, keepdims=True)
    return np.asarray(np.sqrt(total) if name == "rms" else total)


def reductions_right(case: Case, ours: tuple[Array, ...]) -> bool:
    """Rounded, and limited to their type; not where NumPy can't tell."""
    try:
        return _reductions_right(case, ours)
    except (TypeError, ValueError):
        return False


def _reductions_right(case: Case, ours: tuple[Array, ...]) -> bool:
    for i, array in enumerate(ours):
        wanted = reduced(case, case.last, i).ravel()
        if array.dtype.kind in "iu":
            limits = np.iinfo(array.dtype)
            wanted = np.clip(wanted, limits.min, limits.max)
        have = array.astype(np.float64).ravel()
        if have.shape != wanted.shape or not np.allclose(have, wanted, rtol=1e-4, atol=1, equal_nan=True):
            return False
    return True
