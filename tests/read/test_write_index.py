"""`python -m penstock index FILE...`: indexes like those of DALI's programs, which readers take."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.__main__ import main
from penstock.errors import ArgumentError
from penstock.read.write_index import write_indexes
from tests.read import record_files as files
from tests.read.tars import index, tar

_TFRECORD = b"".join(files.framed(b"x" * 10 * i) for i in range(5))
_RECORDIO = files.recordio([[b"x" * i] if i % 2 else [b"x" * i, b"y"] for i in range(5)])
_TAR = tar([(f"{i}.{e}", b"%d" % i * i) for i in range(1, 4) for e in ("jpg", "cls")])
FILES = {
    "a.tfrecord": (_TFRECORD, "a.tfrecord.idx", files.tfrecord_index(_TFRECORD)),
    "b.rec": (_RECORDIO, "b.idx", files.recordio_index(_RECORDIO)),
    "c.tar": (_TAR, "c.idx", index(_TAR)),
    "plain": (_TFRECORD, "plain.idx", files.tfrecord_index(_TFRECORD)),
}


def written(folder: Path) -> list[str]:
    for name, (data, _, _) in FILES.items():
        (folder / name).write_bytes(data)
    return [str(folder / name) for name in FILES]


def test_indexes_of_all_kinds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["index", *written(tmp_path)]) == 0
    for _, name, wanted in FILES.values():
        assert (tmp_path / name).read_bytes() == wanted
    assert f"{tmp_path}/b.idx: 5 samples\n{tmp_path}/c.idx: 3 samples\n" in capsys.readouterr().out
    assert len(os.listdir(tmp_path)) == 2 * len(FILES)


@pytest.mark.parametrize(("name", "program"), [("a.tfrecord", "tfrecord2idx"), ("c.tar", "wds2idx")])
def test_dalis_programs_write_the_same(name: str, program: str, tmp_path: Path) -> None:
    script = Path(sys.prefix) / "bin" / program
    if not script.exists():
        pytest.skip("DALI's programs are not installed")
    written(tmp_path)
    out = tmp_path / "theirs"
    subprocess.run([sys.executable, script, tmp_path / name, out], check=True, capture_output=True)
    assert main(["index", str(tmp_path / name), "--output", str(tmp_path / "ours")]) == 0
    ours, theirs = ((tmp_path / k).read_text().split() for k in ("ours", "theirs"))
    assert ours == theirs


def test_nothing_is_replaced_unasked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = written(tmp_path)
    (tmp_path / "b.idx").write_text("mine")
    assert main(["index", *paths]) == 1
    assert f"{tmp_path}/b.idx is there already, and is another index: --force" in capsys.readouterr().err
    assert (tmp_path / "b.idx").read_text() == "mine"
    assert (tmp_path / "c.idx").read_bytes() == FILES["c.tar"][2]
    assert main(["index", *paths, "--force"]) == 0
    assert main(["index", *paths]) == 0  # the same indexes


def test_an_output_that_is_named(tmp_path: Path) -> None:
    paths = written(tmp_path)
    (tmp_path / "folder").mkdir()
    assert main(["index", *paths, "--output", str(tmp_path / "folder")]) == 0
    assert sorted(os.listdir(tmp_path / "folder")) == sorted(name for _, name, _ in FILES.values())
    with pytest.raises(ArgumentError, match="there are 4 files: expected a folder"):
        write_indexes(paths, tmp_path / "one")


def test_what_cannot_be_indexed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text").write_text("some text")
    (tmp_path / "a.tar").write_bytes(tar([("a b.txt", b"x")]))
    (tmp_path / "cut").write_bytes(_TFRECORD[:-1])
    (tmp_path / "cut.rec").write_bytes(_RECORDIO[:-1])
    os.mkfifo(tmp_path / "pipe.tar")  # opening it would block
    names = [str(tmp_path / name) for name in ("text", "gone", "a.tar", "cut", "cut.rec", "pipe.tar")]
    assert main(["index", *names]) == 1
    said = capsys.readouterr()
    assert f"the file {tmp_path}/text is no TFRecord file" in said.err
    assert f"the file {tmp_path}/gone cannot be read: No such file or directory" in said.err
    assert f"the file {tmp_path}/pipe.tar cannot be read: it is a device or a pipe" in said.err
    assert "has a file 'a b.txt': an index cannot tell names with spaces" in said.err
    assert f"{tmp_path}/cut.idx: 5 samples, 1 of them broken" in said.out
    with pytest.raises(SystemExit):
        main(["index"])
    with pytest.raises(SystemExit):
        main(["index", "a", "--jpeg", "b"])
