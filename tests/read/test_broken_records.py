"""Files of records with flipped bits and cut ends: an error that names file and record, or a sample; no crash."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline
from penstock import tfrecord as tf
from penstock.errors import ReadError
from penstock.read.records import Format, Records, read
from tests.read import record_files as files
from tests.read.data_sets import keys, reader, remember, rows
from tests.small import made

MANY = 2000
FEATURES = {
    "s": tf.FixedLenFeature([], tf.string, ""),
    "i": tf.VarLenFeature(tf.int64, 0),
    "f": tf.FixedLenFeature([2], tf.float32, 0.0),
}
_TFRECORD = files.tfrecord(
    {"s": (b"picture %d" % i, "byte"), "i": ([1 << 40, -i, i], "int"), "f": ([0.5, i / 2], "float")} for i in range(3)
)
_RECORDIO = files.recordio(
    [[files.labelled(b"picture", 1.0), b"more"], [files.labelled(b"x" * 21, 1.0, 2.0)], [files.labelled(b"end", 3.0)]]
)
_CAFFE = files.database(
    [files.datum(bytes(12), i, size=(3, 2, 2), encoded=False) for i in range(40)] + [files.datum(b"x" * 5000, 1)]
)
_CAFFE2 = files.database(
    files.protos(
        files.proto(files.BYTES, bytes(12), [2, 2, 3]), files.proto(files.INT32, [i % 4, 1]),
        files.proto(files.FLOATS, [0.5, 1.5]), files.proto(files.INT64, [1 << 40]),
        files.proto(files.INT32, [1, 2, 3, 4]),
    )
    for i in range(40)
)  # fmt: skip
FILES: dict[str, tuple[Format, bytes, dict[str, Any]]] = {
    "readers.tfrecord": (Format.TFRECORD, _TFRECORD, {"features": FEATURES}),
    "readers.mxnet": (Format.RECORDIO, _RECORDIO, {}),
    "readers.caffe": (Format.LMDB, _CAFFE, {}),
    "readers.caffe2": (
        Format.LMDB, _CAFFE2, {"label_type": 3, "num_labels": 4, "additional_inputs": 1, "bbox": True},
    ),
}  # fmt: skip


def harmed(data: bytes, random: np.random.Generator) -> bytes:
    """One bit or several bytes changed, or the end cut off. Of data bases, where there is something."""
    broken = bytearray(data)
    there = np.flatnonzero(np.frombuffer(data, np.uint8))
    kind = random.random()
    if kind < 0.2:
        return data[: random.integers(len(data))]
    for _ in range(1 if kind < 0.6 else random.integers(1, 6)):
        at = int(random.choice(there)) if random.random() < 0.8 else int(random.integers(len(data)))
        broken[at] = broken[at] ^ 1 << random.integers(8) if kind < 0.6 else random.choice([0, 1, 127, 128, 255])
    return bytes(broken)


@contextmanager
def remembered(name: str, variants: list[bytes]) -> Iterator[list[str]]:
    paths = [f"memory://{name}/{i}.mdb" for i in range(len(variants))]
    try:
        for path, data in zip(paths, variants, strict=True):
            remember(path, data)
        yield paths
    finally:
        for path in paths:
            remember(path, None)


def found(form: Format, path: str) -> Records | str:
    try:
        return read(form, path)
    except ReadError as error:
        text = str(error)
    assert path in text
    return text


def epoch(pipe: Pipeline, name: str) -> tuple[list[Any], int]:
    """The samples of an epoch, and how many were refused."""
    samples: list[Any] = []
    errors: list[ReadError] = []
    for _ in range(pipe.epoch_size("Reader")):
        try:
            samples += keys(rows(pipe.run()))
        except ReadError as error:
            errors.append(error)
    assert all(error.file and f"{name}: record " in str(error) for error in errors)
    return samples, len(errors)


@pytest.mark.parametrize("name", FILES)
def test_broken_files_do_no_harm(name: str, random: np.random.Generator) -> None:
    form, data, arguments = FILES[name]
    variants = [data, *(harmed(data, random) for _ in range(MANY))]
    with remembered(name, variants) as paths:
        scanned = [found(form, path) for path in paths]
        good = [path for path, one in zip(paths, scanned, strict=True) if isinstance(one, Records) and len(one.offsets)]
        for one in scanned:
            if isinstance(one, Records):
                assert (one.offsets >= 0).all()
                assert (one.lengths >= 0).all()
                assert one.keys.count(b"\0") == (len(one.offsets) if form == Format.LMDB else 0)
        pipe = made(lambda: reader(name, {"path": good, **arguments}), batch_size=1)
        whole = len(scanned[0].offsets)  # type: ignore[union-attr]
        samples, refused = epoch(pipe, name)
        originals = set(samples[:whole])
        assert len(samples[:whole]) == whole
        assert refused
        if name == "readers.tfrecord":  # whatever is changed, checksums tell
            assert set(samples) == originals


def _texts(random: np.random.Generator) -> Iterator[bytes]:
    whole = b"".join(b"%d %d\n" % (i * 100, 100) for i in range(20))
    for _ in range(MANY):
        broken = bytearray(whole)
        for _ in range(random.integers(1, 4)):
            broken[random.integers(len(broken))] = random.choice([*range(256), *b"0123456789 \n-"])
        yield bytes(broken[: random.integers(len(broken))] if random.random() < 0.2 else broken)


def test_broken_indexes_do_no_harm(random: np.random.Generator) -> None:
    refused = 0
    for text in _texts(random):
        with remembered("index", [text]) as (path,):
            one = found(Format.TEXT, path)
            if isinstance(one, str):
                refused += 1
                assert "expected two whole numbers" in one
                continue
            lines = [line.split() for line in text.replace(b"\0", b"?").split(b"\n") if line.strip(b" \t\r")]
            assert [[int(a), int(b)] for a, b in lines] == np.stack([one.offsets, one.lengths], 1).tolist()
    assert 0 < refused < MANY


@pytest.mark.parametrize("name", ["readers.tfrecord", "readers.mxnet"])
def test_broken_files_with_a_good_index(name: str, random: np.random.Generator) -> None:
    """What lies where the index says is refused, or given: of TFRecord as it was."""
    form, data, arguments = FILES[name]
    make: Callable[[bytes], bytes] = files.tfrecord_index if form == Format.TFRECORD else files.recordio_index
    variants = [data, *(harmed(data, random) for _ in range(MANY // 4)), make(data)]
    with remembered(name, variants) as paths:
        indexes = [paths[-1]] * (len(paths) - 1)
        pipe = made(lambda: reader(name, {"path": paths[:-1], "index_path": indexes, **arguments}), batch_size=1)
        samples, refused = epoch(pipe, name)
        assert refused > MANY // 10
        if name == "readers.tfrecord":
            assert set(samples) == set(samples[:3])
