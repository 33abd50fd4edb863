"""Where fed samples come from is known as long as anything shows them, whatever became of what was fed."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from penstock import fn
from penstock.tensors import TensorListCPU
from tests.read.tars import tar
from tests.small import made


@pytest.mark.parametrize("copy", [True, False])
def test_names_outlive_the_batch_that_was_fed(copy: bool, tmp_path: Path) -> None:
    archive = tmp_path / "a.tar"
    archive.write_bytes(tar([(f"{i:03}.jpg", bytes([i])) for i in range(100)]))
    reader = made(lambda: fn.readers.webdataset(paths=archive, ext="jpg"), batch_size=50)

    def define() -> list[object]:
        data = fn.external_source(name="fed", no_copy=not copy)
        return [data, fn.copy(data)]

    pipe = made(define, batch_size=50, prefetch_queue_depth=1)
    (batch,) = reader.run()
    wanted = batch.source_info()
    assert wanted[1] == f"{archive}:{512 + 1024}:001.jpg"
    pipe.feed_input("fed", batch)
    del batch
    gc.collect()
    for _ in range(20):
        reader.run()
    outputs: list[TensorListCPU] = list(pipe.run())
    for _ in range(20):
        reader.run()
    assert [output.source_info() for output in outputs] == [wanted, wanted]
