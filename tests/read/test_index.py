"""Indexes of data sets: all that the native reader does with its tables, by a reader that is given one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, types
from penstock.errors import InputError, ReadError
from penstock.op import REQUIRED, arg, op, registry
from penstock.ops import call
from penstock.read.base import IndexReader
from penstock.read.index import Column, Index, digest_of, has_scheme, packed
from tests.read.data_sets import remember, rows


@op("tests.indexed", kernel="read_ranges", inputs=0)
class Indexed(IndexReader):
    """A reader of whatever index it is given."""

    table = arg(REQUIRED, "The index.", kind="any", to_kernel=False)

    def num_outputs(self) -> int:
        read = len(self.table.types) * (1 if self.table.pick_starts is None else 2)
        return read + len(self.table.columns)

    def make_index(self) -> Index:
        return self.table  # type: ignore[no-any-return]


registry.ops.pop("tests.indexed")  # it is no operator of the library's

CONTENTS = [bytes(range(i, i + 10 * i)) for i in range(12)]
I64, I32 = np.int64, np.int32


@pytest.fixture
def names(tmp_path: Path) -> bytes:
    """Twelve files, every other in memory."""
    found = [str(tmp_path / f"{i}") if i % 2 else f"memory://{tmp_path}/{i}" for i in range(12)]
    for name, data in zip(found, CONTENTS, strict=True):
        remember(name, data) if has_scheme(name) else Path(name).write_bytes(data)
    return packed(found)


def reads(index: Index, batch_size: int = 1, **arguments: Any) -> Pipeline:
    pipe = Pipeline(batch_size=batch_size, num_threads=2, device_id=None)
    with pipe:
        made = call(Indexed, (), {"table": index, **arguments})
        pipe.set_outputs(*(made if isinstance(made, list) else [made]))
    return pipe


def values(pipe: Pipeline, samples: int) -> list[list[list[Any]]]:
    return [[a.tolist() for a in rows(pipe.run())[0]] for _ in range(samples)]


def test_ranges_of_containers(names: bytes) -> None:
    index = Index(
        size=4,
        names=names,
        digest="",
        containers=np.array([5, 5, 11, 0], I32),
        offsets=np.array([0, 7, 100, 0], I64),
        lengths=np.array([3, 2, -1, 0], I64),
    )
    assert values(reads(index), 4) == [
        [list(CONTENTS[5][:3])], [list(CONTENTS[5][7:9])], [list(CONTENTS[11][100:])], [[]],
    ]  # fmt: skip


def test_several_outputs_and_none(names: bytes) -> None:
    picks = np.array([[1, 0], [-1, 1], [2, -1]], I64)
    index = Index(size=3, names=names, digest="", types=(types.UINT8, types.UINT16), picks=picks)
    assert values(reads(index), 3) == [
        [list(CONTENTS[1]), []],
        [[], np.frombuffer(CONTENTS[1], np.uint16).tolist()],
        [list(CONTENTS[2]), []],
    ]


@pytest.mark.parametrize("batch_size", [1, 3])
def test_outputs_of_several_ranges(batch_size: int, names: bytes) -> None:
    """As many files for a sample as a sequence has frames: more than a thread has open at a time."""
    outputs = [[*range(12)], [3], [], [4, -1, 4], [11, 10, 9], [1] * 20]
    index = Index(
        size=3,
        names=names,
        digest="",
        types=(types.UINT8, types.UINT8),
        picks=np.array([file for some in outputs for file in some], I64),
        pick_starts=np.cumsum([0, *map(len, outputs)], dtype=I64),
        columns=(Column(np.array([7, 8, 9], np.float32)),),
    )
    outputs_now = reads(index, batch_size)
    found = [sample for _ in range(3 // batch_size) for sample in rows(outputs_now.run())]
    for number, (first, sizes, second, more_sizes, column) in enumerate(found):
        for data, bytes_of, files in (
            (first, sizes, outputs[2 * number]),
            (second, more_sizes, outputs[2 * number + 1]),
        ):
            wanted = [CONTENTS[file] if file >= 0 else b"" for file in files]
            assert data.tobytes() == b"".join(wanted)
            assert bytes_of.dtype == np.int64
            assert bytes_of.tolist() == [*map(len, wanted)]
        assert column.shape == ()
        assert column == 7 + number


def test_columns_of_all_kinds(names: bytes) -> None:
    boxes = np.arange(20, dtype=np.float32).reshape(5, 4)
    text = np.frombuffer(b"onetwo", np.uint8)
    index = Index(
        size=3,
        names=b"".join(name + b"\0" for name in names.split(b"\0")[:3]),
        digest="",
        columns=(
            Column(np.array([[5], [6], [7]], I32)),
            Column(boxes, np.array([0, 2, 2, 5])),
            Column(text, np.array([0, 3, 6, 6])),
            Column(np.arange(6, dtype=np.float64).reshape(3, 1, 2)),
        ),
    )
    found = [rows(reads_once)[0] for pipe in [reads(index)] for reads_once in [pipe.run(), pipe.run(), pipe.run()]]
    for i, (data, label, some, word, pair) in enumerate(found):
        assert data.tobytes() == CONTENTS[i]
        assert (label.tolist(), label.dtype) == ([5 + i], np.int32)
        assert np.array_equal(some, boxes[[0, 2, 2, 5][i] : [0, 2, 2, 5][i + 1]])
        assert some.shape[1:] == (4,)
        assert word.tobytes() == (b"one", b"two", b"")[i]
        assert pair.tolist() == [[2.0 * i, 2.0 * i + 1]]


def test_where_samples_come_from(names: bytes) -> None:
    name = [text.decode() for text in names.split(b"\0")[:2]]
    one = Index(size=2, names=names, digest="", picks=np.array([[1], [0]], I64), columns=(Column(np.zeros(2)),))
    data, column = reads(one, 2).run()
    assert [data[0].source_info(), data[1].source_info()] == [name[1], name[0]]
    assert [column[0].source_info(), column[1].source_info()] == [name[1], name[0]]
    members = Index(
        size=1, names=names, digest="", containers=np.zeros(1, I32), offsets=np.zeros(1, I64), members=b"inside\0"
    )
    assert reads(members).run()[0][0].source_info() == f"{name[0]}:0:inside"


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({"names": b"abc"}, "the last of the names has no end"),
        ({"types": (-1,)}, "an output is of no type"),
        ({"containers": np.array([12], I32)}, "a range is of no file"),
        ({"containers": np.array([-1], I32)}, "a range is of no file"),
        ({"containers": np.array([0], I64)}, "containers: expected a table of one axis and of INT32, got INT64"),
        ({"containers": np.zeros((1, 1), I32)}, r"got INT32 of the shape \(1, 1\)"),
        ({"containers": np.zeros(2, I32), "offsets": np.zeros(1, I64)}, "ranges are incomplete"),
        ({"lengths": np.zeros(2, I64)}, "ranges are incomplete"),
        ({"offsets": np.full(12, -1, I64)}, "a range begins before its file"),
        ({"members": b"a\0"}, "some ranges have names"),
        ({"picks": np.array([12], I64)}, "a sample has a range that is not there"),
        ({"picks": np.array([-2], I64)}, "a sample has a range that is not there"),
        ({"picks": np.zeros(3, I64), "types": (0, 0)}, "the outputs of some sample are not there"),
        ({"picks": np.zeros(3, I64), "pick_starts": np.array([0, 2], I64)}, "a table of starts does not fit"),
        ({"picks": np.zeros(3, I64), "pick_starts": np.array([0, 2, 1, 3], I64)}, "a table of starts does not fit"),
        ({"columns": (Column(np.zeros(11)),)}, "a column has another number of rows"),
        ({"columns": (Column(np.zeros(11), np.array([0, 11], I64)),)}, "a table of starts does not fit"),
    ],
)
def test_tables_that_do_not_fit(tables: dict[str, Any], message: str, names: bytes) -> None:
    pipe = reads(Index(**{"size": 12, "names": names, "digest": "", **tables}))
    with pytest.raises(InputError, match=message):
        pipe.build()


def test_samples_have_a_limit_as_files_have(names: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_MAX_FILE_BYTES", "25")
    one = dict(size=1, names=names, digest="", containers=np.array([4], I32), offsets=np.array([0], I64))
    with pytest.raises(
        ReadError, match=r"a sample in the file .* has 26 bytes, and samples are read whole: .* allows 25"
    ):
        reads(Index(**one, lengths=np.array([26], I64))).run()  # type: ignore[arg-type]
    reads(Index(**one, lengths=np.array([25], I64))).run()  # type: ignore[arg-type]
    several = Index(1, names, "", picks=np.array([1, 2], I64), pick_starts=np.array([0, 2], I64))
    with pytest.raises(ReadError, match=r"the sample that begins with the file .*/2 has 30 bytes"):
        reads(several).run()


def test_bytes_that_are_no_elements(names: bytes) -> None:
    with pytest.raises(ReadError, match="10 bytes are no whole number of elements of INT32"):
        reads(Index(1, names, "", types=(types.INT32,), picks=np.array([1], I64))).run()


def test_names_are_joined_with_their_folder() -> None:
    assert packed(["a", "b/c"], "root") == packed(["a", "b/c"], "root/") == b"root/a\0root/b/c\0"
    assert packed(["a"], "") == b"a\0"
    assert packed(["/a", "b", "/c"], "root") == b"/a\0root/b\0/c\0"
    assert packed(["b", "s3://x", "a b://c", "://d"], "r") == b"r/b\0s3://x\0r/a b://c\0r/://d\0"
    assert packed(["b"], "s3://x") == b"s3://x/b\0"


def test_digests_tell_data_sets_apart() -> None:
    names = [f"{i}" for i in range(5000)]
    assert digest_of(names) == digest_of([f"elsewhere/{name}" for name in names])
    assert digest_of(names) != digest_of(names[1:])
    assert digest_of(names, [np.arange(3)]) != digest_of(names, [np.arange(4)])
