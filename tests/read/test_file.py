"""`fn.readers.file`: when it lists its files, and how errors and warnings show odd names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock import Pipeline, fn
from penstock.errors import DecodeError, PenstockError, ReadError
from tests.small import made


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
