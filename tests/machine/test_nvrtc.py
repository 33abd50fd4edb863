"""NVIDIA's own compiler takes the kernels, for all generations of GPUs. It needs no GPU for that."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from penstock.machine import kernels, libraries

ROOT = Path(__file__).resolve().parents[2]
ARCHS = (80, 90, 100, 120)
PARTS = 4  # of the generated kernels
HEADERS = sorted((ROOT / "penstock" / "device").rglob("*.h"))


@pytest.fixture(scope="module")
def compiler() -> kernels.Nvrtc:
    path = libraries.packaged("nvrtc")
    if path is None:
        pytest.skip("needs NVIDIA's compiler: pip install penstock[test]")
    return kernels.Nvrtc(path)


@pytest.fixture(scope="module")
def sources(software_gpu: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Of all kernels that the operators' cases need, see tests/machine/gpu_sources.py."""
    if not software_gpu:
        pytest.skip("collects the sources on the GPU in software")
    place = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        place = place.parent
    kept = place / "kernels.json"
    with open(place / "kernels.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the first process of this test run collects them for all
        if not kept.exists():
            kept.write_text(_collected(software_gpu, tmp_path_factory.mktemp("sources")))
    found: list[str] = json.loads(kept.read_text())
    return found


def _collected(software_gpu: dict[str, str], folder: Path) -> str:
    """What the program writes; some operators write files where it runs."""
    program = [sys.executable, "-m", "tests.machine.gpu_sources"]
    env = {**os.environ, **software_gpu, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(program, cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("header", HEADERS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_each_header_stands_by_itself(header: Path, arch: int, compiler: kernels.Nvrtc) -> None:
    source = f'#include "{header.relative_to(ROOT / "penstock")}"\nextern "C" __global__ void kernel() {{}}\n'
    assert compiler.compile(source, arch)


@pytest.mark.parametrize("header", HEADERS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_headers_that_count_are_all_that_a_kernel_needs(
    header: Path, compiler: kernels.Nvrtc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It compiles where there is nothing else."""
    source = f'#include "{header.relative_to(ROOT / "penstock")}"\nextern "C" __global__ void kernel() {{}}\n'
    for name, _ in kernels.headers_of(source):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "penstock" / name, tmp_path / name)
    monkeypatch.setattr(kernels, "source_folders", lambda: (tmp_path,))
    assert compiler.compile(source, 90)


@pytest.fixture(scope="module")
def generated(sources: list[str]) -> list[str]:
    """All that are put together of stages. None has code for one architecture; each header is compiled for all."""
    assert len(sources) > 100
    assert not any("__CUDA_ARCH__" in header.read_text() for header in HEADERS)
    found = [source for source in sources if "PS_JPEG_KERNEL" not in source]
    assert any("PS_JPEG_KERNEL(jpeg_coefficients" in source for source in sources)
    assert any("PS_DECODED_KERNEL" in source for source in sources)
    assert {"Elementwise", "ElementwiseStage", "Uniform", "Add", "Atanh"} <= set().union(*map(_made_of, found))
    return found


def _made_of(source: str) -> set[str]:
    """The kernel, and the templates and types that it is of."""
    return set(re.findall(r"(?:ps::device::|\bPS_(?=\w+_KERNEL))(\w+)", source))


def _in_one(sources: list[str]) -> str:
    """A program of all these kernels, each with a name of its own; the headers are read once."""
    lines = [line for source in sources for line in source.splitlines() if line.startswith("#include")]
    for number, source in enumerate(sources):
        lines += ["#undef kernel", f"#define kernel kernel_{number}", re.sub("^#include.*", "", source, flags=re.M)]
    return "\n".join(lines)


@pytest.mark.parametrize("arch", ARCHS)
def test_the_compiler_takes_all_generated_kernels(
    generated: list[str], compiler: kernels.Nvrtc, arch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As far as the code that is common to all GPUs, which takes a tenth of the time that machine code takes."""
    monkeypatch.setattr(kernels, "_OPTIONS", (*kernels._OPTIONS, "-dlto"))
    mine = generated[ARCHS.index(arch) :: len(ARCHS)]
    groups = [mine[i : i + 25] for i in range(0, len(mine), 25)]
    for group in groups:
        compiler.compile(_in_one(group), arch)
    with pytest.raises(kernels.DeviceError, match="no_such_stage"):
        compiler.compile(_in_one([*groups[0], groups[0][0].replace("_KERNEL(", "_KERNEL(no_such_stage, ")]), arch)


@pytest.mark.parametrize("arch", ARCHS)
def test_machine_code_of_all_that_kernels_are_made_of(generated: list[str], compiler: kernels.Nvrtc, arch: int) -> None:
    """The shortest kernels that have all templates among them, each for one architecture."""
    left, chosen = set().union(*map(_made_of, generated)), []
    for source in sorted(generated, key=lambda source: (len(source), source)):
        if left & _made_of(source):
            left -= _made_of(source)
            chosen.append(source)
    assert 50 < len(chosen) < len(generated)
    for source in chosen[ARCHS.index(arch) :: len(ARCHS)]:
        assert compiler.compile(source, arch)


@pytest.mark.fuzz
@pytest.mark.parametrize("part", range(PARTS))
def test_machine_code_of_all_generated_kernels(generated: list[str], compiler: kernels.Nvrtc, part: int) -> None:
    """It takes minutes, and is made on a GPU wherever the tests run on one."""
    jobs = [(source, ARCHS[i % len(ARCHS)]) for i, source in enumerate(generated)]
    with ThreadPoolExecutor(2) as pool:
        for binary in pool.map(lambda job: compiler.compile(*job), jobs[part::PARTS]):
            assert binary


def test_kernels_say_how_structs_lie_in_the_hosts_memory(sources: list[str], compiler: kernels.Nvrtc) -> None:
    """All of them, so that a kernel that has other structs than the host fills in is none."""
    stated = [re.findall(r"^PS_LAYOUT\((\d+), (\d+), (.*)\);$", source, re.MULTILINE) for source in sources]
    assert all(("24", "8", "ps::device::Launch") in layouts and len(layouts) > 1 for layouts in stated)
    found = {name.partition("<")[0] for layouts in stated for _, _, name in layouts}
    jobs = {"PictureJob", "DecodedView", "JpegPicture", "JpegJob", "JpegTableJob", "TransposeJob", "ReduceJob"}
    assert {f"ps::device::{job}" for job in jobs} <= found
    kernel = min((source for source in sources if "WindowStage" in source), key=len)
    assert compiler.compile(kernel, 90)
    for wrong in (r"PS_LAYOUT(\g<1>8, \2, ", r"PS_LAYOUT(\1, 1\2, "):
        broken = re.sub(r"PS_LAYOUT\((\d+), (\d+), (?=ps::device::WindowStage)", wrong, kernel)
        assert broken != kernel
        with pytest.raises(kernels.DeviceError, match=r"the host and the GPU differ in the layout of .*WindowStage<"):
            compiler.compile(broken, 90)


@pytest.mark.parametrize("arch", ARCHS)
def test_kernels_of_jpeg_compile(sources: list[str], compiler: kernels.Nvrtc, arch: int) -> None:
    found = {name[1]: source for source in sources if (name := re.search(r"PS_JPEG_KERNEL\((\w+)", source))}
    assert {"jpeg_unstuff", "jpeg_synchronize", "jpeg_seed", "jpeg_coefficients", "jpeg_direct"} <= found.keys()
    for source in found.values():
        assert compiler.compile(source, arch)


def test_mistakes_are_told_with_the_line(compiler: kernels.Nvrtc) -> None:
    with pytest.raises(kernels.DeviceError, match=r"penstock\.cu\(2\): error: .*no_such_type"):
        compiler.compile('#include "device/base/base.h"\nno_such_type v;\n', 90)
