"""The cache on the disk: what is read once is not asked for again, up to a limit, in whole files that several share."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from penstock import fn
from penstock.read.stores import server
from tests.read.stores.servers import S3, Web
from tests.read.stores.test_faults import contents, epoch, fill, pipeline


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PENSTOCK_STORE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PENSTOCK_STORE_CACHE_BYTES", "1M")
    return tmp_path / "cache"


@pytest.fixture(autouse=True)
def _no_cache_afterwards() -> None:
    yield
    server.listen()  # when the environment is as it was


def entries(cache: Path) -> list[Path]:
    return sorted(p for p in cache.rglob("*") if p.is_file() and len(p.name) == 32)


def read(names: list[str], batch_size: int = 4) -> list[bytes]:
    return epoch(pipeline(lambda: fn.readers.file(files=names), batch_size=batch_size), len(names))[: len(names)]


def asked(web: Web) -> list[str]:
    return [path for method, path, _ in web.seen if method == "GET"]


def test_nothing_is_asked_for_twice(web: Web, cache: Path) -> None:
    names = fill(web)
    wanted = [contents(i) for i in range(12)]
    assert read(names) == wanted
    assert len(entries(cache)) == 12
    web.seen.clear()
    web.files.clear()  # the server has them no more
    assert read(names) == read(names, 3) == wanted
    assert not web.seen


def test_ranges_are_kept_too(web: Web, cache: Path) -> None:
    from tests.read.stores.test_faults import _record

    web.files["/data.rec"] = b"".join(_record(bytes([i]) * 500) for i in range(40))
    wanted = [bytes([i]) * 500 for i in range(40)]
    pipe = pipeline(lambda: fn.readers.mxnet(path=[f"{web.root}/data.rec"]), batch_size=8)
    assert epoch(pipe, 80) == wanted * 2
    web.seen.clear()
    assert epoch(pipe, 80) == wanted * 2
    assert not asked(web)


def test_the_limit_is_kept_and_the_last_used_stay(web: Web, cache: Path) -> None:
    names = fill(web, 40)
    for i in range(40):
        web.files[f"/files/{i}.data"] = contents(i, 50_000)
    for i in range(0, 40, 2):
        assert read([names[0], *names[i : i + 2]], 1) == [contents(j, 50_000) for j in (0, i, i + 1)]
        assert sum(p.stat().st_size for p in entries(cache)) <= 1 << 20
    assert 10 <= len(entries(cache)) < 21
    web.seen.clear()
    read(names[:1], 1)
    assert not asked(web)


def test_what_is_larger_is_not_kept(web: Web, cache: Path) -> None:
    web.files["/large"] = bytes(3 << 20)
    assert read([f"{web.root}/large"], 1) == [bytes(3 << 20)]
    assert not entries(cache)


def test_others_files_are_left_alone(web: Web, cache: Path) -> None:
    names = fill(web, 30)
    for i in range(30):
        web.files[f"/files/{i}.data"] = contents(i, 100_000)
    part = cache / "objects-1" / "ab"
    part.mkdir(parents=True)
    others = [cache / "mine.txt", part / "mine.txt", part / ("0" * 32), part / ".unfinished-1-0-0"]
    for path in others:
        path.write_bytes(b"not the cache's" * 10_000)
        os.utime(path, (1, 1))
    (part / ("1" * 32)).symlink_to(others[0])
    assert read(names, 1) == [contents(i, 100_000) for i in range(30)]
    assert all(path.read_bytes() == b"not the cache's" * 10_000 for path in others)
    assert (part / ("1" * 32)).is_symlink()


@pytest.mark.parametrize("harm", ["cut off", "changed", "empty", "other"])
def test_broken_entries_are_read_anew(web: Web, cache: Path, harm: str) -> None:
    names = fill(web, 2)
    wanted = read(names, 1)
    first, second = entries(cache)
    data = first.read_bytes()
    harmed = {"cut off": data[:-7], "changed": data[:-1] + bytes([data[-1] ^ 1]), "empty": b"",
              "other": second.read_bytes()}[harm]  # fmt: skip
    first.write_bytes(harmed)
    assert read(names, 1) == read(names, 1) == wanted
    assert first.read_bytes() == data


def test_an_object_that_was_listed_as_another_is_read_anew(s3: S3, cache: Path) -> None:
    root = s3.bucket({f"a/{i}.jpg": contents(i) for i in range(3)})
    assert epoch(pipeline(lambda: fn.readers.file(file_root=root), batch_size=3), 3) == [contents(i) for i in range(3)]
    s3.put(f"{root}/a/1.jpg", b"another")
    wanted = [contents(0), b"another", contents(2)]
    assert epoch(pipeline(lambda: fn.readers.file(file_root=root), batch_size=3), 3) == wanted


def test_a_folder_that_cannot_be_written(web: Web, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PENSTOCK_STORE_CACHE", str(tmp_path / "file"))
    assert read(fill(web)) == [contents(i) for i in range(12)]


_PROGRAM = """
import sys
from penstock import fn
from tests.read.stores.test_faults import contents, epoch, pipeline
names, ready = sys.argv[2:], sys.argv[1]
pipe = pipeline(lambda: fn.readers.file(files=names, random_shuffle=True, seed=hash(ready) % 1000), batch_size=3)
wanted = {contents(i, 50_000) for i in range(len(names))}
print("ready", flush=True)
while True:
    assert set(epoch(pipe, len(names))) <= wanted
    print("epoch", flush=True)
"""


def test_several_processes_and_one_that_is_killed(web: Web, cache: Path) -> None:
    names = fill(web, 30)
    for i in range(30):
        web.files[f"/files/{i}.data"] = contents(i, 50_000)
    command = [sys.executable, "-c", _PROGRAM]
    processes = [subprocess.Popen([*command, str(n), *names], stdout=subprocess.PIPE, text=True) for n in range(2)]
    try:
        for one in processes:
            assert one.stdout
            assert one.stdout.readline() == "ready\n"
        processes[0].kill()
        for _ in range(4):
            assert processes[1].stdout
            assert processes[1].stdout.readline() == "epoch\n"
    finally:
        for one in processes:
            one.kill()
            one.communicate()
    assert sum(p.stat().st_size for p in entries(cache)) <= (1 << 20) * 17 // 16
    assert read(names, 3) == [contents(i, 50_000) for i in range(30)]


def test_threads_share_it(web: Web, cache: Path) -> None:
    names, found = fill(web), {}
    threads = [threading.Thread(target=lambda n=n: found.update({n: read(names, n + 1)})) for n in range(3)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert [*found.values()] == [[contents(i) for i in range(12)]] * 3
