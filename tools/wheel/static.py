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
_SECTIONS = "-ffp-contract=off -ffunction-sections -fdata-sections"
_FLAGS = f"-O3 -DNDEBUG -fPIC {_SECTIONS}"


def _flags(recipe: Recipe, target: Target) -> str:
    return f"{_FLAGS} {target.machine.flags} {recipe.flags}".rstrip()


def _cmake(recipe: Recipe, target: Target, source: Path, build: Path) -> list[str | Path]:
    c, cxx = target.machine.compilers
    settings = {
        "BUILD_TYPE": "None",
        "C_COMPILER": c,
        "CXX_COMPILER": cxx,
        "C_FLAGS": _flags(recipe, target),
        "INSTALL_LIBDIR": str(target.prefix / "lib"),
        "INSTALL_PREFIX": str(target.prefix),
        "POSITION_INDEPENDENT_CODE": "ON",
        "PREFIX_PATH": str(target.prefix),
    }
    words: list[str | Path] = ["cmake", "-S", source / recipe.folder, "-B", build, "-G", "Ninja"]
    words += [f"-DCMAKE_{name}={value}" for name, value in settings.items()]
    return [*words, "-DBUILD_SHARED_LIBS=OFF", *recipe.options]


def _inside(build: Path, *words: str | Path) -> list[str | Path]:
    """A command that is run in the build's folder."""
    return ["sh", "-c", 'mkdir -p "$0" && cd "$0" && "$@"', build, *words]


def _configure(recipe: Recipe, target: Target, source: Path, build: Path) -> list[str | Path]:
    words = [f"CC={target.machine.compilers[0]}", f"CFLAGS={_flags(recipe, target)}", f"--prefix={target.prefix}"]
    return _inside(build, source / "configure", *words, "--enable-static", "--disable-shared", *recipe.options)


def _meson(recipe: Recipe, target: Target, source: Path, build: Path) -> list[str | Path]:
    words: list[str | Path] = ["env", f"CC={target.machine.compilers[0]}", "meson", "setup", build, source]
    words += [f"--prefix={target.prefix}", "--libdir=lib", "--buildtype=plain", "--default-library=static"]
    return [*words, f"-Dc_args={_flags(recipe, target)}", *recipe.options]


def _ffmpeg(recipe: Recipe, target: Target, source: Path, build: Path) -> list[str | Path]:
    prefix = target.prefix
    words = [f"--prefix={prefix}", f"--cc={target.machine.compilers[0]}", "--pkg-config-flags=--static"]
    flags = f"{_SECTIONS} {target.machine.flags} -I{prefix}/include"
    words += [f"--extra-cflags={flags}", f"--extra-ldflags=-L{prefix}/lib"]
    found = f"PKG_CONFIG_LIBDIR={prefix}/lib/pkgconfig"  # the system's libraries are not for wheels
    return _inside(build, "env", found, source / "configure", *words, *recipe.options)


_CONFIGURES = {"cmake": _cmake, "configure": _configure, "ffmpeg": _ffmpeg, "meson": _meson}


def command(recipe: Recipe, target: Target, source: Path, build: Path) -> list[str | Path]:
    """What configures a library."""
    return _CONFIGURES[recipe.by](recipe, target, source, build)


def _install(recipe: Recipe, build: Path) -> list[str | Path]:
    """What builds it in this folder, and installs it."""
    return ["ninja" if recipe.by in ("cmake", "meson") else "make", "-C", build, "install"]


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
    step(f"Building {recipe.source}", [*_install(recipe, folder), "-j", str(cores())], log)
    for shared in (target.prefix / "lib").glob("*.so*"):  # not all of them can be told to build none
        shared.unlink()
    done.write_text(key)
