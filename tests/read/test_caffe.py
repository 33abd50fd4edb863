"""`fn.readers.caffe`: pictures and labels of Datum, data bases of all sizes, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline
from penstock.errors import ArgumentError, PenstockError, ReadError
from tests.read.data_sets import case, label, read, reader
from tests.read.record_files import database, datum, field
from tests.small import made


def _image(i: int) -> bytes:
    return b"picture %d " % i * (1 + 301 * i)  # from some on they have pages of their own


def _pixels(i: int) -> np.ndarray[Any, Any]:
    return np.arange(i * (i + 1) * 3, dtype=np.uint8).reshape(i, i + 1, 3)


def _raw(i: int) -> bytes:
    return datum(_pixels(i).tobytes(), i, size=(3, i, i + 1), encoded=False)


_MANY = [datum(_image(i), i - 5, encoded=True) for i in range(11)]
_TINY = [b"%d" % i for i in range(3000)]
CASES = [
    case(
        "readers.caffe",
        {"db/data.mdb": database(_MANY)},
        [(_image(i), label(i - 5)) for i in range(11)],
        lambda root: {"path": f"{root}/db"},
        broken=("db/data.mdb", database(_MANY).replace(_MANY[9], b"\xff" * len(_MANY[9])), 9),
        title="encoded",
    ),
    case(
        "readers.caffe",
        {"a/data.mdb": database([_raw(1), _raw(2)]), "b/data.mdb": database([datum(_image(3), 3), _raw(4)])},
        [(_pixels(1), label(1)), (_pixels(2), label(2)), (_image(3), label(3)), (_pixels(4), label(4))],
        lambda root: {"path": [f"{root}/a", f"{root}/b"]},
        differs="DALI wants as many axes of all samples",
        title="pixels and two data bases",
    ),
    case(
        "readers.caffe",
        {"a/data.mdb": database([_raw(1), _raw(2)]), "b/data.mdb": database([_raw(3), _raw(4)])},
        [(_pixels(i), label(i)) for i in range(1, 5)],
        lambda root: {"path": [f"{root}/a", f"{root}/b"]},
        title="pixels",
    ),
    case(
        "readers.caffe",
        {"a/data.mdb": database([datum(b"x", None), datum(None, 4), datum(b"", 0)])},
        [(b"x", np.zeros(0, np.int32)), (b"", label(4)), (b"", label(0))],
        lambda root: {"path": f"{root}/a"},
        title="what records lack",
    ),
    *(
        case(
            "readers.caffe",
            {"a/data.mdb": database([datum(b"x", 1), datum(b"y", 2), datum(b"z", 3)])},
            [(b"x",), (b"y",), (b"z",)] if image else [(label(1),), (label(2),), (label(3),)],
            lambda root, image=image: {
                "path": f"{root}/a", "image_available": image, "label_available": not image,
            },
            title="pictures alone" if image else "labels alone",
        )
        for image in (True, False)
    ),
]  # fmt: skip


def reads(folder: Path, data: bytes, **arguments: Any) -> Pipeline:
    (folder / "data.mdb").write_bytes(data)
    return made(lambda: reader("readers.caffe", {"path": str(folder), **arguments}), batch_size=1)


def raises(kind: type[PenstockError], folder: Path, data: bytes, **arguments: Any) -> str:
    with pytest.raises(kind) as caught:
        reads(folder, data, **arguments).run()
    return str(caught.value)


def test_large_data_bases_come_in_the_order_of_their_keys(tmp_path: Path) -> None:
    """Several levels of pages, keys in another order than values were put, and values of several pages."""
    keys = [b"%d" % i for i in range(3000)]
    values = [datum(k * (1 + int(k) % 11 * 150), int(k)) for k in keys]
    pipe = reads(tmp_path, database(values, keys), label_available=False)
    assert pipe.epoch_size("Reader") == 3000
    for key in sorted(keys)[:400]:
        (found,) = pipe.run()
        assert bytes(found.at(0)) == key * (1 + int(key) % 11 * 150)
        assert found[0].source_info() == f"{tmp_path} at key {key.decode()}"


def test_data_bases_that_were_changed(tmp_path: Path) -> None:
    """The last transaction counts, on whichever of the two first pages it was noted; freed pages do not."""
    import lmdb

    with lmdb.open(str(tmp_path), map_size=1 << 24) as environment:
        for round in range(1, 4):
            with environment.begin(write=True) as transaction:
                for i in range(50 * round):
                    transaction.put(b"%04d" % i, datum(b"%d of %d " % (i, round) * (1 + i * 60 * (i % 3)), i))
                transaction.delete(b"%04d" % round)
    pipe = made(lambda: reader("readers.caffe", {"path": str(tmp_path)}), batch_size=1)
    assert pipe.epoch_size("Reader") == 149
    found = {int(label[0]): bytes(image) for image, label in read(pipe, 149)}
    assert found == {i: b"%d of 3 " % i * (1 + i * 60 * (i % 3)) for i in range(150) if i != 3}


def test_keys_of_any_bytes(tmp_path: Path) -> None:
    pipe = reads(tmp_path, database([datum(b"x", 1)], [b"a\0\\b\xff\n"]))
    assert pipe.run()[0][0].source_info() == rf"{tmp_path} at key a\x00\x5cb\xff\x0a"


def test_the_file_itself_may_be_named(tmp_path: Path) -> None:
    reads(tmp_path, database([datum(b"x", 1)]))
    pipe = made(lambda: reader("readers.caffe", {"path": str(tmp_path / "data.mdb")}), batch_size=1)
    assert pipe.run()[0][0].source_info() == f"{tmp_path}/data.mdb at key 00000000"


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (b"\xff\xff", "its protocol buffer is broken"),
        (
            datum(b"abcd", 1, size=(3, 1, 1), encoded=False),
            "but its height, width and channels are (1, 1, 3)",
        ),
        (datum(b"abcd", 1, size=(-1, -1, 4), encoded=False), "has 4 bytes, but its height, width and channels are"),
        (datum(b"", 1, size=(2**31 - 1,) * 3, encoded=False), "has 0 bytes, but its height"),
        (datum(None, 1) + field(6, 1.0), "its picture is of floats, not of bytes"),
    ],
)
def test_what_is_broken(record: bytes, message: str, tmp_path: Path) -> None:
    text = raises(ReadError, tmp_path, database([record]))
    assert message in text
    assert f"readers.caffe: record 0 of {tmp_path}/data.mdb (from byte" in text
    assert f"file: {tmp_path} at key 00000000" in text


def test_what_is_no_data_base(tmp_path: Path) -> None:
    good = database([datum(b"x", 1)])
    start = f"the file {tmp_path}/data.mdb is no LMDB data base, or a broken one: "
    for data, message in (
        (b"some text", "it ends after 9 bytes"),
        (b"some text" * 999, "its page 0 is not the first of such a file"),
        (good[:20] + b"\2" + good[21:], "it is of version 2, not 1"),
        (good[:8192], "its page 2 lies behind the end of the file"),
    ):
        assert start + message in raises(ReadError, tmp_path, data)
    assert "there are no records" in raises(ArgumentError, tmp_path, database([]))
    with pytest.raises(ReadError, match=r"gone/data.mdb cannot be opened: No such file"):
        made(lambda: reader("readers.caffe", {"path": str(tmp_path / "gone")})).build()
    with pytest.raises(ArgumentError, match="without label_available there is no output"):
        reads(tmp_path, good, image_available=False, label_available=False).build()


def test_data_bases_within_a_data_base_are_refused(tmp_path: Path) -> None:
    import lmdb

    with lmdb.open(str(tmp_path), map_size=1 << 20, max_dbs=1) as environment:
        environment.open_db(b"named")
    with pytest.raises(ReadError, match="has data bases within this one"):
        made(lambda: reader("readers.caffe", {"path": str(tmp_path)})).build()
