"""Google's and Azure's stores, as their emulators have them: by their addresses all is as with Amazon's."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import penstock
from penstock import fn
from penstock.__main__ import main
from penstock.errors import ReadError
from penstock.read.stores import server
from tests.read.data_sets import DataSet, keys, pipeline, read
from tests.read.stores.clouds import Azure, Google, Way
from tests.read.stores.test_faults import contents, epoch
from tests.read.stores.test_faults import pipeline as files
from tests.read.stores.test_sweep_stores import STORED
from tests.read.test_write_index import FILES

Cloud = Google | Azure
ODD = ["empty", "with space", "per%cent", "coded%20name", "ünï", "a+b", "q=1&x", "#hash", "semi;colon", "[0]*~'(1)'"]


@pytest.mark.parametrize("case", STORED, ids=str)
def test_samples_are_those_of_files(case: DataSet, cloud: Cloud) -> None:
    root = cloud.bucket({f"data/{name}": data for name, data in case.files.items()})
    size = len(case.samples)
    found = keys(read(pipeline(case, case.arguments(f"{root}/data")), 2 * size))
    assert found == [keys(case.samples)[i % size] for i in range(len(found))]


def test_odd_names_and_empty_objects(cloud: Cloud) -> None:
    wanted = {name: name.encode() if name != "empty" else b"" for name in ODD}
    root = cloud.bucket({f"{folder}/{name}": data for folder in ("a b", "ü%") for name, data in wanted.items()})
    pipe = files(lambda: fn.readers.file(files=[f"a b/{n}" for n in ODD], file_root=root), batch_size=len(ODD))
    assert epoch(pipe, len(ODD)) == [*wanted.values()]
    pipe = files(lambda: fn.readers.file(file_root=root, file_filters="*"), batch_size=2 * len(ODD))
    found, labels = pipe.run()
    listed = [wanted[name] for name in sorted(ODD, key=os.fsencode)]
    assert [bytes(found.at(i)) for i in range(2 * len(ODD))] == listed * 2
    assert labels.as_array().ravel().tolist() == [0] * len(ODD) + [1] * len(ODD)


def test_what_is_not_there(cloud: Cloud) -> None:
    root = cloud.bucket({"a/0.jpg": b"zero"})
    for address in (f"{root}/a/gone.jpg", f"{cloud.scheme}://nowhere/0.jpg"):
        with pytest.raises(ReadError, match=f"the file {address} cannot be opened: No such file or directory"):
            files(lambda name=address: fn.readers.file(files=[name])).run()
    with pytest.raises(penstock.errors.ArgumentError, match=f"file_root='{root}/b': no file"):
        files(lambda: fn.readers.file(file_root=f"{root}/b")).run()


def test_a_bucket_that_is_not_there_is_not_listed(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_STORE_RETRIES", "1")
    with pytest.raises(ReadError, match=f"file_root='{cloud.scheme}://nowhere': cannot list it: .*list"):
        files(lambda: fn.readers.file(file_root=f"{cloud.scheme}://nowhere")).run()


def test_an_archive_that_changes(cloud: Cloud) -> None:
    address = cloud.bucket({"c.tar": FILES["c.tar"][0]}) + "/c.tar"
    pipe = files(lambda: fn.readers.webdataset(paths=address, ext="jpg"), batch_size=1, prefetch_queue_depth=1)
    pipe.run()
    cloud.put(address, FILES["c.tar"][0].replace(b"333", b"444"))
    with pytest.raises(ReadError, match=r"c\.tar was changed"):
        epoch(pipe, 9)


def test_indexes(cloud: Cloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = cloud.bucket({f"folder/{name}": data for name, (data, _, _) in FILES.items()})
    monkeypatch.chdir(tmp_path)
    assert main(["index", *(f"{root}/folder/{name}" for name in FILES)]) == 0
    assert {name: (tmp_path / name).read_bytes() for _, name, _ in FILES.values()} == {
        name: text for _, name, text in FILES.values()
    }


def test_a_store_of_ones_own(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the environment says nothing."""
    from obstore.store import AzureStore, GCSStore

    root = cloud.bucket({"a/0.jpg": b"zero"})
    for name in cloud.environment:
        monkeypatch.delenv(name)
    options: Any = {"client_options": {"allow_http": True}}
    if cloud.scheme == "gs":
        store: Any = GCSStore(root[5:], base_url=cloud.endpoint, skip_signature=True, **options)
    else:
        endpoint = f"{cloud.endpoint}/{cloud.environment['AZURE_STORAGE_ACCOUNT_NAME']}"
        key = cloud.environment["AZURE_STORAGE_ACCOUNT_KEY"]
        store = AzureStore(root[5:], endpoint=endpoint, account_name="devstoreaccount1", account_key=key, **options)
    penstock.stores.use(root, store)
    try:
        assert epoch(files(lambda: fn.readers.file(file_root=root), batch_size=1), 1) == [b"zero"]
    finally:
        penstock.stores.use(root, None)


