"""Servers that fail: each sample comes once and is right, or an error says which object it is, and why."""

from __future__ import annotations

import threading
import time
import urllib.parse
from typing import Any

import numpy as np
import pytest

from penstock import Pipeline, fn
from penstock.errors import PenstockError, ReadError
from tests.read.stores.servers import S3, Store, Web


def pipeline(read: Any, batch_size: int = 4, **options: Any) -> Pipeline:
    pipe = Pipeline(**{"batch_size": batch_size, "num_threads": 2, "device_id": None, **options})
    with pipe:
        made = read()
        pipe.set_outputs(*(made if isinstance(made, (list, tuple)) else [made]))
    return pipe


def contents(number: int, size: int = 3000) -> bytes:
    return np.random.default_rng(number).bytes(size + number)


def fill(web: Web, count: int = 12) -> list[str]:
    """Files, and their addresses."""
    for i in range(count):
        web.files[f"/files/{i}.data"] = contents(i)
    return [f"{web.root}/files/{i}.data" for i in range(count)]


def epoch(pipe: Pipeline, count: int = 12) -> list[bytes]:
    found: list[bytes] = []
    while len(found) < count:
        (files, *_) = pipe.run()
        found += [bytes(files.at(i)) for i in range(len(files))]
    return found


def test_many_requests_are_under_way_at_a_time(web: Web) -> None:
    names, web.pause = fill(web), 0.3
    pipe = pipeline(lambda: fn.readers.file(files=names), batch_size=12, prefetch_queue_depth=1)
    assert epoch(pipe) == [contents(i) for i in range(12)]
    assert web.most_at_once >= 8  # two threads alone would have 2


