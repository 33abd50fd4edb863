"""Functions that no module has get to other processes."""

from __future__ import annotations

import io
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from penstock.errors import ArgumentError, ArgumentTypeError
from penstock.pickling import Pickler, pickle_by_value
from penstock.reducers import DaliCallbackPickler
from tests.feed import worker_sources

FACTOR = 3


def dumped(value: Any) -> bytes:
    file = io.BytesIO()
    DaliCallbackPickler(file).dump(value)
    return file.getvalue()


def restored(value: Any) -> Any:
    return pickle.loads(dumped(value))


def scaled(x: int, *, by: int = 2) -> int:
    return x * by * FACTOR


def test_what_a_function_uses_goes_with_it() -> None:
    offset, counts = 10, [0]

    def even(n: int) -> bool:
        return n == 0 or odd(n - 1)

    def odd(n: int) -> bool:
        counts[0] += 1
        return n != 0 and even(n - 1)

    def nested(n: int, step: int = 1) -> list[int]:
        return [i + offset + FACTOR for i in range(0, n, step) if np.array(i) % 2 == 0]

    nested.note = "kept"  # type: ignore[attr-defined]
    assert restored(lambda x: x + offset)(1) == 11
    assert restored(nested)(5) == nested(5)
    assert restored(nested).note == "kept"
    assert [restored(even)(n) for n in (6, 5)] == [True, False]
    first, second = restored((even, odd))
    assert first.__closure__[0].cell_contents is second, "functions that know each other"
    assert restored({"f": [lambda: FACTOR]})["f"][0]() == 3
    assert restored(np) is np


def test_functions_of_modules_go_by_name_unless_they_are_marked() -> None:
    assert restored(scaled) is scaled

    marked = pickle_by_value(scaled)
    try:
        copy = restored(marked)
        assert copy is not scaled
        assert (copy(5), copy(5, by=1)) == (30, 15)
    finally:
        del scaled.__dict__["_dali_pickle_by_value"]


def test_functions_of_another_process() -> None:
    base = 7
    data = dumped(lambda x: worker_sources.OwnError(x + base, "there").number)
    code = f"import pickle; print(pickle.loads({data!r})(1))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "8\n"


def test_a_variable_that_has_no_value_yet() -> None:
    def outer() -> Callable[[], int]:
        def inner() -> int:
            return value

        copied = restored(inner)
        value = 1
        assert inner() == 1
        return copied  # type: ignore[no-any-return]

    with pytest.raises(NameError):
        outer()()


def test_picklers() -> None:
    assert Pickler.of(None).loads(Pickler.of(None).dumps(lambda: 5))() == 5
    for given in (pickle, (pickle,), (pickle, {"protocol": 2}), (pickle, {"protocol": 2}, {"encoding": "bytes"})):
        chosen = Pickler.of(given)
        assert pickle.loads(pickle.dumps(chosen.loads))(chosen.dumps([1, 2])) == [1, 2]
    assert Pickler.of((pickle, {"protocol": 0})).dumps(1) == pickle.dumps(1, protocol=0)
    for wrong in (5, "dill", (), (pickle, {}, {}, {}), [None]):
        with pytest.raises(ArgumentError, match="py_callback_pickler"):
            Pickler.of(wrong)
    with pytest.raises(ArgumentTypeError):
        pickle_by_value(5)  # type: ignore[type-var]
