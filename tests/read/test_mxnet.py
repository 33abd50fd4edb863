"""`fn.readers.mxnet`: labels, records of several parts, indexes, and what is refused."""

from __future__ import annotations

import struct
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline
from penstock.errors import ArgumentError, PenstockError, ReadError
from tests.read.data_sets import case, read, reader
from tests.read.record_files import MAGIC, labelled, recordio, recordio_index
from tests.small import made


def _image(i: int) -> bytes:
    return b"picture %d " % i * (1 + 53 * i)


def _labels(*numbers: float) -> np.ndarray[Any, Any]:
    return np.array(numbers, np.float32)


_PLAIN = recordio([[labelled(_image(i), i / 2, number=i)] for i in range(9)])
_ODD = recordio(
    [
        [labelled(b"abcd", 3.0), b"efgh", b"ijk"], [labelled(b"", 1.0)], [labelled(b"x", 1.5, 2.5, -1.0)],
        [labelled(b"abcd", 3.0), b""], [labelled(b"four", 4.0)],
    ]
)  # fmt: skip
_ODD_SAMPLES = [
    (b"abcd" + MAGIC + b"efgh" + MAGIC + b"ijk", _labels(3)), (b"", _labels(1)), (b"x", _labels(1.5, 2.5, -1)),
    (b"abcd" + MAGIC, _labels(3)), (b"four", _labels(4)),
]  # fmt: skip


def _indexed(root: str) -> dict[str, Any]:
    return {"path": [f"{root}/a.rec"], "index_path": [f"{root}/a.idx"]}


CASES = [
    case(
        "readers.mxnet",
        {"a.rec": _PLAIN, "a.idx": recordio_index(_PLAIN)},
        [(_image(i), _labels(i / 2)) for i in range(9)],
        _indexed,
        broken=("a.rec", _PLAIN[:-20], 8),
        title="an index",
    ),
    case(
        "readers.mxnet",
        {"a.rec": _ODD, "a.idx": recordio_index(_ODD)},
        _ODD_SAMPLES,
        _indexed,
        broken=("a.rec", _ODD.replace(MAGIC + struct.pack("<I", 24), b"gone" + struct.pack("<I", 24)), 1),
        title="several parts and labels",
    ),
    case(
        "readers.mxnet",
        {"a.rec": _PLAIN, "b.rec": _ODD},
        [*((_image(i), _labels(i / 2)) for i in range(9)), *_ODD_SAMPLES],
        lambda root: {"path": [f"{root}/a.rec", f"{root}/b.rec"]},
        broken=("b.rec", _ODD.replace(MAGIC + struct.pack("<I", 24), b"gone" + struct.pack("<I", 24)), 10),
        differs="DALI needs an index, of one file",
        title="no indexes",
    ),
]


def reads(folder: Path, data: bytes, **arguments: Any) -> Pipeline:
    (folder / "a.rec").write_bytes(data)
    return made(lambda: reader("readers.mxnet", {"path": str(folder / "a.rec"), **arguments}), batch_size=1)


def raises(kind: type[PenstockError], folder: Path, data: bytes, **arguments: Any) -> str:
    with pytest.raises(kind) as caught:
        reads(folder, data, **arguments).run()
    return str(caught.value)


@pytest.mark.parametrize(
    "text",
    ["4\t0\n1\t36\n0 72", "0\t72\n1\t0\n2\t36\n", "0\t0\n1\t0\n2\t36\n3\t72\n", "0 0\r\n1 36\r\n2 72\r\n"],
)
def test_places_alone_count_in_an_index(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.idx").write_text(text, newline="")
    data = recordio([labelled(b"%d" % i, i)] for i in range(3))
    pipe = reads(tmp_path, data, index_path=str(tmp_path / "a.idx"))
    assert [bytes(image) for image, _ in read(pipe, 3)] == [b"0", b"1", b"2"]
    assert pipe.epoch_size("Reader") == 3


def test_records_that_an_index_leaves_out(tmp_path: Path) -> None:
    (tmp_path / "a.idx").write_text("3\t72\n1\t0\n")
    data = recordio([labelled(b"%d" % i, i)] for i in range(4))
    pipe = reads(tmp_path, data, index_path=str(tmp_path / "a.idx"))
    found = read(pipe, 3)
    assert [bytes(image) for image, _ in found] == [b"0", b"2", b"0"]
    assert pipe.run()[0][0].source_info() == f"{tmp_path}/a.rec at index 72"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"some text, no records", "is no RecordIO file: no record begins at byte 0"),
        (recordio([[b"abcde"]]), "it has 5 bytes, but its header alone would have 24"),
        (
            recordio([[struct.pack("<IfQQ", 3, 0, 0, 0) + b"abcde"]]),
            "it says that it has 3 labels, but there are only 5",
        ),
        (recordio([[labelled(b"", 1.0)]])[:-4], "its part at byte 0 would have 24 bytes, but it ends before them"),
        (recordio([[labelled(b"", 1.0), b"abcd"]])[:-12], "its part at byte 0 would have 24 bytes"),
        (MAGIC + b"\0", "is no RecordIO file"),
    ],
)
def test_what_is_broken(data: bytes, message: str, tmp_path: Path) -> None:
    text = raises(ReadError, tmp_path, data)
    assert message in text
    assert f"{tmp_path}/a.rec" in text


def test_the_records_behind_a_broken_one_are_found(tmp_path: Path) -> None:
    """One fault costs one record, whether the magic number, a length or a part is wrong."""
    records = [[labelled(b"picture %d" % i, i)] for i in range(3)]
    data = recordio(records)
    for at in (44, 45, 46, 47, 48, 49, 50, 51):
        for bit in range(8):
            if (at, bit) == (48, 1):
                continue  # two bytes more, of the zeros behind the data: nothing tells them from data
            other = bytearray(data)
            other[at] ^= 1 << bit
            pipe = reads(tmp_path, bytes(other), on_error="skip")
            assert pipe.epoch_size("Reader") == 3
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                assert [int(label[0]) for _, label in read(pipe, 3)] == [0, 2, 0], (at, bit)
            (one,) = pipe.broken_samples()
            assert one.index == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"path": []}, "there is no file"),
        ({"index_path": ["a", "b"]}, "there are 1 files, and each needs an index"),
        ({"num_shards": 3}, "the data set has only 2 samples"),
    ],
    ids=str,
)
def test_arguments_that_make_no_sense(arguments: dict[str, Any], message: str, tmp_path: Path) -> None:
    data = recordio([[labelled(b"", 1.0)]] * 2)
    with pytest.raises(ArgumentError, match=f"(?s)readers.mxnet: .*{message}.*operator made at"):
        reads(tmp_path, data, **arguments).build()


@pytest.mark.parametrize("text", ["", "0\n", "a 0\n", "0 -1"])
def test_indexes_that_are_none(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.idx").write_text(text)
    message = f"the index {tmp_path}/a.idx" + (": line 1: expected two whole numbers" if text else " has no records")
    assert message in raises(ReadError, tmp_path, recordio([[labelled(b"", 1.0)]]), index_path=f"{tmp_path}/a.idx")
