"""`plugin.tf.DALIDataset` and `experimental.DALIDatasetWithInputs`, in tf.data and Keras, beside DALI's."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow", reason="needs TensorFlow: ./dev test frameworks has it")

from penstock import errors, fn, pipeline_def, types  # noqa: E402
from penstock.plugin import tf as plugin  # noqa: E402
from tests.small import numbers, ten_files  # noqa: E402


@pipeline_def
def read(files: list[str], shard_id: int = 0, num_shards: int = 1) -> Any:
    return numbers(files, shard_id=shard_id, num_shards=num_shards)


@pipeline_def
def doubled() -> Any:
    return fn.external_source(name="x") * 2


def dataset(pipe: Any, *kinds: Any, **options: Any) -> Any:
    return plugin.DALIDataset(pipe, *kinds, **{"batch_size": 4, "num_threads": 1, "device_id": None, **options})


def with_inputs(pipe: Any, dtypes: Any, inputs: Any, **options: Any) -> Any:
    options = {"batch_size": 2, "num_threads": 1, "device_id": None, **options}
    return plugin.experimental.DALIDatasetWithInputs(pipe, dtypes, input_datasets=inputs, **options)


def lists(batches: Any) -> list[Any]:
    return [batch.numpy().ravel().tolist() for (batch,) in batches]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    return ten_files(tmp_path)


def test_each_iteration_begins_anew(files: list[str]) -> None:
    made = dataset(read(files), tf.int32, (4, 1))
    assert isinstance(made, tf.data.Dataset)
    assert made.element_spec == (tf.TensorSpec((4, 1), tf.int32),)
    for _ in range(2):
        assert lists(made.take(4)) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 0, 1], [2, 3, 4, 5]]
    first, second = iter(made), iter(made)  # at a time
    assert lists([next(first), next(first), next(second)]) == [[0, 1, 2, 3], [4, 5, 6, 7], [0, 1, 2, 3]]


def test_batches_are_not_copied(files: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    addresses: list[int] = []
    was = plugin.dataset.tensor

    def noting(number: int, output: Any, *kind: Any) -> Any:
        addresses.append(output.data_ptr())
        return was(number, output, *kind)

    monkeypatch.setattr(plugin.dataset, "tensor", noting)
    kept = list(dataset(read(files), tf.int32).take(6))
    assert [np.from_dlpack(batch).ctypes.data for (batch,) in kept] == addresses[:6]
    assert lists(kept)[5] == [0, 1, 2, 3]
    assert kept[0][0].shape == (4, 1)


def test_other_datasets_go_on_from_it(files: list[str]) -> None:
    made = dataset(read(files, shard_id=1, num_shards=2), tf.int32, (5, 1), batch_size=5)
    made = made.map(lambda n: (n, n * n)).unbatch().batch(2).prefetch(2)
    found = [(a.numpy().ravel().tolist(), b.numpy().ravel().tolist()) for a, b in made.take(2)]
    assert found == [([5, 6], [25, 36]), ([7, 8], [49, 64])]


def test_keras_trains_on_it(files: list[str]) -> None:
    @pipeline_def
    def define() -> Any:
        x = fn.random.uniform(range=[-1, 1], shape=[3])
        return x, fn.reductions.sum(x, keep_dims=True) * 2

    model = tf.keras.Sequential([tf.keras.layers.Dense(1, use_bias=False)])
    model.compile(optimizer=tf.keras.optimizers.SGD(0.1), loss="mse")
    made = dataset(define(seed=1), (tf.float32, tf.float32), ((16, 3), (16, 1)), batch_size=16)
    model.fit(made, epochs=2, steps_per_epoch=60, verbose=0)
    assert np.allclose(model.get_weights()[0], 2, atol=0.05)


def test_axes_of_one_element_are_left_out(files: list[str]) -> None:
    assert next(iter(dataset(read(files), tf.int32, (4,))))[0].shape == (4,)
    assert next(iter(dataset(read(files), tf.int32, (), batch_size=1)))[0].shape == ()
    assert next(iter(dataset(read(files), tf.int32, (None, 1), batch_size=1)))[0].shape == (1, 1)
    assert next(iter(dataset(read(files), (tf.int32,), (None,))))[0].shape == (4, 1)
    with pytest.raises(tf.errors.OpError, match=r"has the shape \(4, 1\), but \(5,\) was asked for"):
        next(iter(dataset(read(files), tf.int32, (5,))))


def test_what_does_not_fit_is_an_error_that_says_so(files: list[str]) -> None:
    with pytest.raises(tf.errors.OpError, match="output 0 of the pipeline is int32, but float32 was asked for"):
        next(iter(dataset(read(files), tf.float32)))
    with pytest.raises(tf.errors.OpError, match="has 2 types, but the pipeline has 1 outputs"):
        next(iter(dataset(read(files), (tf.int32, tf.int32))))
    with pytest.raises(TypeError, match=r"should be provided as single tf\.DType"):
        dataset(read(files), "int32")
    with pytest.raises(ValueError, match="1 shapes for 2 output_dtypes"):
        dataset(read(files), (tf.int32, tf.int32), ((4, 1),))
    with pytest.raises(ValueError, match=r"external sources x.*DALIDatasetWithInputs"):
        dataset(doubled(), tf.int32)
    with pytest.raises(TypeError, match="expected a Pipeline"):
        dataset(3, tf.int32)


def test_what_the_pipeline_raises_comes_out() -> None:
    @pipeline_def
    def broken() -> Any:
        return fn.decoders.image(fn.cast(fn.constant(idata=[1, 2, 3]), dtype=types.UINT8))

    with pytest.raises(tf.errors.OpError, match=r"decoders\.image"):
        next(iter(dataset(broken(), tf.uint8)))


def test_older_names_of_arguments(files: list[str]) -> None:
    with pytest.warns(Warning, match="output_dtypes"):
        made = dataset(read(files), dtypes=tf.int32)
    assert lists(made.take(1)) == [[0, 1, 2, 3]]
    with pytest.raises(ValueError, match="both given"):
        dataset(read(files), tf.int32, dtypes=tf.int32)


def test_nothing_is_kept_of_iterations_that_are_left(files: list[str]) -> None:
    made = dataset(read(files), tf.int32).prefetch(3)
    for _ in range(3):
        next(iter(made))
    served = [x for x in _reachable(made) if type(x).__name__ == "_Served"]
    assert all(len(one._ready) <= 1 for one in served)


def _reachable(made: Any) -> list[Any]:
    import gc

    return [x for x in gc.get_objects() if type(x).__name__ == "_Served"]


def test_outputs_on_a_gpu(files: list[str], software_gpu: Any) -> None:
    @pipeline_def
    def define() -> Any:
        return numbers(files).gpu() + 1

    with pytest.raises(tf.errors.OpError, match=r"is on a GPU, and tf\.data works on the CPU"):
        next(iter(dataset(define(), tf.int32, device_id=0)))
    made = dataset(define(), tf.int32, device_id=0, fail_on_device_mismatch=False)
    assert lists(made.take(1)) == [[1, 2, 3, 4]]


def test_samples_are_fed_from_datasets() -> None:
    for _ in range(2):
        made = with_inputs(doubled(), tf.int64, {"x": tf.data.Dataset.range(5)})
        assert lists(made) == lists(made) == [[0, 2], [4, 6], [8]]


def test_samples_may_differ_in_shape() -> None:
    @pipeline_def
    def define() -> Any:
        x = fn.external_source(name="x", layout="HW")
        return fn.pad(x), fn.reductions.sum(x)

    ragged = tf.data.Dataset.range(1, 5).map(lambda i: tf.ones((i, 2), tf.float32))
    found = [
        (a.shape.as_list(), b.numpy().tolist()) for a, b in with_inputs(define(), (tf.float32,) * 2, {"x": ragged})
    ]
    assert found == [([2, 2, 2], [2, 4]), ([2, 4, 2], [6, 8])]


def test_batches_are_fed_from_datasets() -> None:
    batched = tf.data.Dataset.from_tensor_slices(np.arange(12, dtype=np.int32).reshape(3, 2, 2))
    one = plugin.experimental.Input(batched, batch=True)
    assert lists(with_inputs(doubled(), tf.int32, {"x": one})) == [[0, 2, 4, 6], [8, 10, 12, 14], [16, 18, 20, 22]]
    as_declared = plugin.experimental.Input(batched, batch=None)
    assert lists(with_inputs(doubled(), tf.int32, {"x": as_declared}))[0] == [0, 2, 4, 6]


def test_several_inputs_end_with_the_shortest() -> None:
    @pipeline_def
    def define() -> Any:
        return fn.external_source(name="a") - fn.external_source(name="b")

    a, b = tf.data.Dataset.range(10, 20), tf.data.Dataset.range(5)
    assert lists(with_inputs(define(), tf.int64, {"b": b, "a": a})) == [[10, 10], [10, 10], [10]]


def test_sources_in_python() -> None:
    @pipeline_def(batch_size=2, num_threads=1, device_id=None)
    def define() -> Any:
        counted = fn.external_source(lambda i: np.int64([[i], [i]]) if i < 3 else _stop())
        return counted + fn.external_source(name="x")

    tens = tf.data.Dataset.from_tensors(np.int64([10])).repeat()
    made = with_inputs(define(), tf.int64, {"x": tens})
    assert lists(made) == [[10, 10], [11, 11], [12, 12]]
    with pytest.raises(ValueError, match="batch_size=3, but the pipeline"):
        with_inputs(define(), tf.int64, {"x": tens}, batch_size=3)

    @pipeline_def(batch_size=2, num_threads=1, device_id=None)
    def alone() -> Any:
        return fn.external_source(lambda i: np.int64([[i], [i]]) if i < 2 else _stop())

    made = with_inputs(alone(), tf.int64, None)
    assert [lists(made) for _ in range(3)] == [[[0, 0], [1, 1]]] * 3


def _stop() -> Any:
    raise StopIteration


def test_inputs_that_make_no_sense() -> None:
    numbers = tf.data.Dataset.range(5)
    with pytest.raises(ValueError, match=r"'y' is no external source of the pipeline\. It is fed by: x"):
        with_inputs(doubled(), tf.int64, {"x": numbers, "y": numbers})
    with pytest.raises(ValueError, match="not fed: x"):
        with_inputs(doubled(), tf.int64, {})
    with pytest.raises(TypeError, match=r"must be instances of type `tf\.data\.Dataset`"):
        with_inputs(doubled(), tf.int64, {"x": [1, 2]})

    @pipeline_def
    def pictures() -> Any:
        return fn.external_source(name="x", layout="HWC")

    with pytest.raises(errors.ArgumentError, match="has the layout 'CHW', its external source 'HWC'"):
        with_inputs(pictures(), tf.int64, {"x": plugin.experimental.Input(numbers, layout="CHW")})


def test_arguments_are_dalis() -> None:
    source = Path(pytest.importorskip("nvidia.dali", reason="needs DALI to compare with").__file__ or "")
    text = (source.parent / "plugin" / "tf.py").read_text()  # which cannot be imported without its library
    for name in inspect.signature(plugin.DALIDataset).parameters:
        assert f"            {name}" in text, name


def test_as_dalis_dataset(files: list[str]) -> None:
    theirs = pytest.importorskip("nvidia.dali_tf_plugin", reason="needs DALI's plugin to compare with")
    import nvidia.dali as dali
    import nvidia.dali.plugin.tf as dali_tf

    assert theirs
    pipe = dali.pipeline_def(lambda: dali.fn.readers.file(files=files, name="Reader")[1])(
        batch_size=4, num_threads=1, device_id=None
    )
    options = {"batch_size": 4, "num_threads": 1, "device_id": None}
    with tf.device("/cpu:0"):
        for shape in ((4, 1), (4,), None):
            found = [
                [batch.numpy().tolist() for (batch,) in lib.DALIDataset(one, tf.int32, shape, **options).take(4)]
                for lib, one in ((plugin, read(files)), (dali_tf, pipe))
            ]
            assert found[0] == found[1]
