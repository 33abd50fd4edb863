"""Iterators for PaddlePaddle."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

paddle = pytest.importorskip("paddle", reason="needs PaddlePaddle: ./dev test frameworks has it")

from penstock import errors, fn, types  # noqa: E402
from penstock.frameworks import Paddle  # noqa: E402
from penstock.plugin.numpy import DALIGenericIterator as NumPyIterator  # noqa: E402
from penstock.plugin.paddle import DALIClassificationIterator, DALIGenericIterator, LastBatchPolicy  # noqa: E402
from tests.small import made, numbers, ten_files  # noqa: E402


@pytest.mark.parametrize("policy", LastBatchPolicy)
def test_epochs(tmp_path: Path, policy: LastBatchPolicy) -> None:
    files = ten_files(tmp_path)
    arguments: dict[str, Any] = {"output_map": ["n"], "reader_name": "Reader", "last_batch_policy": policy}
    it = DALIGenericIterator(made(lambda: numbers(files)), **arguments)
    plain = NumPyIterator(made(lambda: numbers(files)), **arguments)
    for _ in range(3):
        epoch = [batch[0]["n"] for batch in it]
        assert all(isinstance(n, paddle.Tensor) for n in epoch)
        assert [n.tolist() for n in epoch] == [batch[0]["n"].tolist() for batch in plain]


def test_tensors_share_the_pipelines_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    addresses: list[int] = []
    was = Paddle.array

    def noting(self: Paddle, tensor: Any) -> Any:
        addresses.append(tensor.data_ptr())
        return was(self, tensor)

    monkeypatch.setattr(Paddle, "array", noting)
    data = np.arange(4 * 5000, dtype=np.float32).reshape(4, 50, 100)
    it = DALIGenericIterator(made(lambda: fn.external_source(lambda: data)), ["x"])
    kept = [next(it)[0]["x"] for _ in range(5)]
    assert [x.data_ptr() for x in kept] == addresses
    assert all(np.array_equal(x.numpy(), data) for x in kept)


@pytest.mark.parametrize(
    "dtype",
    [types.UINT8, types.INT8, types.INT16, types.INT32, types.INT64, types.FLOAT16, types.FLOAT, types.FLOAT64,
     types.BOOL],
    ids=str,
)  # fmt: skip
def test_types_out_and_in(dtype: types.DALIDataType) -> None:
    x = next(DALIGenericIterator(made(lambda: fn.cast(np.int32([0, 1, 5]), dtype=dtype)), ["x"]))[0]["x"]
    (back,) = made(lambda: fn.external_source(lambda: x)).run()  # Paddle's tensors can be fed
    assert back.dtype == dtype
    assert np.array_equal(back.as_array(), x.numpy())


def test_a_type_that_paddle_lacks() -> None:
    it = DALIGenericIterator(made(lambda: fn.cast(np.int32([1]), dtype=types.UINT16)), ["x"])
    with pytest.raises(errors.OperatorError, match="no tensors of 16-bit unsigned integers"):
        next(it)


def test_a_layer_trains_on_it() -> None:
    def define() -> Any:
        x = fn.random.uniform(range=[-1, 1], shape=[3])
        return x, fn.reductions.sum(x, keep_dims=True) * 2

    layer = paddle.nn.Linear(3, 1)
    optimizer = paddle.optimizer.SGD(0.1, parameters=layer.parameters())
    it = DALIClassificationIterator(made(define, batch_size=16), size=16 * 120)
    for batch in it:
        loss = paddle.nn.functional.mse_loss(layer(batch[0]["data"]), batch[0]["label"])
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
    assert np.allclose(layer.weight.numpy(), 2, atol=0.05)


def test_lod_tensors() -> None:
    rows = [np.float32([[1, 2], [3, 4]]), np.float32([[5, 6]]), np.zeros((0, 2), np.float32)]
    planes = [np.arange(a * b, dtype=np.int32).reshape(a, b) for a, b in ((2, 3), (1, 2), (2, 1))]
    pipe = made(lambda: (fn.external_source(lambda: rows), fn.external_source(lambda: planes)), batch_size=3)
    (batch,) = next(DALIGenericIterator(pipe, [("rows", 1), ("planes", 2)]))
    assert np.array(batch["rows"]).tolist() == [[1, 2], [3, 4], [5, 6]]
    assert batch["rows"].lod() == [[0, 2, 3, 3]]
    assert np.array(batch["planes"]).tolist() == [*range(6), *range(2), *range(2)]
    assert batch["planes"].lod() == [[0, 2, 3, 5], [0, 3, 6, 8, 9, 10]]
    with pytest.raises(errors.ArgumentError, match="LoD level 3, but its samples 2 axes"):
        next(DALIGenericIterator(pipe, [("rows", 3), ("planes", 2)]))
    with pytest.raises(TypeError, match="neither a name nor a pair"):
        DALIGenericIterator(pipe, [("rows", "1"), "planes"])  # type: ignore[list-item]


def test_arguments_are_those_for_pytorch() -> None:
    plain = inspect.signature(NumPyIterator).parameters
    assert list(inspect.signature(DALIGenericIterator).parameters) == list(plain)
    pipe = made(lambda: fn.external_source(lambda: np.zeros((4, 2, 2, 3)), layout="HWC"))
    with pytest.raises(TypeError, match="PaddlePaddle cannot have their channels last"):
        next(DALIGenericIterator(pipe, ["x"], channels_last=True))
