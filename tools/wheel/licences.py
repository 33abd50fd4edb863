"""The licences of what a wheel brings, from Debian's source packages: its lists of copyrights, and the texts."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tools.console import StepError
from tools.wheel import ffmpeg, sources
from tools.wheel.ondemand import LOADED
from tools.wheel.recipes import RECIPES, Recipe
from tools.wheel.target import Target

LINKED = ("zlib", "libjpeg-turbo", "libpng1.6", "ffmpeg", "dav1d")  # into the native libraries


def compiler(version: str) -> Path:
    """Debian's copyrights of GCC, whose libstdc++ is in the native library, by what g++ -dumpversion says."""
    return Path(f"/usr/share/doc/gcc-{version.partition('.')[0].strip()}-base/copyright")


def wanted(recipe: Recipe, source: Path) -> dict[str, Path]:
    """The files for one library, by their names in the wheel."""
    files = {f"{recipe.source}/{Path(name).name}": source / name for name in recipe.licences}
    files[f"{recipe.source}/copyright"] = source / "debian" / "copyright"
    missing = [str(path) for path in files.values() if not path.is_file()]
    if missing:
        raise StepError(f"the source of {recipe.source} has no {', '.join(missing)}")
    return files


def bundled() -> list[Recipe]:
    """The libraries that are in the wheel; of others only headers were needed."""
    loaded = {source for library in LOADED for source in library.sources}
    return [recipe for recipe in RECIPES if recipe.source in loaded.union(LINKED)]


def readme(versions: dict[str, str]) -> str:
    """What says which libraries these are, and where their source is."""
    lines = [f"- {source} {version}" for source, version in versions.items()]
    return "\n".join(
        [
            "This wheel has these libraries in it, built from the source packages of Debian 12, with Debian's patches:",
            "",
            *lines,
            "",
            "Their source is in Debian's archive by these names and versions (apt-get source NAME=VERSION); the",
            "licence of each is in the folder of its name. zlib, libjpeg-turbo and libpng are linked into Penstock's",
            "own libraries; the others are in the files `*-penstock.so`, which may be replaced: an environment",
            "variable such as PENSTOCK_LIBSNDFILE names the file that is loaded instead. Of GCC there is libstdc++,",
            "under the GPL with the GCC Runtime Library Exception.",
            "",
            "FFmpeg, under the LGPL 2.1 or later, and dav1d are linked into `libpenstock_video.so`. None of FFmpeg's",
            "parts under the GPL is in it. To use another FFmpeg, build that library anew from Penstock's source: it",
            "takes the shared one that pkg-config finds, or the static one where CMake's PENSTOCK_FFMPEG says;",
            "PENSTOCK_LIBPENSTOCK_VIDEO names the file that is loaded instead. This one was configured with",
            "",
            *(f"    {option}" for option in ffmpeg.OPTIONS),
            "",
        ]
    )


def collect(target: Target, output: Path) -> None:
    """Copies all of them into a folder."""
    shutil.rmtree(output, ignore_errors=True)
    versions = {}
    for recipe in bundled():
        source, versions[recipe.source] = sources.fetch(recipe.source)
        for name, path in wanted(recipe, source).items():
            (output / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, output / name)
    dumped = [target.machine.compilers[1], "-dumpversion"]
    version = subprocess.run(dumped, capture_output=True, text=True, check=True).stdout
    (output / "gcc").mkdir()
    shutil.copy(compiler(version), output / "gcc" / "copyright")
    (output / "LIBRARIES.md").write_text(readme(versions))
