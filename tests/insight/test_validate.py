"""`python -m penstock validate`: what is broken in data sets of all kinds."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from penstock.__main__ import main
from penstock.insight.validate import validate
from tests.read import record_files as files
from tests.read.tars import cut, tar


def test_good_data_sets(tmp_path: Path, photographs: Path) -> None:
    named = files.examples(tmp_path)
    (tmp_path / "a.tar").write_bytes(tar([(f"{i}.txt", b"x") for i in range(3)]))
    found = validate([named["records"], named["recordio"], str(tmp_path / "a.tar")])
    assert (found.samples, found.faults) == (11, [])
    assert validate([named["caffe_lmdb"]], "caffe").samples == 4
    assert validate([named["caffe2_lmdb"]], "caffe2").samples == 4
    found = validate([str(photographs)], decode=True)
    assert (found.samples, found.faults) == (16, [])


def test_faults_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = [files.framed(b"") for _ in range(100)]
    records[41] = records[41][:-1] + b"?"
    records[77] = files.framed(b"\xff")
    (tmp_path / "a").write_bytes(b"".join(records))
    archive = tar([(f"{i}.txt", b"x" * 600) for i in range(3)])
    (tmp_path / "b.tar").write_bytes(cut(archive, "2.txt"))
    (tmp_path / "text").write_text("some text")
    paths = [str(tmp_path / name) for name in ("a", "b.tar", "text")]
    assert main(["validate", *paths, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["samples"] == 100
    assert [(f["file"], f["sample"]) for f in found["faults"]] == [
        (f"{tmp_path}/a at index {41 * 16}", 41), (f"{tmp_path}/a at index {77 * 16}", 77),
        (f"{tmp_path}/b.tar:3584:2.txt", 2), (f"{tmp_path}/text", None),
    ]  # fmt: skip
    assert main(["validate", *paths]) == 1
    said = capsys.readouterr().out
    assert f"{tmp_path}/a at index 656: readers.tfrecord: record 41 of {tmp_path}/a" in said
    assert "100 samples were read, 4 faults were found" in said


def test_data_sets_of_which_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(files.framed(b"\xff") * 5)
    found = validate([str(tmp_path / "a")])
    assert (found.samples, [fault.sample for fault in found.faults]) == (0, [0, 1, 2, 3, 4])


def test_pictures_that_cannot_be_decoded(tmp_path: Path, photographs: Path) -> None:
    good = min(photographs.glob("*/*.jpg")).read_bytes()
    (tmp_path / "a.rec").write_bytes(files.recordio([[files.labelled(data, 1.0)] for data in (good, b"none", good)]))
    assert validate([str(tmp_path / "a.rec")]).samples == 3
    found = validate([str(tmp_path / "a.rec")], decode=True)
    assert (found.samples, [fault.sample for fault in found.faults]) == (2, [1])


def test_what_makes_no_sense(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = files.examples(tmp_path)["caffe_lmdb"]
    assert main(["validate", folder]) == 2
    assert "say by --format whether it is caffe's or caffe2's" in capsys.readouterr().err
    assert main(["validate", folder, "--format", "x"]) == 2
    assert main(["validate", str(tmp_path / "gone")]) == 2
    assert "cannot be read: No such file" in capsys.readouterr().err
    os.mkfifo(tmp_path / "pipe")  # opening it would block
    assert main(["validate", str(tmp_path / "pipe")]) == 2
    assert "cannot be read: it is a device or a pipe" in capsys.readouterr().err
