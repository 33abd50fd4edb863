"""`fn.io.file.read`: files by names that are data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import fn
from penstock.errors import OperatorError, ReadError
from tests.read.data_sets import remember
from tests.small import made


def named(*names: str) -> Any:
    given = [np.frombuffer(name.encode(), np.uint8) for name in names]
    return fn.io.file.read(fn.external_source(lambda: given))


def test_files_are_read(tmp_path: Path) -> None:
    contents = [b"one", b"", b"three" * 50000, b"four"]
    names = [str(tmp_path / f"ä {i}.bin") for i in range(4)]
    for name, data in zip(names, contents, strict=True):
        Path(name).write_bytes(data)
    (found,) = made(lambda: named(*names)).run()
    assert [bytes(found.at(i)) for i in range(4)] == contents
    assert [found[i].source_info() for i in range(4)] == names


def test_what_follows_a_zero_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"x")
    assert bytes(made(lambda: named(str(tmp_path / "x") + "\0\0y"), batch_size=1).run()[0].at(0)) == b"x"


def test_another_storage() -> None:
    remember("memory://io/x", b"kept")
    assert bytes(made(lambda: named("memory://io/x"), batch_size=1).run()[0].at(0)) == b"kept"
    remember("memory://io/x", None)


def test_what_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ReadError, match=r"gone cannot be opened: No such file") as caught:
        made(lambda: named(str(tmp_path / "gone")), batch_size=1).run()
    assert caught.value.file == str(tmp_path / "gone")
    with pytest.raises(OperatorError, match="the name of the file is empty"):
        made(lambda: named(""), batch_size=1).run()
    for wrong in (np.zeros((2, 2), np.uint8), np.zeros(2, np.int32)):
        with pytest.raises(OperatorError, match="expected the name of a file"):
            made(lambda: fn.io.file.read(wrong), batch_size=1).run()  # noqa: B023
    (tmp_path / "x").write_bytes(b"12345")
    monkeypatch.setenv("PENSTOCK_MAX_FILE_BYTES", "4")
    with pytest.raises(ReadError, match="has 5 bytes, and files are read whole: PENSTOCK_MAX_FILE_BYTES allows 4"):
        made(lambda: named(str(tmp_path / "x")), batch_size=1).run()


def test_beside_dali(tmp_path: Path) -> None:
    theirs = pytest.importorskip("nvidia.dali.fn", reason="needs DALI to compare with")
    from nvidia.dali import Pipeline as DaliPipeline

    (tmp_path / "x").write_bytes(b"some bytes")
    name = np.frombuffer(str(tmp_path / "x").encode(), np.uint8)
    pipe = DaliPipeline(batch_size=1, num_threads=1, device_id=None)
    with pipe:
        pipe.set_outputs(theirs.io.file.read(name))
    pipe.build()
    (its,) = pipe.run()
    (mine,) = made(lambda: fn.io.file.read(name), batch_size=1).run()
    np.testing.assert_array_equal(np.array(mine.at(0)), np.array(its.at(0)))
