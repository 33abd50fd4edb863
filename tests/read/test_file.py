"""`fn.readers.file`: when it lists its files, and how errors and warnings show odd names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock import Pipeline, fn
from penstock.errors import DecodeError, OperatorError, PenstockError, ReadError
from tests.read.data_sets import case, label
from tests.small import made

_NAMES = [f"{folder}/{i}.jpg" for folder in "abc" for i in range(4)][:11]
_FILES = {name: name.encode() * (1 + i) for i, name in enumerate(_NAMES)}
CASES = [
    case(
        "readers.file",
        _FILES,
        [(data, label("abc".index(name[0]))) for name, data in _FILES.items()],
        lambda root: {"file_root": root},
        in_memory=False,
        title="folders",
    ),
    case(
        "readers.file",
        _FILES,
        [(data, label(i)) for i, data in enumerate(_FILES.values())],
        lambda root: {"file_root": root, "files": _NAMES},
        broken=("c/2.jpg", None, 10),
        title="files",
    ),
    case(
        "readers.file",
        {"0": b"", "1": b"one", "2": b""},
        [(b"one", label(7)), (b"", label(-7)), (b"one", label(7)), (b"", label(1))],
        lambda root: {"files": [f"{root}/{name}" for name in "1012"], "labels": [7, -7, 7, 1]},
        differs="DALI maps files, and empty ones cannot be mapped",
        title="empty files and some twice",
    ),
    case(
        "readers.file",
        {**_FILES, "list.txt": "".join(f"{name} {i}\n" for i, name in enumerate(_NAMES)).encode()},
        [(data, label(i)) for i, data in enumerate(_FILES.values())],
        lambda root: {"file_list": f"{root}/list.txt"},
        in_memory=False,
        title="a list",
    ),
]


def read(*paths: str) -> Any:
    return fn.readers.file(files=list(paths))[0]


def raises(kind: type[PenstockError], pipe: Callable[[], Pipeline]) -> str:
    with pytest.raises(kind) as caught:
        pipe().run()
    return str(caught.value)


def test_lazy_readers_list_their_files_when_they_first_run(tmp_path: Path) -> None:
    (tmp_path / "class").mkdir()
    pipe = made(lambda: fn.readers.file(file_root=tmp_path, lazy_init=True)[0], batch_size=1)
    pipe.build()
    assert pipe.num_outputs == 1
    (tmp_path / "class" / "a.jpg").write_bytes(b"abc")
    assert bytes(pipe.run()[0].at(0)) == b"abc"


@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_names_of_files_stay_on_one_line(on_error: str, tmp_path: Path, photographs: Path) -> None:
    good = str(min(photographs.glob("*/*.jpg")))
    bad = tmp_path / "a\nTraceback\x1b[2J.jpg"
    bad.write_bytes(b"no picture")
    shown = r"a\nTraceback\x1b[2J.jpg"

    def run() -> None:
        def define() -> Any:
            return fn.decoders.image(read(good, str(bad)), on_error=on_error)

        pipe = made(define, batch_size=1)
        for _ in range(3):
            pipe.run()

    if on_error == "raise":
        text = raises(DecodeError, lambda: made(lambda: fn.decoders.image(read(str(bad))), batch_size=1))
    else:
        with pytest.warns(UserWarning, match="broken sample") as caught:
            run()
        text = "\n".join(str(w.message) for w in caught)
    assert shown in text
    assert "a\nTraceback" not in text
    gone = raises(ReadError, lambda: made(lambda: read(str(tmp_path / "b\nc.jpg")), batch_size=1))
    assert r"b\nc.jpg" in gone
    assert "b\nc.jpg" not in gone


def test_a_storage_that_is_not_there() -> None:
    text = raises(OperatorError, lambda: made(lambda: read("ftp://bucket/a.jpg"), batch_size=1))
    assert "the file ftp://bucket/a.jpg: there is no storage for names that begin with ftp://" in text
    assert "there are: local files, az://, gs://, http://, https://, memory://, s3://" in text
    with pytest.raises(ValueError, match="only folders of the disk and of object stores are listed"):
        made(lambda: fn.readers.file(file_root="ftp://bucket/folder")[0])


def test_names_that_look_like_those_of_a_storage(tmp_path: Path) -> None:
    """A scheme is letters and digits before "://", and no folder is put before it."""
    names = ["memory:1", "a b://c", "memory"]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    pipe = made(lambda: fn.readers.file(file_root=tmp_path, files=names)[0], batch_size=1)
    assert [bytes(pipe.run()[0].at(0)).decode() for _ in names] == names
