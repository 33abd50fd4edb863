"""Compiled kernels on disk: whole, or not at all; by what they are made of; and there where the compiler is not."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.errors import DeviceError
from penstock.machine import kernels

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path))
    return kernels.folder() / "kernels" / "one.cubin"


def test_what_is_kept_is_found(kept: Path) -> None:
    code = b"code\n" * 5000
    kernels._keep(kept, "NVRTC 13.0", code)
    assert kernels.kept(kept) == ("NVRTC 13.0", code)
    assert list(kept.parent.iterdir()) == [kept]


def test_what_is_cut_off_is_not(kept: Path) -> None:
    kernels._keep(kept, "NVRTC 13.0", b"code" * 5000)
    kept.write_bytes(kept.read_bytes()[:-1])
    assert kernels.kept(kept) is None


def test_a_full_disk_keeps_nothing(kept: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        kernels._keep(kept, "NVRTC 13.0", b"code" * 5000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert kernels.kept(kept) is None
    assert list(kept.parent.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_no_error(kept: Path) -> None:
    kept.parent.parent.mkdir(exist_ok=True)
    kept.parent.write_text("a file")
    kernels._keep(kept, "NVRTC 13.0", b"code")
    assert kernels.kept(kept) is None


SOURCE = '#include "device/picture.h"\n#include <cstdint>\nextern "C" __global__ void kernel() {}\n'
HEADERS = {
    "picture": '#pragma once\n#include "device/base.h"\n',
    "base": '  #  include "device/picture.h"\nstruct Base {};\n',
    "jpeg": '#include "device/base.h"\n',
}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of three headers; of the source these are two, which include each other."""
    (tmp_path / "device").mkdir()
    for name, text in HEADERS.items():
        (tmp_path / "device" / f"{name}.h").write_text(text)
    monkeypatch.setattr(kernels, "_PACKAGE", tmp_path)
    kernels._header.cache_clear()
    yield tmp_path
    kernels._header.cache_clear()


def changed(header: Path) -> bool:
    """Whether a comment in this header makes another kernel of the source."""
    before = kernels.cache_file(SOURCE, 90)
    header.write_text(header.read_text() + "// A comment.\n")
    kernels._header.cache_clear()
    return kernels.cache_file(SOURCE, 90) != before


def test_only_headers_that_are_included_count(package: Path) -> None:
    assert [name for name in HEADERS if changed(package / "device" / f"{name}.h")] == ["picture", "base"]
    assert sorted(name for name, _ in kernels.headers_of(SOURCE)) == ["device/base.h", "device/picture.h"]


def test_source_options_and_architecture_count(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [kernels.cache_file(SOURCE, 90), kernels.cache_file(SOURCE, 100), kernels.cache_file(SOURCE + "//", 90)]
    monkeypatch.setattr(kernels, "_OPTIONS", ("--std=c++20",))
    assert len({*names, kernels.cache_file(SOURCE, 90)}) == 4


def test_a_header_that_is_missing_is_for_the_compiler_to_tell(package: Path) -> None:
    (package / "device" / "base.h").unlink()
    assert kernels.cache_file(SOURCE, 90)


def test_a_kernel_that_is_kept_needs_no_compiler(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> kernels.Nvrtc:
        raise DeviceError("NVRTC was not found")

    monkeypatch.setattr(kernels, "nvrtc", missing)
    source = '#include "device/base/base.h"\n'
    with pytest.raises(DeviceError, match="was not found"):
        kernels.machine_code(source, 90)
    kernels._keep(kernels.cache_file(source, 90), "NVRTC 12.9", b"code")
    assert kernels.machine_code(source, 90) == b"code"


PIPELINE = """
import sys
import numpy as np
from penstock import errors, fn, pipeline_def

@pipeline_def(batch_size=1, num_threads=1, device_id=0)
def pipeline(shift):
    picture = fn.constant(idata=list(range(12)), shape=[2, 2, 3], layout="HWC", device="gpu")
    return fn.flip(picture) if shift is None else fn.flip(picture) + shift

print(pipeline(None).run()[0].as_cpu().at(0).ravel().tolist())
try:
    pipeline(np.float32(1.5)).run()
except errors.DeviceError as e:
    print("penstock[cuda13]" in str(e))
"""


def test_pipelines_run_without_the_compiler_when_their_kernels_are_kept(
    software_gpu: dict[str, str], tmp_path: Path
) -> None:
    """And one whose kernel is not says what brings the compiler."""
    environment = {**os.environ, **software_gpu, "PENSTOCK_CACHE": str(tmp_path)}

    def run(script: str, **more: str) -> list[str]:
        words = [sys.executable, "-c", script]
        done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, timeout=300, env={**environment, **more})
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    first, _, _ = PIPELINE.partition("try:")
    (expected,) = run(first)
    assert expected == str([3, 4, 5, 0, 1, 2, 9, 10, 11, 6, 7, 8])
    assert len(list((tmp_path / "kernels").glob("*.cubin"))) >= 1
    assert run(PIPELINE, PENSTOCK_NVRTC="/nonexistent/libnvrtc.so") == [expected, "True"]
