"""``jpeg_index=``: the same pixels, whatever the index holds; and ``python -m penstock index``, which makes it.

tests/native/jpeg_index_check.cpp compares what indexes say with a plain decoder, and damages them by the hundreds.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import fn, pipeline_def
from penstock.decode.jpeg_index import NAME, build_index
from penstock.errors import ReadError
from tests.decode.pictures import Array, decode, jpeg, png, smooth, write

RANDOM = np.random.default_rng(11)
BASE = smooth(RANDOM, 190, 230)
FILES = {
    "4:2:0": jpeg(BASE, subsampling="4:2:0"),
    "4:2:2": jpeg(BASE, subsampling="4:2:2", quality=97),
    "4:4:4": jpeg(BASE, subsampling="4:4:4", optimize=True),
    "gray": jpeg(BASE[..., :1], "L"),
    "restart markers in rows": jpeg(BASE, restart_marker_blocks=5),
    "restart markers between rows": jpeg(BASE, restart_marker_rows=2, subsampling="4:2:0"),
    "turned": jpeg(BASE, orientation=6),
    "much ahead of the scan": jpeg(BASE, comment=b"words" * 5000),
    "noise": jpeg(RANDOM.integers(0, 256, (200, 180, 3), np.uint8), quality=100),
    "small": jpeg(BASE[:50, :40]),
}
PROGRESSIVE = jpeg(BASE, progressive=True)
WINDOWS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "whole": (fn.decoders.image, {}),
    "crop": (fn.decoders.image_crop, dict(crop=(20, 31), crop_pos_x=0.3, crop_pos_y=0.8)),
    "last pixel": (fn.decoders.image_crop, dict(crop=(1, 1), crop_pos_x=1.0, crop_pos_y=1.0)),
    "left": (fn.decoders.image_slice, dict(rel_start=(0.0, 0.0), rel_shape=(0.3, 1.0))),
    "bottom": (fn.decoders.image_slice, dict(rel_start=(0.0, 0.7), rel_shape=(1.0, 0.2))),
    "random crop": (fn.decoders.image_random_crop, dict(random_area=[0.1, 0.6])),
}


def index_of(folder: Path, files: list[bytes]) -> Path:
    """Of these files. They are not where a pipeline reads them: it is their contents that count."""
    return build_index(write(folder / "elsewhere", files), folder / "index")[0]


def assert_equal(ours: list[Array], theirs: list[Array]) -> None:
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("window", WINDOWS)
def test_pixels_are_the_same(tmp_path: Path, window: str) -> None:
    operator, arguments = WINDOWS[window]
    files = [*FILES.values(), PROGRESSIVE]
    index = index_of(tmp_path, files)
    ours = decode(tmp_path, files, operator, jpeg_index=index, **arguments)
    assert_equal(ours, decode(tmp_path, files, operator, **arguments))


def test_several_indexes(tmp_path: Path) -> None:
    files = list(FILES.values())
    (tmp_path / "a").mkdir(), (tmp_path / "b").mkdir()
    indexes = [index_of(tmp_path / "a", files[:4]), str(index_of(tmp_path / "b", files[3:]))]
    operator, arguments = WINDOWS["crop"]
    ours = decode(tmp_path, files, operator, jpeg_index=indexes, **arguments)
    assert_equal(ours, decode(tmp_path, files, operator, **arguments))


@pytest.mark.parametrize("place", [0.3, 0.6, 0.9])
def test_a_file_that_has_changed_since(tmp_path: Path, place: float) -> None:
    """Its size, its beginning and its end are the same, so that it is taken for the one that was indexed, at first."""
    file = FILES["noise"]
    assert len(file) > 30_000
    at = int(place * len(file))
    while 0xFF in file[at - 1 : at + 2]:
        at += 1
    changed = file[:at] + bytes([file[at] ^ 0x10]) + file[at + 1 :]
    index = index_of(tmp_path, [file])
    for operator, arguments in (WINDOWS["bottom"], WINDOWS["last pixel"]):
        ours = decode(tmp_path, [changed], operator, jpeg_index=index, **arguments)
        assert_equal(ours, decode(tmp_path, [changed], operator, **arguments))


def test_files_that_cannot_be_told_apart_are_left_out(tmp_path: Path) -> None:
    file = FILES["noise"]
    at = len(file) // 2
    while 0xFF in file[at - 1 : at + 2]:
        at += 1
    for bit in range(8):  # until one of them makes no fault in the scan, which would leave it out anyway
        twin = file[:at] + bytes([file[at] ^ 1 << bit]) + file[at + 1 :]
        index, report = build_index(write(tmp_path / "twins", [file, twin]), tmp_path / f"index {bit}")
        if report.indexed == 2:
            break
    else:
        pytest.fail("no twin is sound")
    alone = build_index(write(tmp_path / "alone", [file]), tmp_path / "index of one")[0]
    assert alone.stat().st_size == index.stat().st_size + 16  # an entry in the table of what can be found
    operator, arguments = WINDOWS["bottom"]
    for each in (file, twin):
        ours = decode(tmp_path, [each], operator, jpeg_index=index, **arguments)
        assert_equal(ours, decode(tmp_path, [each], operator, **arguments))


def broken_indexes(whole: bytes) -> dict[str, tuple[bytes | None, str]]:
    """Contents, and what is said of them."""
    version = whole[:16] + b"\x63" + whole[17:]
    return {
        "missing": (None, "No such file"),
        "empty": (b"", "it is no index of JPEG files"),
        "another file": (FILES["gray"], "it is no index of JPEG files"),
        "only begun": (bytes(100), "it is no index of JPEG files"),
        "cut off": (whole[:-1], f"it should have {len(whole)} bytes and has {len(whole) - 1}"),
        "cut off in its head": (whole[:40], "it is no index of JPEG files"),
        "too long": (whole + b"\0" * 16, f"it should have {len(whole)} bytes"),
        "of a later version": (version, "it has version 99, and 1 is expected: build it again"),
        "damaged": (whole[:33] + b"\xff" + whole[34:], "it is damaged: build it again"),
    }


@pytest.mark.parametrize("what", broken_indexes(b""))
def test_a_broken_index(tmp_path: Path, what: str) -> None:
    files = [FILES["4:2:0"]]
    contents, message = broken_indexes(index_of(tmp_path, files).read_bytes())[what]
    path = tmp_path / "broken"
    if contents is not None:
        path.write_bytes(contents)
    with pytest.raises(ReadError) as error:
        decode(tmp_path, files, fn.decoders.image_crop, crop=(4, 4), jpeg_index=path)
    assert "decoders.image_crop" in str(error.value)
    assert f"jpeg_index='{path}': " in str(error.value)
    assert message in str(error.value)


def test_damage_anywhere(tmp_path: Path) -> None:
    """A record that is damaged is not used; the head's damage is said when the pipeline is built."""
    files = list(FILES.values())
    whole = index_of(tmp_path, files).read_bytes()
    operator, arguments = WINDOWS["bottom"]
    expected, refused = decode(tmp_path, files, operator, **arguments), 0
    for at in [*range(0, 56, 8), *RANDOM.integers(56, len(whole), 40)]:
        path = tmp_path / f"damaged at {at}"
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << RANDOM.integers(8)]) + whole[at + 1 :])
        try:
            ours = decode(tmp_path, files, operator, jpeg_index=path, **arguments)
        except ReadError:
            refused += 1
            assert at < 56
        else:
            assert_equal(ours, expected)
    assert refused == 7


