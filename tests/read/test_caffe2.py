"""`fn.readers.caffe2`: labels and tensors of all kinds, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline
from penstock.errors import ArgumentError, PenstockError, ReadError
from tests.read.data_sets import DataSet, case, label, reader
from tests.read.record_files import BYTES, FLOATS, INT32, INT64, STRING, database, field, proto, protos
from tests.small import made


def _image(i: int) -> bytes:
    return b"picture %d " % i * (1 + 301 * i)


def _encoded(i: int) -> bytes:
    return proto(STRING, [_image(i)], [1])


def _pixels(i: int) -> np.ndarray[Any, Any]:
    return np.arange(i * (i + 1) * 3, dtype=np.uint8).reshape(i, i + 1, 3)


def _one(title: str, records: list[bytes], samples: list[Any], differs: str | None = None, **arguments: Any) -> DataSet:
    return case(
        "readers.caffe2", {"db/data.mdb": database(records * 3)}, samples * 3,
        lambda root: {"path": f"{root}/db", **arguments}, differs=differs, title=title,
    )  # fmt: skip


_PLAIN = [protos(_encoded(i), proto(INT32, [i - 3], [1], loose=i % 2 > 0)) for i in range(7)]
_BOX = proto(INT32, [1, 2, 3, -4], [4])
_SPARSE = "DALI declares another output of sparse labels, which it never fills"
CASES = [
    case(
        "readers.caffe2",
        {"db/data.mdb": database(_PLAIN)},
        [(_image(i), label(i - 3)) for i in range(7)],
        lambda root: {"path": [f"{root}/db"]},
        broken=("db/data.mdb", database(_PLAIN).replace(_PLAIN[4], b"\xff" * len(_PLAIN[4])), 4),
        title="single labels",
    ),
    _one(
        "pixels and labels of floats",
        [protos(proto(BYTES, _pixels(i).tobytes(), _pixels(i).shape), proto(FLOATS, [i / 2])) for i in range(1, 4)],
        [(_pixels(i), np.array([i / 2], np.float32)) for i in range(1, 4)],
    ),
    _one("gray", [protos(proto(BYTES, b"abcdef", [2, 3]))], [(_pixels(1)[:, :2].reshape(2, 3, 1) * 0 + np.frombuffer(
        b"abcdef", np.uint8).reshape(2, 3, 1),)], label_type=4),
    _one("dense", [protos(_encoded(1), proto(FLOATS, [1.0, 2.5, 3.0]))],
         [(_image(1), np.array([1, 2.5, 3], np.float32))], label_type=2, num_labels=3),
    _one("dense integers", [protos(_encoded(1), proto(INT32, [1, 2]))],
         [(_image(1), np.array([1, 2], np.int32))], label_type=2),
    _one("sparse", [protos(_encoded(1), proto(INT32, [1, 3, 1])), protos(_encoded(2), proto(INT32, [1]))],
         [(_image(1), np.array([0, 1, 0, 1], np.int32)), (_image(2), np.array([0, 1, 0, 0], np.int32))],
         _SPARSE, label_type=1, num_labels=4),
    _one("sparse floats", [protos(_encoded(1), proto(FLOATS, [1.0, 3.0]))],
         [(_image(1), np.array([0, 1, 0, 1], np.float32))], _SPARSE, label_type=1, num_labels=4),
    _one("weighted", [protos(_encoded(1), proto(INT32, [0, 3]), proto(FLOATS, [0.5, 0.25]))],
         [(_image(1), np.array([0.5, 0, 0, 0.25], np.float32))], _SPARSE, label_type=3, num_labels=4),
    _one("weighted and more",
         [protos(_encoded(1), proto(INT32, [0]), proto(FLOATS, [0.5]), proto(INT64, [2**40]), _BOX)],
         [(_image(1), np.array([0.5, 0], np.float32), np.array([2**40]), np.array([1, 2, 3, -4], np.int32))],
         _SPARSE, label_type=3, num_labels=2, additional_inputs=1, bbox=True),
    _one("further tensors and a box",
         [protos(_encoded(i), proto(INT32, [i]), proto(FLOATS, [0.5] * i), proto(INT32, [1, 2, 3, 4], [2, 2]),
                 proto(INT64, [i - 2**40]), _BOX) for i in range(1, 4)],
         [(_image(i), label(i), np.array([0.5] * i, np.float32), np.array([1, 2, 3, 4], np.int32),
           np.array([i - 2**40]), np.array([1, 2, 3, -4], np.int32)) for i in range(1, 4)],
         additional_inputs=3, bbox=True),
    _one("labels alone", [protos(proto(INT32, [i])) for i in range(3)], [(label(i),) for i in range(3)],
         image_available=False),
    _one("a box alone", [protos(_BOX)], [(np.array([1, 2, 3, -4], np.int32),)], image_available=False, label_type=4,
         bbox=True),
    _one("tensors that are not read", [protos(_encoded(1), proto(INT32, [1]), _BOX, _BOX)], [(_image(1), label(1))],
         "DALI fails where there are more tensors than outputs"),
]  # fmt: skip


def reads(folder: Path, data: bytes, **arguments: Any) -> Pipeline:
    (folder / "data.mdb").write_bytes(data)
    return made(lambda: reader("readers.caffe2", {"path": str(folder), **arguments}), batch_size=1)


def raises(kind: type[PenstockError], folder: Path, record: bytes, **arguments: Any) -> str:
    with pytest.raises(kind) as caught:
        reads(folder, database([record]), **arguments).run()
    return str(caught.value)


LABEL = proto(INT32, [1])


@pytest.mark.parametrize(
    ("record", "arguments", "message"),
    [
        (b"\xff\xff", {}, "its protocol buffer is broken"),
        (b"", {}, "it has no picture"),
        (protos(_encoded(1)), {}, "it has no label"),
        (protos(_encoded(1), LABEL), {"label_type": 3}, "it has no tensor of weights"),
        (protos(_encoded(1), LABEL), {"additional_inputs": 1}, "it has no further tensor"),
        (protos(_encoded(1), LABEL), {"bbox": True}, "it has no box"),
        (protos(proto(FLOATS, [1.0]), LABEL), {}, "its picture is neither a string nor bytes"),
        (protos(field(6, b"x"), LABEL), {}, "its picture is neither a string nor bytes"),
        (protos(proto(STRING, []), LABEL), {}, "its picture has no bytes"),
        (protos(proto(BYTES, b"abcd", [2, 2, 3]), LABEL), {}, "its picture has 4 bytes, but its shape is (2, 2, 3)"),
        (protos(proto(BYTES, b"abcd", [4]), LABEL), {}, "its picture has 1 axes, not height, width and channels"),
        (protos(proto(BYTES, b"abcd", [1, 2, 2, 1]), LABEL), {}, "its picture has 4 axes, not height, width and"),
        (protos(proto(BYTES, b"", [2**40, 2**40]), LABEL), {}, "its picture has 0 bytes, but its shape is"),
        (protos(_encoded(1), proto(INT32, [1, 2])), {}, "it has 2 labels, not one"),
        (protos(_encoded(1), proto(INT64, [1])), {}, "its label is of type 10: expected floats, int32"),
        (protos(_encoded(1), LABEL, proto(STRING, [b"x"])), {"additional_inputs": 1}, "a further tensor is of type 4"),
        (protos(_encoded(1), LABEL), {"label_type": 1}, "its label 1.000000 is none of 1 (num_labels)"),
        (protos(_encoded(1), proto(INT32, [-1])), {"label_type": 1}, "its label -1.000000 is none of 1"),
        (
            protos(_encoded(1), LABEL, proto(FLOATS, [1.0, 2.0])),
            {"label_type": 3, "num_labels": 2},
            "1 labels, but 2 w",
        ),
        (protos(_encoded(1), LABEL, proto(FLOATS, [1.0])), {"bbox": True}, "its box is not of int32"),
        (protos(_encoded(1), LABEL, LABEL), {"bbox": True}, "its box has 1 numbers, not 4"),
    ],
)
def test_what_is_broken(record: bytes, arguments: dict[str, Any], message: str, tmp_path: Path) -> None:
    text = raises(ReadError, tmp_path, record, **arguments)
    assert message in text
    assert f"readers.caffe2: record 0 of {tmp_path}/data.mdb (from byte" in text
    assert f"file: {tmp_path} at key 00000000" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"path": []}, "there is no file"),
        ({"label_type": 5}, "label_type=5: expected 0 to 4"),
        ({"num_labels": 0}, "num_labels=0: expected 1 or more"),
        ({"additional_inputs": -1}, "additional_inputs=-1: expected 0 to 1000"),
        ({"image_available": False, "label_type": 4}, "there is no output"),
    ],
    ids=str,
)
def test_arguments_that_make_no_sense(arguments: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=f"(?s)readers.caffe2: .*{message}.*operator made at"):
        reads(tmp_path, database(_PLAIN), **arguments).build()
