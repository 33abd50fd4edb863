"""All steps of ./dev wheel, one behind the other; what is done is kept."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Sequence
from pathlib import Path

from tools.console import note, step
from tools.environment import BUILD, ROOT, install_packages, install_python
from tools.wheel import check, licences, ondemand, package, sources, static, toolchain, trial
from tools.wheel.recipes import RECIPES
from tools.wheel.target import GLIBC, MACHINES, Target

# No libraries: these are built. binutils looks into them, dpkg-dev unpacks sources.
_PACKAGES = ("binutils", "cmake", "dpkg-dev", "g++", "make", "meson", "ninja-build", "pkg-config", "python3-venv")


def wheel(target: Target, python: Path) -> Path:
    """Makes the wheel for a target, and checks it."""
    sources.update()
    toolchain.make(target, python)
    for recipe in RECIPES:
        static.build(recipe, target)
    bundled = target.folder / "bundled"
    shutil.rmtree(bundled, ignore_errors=True)
    ondemand.link(target, bundled / "libraries")
    licences.collect(target, bundled / "licenses")
    made = package.build(target, python)
    unpacked = target.folder / "unpacked"
    shutil.rmtree(unpacked, ignore_errors=True)
    shutil.unpack_archive(made, unpacked, "zip")
    check.libraries(target, unpacked)
    tagged = check.retag(target, made, python, package.destination(target))
    check.report(target, tagged, python)
    return tagged


def sdist(python: Path) -> Path:
    """Makes the source distribution."""
    words: list[str | Path] = ["-m", "build", "--sdist", "--no-isolation", "--outdir", package.DIST, ROOT]
    step("Making the source distribution", [python, *words], BUILD / "wheel" / "sdist.log")
    made = max(package.DIST.glob("penstock-*.tar.gz"), key=lambda path: path.stat().st_mtime)
    note(f"  {made.name}: {made.stat().st_size / 1e6:.2f} MB")
    return made


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="./dev wheel", description=__doc__)
    parser.add_argument("--machine", default="x86_64", choices=MACHINES, help="for which processors")
    parser.add_argument("--glibc", default=GLIBC, help=f"the oldest that the wheel runs with (default: {GLIBC})")
    parser.add_argument("--only", nargs="+", default=[], metavar="LEVEL", help="for a trial: these levels alone")
    parser.add_argument("--sdist", action="store_true", help="make the source distribution, too")
    parser.add_argument("--try", action="store_true", dest="tried", help="install and use it where no compiler is")
    parser.add_argument("--python", nargs="+", default=[], metavar="PYTHON", help="with these Pythons; this one's else")
    parser.add_argument("--root", type=Path, default=Path("/"), metavar="FOLDER", help="these are of the system there")
    options = parser.parse_args(arguments)
    target = Target(options.machine, options.glibc, tuple(options.only))
    install_packages([*_PACKAGES, *target.machine.packages])
    python = install_python("wheel", BUILD / "environments" / "wheel")
    made = wheel(target, python)
    if options.sdist:
        sdist(python)
    if options.tried:
        trial.run(made, options.python, options.root)
    return 0