def run(*arguments: str | Path, status: int = 0, most_bytes: int = 0) -> tuple[str, str]:
    """What ``python -m penstock index`` says, in a process of its own: its output, its errors.

    ``most_bytes``: that it may write to a file.
    """
    program = ["-c", LIMITED, str(most_bytes)] if most_bytes else ["-m", "penstock"]
    command = [sys.executable, *program, "index", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=Path(__file__).parents[2])
    assert done.returncode == status, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    return done.stdout, done.stderr


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
from penstock.__main__ import main
sys.exit(main(sys.argv[2:]))
"""


def add(tar: tarfile.TarFile, name: str, contents: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(contents)
    tar.addfile(member, io.BytesIO(contents))


def test_command(tmp_path: Path) -> None:
    root = tmp_path / "pictures"
    write(root / "a" / "deep", [FILES["4:2:0"], FILES["gray"], PROGRESSIVE])
    write(root / "b", [FILES["4:4:4"][:3000], png(BASE, 2, 8), b"", FILES["4:2:0"]])
    (root / "again").symlink_to(root / "a")
    (root / "round in circles").symlink_to(root)
    with tarfile.open(root / "shard.tar", "w") as tar:
        for i, name in enumerate(("noise", "turned")):
            add(tar, f"{i}.jpg", FILES[name])
            add(tar, f"{i}.cls", b"7")
    out, err = run("--jpeg", root)
    index = root / NAME
    assert out.splitlines()[0].startswith(f"{index} (")
    assert out.splitlines()[1:] == [
        "5 JPEG files are indexed", "1 progressive or of another kind that is decoded without",
        "1 with faults in their data, decoded without", "4 that are no JPEG",
    ]  # fmt: skip
    assert not err
    assert [path.name for path in root.iterdir() if path.name.startswith(".")] == []

    # It serves what a reader of archives gives, as it serves files.
    files = [FILES["noise"], FILES["turned"], FILES["gray"]]

    @pipeline_def(batch_size=3, num_threads=1, device_id=None)
    def pipeline(jpeg_index: Path | None = None) -> Any:
        arrays = [np.frombuffer(file, np.uint8) for file in files]
        return fn.decoders.image_crop(
            fn.external_source(lambda: arrays, batch=True), crop=(9, 9), jpeg_index=jpeg_index
        )

    (ours,), (theirs,) = pipeline(jpeg_index=index).run(), pipeline().run()
    for i in range(3):
        np.testing.assert_array_equal(ours.at(i), theirs.at(i))

    # Run again, it takes the older one's place, which is not taken for a picture.
    before = index.stat().st_ino
    assert run("--jpeg", root)[0] == out
    assert index.stat().st_ino != before
    assert index.stat().st_mode & 0o777 == 0o666 & ~_umask()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_command_with_an_output(tmp_path: Path) -> None:
    names = write(tmp_path / "files", [FILES["4:2:0"], FILES["gray"]])
    out, _ = run("--jpeg", *names, "--output", tmp_path / "index")
    assert out == f"{tmp_path / 'index'} (0.0 MB)\n2 JPEG files are indexed\n"


def test_what_the_command_refuses(tmp_path: Path) -> None:
    names = write(tmp_path / "files", [FILES["4:2:0"], FILES["gray"]])
    for arguments, message in [
        (["--jpeg", *names], "say where the index is to be written"),
        (
            ["--jpeg", names[0], "--output", names[1]],
            f"output='{names[1]}' is there, and no index: it is not overwritten",
        ),
        (["--jpeg", names[0], "--output", str(tmp_path)], "is there, and no file"),
        (["--jpeg", names[0], "--output", str(tmp_path / "none" / "index")], "the folder .*none is not there"),
        (["--jpeg", str(tmp_path / "none")], "none is not there"),
    ]:
        out, err = run(*arguments, status=1)
        assert not out
        assert re.search(message, err), err
    assert Path(names[1]).read_bytes() == FILES["gray"]
    assert os.listdir(tmp_path) == ["files"]
    assert len(os.listdir(tmp_path / "files")) == 2


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    write(tmp_path / "files", [FILES["4:2:0"]])
    (tmp_path / "files" / "lost.jpg").symlink_to("nowhere")
    (tmp_path / "files" / "broken.tar").write_bytes(b"no archive" * 100)
    out, err = run("--jpeg", tmp_path / "files", status=1)
    assert out.splitlines()[1:] == ["1 JPEG files are indexed", "2 that could not be read"]
    assert "lost.jpg cannot be opened: No such file" in err
    assert "broken.tar cannot be read as a tar archive" in err


def test_a_full_disk(tmp_path: Path) -> None:
    write(tmp_path / "files", [FILES["4:2:0"], FILES["noise"]])
    run("--jpeg", tmp_path / "files")
    before = (tmp_path / "files" / NAME).read_bytes()
    out, err = run("--jpeg", tmp_path / "files", status=1, most_bytes=2000)
    assert not out
    assert re.search(f"the index .*{NAME}.* cannot be written: File too large", err), err
    assert (tmp_path / "files" / NAME).read_bytes() == before
    assert len(os.listdir(tmp_path / "files")) == 3


def test_an_interrupted_build_leaves_nothing(tmp_path: Path) -> None:
    write(tmp_path / "files", [FILES["4:2:0"]] * 3)

    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_index([tmp_path / "files"], progress=interrupt)
    assert len(os.listdir(tmp_path / "files")) == 3
