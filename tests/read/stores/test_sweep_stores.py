"""Tries all readers on the data sets of their test modules in an object store: they give what they give of files."""

from __future__ import annotations

import re
from typing import Any

import pytest

from penstock.errors import ArgumentError, ReadError
from penstock.read.order import shard_sizes
from tests.read.data_sets import DataSet, keys, pipeline, read, rows
from tests.read.stores.servers import S3
from tests.read.test_sweep import CASES, numbers, same

LMDB = [c for c in CASES if c.reader.startswith("readers.caffe")]
STORED = [c for c in CASES if c not in LMDB and "video" not in c.reader]  # FFmpeg reads videos, from the disk
all_cases = pytest.mark.parametrize("case", STORED, ids=str)


def stored(s3: S3, case: DataSet) -> dict[str, Any]:
    """The reader's arguments, with all files in a bucket."""
    return case.arguments(s3.bucket({f"data/{name}": data for name, data in case.files.items()}) + "/data")


@all_cases
def test_samples_are_those_of_files(case: DataSet, s3: S3) -> None:
    arguments, size = stored(s3, case), len(case.samples)
    found = keys(read(pipeline(case, arguments), 2 * size))
    assert found == [keys(case.samples)[i % size] for i in range(len(found))]
    # Per shard, shuffled, and through a checkpoint.
    sizes, seen = shard_sizes(size, 2), []
    for shard in range(2):
        options = {"num_shards": 2, "shard_id": shard, "random_shuffle": True, "stick_to_shard": True}
        pipe = pipeline(case, arguments | options, batch_size=1)
        seen += numbers(case, read(pipe, sizes[shard]))
        state = pipe.checkpoint()
        wanted = keys(rows(pipe.run()))
        again = pipeline(case, arguments | options, batch_size=1, checkpoint=state)
        assert keys(rows(again.run())) == wanted
    assert sorted(seen) == sorted(same(case, range(size)))


@pytest.mark.parametrize("reader", sorted({c.reader for c in STORED}))
def test_the_order_of_shuffles_is_that_of_files(reader: str, s3: S3, tmp_path: Any) -> None:
    case = max((c for c in STORED if c.reader == reader), key=lambda c: len(c.samples))
    both = [
        keys(read(pipeline(case, arguments | {"random_shuffle": True}, seed=3), 3 * len(case.samples)))
        for arguments in (case.written(tmp_path), stored(s3, case))
    ]
    assert both[0] == both[1]


@pytest.mark.parametrize("case", LMDB[:1] + LMDB[-1:], ids=str)
def test_lmdb_is_refused(case: DataSet, s3: S3) -> None:
    with pytest.raises(ArgumentError, match="are not read from object stores"):
        pipeline(case, case.arguments("s3://nowhere/data"))


@pytest.mark.parametrize("reader", sorted({c.reader for c in STORED if c.broken}))
@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_broken_samples(reader: str, on_error: str, s3: S3) -> None:
    case = next(c for c in STORED if c.reader == reader and c.broken)
    assert case.broken
    name, data, broken = case.broken
    root = s3.bucket({f"data/{n}": d for n, d in case.files.items()}) + "/data"
    arguments, size = case.arguments(root), len(case.samples)
    if data is None:
        s3.delete(f"{root}/{name}")
    else:
        s3.put(f"{root}/{name}", data)
    pipe = pipeline(case, arguments | {"on_error": on_error}, batch_size=1)
    if on_error == "skip":
        with pytest.warns(UserWarning, match="broken sample") if size > 1 else pytest.raises(ReadError):
            found = numbers(case, read(pipe, 2 * size))
        good = [i for i in range(size) if i != broken]
        assert found == same(case, [good[i % len(good)] for i in range(2 * size)])
        return
    with pytest.raises(ReadError, match=re.escape(root)):
        read(pipe, size)
