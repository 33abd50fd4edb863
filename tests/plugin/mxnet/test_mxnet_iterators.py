"""Iterators for MXNet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

mx = pytest.importorskip("mxnet", reason="needs MXNet: ./dev test frameworks has it")

from penstock import errors, fn, types  # noqa: E402
from penstock.plugin.mxnet import (  # noqa: E402
    DALIClassificationIterator,
    DALIGenericIterator,
    DALIGluonIterator,
    LastBatchPolicy,
)
from tests.small import made, numbers, ten_files  # noqa: E402

DATA, LABEL = DALIGenericIterator.DATA_TAG, DALIGenericIterator.LABEL_TAG


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    return ten_files(tmp_path)


def both(files: list[str], **arguments: Any) -> Any:
    n = numbers(files, **arguments)
    return n * np.float32(1), n


@pytest.mark.parametrize("asks", [False, True])
def test_epochs(files: list[str], asks: bool) -> None:
    it = DALIClassificationIterator(
        made(lambda: both(files, pad_last_batch=True)), reader_name="Reader", last_batch_policy=LastBatchPolicy.PARTIAL
    )
    for _ in range(3):
        if asks:
            assert [(d.name, d.shape, d.dtype) for d in it.provide_data] == [("data", (4, 1), np.float32)]
            assert [(d.name, d.shape) for d in it.provide_label] == [("softmax_label", (4,))]
        epoch = [batch[0] for batch in it]
        assert [b.label[0].asnumpy().tolist() for b in epoch] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 9, 9]]
        assert [b.data[0].shape for b in epoch] == [(4, 1)] * 3
        assert [b.pad for b in epoch] == [0, 0, 2]


def test_arrays_stay_as_they_are() -> None:
    counts = iter(range(100))
    it = DALIGluonIterator(made(lambda: fn.external_source(lambda: np.full((4, 300, 300), next(counts), np.int32))))
    kept = [next(it)[0][0] for _ in range(8)]
    assert all((x.asnumpy() == i).all() for i, x in enumerate(kept))
    assert (kept[1] + kept[2]).asnumpy().max() == 3


@pytest.mark.parametrize(
    "dtype",
    [types.UINT8, types.INT8, types.INT32, types.INT64, types.FLOAT16, types.FLOAT, types.FLOAT64, types.BOOL],
    ids=str,
)
def test_types(dtype: types.DALIDataType) -> None:
    define = lambda: fn.cast(np.int32([0, 1, 5]), dtype=dtype)  # noqa: E731
    ((x,),) = next(DALIGluonIterator(made(define)))
    (wanted,) = made(define).run()
    assert x.dtype == wanted.as_array().dtype
    assert np.array_equal(x.asnumpy(), wanted.as_array())


def test_a_type_that_mxnet_lacks() -> None:
    with pytest.raises(errors.OperatorError, match="MXNet has no arrays of uint16"):
        next(DALIGluonIterator(made(lambda: fn.cast(np.int32([1]), dtype=types.UINT16))))


def test_a_module_trains_on_it() -> None:
    def define() -> Any:
        x = fn.random.uniform(range=[-1, 1], shape=[3])
        return x, fn.reductions.sum(x) * 2

    data, label = mx.sym.Variable("data"), mx.sym.Variable("softmax_label")
    out = mx.sym.LinearRegressionOutput(mx.sym.FullyConnected(data, num_hidden=1, name="fc"), label)
    module = mx.mod.Module(out, label_names=["softmax_label"])
    it = DALIClassificationIterator(made(define, batch_size=16), size=16 * 60, squeeze_labels=False)
    module.fit(it, num_epoch=2, optimizer="sgd", optimizer_params={"learning_rate": 0.1}, eval_metric="mse")
    assert np.allclose(module.get_params()[0]["fc_weight"].asnumpy(), 2, atol=0.1)


def test_gluon_trains_on_it() -> None:
    def define() -> Any:
        x = fn.random.uniform(range=[-1, 1], shape=[3])
        return x, fn.reductions.sum(x, keep_dims=True) * 2

    layer = mx.gluon.nn.Dense(1, in_units=3)
    layer.initialize()
    trainer = mx.gluon.Trainer(layer.collect_params(), "sgd", {"learning_rate": 0.2})
    for ((x, y),) in DALIGluonIterator(made(define, batch_size=16), size=16 * 120):
        with mx.autograd.record():
            loss = mx.gluon.loss.L2Loss()(layer(x), y)
        loss.backward()
        trainer.step(16)
    assert np.allclose(layer.weight.data().asnumpy(), 2, atol=0.1)


def test_several_pipelines(files: list[str]) -> None:
    def pipes(count: int) -> list[Any]:
        return [made(lambda i=i: both(files[:count], shard_id=i, num_shards=2), batch_size=1) for i in range(2)]

    tags = [("x", DATA), ("n", LABEL)]
    partial = LastBatchPolicy.PARTIAL
    it = DALIGenericIterator(pipes(3), tags, reader_name="Reader", last_batch_policy=partial)
    assert [(d.name, d.shape) for d in it.provide_data] == [("x", (2, 1))]
    assert sorted([b.pad for b in batch] for batch in it) == [[0, 0], [1, 0]]
    gluon = DALIGluonIterator(pipes(4), reader_name="Reader")
    assert [[int(n.asscalar()) for _, n in batch] for batch in gluon] == [[0, 2], [1, 3]]


def test_samples_that_differ_in_shape() -> None:
    rows = [np.float32([1, 0]), np.float32([4]), np.float32([0, 7, 9])]
    pipe = made(lambda: (fn.external_source(lambda: rows), np.float32([5])), batch_size=3)
    tags = [DALIGluonIterator.SPARSE_TAG, DALIGluonIterator.DENSE_TAG]
    ((found, dense),) = next(DALIGluonIterator(pipe, output_types=tags))
    assert [r.asnumpy().tolist() for r in found] == [r.tolist() for r in rows]
    assert dense.asnumpy().tolist() == [[5]] * 3


def test_wrong_tags(files: list[str]) -> None:
    with pytest.raises(
        errors.ArgumentError, match=r"\('x', 'picture'\) is no pair of a name and one of 'data', 'label'"
    ):
        DALIGenericIterator(made(lambda: both(files)), [("x", "picture"), ("n", LABEL)])
    with pytest.raises(errors.ArgumentError, match="'coo' is none of 'dense' and 'sparse'"):
        DALIGluonIterator(made(lambda: both(files)), output_types=["coo", "dense"])


def test_checkpoints(files: list[str]) -> None:
    def iterator(**options: Any) -> Any:
        return DALIClassificationIterator(made(lambda: both(files), **options), reader_name="Reader")

    it = iterator()
    assert it.provide_data
    with pytest.raises(errors.GraphError, match="take it by next"):
        it.checkpoints()
    next(it)
    (state,) = it.checkpoints()
    assert next(iterator(checkpoint=state))[0].label[0].asnumpy().tolist() == [4, 5, 6, 7]
