"""``jpeg_index=`` with ``device="mixed"``: kernels take from an index where to begin, and the pictures are the same.

tests/native/jpeg_kernels_check.cpp tries indexes that say anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock import fn, types
from penstock.decode.jpeg_index import build_index
from penstock.errors import DecodeError
from tests.decode.pictures import decode, jpeg, write
from tests.decode.test_cuda_jpeg import LEFT, TAKEN, assert_equal, damaged, decode_mixed, explained, pipeline, windows

pytestmark = pytest.mark.usefixtures("software_gpu")
FILES = [*TAKEN.values(), *LEFT.values()]
BASELINE = {name: file for name, file in TAKEN.items() if "progressive" not in name}  # what an index is for


def index(folder: Path, files: Sequence[bytes]) -> str:
    """Of these files. They are not where a pipeline reads them: it is their contents that count."""
    path, report = build_index(write(folder / "elsewhere", files), folder / "index")
    assert report.indexed > 0
    return str(path)


@pytest.mark.parametrize("output_type", ["RGB", "GRAY"])
def test_whole_pictures(tmp_path: Path, output_type: str) -> None:
    kind, counts = getattr(types, output_type), dict[str, int]()
    ours = decode_mixed(tmp_path, FILES, counts=counts, output_type=kind, jpeg_index=index(tmp_path, FILES))
    assert_equal(ours, decode(tmp_path, FILES, output_type=kind))
    assert counts == {"cuda": len(TAKEN), "cpu": len(LEFT), "refused": 0, "indexed": len(BASELINE)}


@windows
def test_windows(tmp_path: Path, make: Callable[..., Any], arguments: dict[str, Any]) -> None:
    files, counts = [file for name, file in BASELINE.items() if name not in ("tiny", "narrow")], dict[str, int]()
    ours = decode_mixed(tmp_path, files, make, counts, jpeg_index=index(tmp_path, files), **arguments)
    assert_equal(ours, decode(tmp_path, files, make, **arguments))
    assert counts["indexed"] == len(files)


def test_files_with_and_without_an_index_in_a_batch(tmp_path: Path) -> None:
    files, counts = list(BASELINE.values()), dict[str, int]()
    ours = decode_mixed(tmp_path, files, counts=counts, jpeg_index=index(tmp_path, files[::2]))
    assert_equal(ours, decode(tmp_path, files))
    assert counts == {"cuda": len(files), "refused": 0, "indexed": len(files[::2])}


def changed(file: bytes, bit: int) -> bytes:
    """The file with one bit changed."""
    data = bytearray(file)
    data[bit // 8] ^= 1 << bit % 8
    return bytes(data)


def test_files_that_changed_since_though_it_does_not_show(tmp_path: Path) -> None:
    """Bits amid the scan: where parts still begin at the same bits an index is as good as before, else it is of no use.
    The picture is the CPU's either way."""
    random = np.random.default_rng(5)
    file = TAKEN["large"]
    files: list[bytes] = []
    while len(files) < 24:
        other = changed(file, int(random.integers(8 * len(file) // 4, 8 * len(file) * 3 // 4)))
        try:
            decode(tmp_path, [other])
        except DecodeError:
            continue
        if other.count(b"\xff") == file.count(b"\xff"):
            files.append(other)
    counts: dict[str, int] = {}
    ours = decode_mixed(tmp_path, files, counts=counts, jpeg_index=index(tmp_path, [file]))
    assert_equal(ours, decode(tmp_path, files))
    assert counts["indexed"] == counts["cuda"] > 4
    assert counts["refused"] == counts["cpu"] > 4


def test_broken_files_are_found_out_as_ever(tmp_path: Path) -> None:
    good = [TAKEN["4:2:0"], TAKEN["large"], TAKEN["gray"]]
    files, counts = [*good, *damaged()], dict[str, int]()
    ours = decode_mixed(tmp_path, files, counts=counts, jpeg_index=index(tmp_path, [*good, TAKEN["restarts"]]))
    assert_equal(ours, decode(tmp_path, files))
    assert counts == {"cuda": 3, "cpu": 2, "refused": 2, "indexed": 3}


def test_one_large_picture_among_many_small_ones(tmp_path: Path) -> None:
    random = np.random.default_rng(6)
    files = [jpeg(random.integers(0, 256, (*random.integers(1, 40, 2), 3), np.uint8)) for _ in range(100)]
    files.insert(50, jpeg(random.integers(0, 256, (700, 900, 3), np.uint8), quality=95))
    assert_equal(decode_mixed(tmp_path, files, jpeg_index=index(tmp_path, files)), decode(tmp_path, files))


def test_explain_says_how_many_had_an_index(tmp_path: Path) -> None:
    files = [TAKEN["4:2:0"], TAKEN["gray"], LEFT["png"]]
    arguments = dict(jpeg_index=index(tmp_path, files[:1]))
    more = dict(exec_async=False, exec_pipelined=False)
    with pipeline(write(tmp_path, files), fn.decoders.image, arguments, batch_size=3, **more) as pipe:
        pipe.run()
        cpu, cuda = f"{len(files[2]) / 1e6:.1f} MB", f"{sum(map(len, files[:2])) / 1e6:.1f} MB"
        of_cuda = f"own CUDA kernels 2 files ({cuda}, 1 of them with an index)"
        assert explained(pipe)[-1] == f"so far: CPU 1 file ({cpu}); {of_cuda}"
    pipe.close()
