"""Builds the static libraries of `recipes`, for one target."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

from tools.console import step
from tools.environment import cores
from tools.wheel import sources
from tools.wheel.recipes import Recipe
from tools.wheel.target import Target

# As Debian has it, without the options of a build type: that of OpenJPEG would have it calculate less exactly.
_FLAGS = "-O3 -DNDEBUG -fPIC -ffp-contract=off -ffunction-sections -fdata-sections"


def _cmake(recipe: Recipe, target: Target, source: Path, build: Path) -> list[str | Path]:
    c, cxx = target.machine.compilers
    settings = {
        "BUILD_TYPE": "None",
        "C_COMPILER": c,
        "CXX_COMPILER": cxx,
        "C_FLAGS": f"{_FLAGS} {target.machine.flags}",
        "INSTALL_LIBDIR": str(target.prefix / "lib"),
        "INSTALL_PREFIX": str(target.prefix),
        "POSITION_INDEPENDENT_CODE": "ON",
        "PREFIX_PATH": str(target.prefix),
    }
    words: list[str | Path] = ["cmake", "-S", source / recipe.folder, "-B", build, "-G", "Ninja"]
    words += [f"-DCMAKE_{name}={value}" for name, value in settings.items()]
    return [*words, "-DBUILD_SHARED_LIBS=OFF", *recipe.options]


def _configure(recipe: Recipe, target: Target, source: Path, build: Path) -> list[str | Path]:
    flags = f"CFLAGS={_FLAGS} {target.machine.flags}"
    script = 'mkdir -p "$0" && cd "$0" && "$@"'
    words = [f"CC={target.machine.compilers[0]}", flags, f"--prefix={target.prefix}", "--enable-static"]
    return ["sh", "-c", script, build, source / "configure", *words, "--disable-shared", *recipe.options]


def command(recipe: Recipe, target: Target, source: Path, build: Path) -> list[str | Path]:
    """What configures a library."""
    return (_configure if recipe.configure else _cmake)(recipe, target, source, build)


def build(recipe: Recipe, target: Target) -> None:
    """Fetches, builds and installs a library; nothing is done again until its version or its recipe changes."""
    source, version = sources.fetch(recipe.source)
    folder = target.folder / recipe.source
    configure = command(recipe, target, source, folder)
    key = hashlib.sha256("\n".join([version, *map(str, configure)]).encode()).hexdigest()
    done = target.folder / f"{recipe.source}.done"
    if done.exists() and done.read_text() == key:
        return
    shutil.rmtree(folder, ignore_errors=True)
    for name in recipe.absent:
        (source / name).parent.mkdir(exist_ok=True)
        (source / name).touch()
    log = target.folder / f"{recipe.source}.log"
    step(f"Configuring {recipe.source} {version}", configure, log.with_suffix(".cmake.log"))
    make: list[str | Path] = ["make", "-C", folder] if recipe.configure else ["cmake", "--build", folder, "--target"]
    step(f"Building {recipe.source}", [*make, "install", "-j", str(cores())], log)
    for shared in (target.prefix / "lib").glob("*.so*"):  # not all of them can be told to build none
        shared.unlink()
    done.write_text(key)
