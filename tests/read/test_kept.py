"""Where the records of files lie is kept between processes, in the user's cache."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from penstock.read import records
from penstock.read.records import Format, Records, scan
from tests.read.record_files import framed


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were gone through."""
    seen: list[str] = []

    def read(form: Format, path: str) -> Records:
        seen.append(path)
        return whole(form, path)

    whole = records.read
    monkeypatch.setattr(records, "read", read)
    return seen


def written(path: Path, count: int, size: int = 1) -> str:
    path.write_bytes(framed(b"x" * size) * count)
    return str(path)


def test_a_file_is_gone_through_once(tmp_path: Path, cache: Path, reads: list[str]) -> None:
    path = written(tmp_path / "a", 5000)
    found = [scan(Format.TFRECORD, path) for _ in range(3)]
    assert reads == [path]
    for one in found:
        assert np.array_equal(one.offsets, np.arange(5000) * 17)
        assert np.array_equal(one.lengths, np.full(5000, 17))
    assert sorted(os.listdir(tmp_path)) == ["a", "cache"]
    assert len(os.listdir(cache / "tables")) == 1


def test_a_file_that_has_changed_is_gone_through_again(tmp_path: Path, cache: Path, reads: list[str]) -> None:
    path = written(tmp_path / "a", 5000)
    scan(Format.TFRECORD, path)
    written(tmp_path / "a", 6000)
    assert len(scan(Format.TFRECORD, path).offsets) == 6000
    written(tmp_path / "b", 3000, 18)  # as many bytes
    os.utime(tmp_path / "b", ns=(0, os.stat(path).st_mtime_ns))
    os.replace(tmp_path / "b", path)
    assert len(scan(Format.TFRECORD, path).offsets) == 3000
    assert reads == [path] * 3


def test_what_was_kept_may_be_broken(tmp_path: Path, cache: Path, reads: list[str]) -> None:
    path = written(tmp_path / "a", 5000)
    scan(Format.TFRECORD, path)
    (kept,) = (cache / "tables").iterdir()
    good = kept.read_bytes()
    for bad in (
        b"",
        good[:100],
        good[:-1],
        good[:-1] + b"\xff",
        good.replace(b"40000", b"40001", 1),
        b"x" + good,
        good + b"x",
    ):
        kept.write_bytes(bad)
        assert len(scan(Format.TFRECORD, path).offsets) == 5000
        assert kept.read_bytes() == good
    assert len(reads) == 8


def test_a_cache_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reads: list[str]) -> None:
    (tmp_path / "cache").write_text("a file")
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path / "cache"))
    path = written(tmp_path / "a", 5000)
    assert [len(scan(Format.TFRECORD, path).offsets) for _ in range(2)] == [5000, 5000]
    assert reads == [path] * 2


def test_little_is_not_kept(tmp_path: Path, cache: Path) -> None:
    scan(Format.TFRECORD, written(tmp_path / "a", 100))
    assert not cache.exists()
