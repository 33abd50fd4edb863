"""`fn.readers.tfrecord`: features of all kinds, indexes, checksums, and what is refused."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn, ops
from penstock import tfrecord as tf
from penstock.errors import ArgumentError, ArgumentTypeError, PenstockError, ReadError
from tests.read.data_sets import DataSet, case, keys, read, reader
from tests.read.record_files import example, field, fields, framed, packed, tfrecord, tfrecord_index
from tests.small import made

SIZES = (4, 1, 6)
FEATURES = {
    "image": tf.FixedLenFeature([], tf.string, ""),
    "label": tf.FixedLenFeature([1], tf.int64, -1),
    "boxes": tf.VarLenFeature([2], tf.float32, 0.0),
    "ids": tf.VarLenFeature(tf.int64, 0),
    "scale": tf.FixedLenFeature([], tf.float32, 0.0),
}


def _image(i: int) -> bytes:
    return b"picture %d " % i * (1 + 97 * i)


def _numbers(i: int) -> list[int]:
    return [(-1) ** k * 7**k for k in range(3 * i % 7)]


def _files(sizes: tuple[int, ...] = SIZES) -> dict[str, bytes]:
    found, first = {}, 0
    for k, size in enumerate(sizes):
        found[f"{k}.tfrecord"] = tfrecord(
            {
                "image": (_image(i), "byte"), "label": (i, "int"), "scale": (i / 4, "float"),
                "ids": (_numbers(i), "int"),
                "boxes": ([i + 0.25 * j for j in range(i % 3 * 2)], "float"),
            }
            for i in range(first, first + size)
        )  # fmt: skip
        first += size
    return found


def _sample(i: int) -> tuple[Any, ...]:
    boxes = np.array([i + 0.25 * j for j in range(i % 3 * 2)], np.float32).reshape(-1, 2)
    return _image(i), np.array([i]), boxes, np.array(_numbers(i), np.int64), np.float32(i / 4)


def _named(root: str, what: str = "tfrecord") -> list[str]:
    return [f"{root}/{k}.{what}" for k in range(len(SIZES))]


INDEXES = {f"{k}.idx": tfrecord_index(data) for k, data in enumerate(_files().values())}
_LAST = _files()["2.tfrecord"]
_UNPACKED = example(
    {
        "ids": field(3, fields(1, [1, 300, -1])), "image": field(1, field(1, b"one") + field(1, b"two")),
        "boxes": field(2, fields(1, [0.5, 1.5])), "scale": field(2, packed(1, [2.5])), "label": field(3, field(1, 4)),
    }
)  # fmt: skip
_TWICE = (
    example({"ids": field(3, packed(1, [9])), "image": field(1, field(1, b"x")), "label": field(3, packed(1, [1]))})
    + field(99, b"unknown")
    + example({"ids": field(3, packed(1, [5, 6]) + field(1, 7)), "scale": field(2, packed(1, [1.0]))})
)
_ODD = framed(_UNPACKED) + framed(_TWICE)
CASES = [
    case(
        "readers.tfrecord",
        {**_files(), **INDEXES},
        [_sample(i) for i in range(sum(SIZES))],
        lambda root: {"path": _named(root), "index_path": _named(root, "idx"), "features": FEATURES},
        broken=("2.tfrecord", _LAST[:-40] + b"?" + _LAST[-39:], 10),
        title="indexes",
    ),
    case(
        "readers.tfrecord",
        _files(),
        [_sample(i) for i in range(sum(SIZES))],
        lambda root: {"path": _named(root), "features": FEATURES},
        broken=("2.tfrecord", _LAST[:-10], 10),
        differs="DALI needs indexes",
        title="no indexes",
    ),
    case(
        "readers.tfrecord",
        {"a": _ODD * 2, "a.idx": tfrecord_index(_ODD * 2)},
        [
            (b"one", np.array([4]), np.array([[0.5, 1.5]], np.float32), np.array([1, 300, -1]), np.float32(2.5)),
            (b"x", np.array([1]), np.zeros((0, 2), np.float32), np.array([5, 6, 7]), np.float32(1)),
        ] * 2,
        lambda root: {"path": f"{root}/a", "index_path": f"{root}/a.idx", "features": FEATURES},
        differs="DALI leaves open what a feature is that an example lacks",
        title="odd messages",
    ),
    case(
        "readers.tfrecord",
        {"a": framed(_UNPACKED) * 3, "a.idx": tfrecord_index(framed(_UNPACKED) * 3)},
        [(np.array([1, 300, -1]),)] * 3,
        lambda root: {
            "path": f"{root}/a", "index_path": f"{root}/a.idx",
            "features": {"ids": tf.FixedLenFeature([3], tf.int64, 0)},
        },
        title="one output",
    ),
]  # fmt: skip


def reads(folder: Path, data: bytes, features: dict[str, Any], **arguments: Any) -> Pipeline:
    """A pipeline over one file."""
    (folder / "a").write_bytes(data)
    arguments = {"path": str(folder / "a"), "features": features, **arguments}
    return made(lambda: reader("readers.tfrecord", arguments), batch_size=1)


def raises(kind: type[PenstockError], folder: Path, data: bytes, features: dict[str, Any], **arguments: Any) -> str:
    with pytest.raises(kind) as caught:
        reads(folder, data, features, **arguments).run()
    return str(caught.value)


GOOD = example(
    {"f": field(2, packed(1, [1.0, 2.0, 3.0])), "i": field(3, packed(1, [1])), "s": field(1, field(1, b"a"))}
)


def test_a_call_gives_a_dictionary(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(framed(GOOD))
    features = {"i": tf.FixedLenFeature([1], tf.int64, 0), "s": tf.FixedLenFeature([], tf.string, "")}

    def function() -> Any:
        found = fn.readers.tfrecord(path=str(tmp_path / "a"), features=features)
        assert list(found) == ["i", "s"]
        return found["s"]

    def object_of_old_scripts() -> Any:
        return ops.TFRecordReader(path=str(tmp_path / "a"), features=features)()["s"]

    for define in (
        function,
        object_of_old_scripts,
        lambda: fn.tfrecord_reader(path=[tmp_path / "a"], features=features)["s"],
    ):
        (found,) = made(define, batch_size=1).run()
        assert bytes(found.at(0)) == b"a"
        assert found[0].source_info() == f"{tmp_path}/a at index 0"


def test_what_an_example_lacks(tmp_path: Path) -> None:
    features = {
        "a": tf.FixedLenFeature([2, 2], tf.int64, 2**62 + 1), "b": tf.VarLenFeature(tf.float32, 3.0),
        "c": tf.FixedLenFeature([], tf.string, "none"), "d": tf.VarLenFeature([4, 3], tf.int64, 0),
        "e": tf.FixedLenFeature([], tf.float32, 0.5), "f": tf.FixedLenFeature([0], tf.float32, 0.5),
    }  # fmt: skip
    empty = field(2, field(1, b""))
    for data in (
        b"",
        GOOD.replace(b"f", b"x"),
        example(dict.fromkeys("abcde", b"")),
        example({"e": empty, "f": empty}),
    ):
        found = [o.at(0) for o in reads(tmp_path, framed(data), features).run()]
        assert found[0].tolist() == [[2**62 + 1] * 2] * 2
        assert (found[1].shape, found[1].dtype) == ((0,), np.float32)
        assert bytes(found[2]) == b"none"
        assert (found[3].shape, found[3].dtype) == ((0, 4, 3), np.int64)
        assert (found[4].shape, found[4]) == ((), 0.5)
        assert (found[5].shape, found[5].dtype) == ((0,), np.float32)


@pytest.mark.parametrize(
    ("feature", "message"),
    [
        ({"f": tf.FixedLenFeature([3], tf.int64, 0)}, "the feature 'f' has floats, not int64"),
        ({"i": tf.FixedLenFeature([], tf.string, "")}, "the feature 'i' has int64, not byte strings"),
        ({"s": tf.VarLenFeature(tf.float32, 0)}, "the feature 's' has byte strings, not floats"),
        ({"f": tf.FixedLenFeature([4], tf.float32, 0)}, r"'f' has 3 values, but the shape \(4,\) was asked for"),
        ({"f": tf.FixedLenFeature([], tf.float32, 0)}, r"'f' has 3 values, but the shape \(\) was asked for"),
        ({"f": tf.VarLenFeature([2], tf.float32, 0)}, r"'f' has 3 values, which are no whole number of \(2,\)"),
    ],
)
def test_features_that_do_not_fit(feature: dict[str, Any], message: str, tmp_path: Path) -> None:
    pipe = reads(tmp_path, framed(b"") + framed(GOOD), feature)
    pipe.run()
    with pytest.raises(ReadError, match=rf"record 1 of {tmp_path}/a \(from byte 16 on\): the feature") as e:
        pipe.run()
    assert e.match(message)
    assert e.value.file == f"{tmp_path}/a at index 16"
    assert e.value.operator == "readers.tfrecord"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"path": []}, "there is no file"),
        ({"features": {}}, "there is no output"),
        ({"features": {"a": 1}}, "expected a dictionary of names and features"),
        ({"features": ["a"]}, "expected a dictionary of names and features"),
        ({"index_path": ["a", "b"]}, "there are 1 files, and each needs an index"),
        ({"use_o_direct": True}, "it needs dont_use_mmap=True"),
        ({"num_shards": 3}, "the data set has only 2 samples"),
        ({"shuffle_after_epoch": True, "stick_to_shard": True}, "leaves no shard to stick to"),
    ],
    ids=str,
)
def test_arguments_that_make_no_sense(arguments: dict[str, Any], message: str, tmp_path: Path) -> None:
    given = {"features": {"i": tf.FixedLenFeature([1], tf.int64, 0)}} | arguments
    with pytest.raises(
        (ArgumentError, ArgumentTypeError), match=f"(?s)readers.tfrecord: .*{message}.*operator made at"
    ):
        reads(tmp_path, framed(GOOD) * 2, **given).build()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tf.FixedLenFeature(2, tf.int64, 0), "shape=2: expected a list of whole numbers"),
        (lambda: tf.FixedLenFeature([-1], tf.int64, 0), r"shape=\[-1\]: expected at most 11 extents from 0 on"),
        (lambda: tf.FixedLenFeature([1] * 12, tf.int64, 0), "expected at most 11 extents"),
        (lambda: tf.VarLenFeature([0], tf.int64, 0), r"partial_shape=\[0\]: expected at most 11 extents from 1 on"),
        (lambda: tf.FixedLenFeature([], 7, 0), "dtype=7: expected int64, string or float32"),
        (lambda: tf.FixedLenFeature([2], tf.string, ""), "of string, only one is read"),
        (lambda: tf.VarLenFeature(tf.string, ""), "strings are of a fixed length"),
        (lambda: tf.FixedLenFeature([], tf.int64, 0.5), "default_value=0.5: expected a value of type int64"),
        (lambda: tf.FixedLenFeature([], tf.int64, 2**63), "expected a value of type int64"),
        (lambda: tf.FixedLenFeature([], tf.float32, "x"), "default_value='x': expected a value of type float32"),
        (lambda: tf.FixedLenFeature([], tf.string, 0), "default_value=0: expected a value of type string"),
        (lambda: tf.VarLenFeature(tf.int64), "takes 2 or 3 arguments by position, got 1"),
    ],
)  # fmt: skip
def test_features_that_make_no_sense(make: Any, message: str) -> None:
    with pytest.raises((ArgumentError, ArgumentTypeError), match=message):
        make()


def test_what_is_no_tfrecord_file(tmp_path: Path) -> None:
    feature = {"i": tf.FixedLenFeature([1], tf.int64, 0)}
    assert f"the file {tmp_path}/a is no TFRecord file" in raises(ReadError, tmp_path, b"some text, no record", feature)
    assert "is compressed: unpack it first" in raises(ReadError, tmp_path, b"\x1f\x8b" + bytes(30), feature)
    assert "there are no records" in raises(ArgumentError, tmp_path, b"", feature)
    with pytest.raises(ReadError, match=r"gone cannot be opened: No such file"):
        made(lambda: reader("readers.tfrecord", {"path": str(tmp_path / "gone"), "features": feature})).build()


def test_checksums(tmp_path: Path) -> None:
    feature = {"i": tf.FixedLenFeature([1], tf.int64, 0)}
    data = framed(GOOD)
    other = data[:-1] + bytes([data[-1] ^ 1])
    message = f"record 0 of {tmp_path}/a (from byte 0 on): its data do not fit their checksum (verify_checksums=False"
    assert message in raises(ReadError, tmp_path, other, feature)
    (found,) = reads(tmp_path, other, feature, verify_checksums=False).run()
    assert found.at(0).tolist() == [1]
    (tmp_path / "a.idx").write_bytes(tfrecord_index(data))
    other = data[:8] + bytes(4) + data[12:]
    message = "its length does not fit the checksum of that"
    assert message in raises(ReadError, tmp_path, other, feature, index_path=str(tmp_path / "a.idx"))
    reads(tmp_path, other, feature, index_path=str(tmp_path / "a.idx"), verify_checksums=False).run()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0", "line 1: expected two whole numbers"), ("0 x", "line 1: expected two whole numbers"),
        ("0 16\n16 16 16\n", "line 2: expected two whole numbers"), ("0 -1", "line 1: expected two whole numbers"),
        ("0 1e3", "line 1: expected two whole numbers"), ("9" * 20 + " 1", "line 1: expected two whole numbers"),
        ("0 2", r"record 0 of .*: its file ends in it"), ("0 20", r"its length is 29, but only 4 bytes are there"),
        ("0 9999", r"record 0 of .*: it has 9999 bytes, but its file ends 45 bytes behind its beginning"),
        ("9999 20", r"record 0 of .*: it has 20 bytes, but its file ends before it"),
        ("1 44", "record 0 of .* its length does not fit the checksum"), ("\n \n", "there are no records"),
    ],
)  # fmt: skip
def test_indexes_that_lie(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.idx").write_text(text)
    feature = {"i": tf.FixedLenFeature([1], tf.int64, 0)}
    data = framed(example({"i": field(3, packed(1, [1])), "filled up": b""}))
    assert len(data) == 45
    with pytest.raises((ReadError, ArgumentError), match=message):
        reads(tmp_path, data, feature, index_path=str(tmp_path / "a.idx")).run()


@pytest.mark.parametrize("text", ["0 45\r\n45 45\r\n", "  0\t45  \n\n45 45", "45 45\n0 45\n"])
def test_indexes_of_all_kinds(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.idx").write_text(text, newline="")
    data = b"".join(framed(example({"i": field(3, packed(1, [k])), "filled up": b""})) for k in range(2))
    pipe = reads(tmp_path, data, {"i": tf.FixedLenFeature([1], tf.int64, 0)}, index_path=str(tmp_path / "a.idx"))
    found = [int(sample[0][0]) for sample in read(pipe, 2)]
    assert found == ([1, 0] if text.startswith("45") else [0, 1])


def test_messages_that_are_broken(tmp_path: Path) -> None:
    feature = {"i": tf.VarLenFeature(tf.int64, 0)}
    deep = field(1, field(1, field(1, b"i") + field(2, field(3, field(1, b"\xff")))))
    group = b"\x0b" * 200
    for data in (b"\xff", b"\x0a\x05abc", b"\x07", b"\x00\x01", b"\x0c", group, deep, b"\x0a\x80\x80", b"\xff" * 12):
        assert "its protocol buffer is broken" in raises(ReadError, tmp_path, framed(data), feature), data
    skipped = b"\x23\x08\x01\x13\x14\x12\x01x\x24" + struct.pack("<BQ", 0x39, 5) + GOOD
    (found,) = reads(tmp_path, framed(skipped), feature).run()
    assert found.at(0).tolist() == [1]


def test_files_are_shuffled_as_a_whole(tmp_path: Path) -> None:
    data: DataSet = CASES[0]
    arguments = data.written(tmp_path) | {"shuffle_after_epoch": True}
    groups = [keys(data.samples[:4]), keys(data.samples[4:5]), keys(data.samples[5:])]
    pipe = made(lambda: reader("readers.tfrecord", arguments), batch_size=1)
    orders = set()
    for _ in range(4):
        found = keys(read(pipe, 11))
        starts = sorted(found.index(group[0]) for group in groups)
        parts = [found[a:b] for a, b in zip(starts, [*starts[1:], 11], strict=True)]
        assert sorted(map(groups.index, parts)) == [0, 1, 2]
        orders.add(tuple(starts))
    assert len(orders) > 1
