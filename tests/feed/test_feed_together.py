"""Several inputs that are fed at once: all of them, or none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from penstock import fn
from penstock.errors import TensorError, UnknownArgumentError
from tests.small import made, values


def difference(**options: Any) -> Any:
    return made(lambda: fn.external_source(name="a") - fn.external_source(name="b"), batch_size=2, **options)


def test_where_one_is_refused_none_is_fed() -> None:
    pipe = difference()
    good = {"a": np.int32([[5], [6]]), "b": np.int32([[1], [2]])}
    for wrong in ({**good, "b": np.int32([[1]] * 3)}, {"a": good["a"] + 100, "c": good["b"]}):
        with pytest.raises((TensorError, UnknownArgumentError)):
            pipe.run(**wrong)
        assert values(pipe.run(**good)[0]) == [4, 4]


def test_scheduled_runs_take_batches_by_name() -> None:
    pipe = difference()
    for i in range(3):
        pipe.schedule_run(a=np.int32([[i], [i]]) * 10, b=np.int32([[i], [i]]))
    with pytest.raises(TensorError):
        pipe.schedule_run(a=np.int32([[1], [1]]), b=np.int32([[1]] * 3))
    found = []
    for _ in range(3):
        found.append(values(pipe.share_outputs()[0]))
        pipe.release_outputs()
    assert found == [[0, 0], [9, 9], [18, 18]]


def test_which_sources_there_are() -> None:
    def define() -> Any:
        b, a = fn.external_source(name="b"), fn.external_source(name="a")
        fn.external_source(name="unused")
        return a + b + fn.external_source(lambda: np.zeros((4, 1), np.int32), name="own")

    pipe = made(define)
    assert pipe.external_sources() == {"b": True, "a": True, "own": False}
    assert pipe.fed_inputs() == ["b", "a"]