def test_requests_are_limited(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_STORE_REQUESTS", "3")
    names, web.pause = fill(web), 0.02
    assert epoch(pipeline(lambda: fn.readers.file(files=names), batch_size=12)) == [contents(i) for i in range(12)]
    assert web.most_at_once == 3


@pytest.mark.parametrize("fault", [503, 500, 429, "cut", 0.3])
def test_faults_that_pass(web: Web, fault: int | float | str) -> None:
    names = fill(web)
    for i in (0, 5, 11):
        web.faults[f"/files/{i}.data"] = [fault, fault]
    assert epoch(pipeline(lambda: fn.readers.file(files=names))) == [contents(i) for i in range(12)]
    assert not any(web.faults.values()) or fault == 0.3


@pytest.mark.parametrize(
    ("fault", "why"),
    [(503, "503"), ("cut", "cut off|its answer has"), (403, "403|denied"), (404, "No such file")],
)
def test_faults_that_stay(web: Web, fault: int | str, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_STORE_RETRIES", "1")
    names = fill(web)
    web.faults["/files/5.data"] = [fault] * 100
    pipe = pipeline(lambda: fn.readers.file(files=names), batch_size=2)
    assert epoch(pipe, 4) == [contents(i) for i in range(4)]
    with pytest.raises(ReadError, match=why) as caught:
        pipe.run()
    assert f"the file {web.root}/files/5.data cannot be" in str(caught.value)
    assert (caught.value.file, caught.value.sample) == (names[5], 1)
    assert epoch(pipe, 6) == [contents(i) for i in range(6, 12)]


def test_a_server_that_is_silent(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_STORE_TIMEOUT", "0.2")
    monkeypatch.setenv("PENSTOCK_STORE_RETRIES", "1")
    names = fill(web)
    web.faults["/files/1.data"] = [5.0] * 9
    began = time.monotonic()
    with pytest.raises(ReadError, match=r"files/1\.data cannot be read"):
        pipeline(lambda: fn.readers.file(files=names)).run()
    assert time.monotonic() - began < 4


def test_broken_ones_are_skipped(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_STORE_RETRIES", "0")
    names = fill(web)
    web.faults["/files/3.data"] = [503] * 100
    del web.files["/files/7.data"]
    pipe = pipeline(lambda: fn.readers.file(files=names, on_error="skip", name="Reader"), batch_size=3)
    with pytest.warns(UserWarning, match=r"files/3\.data"):
        found = epoch(pipe, 21)
    good = [contents(i) for i in range(12) if i not in (3, 7)]
    assert found == [good[i % 10] for i in range(21)]
    assert [one.index for one in pipe.broken_samples()] == [3, 7]


def test_ranges_are_asked_for_together(web: Web, tmp_path: Any) -> None:
    records = b"".join(_record(bytes([i]) * 500) for i in range(100))
    web.files["/data.rec"] = records
    name = f"{web.root}/data.rec"
    pipe = pipeline(lambda: fn.readers.mxnet(path=[name]), batch_size=50, prefetch_queue_depth=1)
    web.seen.clear()
    assert epoch(pipe, 100) == [bytes([i]) * 500 for i in range(100)]
    asked = [one for one in web.seen if one[2]]
    assert 2 <= len(asked) <= 4  # a request for each batch, and those that were prepared ahead


@pytest.mark.parametrize("faults", [["short"], ["cut", "short", 503], ["short"] * 50])
def test_ranges_of_the_wrong_length(web: Web, faults: list[int | float | str]) -> None:
    web.files["/data.rec"] = b"".join(_record(bytes([i]) * 500) for i in range(40))
    pipe = pipeline(lambda: fn.readers.mxnet(path=[f"{web.root}/data.rec"]), batch_size=20)
    pipe.build()
    web.faults["/data.rec"] = faults
    if len(faults) < 9:
        assert epoch(pipe, 40) == [bytes([i]) * 500 for i in range(40)]
        return
    with pytest.raises(ReadError, match=r"data.rec cannot be read: .*(its answer|cut off)"):
        pipe.run()


def _record(data: bytes) -> bytes:
    """A record of RecordIO with a label, as MXNet writes it."""
    import struct

    body = struct.pack("<IfQQ", 0, 1.0, 0, 0) + data
    return struct.pack("<II", 0xCED7230A, len(body)) + body + b"\0" * (-len(body) % 4)


def test_an_archive_that_changes(web: Web) -> None:
    web.files["/data.rec"] = b"".join(_record(bytes([i]) * 500) for i in range(40))
    pipe = pipeline(lambda: fn.readers.mxnet(path=[f"{web.root}/data.rec"]), batch_size=2, prefetch_queue_depth=1)
    assert epoch(pipe, 2) == [b"\0" * 500, b"\1" * 500]
    web.files["/data.rec"] = b"".join(_record(bytes([i]) * 400) for i in range(40))
    with pytest.raises(ReadError, match=r"data.rec was changed"):
        epoch(pipe, 40)


def test_objects_that_change_after_they_were_listed(store: Store) -> None:
    root = store.bucket({f"a/{i}.jpg": contents(i) for i in range(6)})
    pipe = pipeline(lambda: fn.readers.file(file_root=root), batch_size=1)
    store.put(f"{root}/a/1.jpg", b"another")
    store.delete(f"{root}/a/4.jpg")
    assert epoch(pipe, 4) == [contents(0), b"another", contents(2), contents(3)]
    with pytest.raises(ReadError, match=r"a/4\.jpg cannot be opened: No such file or directory"):
        pipe.run()
    assert epoch(pipe, 1) == [contents(5)]


def test_empty_and_odd_names(web: Web, s3: S3) -> None:
    names = ["empty", "with space", "per%cent", "ünï", "a+b", "q=1&x", "#hash"]
    for name in names:
        web.files[f"/{name}"] = name.encode() if name != "empty" else b""
    wanted = [name.encode() if name != "empty" else b"" for name in names]
    addresses = [f"{web.root}/{urllib.parse.quote(name)}" for name in names]
    assert epoch(pipeline(lambda: fn.readers.file(files=addresses), batch_size=7), 7) == wanted
    root = s3.bucket(dict(zip(names, wanted, strict=True)))
    assert epoch(pipeline(lambda: fn.readers.file(files=names, file_root=root), batch_size=7), 7) == wanted


def test_names_that_are_data(web: Web) -> None:
    names = fill(web, 4)
    texts = [np.frombuffer(name.encode(), np.uint8) for name in names]
    web.pause = 0.05
    pipe = pipeline(lambda: fn.io.file.read(fn.external_source(lambda: texts)), batch_size=4)
    assert epoch(pipe, 4) == [contents(i) for i in range(4)]
    assert web.most_at_once >= 3


def test_queries_are_kept(web: Web) -> None:
    names = [name + "?signature=x%2Fy" for name in fill(web, 3)]
    assert epoch(pipeline(lambda: fn.readers.file(files=names), batch_size=3), 3) == [contents(i) for i in range(3)]


def test_parts_of_arrays(web: Web) -> None:
    import io

    array, file = np.arange(300 * 200, dtype=np.float64).reshape(300, 200), io.BytesIO()
    np.save(file, array)
    web.files["/array.npy"] = file.getvalue()
    name = f"{web.root}/array.npy"
    pipe = pipeline(lambda: fn.readers.numpy(files=[name], roi_start=[250, 10], roi_shape=[40, 30]), batch_size=1)
    np.testing.assert_array_equal(pipe.run()[0].at(0), array[250:290, 10:40])
    pipe = pipeline(lambda: fn.readers.numpy(files=[name]), batch_size=1)
    np.testing.assert_array_equal(pipe.run()[0].at(0), array)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda web: fn.readers.file(file_root=web), "web servers do not list folders"),
        (lambda web: fn.readers.file(file_list=f"{web}/none.txt"), "none.txt cannot be opened: No such file"),
        (lambda web: fn.readers.file(files=["s3:///x"]), "names no bucket"),
        (lambda web: fn.readers.tfrecord(path=f"{web}/none", features={"x": _feature()}), "none cannot be opened"),
        (lambda web: fn.readers.webdataset(paths=f"{web}/none.tar", ext="jpg"), "none.tar cannot be opened"),
        (lambda web: fn.readers.nemo_asr(manifest_filepaths=f"{web}/none.json"), "none.json cannot be opened"),
    ],
)
def test_what_is_refused(web: Web, make: Any, why: str) -> None:
    with pytest.raises(PenstockError, match=why):
        pipeline(lambda: make(web.root)).run()


def _feature() -> Any:
    from penstock import tfrecord

    return tfrecord.FixedLenFeature([], tfrecord.string, "")


def test_an_interrupted_pipeline_takes_its_requests_back(web: Web) -> None:
    names, web.pause = fill(web), 0.3
    pipe = pipeline(lambda: fn.readers.file(files=names), batch_size=12, prefetch_queue_depth=3)
    pipe.schedule_run()
    while not web.at_once:
        time.sleep(0.01)
    del pipe  # with requests under way
    deadline = time.monotonic() + 5
    while web.at_once and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not web.at_once
    came = len(web.seen)
    web.pause = 0.0
    assert epoch(pipeline(lambda: fn.readers.file(files=names))) == [contents(i) for i in range(12)]
    assert came < 40


def test_several_pipelines_at_once(web: Web) -> None:
    names, found = fill(web), {}

    def work(number: int) -> None:
        found[number] = epoch(pipeline(lambda: fn.readers.file(files=names), batch_size=number + 1))[:12]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert [*found.values()] == [[contents(i) for i in range(12)]] * 4
