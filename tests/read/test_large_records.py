"""Large records, whose middle is read to where it stays: whatever is before and behind it, and whatever is broken."""

from __future__ import annotations

import itertools
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import fn
from penstock import tfrecord as tf
from penstock.errors import ReadError
from tests.read import record_files as files
from tests.read.data_sets import read, reader
from tests.small import made

SIZES = (0, 4000, 20_000, 49_000, 70_000, 200_001)
FEATURES = {
    "a": tf.FixedLenFeature([], tf.string, ""),
    "b": tf.FixedLenFeature([], tf.string, ""),
    "i": tf.VarLenFeature(tf.int64, 0),
}


def value(name: str, data: bytes) -> bytes:
    return files.field(3, files.packed(1, [*data[:9], 7])) if name == "i" else files.field(1, files.field(1, data))


def written(folder: Path, rows: list[dict[str, bytes]]) -> dict[str, Any]:
    data = b"".join(files.framed(files.example({k: value(k, v) for k, v in row.items()})) for row in rows)
    (folder / "a").write_bytes(data)
    (folder / "a.idx").write_bytes(files.tfrecord_index(data))
    return {"path": str(folder / "a"), "index_path": str(folder / "a.idx")}


@pytest.mark.parametrize("wanted", [["a", "b", "i"], ["b"], ["i"], ["b", "a"]], ids="".join)
def test_all_orders_and_sizes_of_features(wanted: list[str], tmp_path: Path, random: np.random.Generator) -> None:
    rows = [
        {name: random.bytes(first if name == "a" else second) for name in order}
        for order in itertools.permutations("abi")
        for first, second in itertools.product(SIZES, SIZES)
    ]
    arguments = written(tmp_path, rows) | {"features": {name: FEATURES[name] for name in wanted}}
    pipe = made(lambda: reader("readers.tfrecord", arguments), batch_size=7)
    for row, found in zip(rows, read(pipe, len(rows)), strict=False):
        for name, array in zip(wanted, found, strict=True):
            if name == "i":
                assert array.tolist() == [*row["i"][:9], 7]
            else:
                assert array.tobytes() == row[name]


@pytest.mark.parametrize("wanted", ["a", "b"])
def test_any_broken_byte_of_a_large_record_is_told(wanted: str, tmp_path: Path, random: np.random.Generator) -> None:
    arguments = written(tmp_path, [{"b": b"small", "a": random.bytes(100_000), "i": b""}])
    whole = (tmp_path / "a").read_bytes()
    places = [*range(60), 4095, 4096, 4097, 50_000, *range(len(whole) - 60, len(whole))]
    for place in places:
        data = bytearray(whole)
        data[place] ^= 4
        (tmp_path / "a").write_bytes(data)
        one = arguments | {"features": {wanted: FEATURES[wanted]}}
        with pytest.raises(ReadError, match=r"record 0 of .*/a \(from byte 0 on\): its (data|length)"):
            made(lambda: reader("readers.tfrecord", one), batch_size=1).run()  # noqa: B023
    (tmp_path / "a").write_bytes(bytes(data))
    features = {"features": FEATURES, "verify_checksums": False}
    assert len(read(made(lambda: reader("readers.tfrecord", arguments | features), batch_size=1), 1)[0][0]) == 100_000


@pytest.mark.parametrize("on_error", ["skip", "replace"])
def test_large_records_that_are_broken_are_left_out(on_error: str, tmp_path: Path, random: np.random.Generator) -> None:
    rows = [{"a": random.bytes(60_000), "i": bytes([i])} for i in range(5)]
    arguments = written(tmp_path, rows) | {"features": {"a": FEATURES["a"], "i": FEATURES["i"]}, "on_error": on_error}
    data = bytearray((tmp_path / "a").read_bytes())
    data[90_000] ^= 1
    (tmp_path / "a").write_bytes(data)
    pipe = made(lambda: reader("readers.tfrecord", arguments), batch_size=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = read(pipe, 8)
    assert {one.index for one in pipe.broken_samples()} == {1}
    for array, numbers in found:
        assert array.tobytes() == rows[numbers[0]]["a"]
    assert 1 not in {int(numbers[0]) for _, numbers in found}


@pytest.mark.parametrize("labels", [1, 3, 2000])
def test_recordio(labels: int, tmp_path: Path, random: np.random.Generator) -> None:
    """In one part or in several; with so many labels that they go beyond what tells of them, too."""
    pictures = [random.bytes(size) for size in SIZES[1:] for _ in range(2)]
    numbers = [float(i) for i in range(labels)]
    records = []
    for i, picture in enumerate(pictures):
        whole = files.labelled(picture, *numbers)
        joint = whole.replace(files.MAGIC, b"none")
        records.append([joint] if i % 2 else [joint[:-1000], joint[-1000:]])
    data = files.recordio(records)
    (tmp_path / "a").write_bytes(data)
    (tmp_path / "a.idx").write_bytes(files.recordio_index(data))
    paths = {"path": [str(tmp_path / "a")], "index_path": [str(tmp_path / "a.idx")]}
    pipe = made(lambda: tuple(fn.readers.mxnet(**paths)), batch_size=3)
    for i, (found, told) in zip(range(len(pictures)), read(pipe, len(pictures)), strict=False):
        joint = records[i][0] if i % 2 else records[i][0] + files.MAGIC + records[i][1]
        assert found.tobytes() == joint[24 + (4 * labels if labels > 1 else 0) :]
        assert told.tolist() == numbers