def test_what_was_listed_is_kept_on_the_disk(way: Way, cloud: Cloud, tmp_path: Path) -> None:
    """Lists have an object's ETag as answers have it."""
    root = cloud.bucket({f"a/{i}.jpg": contents(i) for i in range(3)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PENSTOCK_STORE_CACHE", os.fspath(tmp_path))
        wanted = [contents(i) for i in range(3)]
        for asked in (3, 0):
            way.seen.clear()
            assert epoch(files(lambda: fn.readers.file(file_root=root), batch_size=3), 3) == wanted
            assert len([path for _, path, _ in way.seen if path.endswith(".jpg")]) == asked
        cloud.put(f"{root}/a/1.jpg", b"another")
        wanted[1] = b"another"
        assert epoch(files(lambda: fn.readers.file(file_root=root), batch_size=3), 3) == wanted
    server.listen()  # when the environment is as it was


@pytest.mark.parametrize("fault", [503, "cut", "short", 0.1])
def test_faults_that_pass(way: Way, cloud: Cloud, fault: int | float | str) -> None:
    """Of whole objects, of ranges and of lists."""
    root = cloud.bucket({"c.tar": FILES["c.tar"][0], **{f"a/{i}.jpg": contents(i) for i in range(6)}})
    ranges = lambda: fn.readers.webdataset(paths=f"{root}/c.tar", ext="jpg")  # noqa: E731
    wanted = epoch(files(ranges, batch_size=1), 3)
    for name in ("a/0.jpg", "a/3.jpg", "c.tar")[2 if fault == "short" else 0 :]:  # a shorter object may be another one
        way.faults[way.path_of(f"{root}/{name}")] = [fault]
    way.faults[way.path_of(root)] = [fault]
    assert epoch(files(lambda: fn.readers.file(file_root=root), batch_size=4), 6)[:6] == [contents(i) for i in range(6)]
    assert epoch(files(ranges, batch_size=1), 3) == wanted
    assert not any(way.faults.values()) or fault == 0.1


@pytest.mark.parametrize(
    ("fault", "why"),
    [(503, "503"), ("cut", "cut off"), (401, "401|[Aa]uth"), (403, "403|privileges")],
)
def test_faults_that_stay(way: Way, cloud: Cloud, fault: int | str, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_STORE_RETRIES", "1")
    root = cloud.bucket({"c.tar": FILES["c.tar"][0], "a/0.jpg": contents(0), "a/1.jpg": contents(1)})
    pipe = files(lambda: fn.readers.file(file_root=root), batch_size=1)
    way.faults[way.path_of(f"{root}/a/0.jpg")] = [fault] * 100
    with pytest.raises(ReadError, match=f"the file {root}/a/0.jpg cannot be read: .*({why})"):
        pipe.run()
    assert epoch(pipe, 1) == [contents(1)]
    way.faults[way.path_of(root)] = [fault] * 100
    with pytest.raises(ReadError, match=f"file_root='{root}': cannot list it: .*({why})"):
        files(lambda: fn.readers.file(file_root=root)).run()


def _ways_to_say(cloud: Cloud, folder: Path) -> list[dict[str, str]]:
    """What the environment may have instead."""
    plain = cloud.environment
    if isinstance(cloud, Google):
        key = {"gcs_base_url": cloud.endpoint, "disable_oauth": True}
        text = json.dumps(key | dict.fromkeys(["client_email", "private_key", "private_key_id"], ""))
        (folder / "key.json").write_text(text)
        return [
            {"GOOGLE_BASE_URL": cloud.endpoint, "GOOGLE_BEARER_TOKEN": "token"},
            {"GOOGLE_SERVICE_ACCOUNT": f"{folder}/key.json", "GOOGLE_ALLOW_HTTP": "true"},
            {"GOOGLE_SERVICE_ACCOUNT_KEY": text, "GOOGLE_ALLOW_HTTP": "true"},
        ]
    name, endpoint = plain["AZURE_STORAGE_ACCOUNT_NAME"], plain["AZURE_STORAGE_ENDPOINT"]
    return [
        {"AZURE_STORAGE_USE_EMULATOR": "true", "AZURITE_BLOB_STORAGE_URL": cloud.endpoint},
        {"AZURE_STORAGE_ACCOUNT_NAME": name, "AZURE_ENDPOINT": endpoint, "AZURE_STORAGE_SAS_KEY": cloud.signature()},
    ]


def test_what_the_environment_may_say(cloud: Cloud, tmp_path: Path) -> None:
    root = cloud.bucket({"a/0.jpg": b"zero"})
    for said in _ways_to_say(cloud, tmp_path):
        with pytest.MonkeyPatch.context() as patch:
            for name in cloud.environment:
                patch.delenv(name)
            for name, value in said.items():
                patch.setenv(name, value)
            assert epoch(files(lambda: fn.readers.file(file_root=root), batch_size=1), 1) == [b"zero"], said


@pytest.mark.parametrize(
    ("cloud", "said", "why"),
    [
        ("az", {"AZURE_STORAGE_ACCOUNT_KEY": "bm9uZQ=="}, "403"),
        ("az", {"AZURE_STORAGE_ACCOUNT_KEY": "no key"}, "Invalid Access Key"),
        ("az", {"AZURE_STORAGE_ACCOUNT_NAME": ""}, "Account must be specified"),
        ("gs", {"GOOGLE_SKIP_SIGNATURE": "", "GOOGLE_SERVICE_ACCOUNT": "/none.json"}, "none.json: No such file"),
        ("gs", {"GOOGLE_SKIP_SIGNATURE": "", "GOOGLE_SERVICE_ACCOUNT_KEY": "{}"}, "missing field `private_key`"),
    ],
    indirect=["cloud"],
)
def test_wrong_credentials(cloud: Cloud, said: dict[str, str], why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    root = cloud.bucket({"a/0.jpg": b"zero"})
    for name, value in said.items():
        if value:
            monkeypatch.setenv(name, value)
        else:
            monkeypatch.delenv(name)
    with pytest.raises(ReadError, match=f"the file {root}/a/0.jpg cannot be read: .*{why}"):
        files(lambda: fn.readers.file(files=[f"{root}/a/0.jpg"])).run()
    with pytest.raises(ReadError, match=f"file_root='{root}': cannot list it: .*{why}"):
        files(lambda: fn.readers.file(file_root=root)).run()
