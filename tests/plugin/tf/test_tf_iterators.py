"""`plugin.tf`: iterators that give tensors, and the operator of graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow", reason="needs TensorFlow: ./dev test frameworks has it")

from penstock import errors, fn, types  # noqa: E402
from penstock.frameworks import TensorFlow  # noqa: E402
from penstock.plugin import tf as plugin  # noqa: E402
from tests.small import made, numbers, ten_files  # noqa: E402


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    return ten_files(tmp_path)


def test_tensors_share_the_pipelines_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    addresses: list[int] = []
    was = TensorFlow.array

    def noting(self: TensorFlow, tensor: Any) -> Any:
        addresses.append(tensor.data_ptr())
        return was(self, tensor)

    monkeypatch.setattr(TensorFlow, "array", noting)
    data = np.arange(4 * 5000, dtype=np.float32).reshape(4, 50, 100)
    it = plugin.DALIGenericIterator(made(lambda: fn.external_source(lambda: data)), ["x"])
    kept = [next(it)[0]["x"] for _ in range(5)]
    assert [np.from_dlpack(x).ctypes.data for x in kept] == addresses
    assert all(np.array_equal(x, data) for x in kept)


def test_epochs(files: list[str]) -> None:
    it = plugin.DALIGenericIterator(
        made(lambda: numbers(files)), ["n"], reader_name="Reader", last_batch_policy=plugin.LastBatchPolicy.PARTIAL
    )
    for _ in range(2):
        assert [b[0]["n"].numpy().ravel().tolist() for b in it] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


@pytest.mark.parametrize(
    "dtype",
    [types.UINT8, types.INT8, types.INT16, types.UINT16, types.INT32, types.UINT32, types.INT64, types.FLOAT16,
     types.FLOAT, types.FLOAT64, types.BOOL],
    ids=str,
)  # fmt: skip
def test_types_out_and_in(dtype: types.DALIDataType) -> None:
    x = next(plugin.DALIGenericIterator(made(lambda: fn.cast(np.int32([0, 1, 5]), dtype=dtype)), ["x"]))[0]["x"]
    (back,) = made(lambda: fn.external_source(lambda: x)).run()  # TensorFlow's tensors can be fed
    assert back.dtype == dtype
    assert np.array_equal(back.as_array(), x)


def test_outputs_whose_samples_differ_in_shape() -> None:
    rows = [np.int32([[1, 2]]), np.int32([[3], [4]]), np.int32([[5]]), np.zeros((0, 2), np.int32)]
    pipe = made(lambda: [fn.external_source(lambda: rows)] * 2)
    tags = [plugin.DALIRaggedIterator.SPARSE_LIST_TAG, plugin.DALIRaggedIterator.SPARSE_COO_TAG]
    (batch,) = next(plugin.DALIRaggedIterator(pipe, ["list", "coo"], output_types=tags))
    assert all(np.array_equal(a, b) for a, b in zip(batch["list"], rows, strict=True))
    wanted = [[[1, 2], [0, 0]], [[3, 0], [4, 0]], [[5, 0], [0, 0]], [[0, 0], [0, 0]]]
    assert tf.sparse.to_dense(batch["coo"]).numpy().tolist() == wanted


def test_the_operator_gives_the_next_batch(files: list[str]) -> None:
    pipe, operator = made(lambda: numbers(files)), plugin.DALIIterator()
    found = [operator(pipeline=pipe, shapes=[(4, 1)], dtypes=[tf.int32])[0].numpy().ravel().tolist() for _ in range(3)]
    assert found == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 0, 1]]
    (other,) = operator(pipeline=pipe, batch_size=3, dtypes=[tf.int32])
    assert other.numpy().ravel().tolist() == [0, 1, 2]
    text = plugin.serialize_pipeline(pipe)
    raw = plugin.DALIRawIterator()
    assert [int(raw(serialized_pipeline=text, shapes=[()], batch_size=1, dtypes=[tf.int32])[0]) for _ in range(3)] == [
        0,
        1,
        2,
    ]


def test_the_operator_in_graphs(files: list[str]) -> None:
    pipe = made(lambda: (numbers(files), np.float32([2])))

    @tf.function
    def step(total: Any) -> Any:
        n, x = plugin.DALIIterator()(pipeline=pipe, shapes=[(4, 1), (4, 1)], dtypes=[tf.int32, tf.float32])
        assert n.shape == (4, 1)
        return total + tf.reduce_sum(tf.cast(n, tf.float32) * x)

    assert [float(step(0.0)) for _ in range(2)] == [12, 44]

    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        (n,) = plugin.DALIIterator()(pipeline=made(lambda: numbers(files)), shapes=[(4,)], dtypes=[tf.int32])
        assert [session.run(n).tolist() for _ in range(2)] == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_sparse_outputs_of_the_operator() -> None:
    def define() -> Any:
        count = fn.random.uniform(range=(1, 6), dtype=types.INT32)
        return fn.random.uniform(shape=count) + 1, count

    for eager in (True, False):
        pipe = made(define, seed=3)

        def batch(pipe: Any = pipe) -> Any:
            sparse = [True, False]
            return plugin.DALIIterator()(pipeline=pipe, sparse=sparse, batch_size=4, dtypes=[tf.float32, tf.int32])

        values, counts = (batch if eager else tf.function(batch))()
        dense = tf.sparse.to_dense(values).numpy()
        assert np.array_equal((dense > 0).sum(1), np.ravel(counts))
        assert dense.shape == (4, counts.numpy().max())


def test_wrong_arguments_of_the_operator(files: list[str]) -> None:
    pipe, operator = made(lambda: numbers(files)), plugin.DALIIterator()
    with pytest.raises(errors.ArgumentError, match="either pipeline or serialized_pipeline"):
        operator(dtypes=[tf.int32])
    with pytest.raises(errors.ArgumentError, match="dtypes are needed"):
        operator(pipeline=pipe)
    with pytest.raises(errors.ArgumentError, match="has 2 types, but the pipeline has 1 outputs"):
        operator(pipeline=pipe, dtypes=[tf.int32, tf.int32])
    with pytest.raises(errors.OperatorError, match="is int32, but float32 was asked for"):
        operator(pipeline=pipe, dtypes=[tf.float32])
    with pytest.raises(errors.GraphError):
        operator(pipeline=made(lambda: fn.external_source(lambda: np.zeros((4, 1)))), dtypes=[tf.float64])
