"""Outputs whose samples differ in shape: as lists and as sparse tensors, beside DALI itself."""

from __future__ import annotations

import inspect
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch")

import penstock  # noqa: E402
from penstock import fn, types  # noqa: E402
from penstock.errors import ArgumentError  # noqa: E402
from penstock.plugin import pytorch  # noqa: E402
from penstock.plugin.pytorch import DALIRaggedIterator, LastBatchPolicy  # noqa: E402
from tests.small import made, numbers, ten_files  # noqa: E402

OURS = SimpleNamespace(Pipeline=penstock.Pipeline, fn=fn, plugin=pytorch)
LIST, COO = DALIRaggedIterator.SPARSE_LIST_TAG, DALIRaggedIterator.SPARSE_COO_TAG
ROWS = [np.float32([1, 0]), np.float32([4]), np.float32([0, 7, 9])]


def repeating(samples: list[Any]) -> Any:
    return lambda: samples


def first_batch(lib: Any, outputs: list[list[Any]], tags: list[str]) -> dict[str, Any]:
    pipe = lib.Pipeline(len(outputs[0]), 1, None)
    with pipe:
        pipe.set_outputs(*[lib.fn.external_source(repeating(o)) for o in outputs])
    names = [f"x{i}" for i in range(len(outputs))]
    return next(lib.plugin.DALIRaggedIterator([pipe], names, output_types=tags))[0]  # type: ignore[no-any-return]


def test_as_dali_does() -> None:
    dali: Any = pytest.importorskip("nvidia.dali", reason="DALI, the oracle, is not installed")
    import nvidia.dali.plugin.pytorch as plugin

    theirs = SimpleNamespace(Pipeline=dali.Pipeline, fn=dali.fn, plugin=plugin)
    planes = [np.arange(2 * n, dtype=np.int16).reshape(n, 2) for n in (3, 1, 2)]
    outputs = [[r[:1] for r in ROWS], ROWS, ROWS, planes, [np.zeros(0, np.float32), *ROWS[1:]]]
    tags = ["dense", LIST, COO, LIST, COO]
    ours, wanted = (first_batch(lib, outputs, tags) for lib in (OURS, theirs))
    for name in ours:
        a, b = ours[name], wanted[name]
        pairs = zip(a, b, strict=True) if isinstance(b, list) else [(a, b)]
        for one, other in pairs:
            assert (one.dtype, one.layout, one.shape) == (other.dtype, other.layout, other.shape)
            if one.is_sparse:
                assert one._nnz() == other._nnz()
                one, other = one.to_dense(), other.to_dense()
            assert torch.equal(one, other)


def test_sparse_tensors_of_several_axes() -> None:
    planes = [np.arange(1, 1 + h * w, dtype=np.int32).reshape(h, w) for h, w in ((2, 3), (0, 4), (3, 1))]
    sparse = first_batch(OURS, [planes], [COO])["x0"]
    wanted = np.zeros((3, 3, 4), np.int32)
    for i, plane in enumerate(planes):
        wanted[i, : plane.shape[0], : plane.shape[1]] = plane
    assert np.array_equal(sparse.to_dense().numpy(), wanted)
    assert sparse._nnz() == 9


def test_scalars() -> None:
    sparse = first_batch(OURS, [[np.float32(3), np.float32(0)]], [COO])["x0"]
    assert sparse.to_dense().tolist() == [3, 0]


def test_lists_share_the_pipelines_memory() -> None:
    pipe = made(lambda: fn.random.uniform(shape=fn.random.uniform(range=(1, 900), dtype=types.INT32)))
    (outputs,) = pipe.run()
    kept = [pytorch.PyTorch().array(outputs[i]) for i in range(len(outputs))]
    assert [k.data_ptr() for k in kept] == [outputs[i].data_ptr() for i in range(len(outputs))]
    (batch,) = next(DALIRaggedIterator(made(lambda: fn.random.uniform(shape=[3])), ["x"], output_types=[LIST]))
    assert [tuple(x.shape) for x in batch["x"]] == [(3,)] * 4


@pytest.mark.parametrize("tag", [LIST, COO])
def test_a_partial_batch_and_one_without_samples(tmp_path: Path, tag: str) -> None:
    files = ten_files(tmp_path)[:3]
    pipes = [made(lambda i=i: numbers(files, shard_id=i, num_shards=2), batch_size=1) for i in range(2)]
    partial = LastBatchPolicy.PARTIAL
    it = DALIRaggedIterator(pipes, ["n"], reader_name="Reader", output_types=[tag], last_batch_policy=partial)
    counts = [[len(part["n"]) for part in batch] for batch in it]
    assert sorted(map(sum, counts)) == [1, 2]
    (batch,) = list(
        DALIRaggedIterator(
            made(lambda: numbers(files)), ["n"], reader_name="Reader", output_types=[tag], last_batch_policy=partial
        )
    )
    assert [int(n.to_dense() if n.is_sparse else n) for n in batch[0]["n"]] == [0, 1, 2]


@pytest.mark.parametrize("tag", [LIST, COO])
def test_on_a_gpu(tag: str, software_gpu: Any) -> None:
    if not torch.cuda.is_available():
        pytest.skip("PyTorch has no GPU")
    pipe = made(lambda: fn.external_source(lambda: ROWS).gpu(), device_id=0, batch_size=3)
    (batch,) = next(DALIRaggedIterator(pipe, ["x"], output_types=[tag]))
    assert all(x.is_cuda for x in batch["x"])
    found = [x.to_dense()[: len(r)] if x.is_sparse else x for x, r in zip(batch["x"], ROWS, strict=True)]
    assert all(np.array_equal(x.cpu(), r) for x, r in zip(found, ROWS, strict=True))


def test_wrong_tags() -> None:
    pipe = made(lambda: np.int32([7]))
    with pytest.raises(ArgumentError, match="'ragged' is none of 'dense', 'sparse_list', 'sparse_coo'"):
        DALIRaggedIterator(pipe, ["x"], output_types=["ragged"])
    with pytest.raises(ArgumentError, match="1 are needed, one for each of the outputs"):
        DALIRaggedIterator(pipe, ["x"], output_types=["dense"] * 2)


def test_arguments_are_dalis() -> None:
    dali = pytest.importorskip("nvidia.dali.plugin.pytorch", reason="needs DALI to compare with")

    def arguments(cls: Any) -> Any:
        parameters = inspect.signature(cls.__init__).parameters.values()
        return [(p.name, p.kind, getattr(p.default, "name", p.default)) for p in parameters]

    assert arguments(DALIRaggedIterator) == arguments(dali.DALIRaggedIterator)
