"""The choice of the native library."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.machine import loader

ROOT = Path(__file__).resolve().parents[2]
V2 = "fpu sse sse2 cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3"
V3 = V2 + " abm avx avx2 bmi1 bmi2 f16c fma movbe xsave"
V4 = V3 + " avx512bw avx512cd avx512dq avx512f avx512vl"


@pytest.mark.parametrize(
    ("flags", "highest"),
    [
        ("fpu sse sse2", None),
        (V2, "x86-64-v2"),
        (V2 + " avx avx2", "x86-64-v2"),  # AVX2 without FMA is not yet level 3
        (V3, "x86-64-v3"),
        (V3 + " avx512f", "x86-64-v3"),
        (V4, "x86-64-v4"),
        (V4.replace(" popcnt", ""), None),  # levels build on each other
    ],
)
def test_highest_level_of_a_processor(flags: str, highest: str | None) -> None:
    levels = loader.supported_levels(set(flags.split()))
    assert (levels[-1] if levels else None) == highest


def test_levels_agree_with_the_c_library() -> None:
    """glibc's loader lists the levels that it supports on this processor, found by CPUID."""
    listing = subprocess.run(["/lib64/ld-linux-x86-64.so.2", "--help"], capture_output=True, text=True).stdout
    if "x86-64-v2" not in listing:
        pytest.skip("this C library does not list instruction-set levels")
    expected = [line.split()[0] for line in listing.splitlines() if line.split()[:1] and "supported, searched" in line]
    assert loader._levels() == sorted(level for level in expected if level.startswith("x86-64-v"))


def load(tmp: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    code = "from penstock.machine import loader; print(loader.library_path().name)"
    env = {**os.environ, "PENSTOCK_NATIVE": str(tmp), **environment}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)


def test_missing_library_says_how_to_build_it(tmp_path: Path) -> None:
    done = load(tmp_path)
    assert done.returncode != 0
    assert "./dev build" in done.stderr
    assert str(tmp_path) in done.stderr


def test_a_lower_level_serves_where_the_highest_is_not_built(tmp_path: Path) -> None:
    lowest = loader._levels()[0]
    (tmp_path / f"libpenstock-{lowest}.so").touch()
    assert load(tmp_path).stdout.strip() == f"libpenstock-{lowest}.so"


def test_level_asked_for(tmp_path: Path) -> None:
    for level in ("x86-64-v2", "x86-64-v9"):
        (tmp_path / f"libpenstock-{level}.so").touch()
    assert load(tmp_path, PENSTOCK_ISA="x86-64-v2").stdout.strip() == "libpenstock-x86-64-v2.so"
    assert "'x86-64-v5' is not among the levels built" in load(tmp_path, PENSTOCK_ISA="x86-64-v5").stderr
    assert "this processor only runs" in load(tmp_path, PENSTOCK_ISA="x86-64-v9").stderr


def test_a_library_of_another_version_says_how_to_build_it(tmp_path: Path) -> None:
    """Such a one lacks functions, too: the version is looked at first."""
    source = tmp_path / "old.c"
    source.write_text("int ps_abi_version(void) { return 1; }\n")
    library = tmp_path / f"libpenstock-{loader._levels()[0]}.so"
    subprocess.run(["cc", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    for function in ("quick", "blocking"):
        code = f"from penstock.machine import native; native.{function}()"
        env = {**os.environ, "PENSTOCK_NATIVE": str(tmp_path)}
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)
        assert f"{library} has ABI 1" in done.stderr
        assert "build it again (./dev build)" in done.stderr


PROVIDE = """
import sys
from pathlib import Path
from penstock.machine import kernels
kernels._PACKAGE = Path(sys.argv[1])
kernels.provide()
"""


def test_a_library_built_with_other_headers_of_kernels_is_refused(tmp_path: Path) -> None:
    """When a pipeline wants a GPU: the library fills in what the kernels read."""
    folder = tmp_path / "device"
    shutil.copytree(ROOT / "penstock" / "device", folder)

    def provide() -> str:
        done = subprocess.run([sys.executable, "-c", PROVIDE, tmp_path], capture_output=True, text=True, cwd=ROOT)
        return done.stderr

    assert provide() == ""
    header = folder / "jpeg" / "jpeg.h"
    text = header.read_text()
    header.write_text(text.replace("uint32_t scan, end;", "uint64_t scan, end;"))
    assert f"was built with other headers of kernels than those in {folder}: build it again (./dev build)" in provide()
    header.write_text(text)
    (folder / "more.h").write_text("#pragma once\n")
    assert "was built with other headers" in provide()
