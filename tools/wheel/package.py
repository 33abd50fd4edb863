"""Makes the wheel by the project's own backend, with every instruction-set level, and gives it its tag."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from tools.console import step
from tools.environment import ROOT, cores
from tools.wheel import toolchain
from tools.wheel.target import Target

DIST = ROOT / "dist"


def destination(target: Target) -> Path:
    """Where the finished wheel goes: one that lacks levels stays away from those for users."""
    return target.folder / "trial" if target.only else DIST


def definitions(target: Target) -> dict[str, str]:
    """What CMake is told for this wheel: the compilers, what is linked and how, what else comes with it."""
    prefix, (c, cxx) = target.prefix, target.machine.compilers
    exported = toolchain.exports(target.folder / "penstock.map", "ps_*", "penstock_video_api")
    return {
        "CMAKE_C_COMPILER": c,
        "CMAKE_CXX_COMPILER": cxx,
        "CMAKE_SHARED_LINKER_FLAGS": " ".join([*toolchain.link_flags(target), exported]),
        "CMAKE_CXX_STANDARD_LIBRARIES": "-lgcc",  # conversions of half floats are not in an older libgcc_s
        "CMAKE_PREFIX_PATH": str(prefix),  # headers of what is loaded on demand
        "JPEG_INCLUDE_DIR": str(prefix / "include"),
        "JPEG_LIBRARY": str(prefix / "lib" / "libjpeg.a"),
        "PNG_PNG_INCLUDE_DIR": str(prefix / "include"),
        "PNG_LIBRARY": str(prefix / "lib" / "libpng.a"),
        "ZLIB_INCLUDE_DIR": str(prefix / "include"),
        "ZLIB_LIBRARY": str(prefix / "lib" / "libz.a"),
        "PENSTOCK_OUTPUT": str(target.folder / "penstock" / "libraries"),
        "PENSTOCK_ISA": ";".join(target.levels),
        "PENSTOCK_FFMPEG": str(prefix),
        "PENSTOCK_BUNDLED": str(target.folder / "bundled"),
    }


def command(target: Target, python: Path, output: Path) -> list[str | Path]:
    """pip's command line. The build is kept, so a second wheel takes as long as what has changed."""
    settings = {f"cmake.define.{name}": value for name, value in definitions(target).items()}
    settings |= {"build-dir": str(target.folder / "penstock"), "install.strip": "true"}
    words: list[str | Path] = [python, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--verbose"]
    words += [word for name, value in settings.items() for word in ("-C", f"{name}={value}")]
    return [*words, "--wheel-dir", output, ROOT]


def build(target: Target, python: Path) -> Path:
    """Makes the wheel; it is tagged for the machine that builds it."""
    output = target.folder / "untagged"
    shutil.rmtree(output, ignore_errors=True)
    environment = {**os.environ, "CMAKE_BUILD_PARALLEL_LEVEL": str(cores()), "CMAKE_GENERATOR": "Ninja"}
    step("Building the wheel", command(target, python, output), target.folder / "wheel.log", environment)
    (made,) = output.glob("*.whl")
    return made
