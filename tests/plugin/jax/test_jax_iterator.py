"""Iterators for JAX on one device: arrays and their memory, epochs beside DALI itself, decorators, checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="needs JAX")

from penstock import fn, types  # noqa: E402
from penstock.errors import ArgumentError, OperatorError, UnknownArgumentError  # noqa: E402
from penstock.frameworks import JAX  # noqa: E402
from penstock.plugin import jax as dax  # noqa: E402
from penstock.plugin.base import LastBatchPolicy  # noqa: E402
from tests.small import made, numbers, ten_files  # noqa: E402

Epoch = list[list[int]]


def epochs(iterator: Any, count: int = 2) -> list[Epoch]:
    return [[np.ravel(batch["n"]).tolist() for batch in iterator] for _ in range(count)]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    return ten_files(tmp_path)


@pytest.mark.parametrize(("policy", "pads"), [("FILL", False), ("FILL", True), ("DROP", True)])
def test_epochs_are_dalis(files: list[str], policy: str, pads: bool) -> None:
    theirs = pytest.importorskip("nvidia.dali.plugin.jax", reason="needs DALI to compare with")
    import nvidia.dali

    def iterated(plugin: Any, fn: Any, policies: Any) -> list[Epoch]:
        @plugin.data_iterator(output_map=["n"], reader_name="R", last_batch_policy=policies[policy])
        def define() -> Any:
            return fn.readers.file(files=files, name="R", pad_last_batch=pads)[1]

        return epochs(define(batch_size=4, num_threads=1, device_id=None), 3)

    wanted = iterated(theirs, nvidia.dali.fn, nvidia.dali.plugin.base_iterator.LastBatchPolicy)
    assert iterated(dax, fn, LastBatchPolicy) == wanted


def test_arrays_share_the_pipelines_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    addresses: list[int] = []

    def noting(self: JAX, tensor: Any) -> Any:
        addresses.append(tensor.data_ptr())
        return jax.dlpack.from_dlpack(tensor)

    monkeypatch.setattr(JAX, "array", noting)
    pictures = np.arange(4 * 64 * 64 * 3, dtype=np.uint8).reshape(4, 64, 64, 3)
    it = dax.DALIGenericIterator(made(lambda: fn.external_source(lambda: pictures)), ["x"])
    kept = [next(it)["x"] for _ in range(6)]  # more than are prefetched
    assert all(isinstance(x, jax.Array) and np.array_equal(x, pictures) for x in kept)
    assert [x.unsafe_buffer_pointer() for x in kept] == addresses
    assert len({*addresses}) == 6


@pytest.mark.parametrize(
    "dtype",
    [types.UINT8, types.INT16, types.UINT32, types.INT32, types.FLOAT16, types.FLOAT, types.BOOL, types.INT64],
    ids=str,
)
def test_types(dtype: types.DALIDataType) -> None:
    it = dax.DALIGenericIterator(made(lambda: fn.cast(fn.constant(idata=[0, 1, 5]), dtype=dtype)), ["x"])
    (batch,) = made(lambda: fn.cast(fn.constant(idata=[0, 1, 5]), dtype=dtype)).run()
    array = next(it)["x"]
    assert array.dtype == jax.dtypes.canonicalize_dtype(batch.as_array().dtype)
    assert np.array_equal(array, batch.as_array())


def test_a_function_of_jax_trains_on_it(files: list[str]) -> None:
    @dax.data_iterator(output_map=["n"], reader_name="R")
    def define(offset: int) -> Any:
        return numbers(files, name="R") + offset

    step = jax.jit(lambda total, n: total + n.sum())
    total = 0
    for batch in define(100, batch_size=5):
        total = step(total, batch["n"])
    assert int(total) == 1045


def test_one_pipeline_for_pmap_has_an_axis_of_devices(files: list[str]) -> None:
    it = dax.DALIGenericIterator(made(lambda: numbers(files)), ["n"], pmap_compatible=True)
    assert next(it)["n"].shape == (1, 4, 1)


def test_several_pipelines_are_stacked(files: list[str]) -> None:
    pipes = [made(lambda i=i: numbers(files, shard_id=i, num_shards=2), batch_size=5) for i in range(2)]
    (batch,) = dax.DALIGenericIterator(pipes, ["n"], reader_name="Reader")
    assert batch["n"][..., 0].tolist() == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]


def test_a_source_that_ends_ends_the_epoch() -> None:
    source = [np.int32([[i], [i]]) for i in range(3)]
    it = dax.DALIGenericIterator(made(lambda: fn.external_source(source, cycle="raise"), batch_size=2), ["n"])
    assert epochs(it) == [[[0, 0], [1, 1], [2, 2]]] * 2


def test_a_partial_last_batch_is_refused(files: list[str]) -> None:
    with pytest.raises(ArgumentError, match="does not support the partial last batch policy"):
        dax.DALIGenericIterator(made(lambda: numbers(files)), ["n"], last_batch_policy=LastBatchPolicy.PARTIAL)


def test_arguments_that_make_no_sense(files: list[str]) -> None:
    with pytest.raises(TypeError, match=r"sharding='x': expected a jax.sharding.Sharding"):
        dax.DALIGenericIterator(made(lambda: numbers(files)), ["n"], sharding="x")
    sharding = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    with pytest.raises(ValueError, match="exclude each other"):
        dax.data_iterator(output_map=["n"], sharding=sharding, devices=jax.devices())
    pipes = [made(lambda: numbers(files)) for _ in range(2)]
    with pytest.raises(ArgumentError, match=r"has 1 devices of this process.* there are 2"):
        dax.DALIGenericIterator(pipes, ["n"], sharding=sharding, reader_name="Reader")
    with pytest.raises(UnknownArgumentError, match=r"no argument 'names'.*output_map"):
        dax.DALIGenericIterator(pipes, names=["n"])


def test_samples_of_several_shapes_are_no_array() -> None:
    pipe = made(lambda: fn.random.uniform(shape=fn.random.uniform(range=(1, 9), dtype=types.INT32)), batch_size=8)
    with pytest.raises(OperatorError, match="'x' cannot be one tensor"):
        next(dax.DALIGenericIterator(pipe, ["x"]))


def test_it_goes_on_from_checkpoints(files: list[str]) -> None:
    @dax.data_iterator(output_map=["n", "r"], reader_name="R")
    def define() -> Any:
        return numbers(files, name="R", random_shuffle=True), fn.random.uniform()

    first = define(batch_size=2, seed=5, enable_checkpointing=True)
    for _ in range(7):  # in the middle of the second epoch
        try:
            next(first)
        except StopIteration:
            first.reset()
    second = define(batch_size=2, seed=5, enable_checkpointing=True, checkpoints=first.checkpoints())
    for _ in range(3):
        one, other = next(first), next(second)
        assert all(np.array_equal(one[k], other[k]) for k in "nr")
    with pytest.raises(ArgumentError, match="2 checkpoints are given for 1 pipelines"):
        define(batch_size=2, checkpoints=first.checkpoints() * 2)


@pytest.mark.parametrize("name", ["DALIGenericIterator", "data_iterator", "DALIGenericPeekableIterator"])
def test_arguments_are_dalis(name: str) -> None:
    import inspect

    theirs = pytest.importorskip("nvidia.dali.plugin.jax", reason="needs DALI to compare with")
    wanted = getattr(theirs, name.replace("Peekable", ""))
    parameters = [inspect.signature(f).parameters.values() for f in (getattr(dax, name), wanted)]
    ours, dalis = ([(p.name, p.kind, getattr(p.default, "name", p.default)) for p in ps] for ps in parameters)
    assert [(n, k, list(d) if isinstance(d, tuple) else d) for n, k, d in ours] == dalis
