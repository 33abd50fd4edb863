"""Indexes of objects: `python -m penstock index s3://...`, and what is kept of archives without one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from penstock import fn
from penstock.__main__ import main
from penstock.read import archive
from tests.read.data_sets import read
from tests.read.stores.servers import S3, Web
from tests.read.test_write_index import FILES
from tests.small import made


def test_indexes_of_objects(s3: S3, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the current folder, or where it is said."""
    bucket = s3.bucket({f"folder/{name}": data for name, (data, _, _) in FILES.items()})
    monkeypatch.chdir(tmp_path)
    addresses = [f"{bucket}/folder/{name}" for name in FILES]
    assert main(["index", *addresses]) == 0
    assert {name: (tmp_path / name).read_bytes() for _, name, _ in FILES.values()} == {
        name: text for _, name, text in FILES.values()
    }
    assert main(["index", addresses[0], "--output", "other"]) == 0
    assert (tmp_path / "other").read_bytes() == FILES["a.tfrecord"][2]


def test_objects_that_are_not_there(s3: S3, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    address = f"{s3.bucket({'empty': b''})}/gone"
    assert main(["index", address, address.replace("gone", "empty"), "--output", os.fspath(tmp_path)]) == 1
    assert f"the file {address} cannot be opened: No such file or directory" in capsys.readouterr().err
    assert (tmp_path / "empty.idx").read_bytes() == b""


def test_indexes_of_files_of_a_web_server(web: Web, tmp_path: Path) -> None:
    web.files["/a b.tar"] = FILES["c.tar"][0]
    assert main(["index", f"{web.root}/a%20b.tar?v=1", "--output", os.fspath(tmp_path)]) == 0
    assert (tmp_path / "a b.idx").read_bytes() == FILES["c.tar"][2]


def test_archives_are_gone_through_once(s3: S3, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as the object is the same."""
    monkeypatch.setenv("PENSTOCK_CACHE", os.fspath(tmp_path))
    address = f"{s3.bucket({'c.tar': FILES['c.tar'][0]})}/c.tar"
    looks: list[str] = []
    looked_at: Any = archive._looked_at
    monkeypatch.setattr(archive, "_looked_at", lambda path, index: looks.append(path) or looked_at(path, index))

    def samples() -> list[Any]:
        pipe = made(lambda: tuple(fn.readers.webdataset(paths=address, ext=["jpg", "cls"])), batch_size=1)
        return [[bytes(array) for array in row] for row in read(pipe, 3)]

    found = samples()
    assert found == samples()
    assert looks == [address]
    s3.put(address, FILES["c.tar"][0].replace(b"333", b"444"))
    assert samples() != found
    assert looks == [address] * 2
